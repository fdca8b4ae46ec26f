"""The four import rules of the house (CONTRIBUTING.md), and its size."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CORE = ["checks", "paths", "kernels", "posterior", "problems", "confidence", "regret", "policies", "information"]
CORE += ["store", "simulation", "figures", "verdicts"]  # each imports what is before it
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
    if room == "__init__":  # the face: nothing that plots, judges or writes
        return target not in CORE[: CORE.index("figures")]
    if room in CORE:
        return target not in CORE[: CORE.index(room) + 1]
    if room == "papers":
        return target not in CORE and (target, deeper[:1]) != ("papers", inner[:1])
    return room == "data" and target not in ("checks", "paths", "data")


@pytest.mark.parametrize("importer", FILES)
def test_imports_follow_the_four_rules(importer):
    names = imported(FILES[importer].read_text(encoding="utf-8"))
    assert [name for name in names if forbidden(importer, name)] == []


def test_every_room_is_known_and_they_are_few():
    rooms = {path.stem for path in (ROOT / "kbrepro").iterdir() if path.name != "__pycache__"}
    assert rooms == {"__init__", "__main__", "data", "papers", "batch", "site", *CORE}
    assert len(rooms) <= 19


def test_pages_parse_nothing_back():
    """Regular expressions make links and fill blocks; what a run knows is in its claims.json and manifest.json."""
    site = [name for name in FILES if name.startswith("kbrepro.site.")]
    parsers = {name: {"ast", "re"} & set(imported(FILES[name].read_text(encoding="utf-8"))) for name in site}
    assert {name: used for name, used in parsers.items() if used} == {
        "kbrepro.site.pages": {"re"},
        "kbrepro.site.quoted": {"re"},
    }


WRONG = {
    ("kbrepro.checks", "kbrepro.kernels.Array"),
    ("kbrepro.problems", "kbrepro.policies.UCB"),
    ("kbrepro.simulation", "kbrepro.papers.bkb.policy.BKB"),
    ("kbrepro.papers.bkb.policy", "kbrepro.papers.gp_ucb.rkhs"),
    ("kbrepro.papers.bkb.policy", "kbrepro.data.store"),
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
