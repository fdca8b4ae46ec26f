"""Which small faults do tests miss? `python -m tests.mutants FILE TESTS...` (CONTRIBUTING.md).

Each wrong variant of the file has one other operator, or one whole number more by one. It is
written into a copy of the project, where the tests run up to the first red one. Prints the line of
each variant that no test sees: a few are no faults (a reshape to (+1, n), say).
"""

import ast
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
#: So many variants are drawn.
TRIED = 40
#: Seconds that the tests of one variant may take: what hangs is caught.
MOST_SECONDS = 300
PAIRS = [
    (ast.Add, ast.Sub),
    (ast.Mult, ast.Div),
    (ast.Lt, ast.GtE),
    (ast.Gt, ast.LtE),
    (ast.Eq, ast.NotEq),
    (ast.Is, ast.IsNot),
    (ast.In, ast.NotIn),
    (ast.And, ast.Or),
    (ast.USub, ast.UAdd),
]
FLIPPED = dict(PAIRS) | {other: one for one, other in PAIRS}


class Wrong(ast.NodeTransformer):
    """Changes what stands at one place, and counts the places."""

    def __init__(self, place):
        self.place, self.n_places = place, 0

    def visit(self, node):
        is_number = isinstance(node, ast.Constant) and type(node.value) is int
        if not is_number and type(node) not in FLIPPED:
            return self.generic_visit(node)
        self.n_places += 1
        if self.n_places - 1 != self.place:
            return node
        return ast.Constant(node.value + 1) if is_number else FLIPPED[type(node)]()


def variant(source, place):
    """Return the source with what stands at a place changed, and the number of places."""
    wrong = Wrong(place)
    return ast.unparse(wrong.visit(ast.parse(source))), wrong.n_places


def are_red(tests, project):
    """Whether tests fail in a copy of the project, or take too long."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            command,
            check=False,
            cwd=project,
            env=environment,
            capture_output=True,
            timeout=MOST_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return True
    return done.returncode != 0


def main(file, tests, project):
    """Try variants of a file in a copy of the project; print those that the tests do not see."""
    right = (ROOT / file).read_text(encoding="utf-8")
    plain, n_places = variant(right, None)
    if are_red(tests, project):
        raise SystemExit("the tests are red as they are")
    places = np.random.default_rng(0).permutation(n_places)[:TRIED].tolist()
    missed = 0
    for place in places:
        wrong, _ = variant(right, place)
        (project / file).write_text(wrong, encoding="utf-8")
        if not are_red(tests, project):
            missed += 1
            for before, after in zip(plain.splitlines(), wrong.splitlines(), strict=True):
                if before != after:
                    print(f"not seen: {before.strip()} -> {after.strip()}", flush=True)
    print(f"{missed} of {len(places)} variants were not seen; there are {n_places}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "project"
        shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".git", ".venv", ".cache"))
        main(sys.argv[1], sys.argv[2:], copy)
