"""The four import rules of the house (CONTRIBUTING.md), its sizes, and the length of functions."""

import ast
import io
import tokenize
import tomllib
from pathlib import Path

import pytest

from kbrepro import papers

ROOT = Path(__file__).parents[1]
CORE = ["checks", "paths", "kernels", "posterior", "problems", "confidence", "regret", "policies", "information"]
CORE += ["store", "simulation", "figures", "verdicts"]  # each imports what is before it
SYNTHESES = {name for name, paper in papers.found().items() if paper.synthesis}  # they play what the others have
PAPERS = {path.parent.name for path in (ROOT / "kbrepro" / "papers").glob("*/__init__.py")}
FILES = {".".join(p.relative_to(ROOT).with_suffix("").parts): p for p in sorted((ROOT / "kbrepro").rglob("*.py"))}


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
    if not name.startswith("kbrepro.") or importer == "kbrepro.__main__":
        return False
    (_, room, *inner), (_, target, *deeper) = importer.split("."), name.split(".")
    if target in ("batch", "site"):
        return room not in ("batch", "site") or (room, target) == ("batch", "site")
    if importer == "kbrepro.papers.__init__":  # the register: it loads what the papers register, and knows no other
        return True
    if target == "papers" and not PAPERS & set(deeper[:1]):
        return room not in ("papers", "figures", "verdicts", "batch", "site")
    if inner[1:] == ["paper"] and target in CORE[CORE.index("figures") :]:  # which ask for its looks
        return True
    if room == "__init__":  # the face: nothing that plots, judges or writes
        return target not in CORE[: CORE.index("figures")]
    if room in CORE:
        return target not in CORE[: CORE.index(room) + 1]
    if room == "papers":
        return target not in CORE and (target != "papers" or (deeper[:1] != inner[:1] and inner[0] not in SYNTHESES))
    return target == "papers" or (room == "data" and target not in ("checks", "paths", "data"))


@pytest.mark.parametrize("importer", FILES)
def test_imports_follow_the_four_rules(importer):
    names = imported(FILES[importer].read_text(encoding="utf-8"))
    assert [name for name in names if forbidden(importer, name)] == []


def test_every_room_is_known_and_they_are_few():
    rooms = {path.stem for path in (ROOT / "kbrepro").iterdir() if path.name != "__pycache__"}
    assert rooms == {"__init__", "__main__", "py", "data", "papers", "batch", "site", *CORE}
    assert len(rooms) <= 20


def test_pages_parse_nothing_back():
    """Regular expressions make links, fill blocks and find what was typed; runs are in claims.json, manifest.json."""
    site = [name for name in FILES if name.startswith("kbrepro.site.")]
    parsers = {name: {"ast", "re"} & set(imported(FILES[name].read_text(encoding="utf-8"))) for name in site}
    assert {name: used for name, used in parsers.items() if used} == {
        "kbrepro.site.pages": {"re"},
        "kbrepro.site.quoted": {"re"},
    }


def lines_of_code(source):
    """Numbers of the lines that are not blank, comment or docstring."""
    found, layout = set(), {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in layout | {tokenize.ENDMARKER}:
            found.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            found.difference_update(range(node.lineno, node.end_lineno + 1))
    return found


def too_long(source, most=30):
    """Functions whose body has more lines of code."""
    code = lines_of_code(source)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef) and len(code & {*range(node.body[0].lineno, node.end_lineno + 1)}) > most:
            yield node.name


@pytest.mark.parametrize("name", FILES)
def test_bodies_of_functions_are_short(name):
    assert [*too_long(FILES[name].read_text(encoding="utf-8"))] == []


def test_a_long_body_would_be_found():
    body = '    """One line."""\n\n    # why\n' + 30 * "    x = 1\n"
    assert [*too_long("def f():\n" + body)] == [] and [*too_long("def f():\n" + body + "    x = 2\n")] == ["f"]


#: Lines of code that a room should have at most; the batch has the store and the command line.
GUIDE = {"science": 1100, "lattice": 300, "verdicts": 650, "figures": 300, "data": 340, "batch": 700, "site": 350}
GUIDE["papers"] = 3700


def test_sizes_are_told():
    """Beside the guide, a paper's own at most 1,050; read with `pytest -rP`, nothing is asserted about them."""
    found = dict.fromkeys(GUIDE, 0) | {f"papers/{paper}": 0 for paper in sorted(PAPERS)}
    for name, path in FILES.items():
        room, *inner = name.split(".")[1:]
        room = "batch" if room in ("store", "__main__") else "lattice" if inner == ["lattice"] else room
        lines = len(lines_of_code(path.read_text(encoding="utf-8")))
        found[room if room in GUIDE else "science"] += lines
        if room == "papers" and inner[0] in PAPERS:
            found[f"papers/{inner[0]}"] += lines
    tests = [path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.py")]
    for room, lines in found.items():
        print(f"{room:<20}{lines:>7,} of {GUIDE.get(room, 1050):>6,} lines of code")
    print(f"{'package':<20}{sum(found[room] for room in GUIDE):>7,}")
    print(f"{'tests':<20}{sum(text.count(chr(10)) for text in tests):>7,} of 11,500 lines")


def test_types_are_said_to_be_there():
    """A wheel takes everything below kbrepro, the marker of its types, too."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    assert (ROOT / "kbrepro/py.typed").is_file() and project["mypy"]["strict"]
    assert project["hatch"]["build"]["targets"]["wheel"]["packages"] == ["kbrepro"]


ONE, OTHER, *_ = sorted(PAPERS - SYNTHESES)
WRONG = {
    ("kbrepro.checks", "kbrepro.kernels.Array"),
    ("kbrepro.problems", "kbrepro.policies.UCB"),
    ("kbrepro.simulation", f"kbrepro.papers.{ONE}.policy.Policy"),
    (f"kbrepro.papers.{ONE}.policy", f"kbrepro.papers.{OTHER}.rkhs"),
    (f"kbrepro.papers.{ONE}.policy", "kbrepro.data.store"),
    (f"kbrepro.papers.{ONE}.paper", "kbrepro.figures.WIDTH"),
    ("kbrepro.papers.__init__", "kbrepro.figures.style"),
    ("kbrepro.figures.style", f"kbrepro.papers.{ONE}.paper"),
    ("kbrepro.regret", "kbrepro.papers"),
    ("kbrepro.site.quoted", f"kbrepro.papers.{ONE}"),
    ("kbrepro.verdicts.record", "kbrepro.batch.folders"),
    ("kbrepro.batch.run", "kbrepro.site.quoted"),
    ("kbrepro.figures.panels", "kbrepro.verdicts.claims"),
    ("kbrepro.__init__", "kbrepro.figures.look"),
    ("kbrepro.data.store", "kbrepro.simulation.run"),
    ("kbrepro.batch.run", "notebooks.helpers"),
    ("kbrepro.policies.ucb", "..problems.Problem"),
}


@pytest.mark.parametrize(("importer", "name"), sorted(WRONG))
def test_the_rules_can_be_broken(importer, name):
    assert forbidden(importer, name)
