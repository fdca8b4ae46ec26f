"""Nobody (2026), the paper on Both."""

from kbrepro.papers import Paper

FAMILIES = {"#083098": {"Both": "-", "Both, cautious": "--"}}
PAPER = Paper("09_toy", FAMILIES)
