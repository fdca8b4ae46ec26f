"""Randomness comes only from a numpy Generator that was handed in or made from a seed."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


MAKERS = {
    "default_rng",
    "Generator",
    "SeedSequence",
    "BitGenerator",
    "PCG64",
    "PCG64DXSM",
    "Philox",
    "SFC64",
}


def global_draws(source):
    """Uses of `np.random` other than making a generator, of `random`, and generators without a
    seed.
    """
    found = []
    for node in ast.walk(ast.parse(source)):
        named = isinstance(node, ast.Attribute) and node.attr not in MAKERS
        if named and ast.unparse(node.value) in ("np.random", "numpy.random"):
            found.append(ast.unparse(node))
        if isinstance(node, ast.ImportFrom) and node.module in ("random", "numpy.random"):
            found += [a.name for a in node.names if node.module == "random" or a.name not in MAKERS]
        if isinstance(node, ast.Import):
            found += [a.name for a in node.names if a.name == "random"]
        if (
            isinstance(node, ast.Call)
            and not node.args
            and ast.unparse(node.func).endswith("default_rng")
        ):
            found.append(ast.unparse(node))
    return found


SOURCES = [
    path
    for room in ("kbrepro", "notebooks", "tests", "benchmarks")
    for path in (ROOT / room).rglob("*.py")
]


@pytest.mark.parametrize(
    "path", sorted(SOURCES), ids=lambda path: path.relative_to(ROOT).as_posix()
)
def test_no_global_random_draws(path):
    assert global_draws(path.read_text(encoding="utf-8")) == []
