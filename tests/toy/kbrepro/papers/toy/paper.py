"""Nobody (2026), the paper on Both."""

from pathlib import Path

from kbrepro import paths, scorecard
from kbrepro.papers import Paper


def pulls(run: Path) -> str:
    """Return how often each arm was pulled, in Markdown."""
    rows = paths.read_rows(run / "tables" / "pulls.csv")
    return scorecard.table(["arm", "pulls"], [[row["arm"], row["pulls"]] for row in rows]) if rows else ""


FAMILIES = {"#083098": {"Both": "-", "Both, cautious": "--"}}
PAPER = Paper("06_toy", "Both layers of a toy", "Both", FAMILIES, beside=("EI",), blocks={"toy pulls": pulls})
