"""The four import rules of the house (CONTRIBUTING.md), and one name for one thing."""

import ast
from pathlib import Path

import pytest

from kbrepro import papers

ROOT = Path(__file__).parents[1]
#: Rooms in order: each imports what stands before it. Papers are between figures and scorecard.
ROOMS = [
    "checks",
    "paths",
    "data",
    "kernels",
    "posterior",
    "problems",
    "confidence",
    "curve",
    "estimates",
    "replication",
    "policies",
]
ROOMS += [
    "information",
    "sums",
    "store",
    "simulation",
    "replay",
    "claims",
    "figures",
    "papers",
    "plans",
]
ROOMS += ["scorecard", "record"]
ROOMS += ["report", "batch", "__main__"]
FACE = [
    room for room in ROOMS[: ROOMS.index("replay")] if room != "data"
]  # what `import kbrepro` loads: nothing that plots, judges or writes
# they play what the others have
SYNTHESES = {name for name, paper in papers.found().items() if paper.synthesis}
PAPERS = {path.parent.name for path in (ROOT / "kbrepro" / "papers").glob("*/__init__.py")}
FILES = {
    ".".join(p.relative_to(ROOT).with_suffix("").parts): p
    for p in sorted((ROOT / "kbrepro").rglob("*.py"))
}


def imported(source):
    """Every dotted name that a source imports, wherever in the file."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{'.' * node.level}{node.module}.{alias.name}" for alias in node.names)


def forbidden(importer, name):
    """Whether `importer` (kbrepro.room.file) may not import `name`."""
    if name.startswith((".", "notebooks", "tests")):
        return True
    if not name.startswith("kbrepro."):
        return False
    (_, room, *inner), (_, target, *deeper) = importer.split("."), name.split(".")
    if target not in ROOMS:  # a public name
        return room in FACE
    if room == "__init__":
        return target not in FACE
    if target == "papers" and deeper[:1] and deeper[0] in PAPERS:  # a paper's own code
        return room != "papers" or (deeper[0] != inner[0] and inner[0] not in SYNTHESES)
    if inner[1:] == ["paper"]:  # which the register loads
        return target in ROOMS[ROOMS.index("figures") :] and target != "papers"
    return ROOMS.index(target) > ROOMS.index(room) or (
        room == "data" and target not in ("checks", "paths", "data")
    )


@pytest.mark.parametrize("importer", FILES)
def test_imports_follow_the_four_rules(importer):
    names = imported(FILES[importer].read_text(encoding="utf-8"))
    assert [name for name in names if forbidden(importer, name)] == []


def test_every_room_is_known():
    rooms = {path.stem for path in (ROOT / "kbrepro").iterdir() if path.name != "__pycache__"}
    assert rooms == {"__init__", "py", *ROOMS}


def public_names(source):
    """The public functions and classes at the top of a source."""
    defined = (ast.FunctionDef, ast.ClassDef)
    nodes = [node for node in ast.parse(source).body if isinstance(node, defined)]
    return [node.name for node in nodes if not node.name.startswith("_")]


def test_no_two_shared_modules_have_one_name():
    """A name stands for one thing in all rooms; a paper's folder may use it for its own."""
    modules = {}
    for module, path in FILES.items():
        if path.parent.name in PAPERS:
            continue
        for name in public_names(path.read_text(encoding="utf-8")):
            modules.setdefault(name, []).append(module)
    assert {name: found for name, found in modules.items() if len(found) > 1} == {}
