"""House style, the look of every algorithm, and the plot kinds that several notebooks share."""

from kbrepro.figures.panels import (
    cumulative_grid,
    cumulative_panel,
    label_ends,
    regret_panel,
    regret_quartiles,
    simple_panel,
)
from kbrepro.figures.style import KERNEL_LOOK, LOOK, STATE_LOOK, WIDTH, look, use_style
from kbrepro.figures.verdicts import all_parts, pairs, specification_curve

__all__ = [
    "KERNEL_LOOK",
    "LOOK",
    "STATE_LOOK",
    "WIDTH",
    "all_parts",
    "cumulative_grid",
    "cumulative_panel",
    "label_ends",
    "look",
    "pairs",
    "regret_panel",
    "regret_quartiles",
    "simple_panel",
    "specification_curve",
    "use_style",
]
