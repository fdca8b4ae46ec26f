"""Count the house: `python tests/size.py` prints syntax nodes, tokens a line and comprehensions.

Size is counted in syntax nodes, which no formatting changes; density in tokens a code line and in
comprehensions in 1,000 of them. The aims are in CONTRIBUTING.md.
"""

import ast
import io
import sys
import tokenize
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


def count(source: str) -> dict[str, int]:
    """Return what a file holds: nodes, code lines, tokens, comprehensions, and those of two for."""
    nodes = list(ast.walk(ast.parse(source)))
    lines, tokens = code_lines(source)
    found = [node for node in nodes if isinstance(node, COMPREHENSIONS)]
    twice = [node for node in found if len(node.generators) > 1]

    return {
        "nodes": len(nodes),
        "lines": lines,
        "tokens": tokens,
        "comprehensions": len(found),
        "two for": len(twice),
    }


def house(root: Path = ROOT) -> dict[str, dict[str, int]]:
    """Return the counts of every file of package, notebooks, benchmarks and tests."""
    files: list[Path] = []
    for folder in FOLDERS:
        files.extend(sorted((root / folder).rglob("*.py")))
    return {str(path.relative_to(root)): count(path.read_text("utf-8")) for path in files}


def total(counts: list[dict[str, int]]) -> dict[str, int]:
    """Return the sum of counts, name by name."""
    return {name: sum(count[name] for count in counts) for name in counts[0]}


def density(sums: dict[str, int]) -> float:
    """Return the tokens of a code line."""
    return sums["tokens"] / max(sums["lines"], 1)


def line(name: str, sums: dict[str, int]) -> str:
    """Return a line of the printed table."""
    often = 1000 * sums["comprehensions"] / max(sums["lines"], 1)
    return (
        f"{name:48s} {sums['nodes']:8,d} {sums['lines']:7,d} {density(sums):6.1f}"
        f" {often:6.0f} {sums['two for']:5d}"
    )


def main(*, files: bool) -> None:
    """Print the table: by part of the house, and with `--files` every file, the densest first."""
    counts = house()
    print(f"{'':48s} {'nodes':>8s} {'lines':>7s} tokens  comp. 2 for")
    for name, folders in PLACES.items():
        inside = [at for at in counts if at.startswith(folders)]
        print(line(name, total([counts[at] for at in inside])))
    if files:
        for at in sorted(counts, key=lambda at: density(counts[at]), reverse=True):
            print(line(at, counts[at]))


if __name__ == "__main__":
    main(files="--files" in sys.argv[1:])
