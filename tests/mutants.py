"""How many small faults the tests see: `python -m tests.mutants`, some 15 minutes; no test runs it.

Flips one sign, drops one term, or moves one round by one, in 60 places drawn from the files below.
Each wrong variant is written into a copy of the project, where the tests of its file run up to the
first red one. Prints each survivor, and the share that is caught: a few are no faults (a reshape to
(+1, n), say).
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
#: Whose variants are tried.
FILES = (
    *("bandits/confidence.py", "bandits/information.py", "bandits/kernels.py"),
    *("bandits/policies/base.py", "bandits/policies/improvement.py", "bandits/policies/ucb.py"),
    *("bandits/posterior/__init__.py", "bandits/posterior/lattice.py", "claims/words.py"),
    *("papers/bkb/policy.py", "papers/bkb/since.py", "papers/bkb/sketch.py"),
    *("papers/gp_ucb/since.py", "papers/gp_ucb/widths.py"),
    *("papers/gpn_ucb/posterior.py", "papers/gpn_ucb/sets.py", "papers/igp_ucb/widths.py"),
    *("papers/pi_gp_ucb/partition.py", "papers/side_by_side/elimination.py"),
)
TRIED = 60
#: Seconds that the tests of one variant may take: what hangs is caught.
MOST_SECONDS = 120
FLIPPED = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Lt: ast.Gt,
    ast.Gt: ast.Lt,
    ast.LtE: ast.GtE,
    ast.GtE: ast.LtE,
    ast.Eq: ast.NotEq,
}


def tests_of(name):
    """The tests of the same name, or all of the folder."""
    same = Path("tests") / Path(name).with_name(f"test_{Path(name).name}")
    found = [path for path in (same, same.parent) if (ROOT / path).exists()]
    return str([*found, Path("tests/bandits")][0])


def below(node):
    """A node and what is in it, without messages, annotations and inner functions."""
    if not isinstance(node, ast.Raise | ast.JoinedStr | ast.FunctionDef):
        yield node
        for child in ast.iter_child_nodes(node):
            if child is not getattr(node, "annotation", None):
                yield from below(child)


def parts_of(tree):
    """All nodes in the bodies of functions."""
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            for statement in function.body:
                yield from below(statement)


def variants(node):
    """What may stand instead of a node."""
    flipped = FLIPPED.get(type(getattr(node, "op", None)))
    match node:
        case ast.BinOp(left=left, right=right):
            yield left
            if flipped:
                yield ast.BinOp(left, flipped(), right)
        case ast.AugAssign(target=target, value=value) if flipped:
            yield ast.AugAssign(target, flipped(), value)
        case ast.UnaryOp(operand=part) if not isinstance(part, ast.Constant):
            yield part
        case ast.BoolOp(values=[first, *_]):
            yield first
        case ast.Compare(left=left, ops=[op], comparators=right) if type(op) in FLIPPED:
            yield ast.Compare(left, [FLIPPED[type(op)]()], right)
        case ast.Name(id="t", ctx=ast.Load()) | ast.Attribute(attr="t", ctx=ast.Load()):
            yield ast.BinOp(node, ast.Add(), ast.Constant(1))


def places():
    """Every place of a variant: file, which node of it, which variant of that."""
    for name in FILES:
        tree = ast.parse((ROOT / "kbrepro" / name).read_text(encoding="utf-8"))
        for part, node in enumerate(parts_of(tree)):
            for number, _ in enumerate(variants(node)):
                yield name, part, number


def wrong(source, part, number):
    """What is changed, and the source with it."""
    tree = ast.parse(source)
    old = [*parts_of(tree)][part]
    new = [*variants(old)][number]
    change = f"{old.lineno}: {ast.unparse(old)} -> {ast.unparse(new)}"

    class Swapped(ast.NodeTransformer):
        def visit(self, node):
            return new if node is old else self.generic_visit(node)

    return change, ast.unparse(Swapped().visit(tree))


def red(copy, tests, seconds=None):
    """Whether tests fail in the copy, or take too long."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
    one_core = {"OMP_NUM_THREADS": "1", "KBREPRO_JOBS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    options = {
        "cwd": copy,
        "env": os.environ | one_core,
        "capture_output": True,
        "timeout": seconds,
    }
    try:
        return subprocess.run(command, check=False, **options).returncode != 0
    except subprocess.TimeoutExpired:
        return True


def main(copy):
    """Try variants in a copy of the project; print the survivors, and the share caught."""
    if red(copy, sorted({tests_of(name) for name in FILES})):
        raise SystemExit("the tests are red as they are")
    mutants = [*places()]
    chosen = np.random.default_rng(0).choice(len(mutants), TRIED, replace=False)
    survived = 0
    for name, part, number in (mutants[i] for i in chosen):
        path = copy / "kbrepro" / name
        right = path.read_text(encoding="utf-8")
        change, source = wrong(right, part, number)
        path.write_text(source, encoding="utf-8")
        if not red(copy, [tests_of(name)], MOST_SECONDS):
            survived += 1
            print(f"survives: kbrepro/{name}:{change}", flush=True)
        path.write_text(right, encoding="utf-8")
    print(f"{1 - survived / TRIED:.0%} of {TRIED} caught, of {len(mutants)} variants")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        for part in ("kbrepro", "tests", "docs"):
            shutil.copytree(ROOT / part, Path(folder) / part)
        shutil.copy(ROOT / "pyproject.toml", folder)
        (Path(folder) / "notebooks").mkdir()
        main(Path(folder))
