"""Imports inside kbrepro only go to a room on a lower floor; no random draw without a generator."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "kbrepro"

#: Floors from the ground up. Inside a floor an import only goes to a room further left.
FLOORS = [
    ["__init__"],
    ["checks", "kernels", "ties", "paths", "source", "lattice"],
    ["posterior", "sparse"],
    ["information", "confidence", "schedules"],
    [
        "problems",
        "rkhs",
        "synthetic",
        "bumps",
        "surfaces",
        "policies.index",
        "policies.improvement",
        "policies.thompson",
        "policies.ucb",
        "policies.budgeted",
        "policies",
        "policies.makers",
        "policies.partitioned",
        "policies.lazy",
        "networks.functions",
        "networks.problem",
        "networks.layer_posterior",
        "networks.envelope",
        "networks.sets",
        "networks.ball_sets",
        "networks.policies",
        "networks.tables",
        "networks.rivals",
        "networks.nonadaptive",
        "networks.chains",
        "networks.regret_bounds",
        "networks.needle",
        "networks",
        "sensors",
        "intel",
        "light",
        "traffic",
        "datasets",
    ],
    ["simulation", "networks.trials", "concentration", "approximation", "stopwatch", "costs"],
    ["comparisons", "claims", "figures", "results"],
    ["parameters", "execution", "tidy", "provenance", "reproduce", "report"],
    ["__main__"],
]
HEIGHT = {room: (floor, place) for floor, rooms in enumerate(FLOORS) for place, room in enumerate(rooms)}


def room_of(path):
    """`policies/ucb.py` -> `policies.ucb`; the folder's own `__init__.py` -> `policies`."""
    name = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
    return name.removesuffix(".__init__")


ROOMS = {room_of(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def imported(source, room, rooms):
    """The rooms that a source imports, wherever in the file."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {a.name for a in node.names if a.name.split(".")[0] == "kbrepro"}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{room}: relative import"
            if node.module.split(".")[0] == "kbrepro":
                names = {f"{node.module}.{a.name}" for a in node.names}
                found |= {name if name.removeprefix("kbrepro.") in rooms else node.module for name in names}
    return {name.removeprefix("kbrepro.") if name != "kbrepro" else "__init__" for name in found}


def upward(source, room):
    return sorted(target for target in imported(source, room, ROOMS) if HEIGHT[target] >= HEIGHT[room])


def test_every_room_has_its_floor():
    assert sorted(set(ROOMS) - set(HEIGHT)) == [], "rooms without a floor: add them to FLOORS"


def test_no_floor_holds_a_room_that_is_gone():
    assert sorted(set(HEIGHT) - set(ROOMS)) == []


@pytest.mark.parametrize("room", ROOMS)
def test_imports_only_go_down(room):
    assert upward(ROOMS[room].read_text(encoding="utf-8"), room) == []


@pytest.mark.parametrize(
    ("room", "source", "found"),
    [
        ("kernels", "from kbrepro import checks", []),
        ("checks", "from kbrepro.kernels import Array", ["kernels"]),
        ("kernels", "def f():\n    import kbrepro.simulation", ["simulation"]),
        ("posterior", "from kbrepro import checks, information", ["information"]),
        ("policies.thompson", "from kbrepro.problems import Problem", []),
        ("problems", "from kbrepro.policies import UCB", ["policies"]),
        ("policies.ucb", "from kbrepro.policies import EI", ["policies"]),
        ("simulation", "from kbrepro.comparisons import Estimate", ["comparisons"]),
        ("ties", "from kbrepro import __version__", []),
    ],
)
def test_the_finder_finds(room, source, found):
    assert upward(source, room) == found


# Randomness: only from a numpy Generator that was handed in or made from a seed


MAKERS = {"default_rng", "Generator", "SeedSequence", "BitGenerator", "PCG64", "PCG64DXSM", "Philox", "SFC64"}


def global_draws(source):
    """Uses of `np.random` other than making a generator, of `random`, and generators without a seed."""
    found = []
    for node in ast.walk(ast.parse(source)):
        of_module = isinstance(node, ast.Attribute) and ast.unparse(node.value) in ("np.random", "numpy.random")
        if of_module and node.attr not in MAKERS:
            found.append(ast.unparse(node))
        if isinstance(node, ast.ImportFrom) and node.module in ("random", "numpy.random"):
            found += [a.name for a in node.names if node.module == "random" or a.name not in MAKERS]
        if isinstance(node, ast.Import):
            found += [a.name for a in node.names if a.name == "random"]
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("default_rng") and not node.args:
            found.append(ast.unparse(node))
    return found


SOURCES = [*PACKAGE.rglob("*.py"), *(ROOT / "notebooks").glob("*.py"), *(ROOT / "tests").glob("*.py")]


@pytest.mark.parametrize("path", sorted(SOURCES), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_no_global_random_draws(path):
    assert global_draws(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("np.random.seed(0)", ["np.random.seed"]),
        ("x = numpy.random.standard_normal(3)", ["numpy.random.standard_normal"]),
        ("from numpy.random import rand, default_rng", ["rand"]),
        ("import random", ["random"]),
        ("rng = np.random.default_rng()", ["np.random.default_rng()"]),
        ("rng = np.random.default_rng([seed, 4])", []),
        ("x = np.random.default_rng(4).normal(np.random.random())", ["np.random.random"]),
        ("def ask(rng: np.random.Generator): rng.random()", []),
    ],
)
def test_the_finder_finds_draws(source, found):
    assert global_draws(source) == found
