"""The four import rules of the house (CONTRIBUTING.md), and one name for one thing."""

import ast
from collections import Counter
from pathlib import Path

import pytest

from kbrepro import papers

ROOT = Path(__file__).parents[1]
#: Rooms in order, and the parts of a room: each imports what stands before it.
ROOMS = {
    "typing": [],
    "checks": [],
    "paths": [],
    "bandits": ["kernels", "posterior", "problems", "confidence", "policies", "information"],
    "data": [],
    "trials": ["curve", "sums", "store", "together", "simulation", "replay"],
    "claims": ["estimates", "replication", "tables", "words", "judging", "digests", "scorecard"],
    "figures": [],
    "papers": [],
    "batch": [
        "plans",
        "profiles",
        "pairs",
        "record",
        "items",
        "report",
        "play",
        "run",
        "audit",
        "beside",
        "new",
        "check",
    ],
    "__main__": [],
}
PLACES: list[str] = []
for room, parts in ROOMS.items():
    PLACES += [f"{room}.{part}" for part in parts] or [room]
#: What `import kbrepro` loads of a room, whole or in part: nothing that plots, judges or writes.
FACE = ["typing", "checks", "paths", "bandits", "trials", "claims.estimates", "claims.replication"]
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


def place_of(name):
    """Where a dotted name (kbrepro.room.part...) stands in the order, a whole room at its end; None
    of a public name.
    """
    _, room, *deeper = name.split(".")
    if room not in ROOMS:
        return None
    part = f"{room}.{''.join(deeper[:1])}"
    own = [place for place in PLACES if part == place]
    return PLACES.index((own or [p for p in PLACES if p.startswith(room)])[-1])


def forbidden(importer, name):
    """Whether `importer` (kbrepro.room.file) may not import `name`."""
    if name.startswith((".", "notebooks", "tests")):
        return True
    if not name.startswith("kbrepro."):
        return False
    (_, room, *inner), (_, target, *deeper) = importer.split("."), name.split(".")
    if target == "papers" and deeper[:1] and deeper[0] in PAPERS:  # a paper's own code
        return room != "papers" or (deeper[0] != inner[0] and inner[0] not in SYNTHESES)
    if room == "__init__":
        return not name.startswith(tuple(f"kbrepro.{place}" for place in FACE))
    here, there = place_of(importer), place_of(name)
    if there is None:  # a public name
        return room in {place.partition(".")[0] for place in FACE}
    if inner[1:] == ["paper"]:  # which the register loads
        return there >= PLACES.index("figures") and target != "papers"
    return there > here or (room == "data" and target not in ("checks", "paths", "data"))


def test_imports_follow_the_four_rules():
    wrong = []
    for importer, path in FILES.items():
        names = imported(path.read_text(encoding="utf-8"))
        wrong += [(importer, name) for name in names if forbidden(importer, name)]
    assert wrong == []


@pytest.mark.parametrize(
    ("importer", "name"),
    [
        ("kbrepro.checks", "kbrepro.paths.checkout"),
        ("kbrepro.bandits.kernels", "kbrepro.bandits.policies.UCB"),
        ("kbrepro.bandits.policies.base", "kbrepro.trials.simulation"),
        ("kbrepro.bandits.problems", "kbrepro.Model"),
        ("kbrepro.data.store", "kbrepro.bandits.kernels.grid"),
        ("kbrepro.trials.store", "kbrepro.claims.words"),
        ("kbrepro.claims.judging", "kbrepro.figures"),
        ("kbrepro.figures.panels", "kbrepro.papers.looks"),
        ("kbrepro.papers.bkb.policy", "kbrepro.papers.gp_ucb.widths"),
        ("kbrepro.papers.bkb.paper", "kbrepro.figures.use_style"),
        ("kbrepro.papers.bkb.measures", "kbrepro.batch.record"),
        ("kbrepro.__init__", "kbrepro.claims.judging.Claim"),
    ],
)
def test_a_wrong_import_is_seen(importer, name):
    assert forbidden(importer, name)


def test_every_room_is_known():
    rooms = {path.stem for path in (ROOT / "kbrepro").iterdir() if path.name != "__pycache__"}
    assert rooms == {"__init__", "py", *ROOMS}


def test_a_name_stands_for_one_thing():
    """Of classes everywhere, since settings name them without their module; a paper's folder may
    use the name of a function for its own.
    """
    names = Counter()
    for name, path in FILES.items():
        of_a_paper = name.startswith("kbrepro.papers.") and path.parent.name != "papers"
        named = ast.ClassDef if of_a_paper else ast.ClassDef | ast.FunctionDef
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, named) and not node.name.startswith("_"):
                names[node.name] += 1
    assert len(names) > 200 and [name for name, n in names.items() if n > 1] == []
