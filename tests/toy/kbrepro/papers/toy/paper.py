"""Nobody (2026), the paper on Both."""

from pathlib import Path

from kbrepro import paths
from kbrepro.papers import Paper, Rows


def pulls(run: Path) -> Rows:
    """Return how often each arm was pulled."""
    rows = paths.read_rows(run / "tables" / "pulls.csv")
    return [["arm", "pulls"], *([row["arm"], row["pulls"]] for row in rows)]


FAMILIES = {"#083098": {"Both": "-", "Both, cautious": "--"}}
PAPER = Paper("09_toy", "Both", FAMILIES, beside=("EI",), blocks={"toy pulls": pulls})
