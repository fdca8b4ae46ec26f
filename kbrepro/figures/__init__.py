"""House style, the line style of every algorithm, and the kinds of plots that several notebooks
share.
"""

from kbrepro.figures.panels import label_ends, labelled, regret_quartiles, regret_row
from kbrepro.figures.style import KERNEL_LOOK, LOOK, WIDTH, Look, look, use_style
