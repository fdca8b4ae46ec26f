"""Randomness comes only from a numpy Generator that was handed in or made from a seed."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]


def global_draws(source):
    """Uses of `random`, and generators without a seed; ruff sees other draws of `np.random`."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names if alias.name == "random"]
        if isinstance(node, ast.ImportFrom) and node.module == "random":
            found.append(node.module)
        if isinstance(node, ast.Call):
            found += re.findall(r"default_rng\(\)$|RandomState\(.*\)$", ast.unparse(node))
    return found


def test_no_global_random_draws():
    draws = {}
    for room in ("kbrepro", "notebooks", "tests", "benchmarks"):
        for path in (ROOT / room).rglob("*.py"):
            draws[path] = global_draws(path.read_text(encoding="utf-8"))
    assert len(draws) > 200 and {path: found for path, found in draws.items() if found} == {}
