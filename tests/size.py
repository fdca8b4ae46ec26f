"""Count the house: `python tests/size.py` prints syntax nodes, tokens a line and comprehensions.

Size is counted in syntax nodes, which no formatting changes; density in tokens a code line and in
comprehensions in 1,000 of them. The aims are in CONTRIBUTING.md.
"""

import ast
import io
import sys
import tokenize
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("kbrepro", "notebooks", "benchmarks", "tests")
ROOMS = [path for path in (ROOT / "kbrepro").iterdir() if path.name != "papers"]
SHARED = tuple(f"kbrepro/{path.name}" for path in ROOMS)
#: A line of the table -> how the files that it counts begin.
PLACES = {
    "shared rooms": (*SHARED, "kbrepro/papers/__init__"),
    "papers": "kbrepro/papers/",
    "notebooks": "notebooks/",
    "benchmarks": "benchmarks/",
    "package, notebooks and benchmarks": FOLDERS[:3],
    "package": "kbrepro/",
    "tests": "tests/",
}
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
SILENT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}


def code_lines(source: str) -> tuple[int, int]:
    """Return the lines with code, docstrings not counted, and the tokens on them."""
    texts: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            texts.update(range(node.lineno, node.end_lineno + 1))
    lines: set[int] = set()
    tokens = 0
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in SILENT and token.start[0] not in texts:
            lines.update(range(token.start[0], token.end[0] + 1))
            tokens += 1
    return len(lines), tokens


def count(source: str) -> Counter[str]:
    """Return what a file holds: nodes, code lines, tokens, comprehensions, and those of two for."""
    nodes = list(ast.walk(ast.parse(source)))
    lines, tokens = code_lines(source)
    found = [node for node in nodes if isinstance(node, COMPREHENSIONS)]
    return Counter(
        {
            "nodes": len(nodes),
            "lines": lines,
            "tokens": tokens,
            "comprehensions": len(found),
            "two for": sum(len(node.generators) > 1 for node in found),
        }
    )


def density(counts: Counter[str]) -> float:
    """Return the tokens of a code line."""
    return counts["tokens"] / max(counts["lines"], 1)


def line(name: str, counts: Counter[str]) -> str:
    """Return a line of the printed table."""
    often = 1000 * counts["comprehensions"] / max(counts["lines"], 1)
    return (
        f"{name:48s} {counts['nodes']:8,d} {counts['lines']:7,d} {density(counts):6.1f}"
        f" {often:6.0f} {counts['two for']:5d}"
    )


def main(*, files: bool) -> None:
    """Print the table: by part of the house, and with `--files` every file, the densest first."""
    house: dict[str, Counter[str]] = {}
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            house[str(path.relative_to(ROOT))] = count(path.read_text("utf-8"))
    print(f"{'':48s} {'nodes':>8s} {'lines':>7s} tokens  comp. 2 for")
    for name, places in PLACES.items():
        print(line(name, sum((house[at] for at in house if at.startswith(places)), Counter())))
    if files:
        for at in sorted(house, key=lambda at: density(house[at]), reverse=True):
            print(line(at, house[at]))


if __name__ == "__main__":
    main(files="--files" in sys.argv[1:])
