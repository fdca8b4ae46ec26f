"""How many small faults the tests see: `python -m tests.mutants`, about 12 minutes of one core; no
test runs it.

Flips one sign, drops one term, or moves one round by one, in every `index`, `update`, `tell` and
width, what they call, and the words of claims. Each wrong variant is written into a copy of the
project, where the tests of its file run up to the first red one. Prints the share that is caught,
and each survivor: a few are no faults (a reshape to (+1, n), say).
"""

import ast
import os
import resource
import shutil
import sys
import tempfile
from itertools import zip_longest
from pathlib import Path

ROOT = Path(__file__).parents[1]
#: Tests of a file where they are not those of the same name.
TESTS = {
    "bandits/posterior/__init__.py": [
        f"tests/bandits/test_{name}.py" for name in ("forms", "ask_tell", "little_noise", "lattice")
    ],
    "bandits/posterior/lattice.py": ["tests/bandits/test_lattice.py"],
    "bandits/policies/base.py": [
        "tests/bandits/policies/test_base.py",
        "tests/bandits/policies/test_ucb.py",
    ],
    "bandits/policies/ucb.py": [
        "tests/bandits/policies/test_ucb.py",
        "tests/papers/pi_gp_ucb/test_partition.py::test_igp_ucb",
    ],
    "bandits/policies/thompson.py": [
        "tests/bandits/policies/test_thompson.py",
        "tests/papers/gp_ucb/test_since.py",
    ],
    "papers/bkb/since.py": ["tests/papers/bkb/test_policy.py"],
    "papers/gpn_ucb/posterior.py": [
        f"tests/papers/gpn_ucb/test_{name}.py" for name in ("posterior", "network", "policies")
    ],
    "papers/pi_gp_ucb/partition.py": ["tests/papers/pi_gp_ucb/test_partition.py"],
    "papers/side_by_side/widths.py": ["tests/papers/side_by_side/test_elimination.py"],
}
STEPS, WIDTHS, WORDS = (
    {"index", "update", "tell", "width", "widths"},
    {"at", "of", "__call__"},
    "claims/words.py",
)
#: What index, update and tell call.
STEPS |= {
    "z_score",
    "target",
    "log_expected_improvement",
    "log_expected_excess",
    "expected_improvement",
    "deviation",
}
STEPS |= {
    "add",
    "column",
    "times",
    "_times_panels",
    "_column",
    "_covariance",
    "_product",
    "covariance_with",
    "mean_told",
    "_refined",
    "_remember",
    "_conditioned",
    "inclusion",
    "must_split",
}
FLIPPED = {
    ast.Add: "-",
    ast.Sub: "+",
    ast.Lt: ">",
    ast.Gt: "<",
    ast.LtE: ">=",
    ast.GtE: "<=",
    ast.Eq: "!=",
}
#: CPU seconds of one variant's tests, and of all.
ONE, ALL = 40, 720


def functions_of(name, tree):
    """The functions whose variants are tried."""
    widths = name == "confidence.py" or name.endswith(("/widths.py", "bkb/policy.py"))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    return [
        node
        for node in functions
        if name == WORDS or node.name in STEPS or (widths and node.name in WIDTHS)
    ]


def below(node):
    """A statement and what is in it, without messages and inner functions."""
    if not isinstance(node, ast.Raise | ast.JoinedStr | ast.FunctionDef):
        yield node
        for child in ast.iter_child_nodes(node):
            yield from below(child) if child is not getattr(node, "annotation", None) else ()


def variants(node, text):
    """What may stand instead of an expression or a statement; `text(node)` is its source."""
    match node:
        case ast.BinOp(left=left, op=op, right=right):
            if type(op) in FLIPPED:
                yield f"(({text(left)}) {FLIPPED[type(op)]} ({text(right)}))"
            yield f"({text(left)})"
        case ast.UnaryOp(operand=part) if not isinstance(part, ast.Constant):
            yield f"({text(part)})"
        case ast.BoolOp(values=[first, *_]):
            yield f"({text(first)})"
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in FLIPPED:
            yield f"(({text(left)}) {FLIPPED[type(op)]} ({text(right)}))"
        case ast.AugAssign(target=target, op=ast.Add() | ast.Sub() as op, value=value):
            yield f"{text(target)} {FLIPPED[type(op)]}= {text(value)}"
        case ast.Name(id="t", ctx=ast.Load()) | ast.Attribute(attr="t", ctx=ast.Load()):
            yield f"({text(node)} + 1)"


