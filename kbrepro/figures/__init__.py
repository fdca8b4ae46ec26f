"""House style, the line style of every algorithm, and the kinds of plots that several notebooks share."""

from kbrepro.figures.panels import (
    curves,
    label_ends,
    labelled,
    placed,
    printed,
    regret_quartiles,
    regret_row,
    restyle,
    said,
)
from kbrepro.figures.style import KERNEL_LOOK, LOOK, STATE_LOOK, WIDTH, look, use_style
from kbrepro.papers import Look