def mutants_of(name):
    """For each function of a file a list of (file, line, what is changed, the whole wrong
    source).
    """
    source = (ROOT / "kbrepro" / name).read_text(encoding="utf-8")
    text, code = lambda node: ast.get_source_segment(source, node), source.encode()
    starts = [0, *(place + 1 for place, byte in enumerate(code) if byte == ord("\n"))]
    for function in functions_of(name, ast.parse(source)):
        mutants = []
        for node in [each for statement in function.body for each in below(statement)]:
            for new in variants(node, text):
                start, end = (
                    starts[node.lineno - 1] + node.col_offset,
                    starts[node.end_lineno - 1] + node.end_col_offset,
                )
                change = " ".join(f"{text(node)} -> {new}".split())
                mutants.append(
                    (name, node.lineno, change, code[:start] + new.encode() + code[end:])
                )
        yield mutants


def red(name, keep_bytecode=False):
    """Whether the tests of a file fail in the copy, or take too long; and their CPU seconds."""
    same = Path("tests") / Path(name).parent / f"test_{Path(name).name}"
    tests = TESTS.get(name) or [str(same if same.is_file() else same.parent)]
    if not (child := os.fork()):  # a fork has numpy, scipy and pytest loaded
        resource.setrlimit(resource.RLIMIT_CPU, (ONE, ONE + 1))
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.dup2(1, 2)
        sys.dont_write_bytecode = not keep_bytecode
        imported = "ignore::pytest.PytestAssertRewriteWarning"
        os._exit(pytest.main(["-x", "-q", "-p", "no:cacheprovider", "-W", imported, *tests]))
    _, status, usage = os.wait4(child, 0)
    return status != 0, usage.ru_utime + usage.ru_stime


def main():
    """Try variants of all functions in turn until the time is over; print the share caught, and the
    survivors.
    """
    files = sorted(
        str(path.relative_to(ROOT / "kbrepro")) for path in (ROOT / "kbrepro").rglob("*.py")
    )
    files = [
        name for name in files if not name.startswith("batch/") and not name.endswith("/claims.py")
    ]
    lists = [mutants for name in files for mutants in mutants_of(name)]
    mutants = [each for turn in zip_longest(*lists) for each in turn if each]
    seconds, tried, survived, broken = 0.0, 0, 0, {}
    for name, line, change, wrong in mutants:
        path = Path("kbrepro") / name
        if name not in broken:
            broken[name], took = red(name, keep_bytecode=True)
            seconds += took
            for compiled in path.parent.glob(f"__pycache__/{path.stem}.*"):
                compiled.unlink()
            print(
                f"{name}: {took:.0f} s{', red or too long as it is: left out' * broken[name]}",
                flush=True,
            )
        if broken[name] or seconds > ALL:
            continue
        right = path.read_bytes()
        path.write_bytes(wrong)
        caught, took = red(name)
        path.write_bytes(right)
        tried, survived, seconds = tried + 1, survived + (not caught), seconds + took
        if not caught:
            print(f"survives: kbrepro/{name}:{line}: {change}", flush=True)
    print(
        f"{1 - survived / max(tried, 1):.1%} of {tried} caught, of {len(mutants)} variants;"
        f" {seconds / 60:.0f} minutes"
    )


if __name__ == "__main__":
    os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "KBREPRO_JOBS": "1"}
    import pytest
    import scipy.stats  # noqa: F401
    from hypothesis import Phase, settings

    # none is made small
    settings.register_profile("first red", phases=[Phase.explicit, Phase.generate], database=None)
    settings.load_profile("first red")

    with tempfile.TemporaryDirectory() as copy:
        for part in ("kbrepro", "tests", "docs"):
            shutil.copytree(
                ROOT / part, Path(copy) / part, ignore=shutil.ignore_patterns("__pycache__")
            )
        shutil.copy(ROOT / "pyproject.toml", copy)
        (Path(copy) / "notebooks").mkdir()
        os.chdir(copy)
        sys.path.insert(0, copy)
        main()
