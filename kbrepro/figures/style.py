"""House style, and the look of every algorithm, kernel and state of a claim, the same in every
figure.
"""

from collections.abc import Mapping
from typing import Any

import matplotlib.pyplot as plt
import seaborn as sns

#: Widest figure, in inches: the text width of a page. A column is 3.4.
WIDTH = 7.2
#: Smallest type, in points.
SMALLEST = 8.0

#: A line style, by name or as (offset, (on, off, ...)).
Style = str | tuple[int, tuple[int, ...]]
#: Colour and line style.
Look = tuple[str, Style]

#: The look of every algorithm, by name, that `use_style` was given.
LOOK: dict[str, Look] = {}

#: The same for kernels.
KERNEL_LOOK = {
    "independent": ("#707070", "-."),
    "Matérn 2.5": ("#388058", "--"),
    "squared exponential": ("#202868", "-"),
    "linear": ("#c04800", ":"),
}

#: Colours of curves that have no look of their own, in turn; the first is far from every paper's
#: own algorithm.
CYCLE = ("#c87808", "#083098", "#007058", "#e03078", "#000000", "#5088f8")


def use_style(looks: Mapping[str, Look] | None = None) -> None:
    """Set the house style, and the looks of algorithms by name, for all figures that follow.

    Those of the papers' algorithms are `papers.looks()`.
    """
    LOOK.update(looks or {})
    sns.set_theme(context="paper", style="ticks", palette=CYCLE, font_scale=0.95)
    plt.rcParams.update(
        {
            "figure.figsize": (WIDTH, 3.4),
            "figure.constrained_layout.use": True,
            "figure.dpi": 100,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.grid": True,
            "grid.color": "0.9",
            "grid.linewidth": 0.6,
            "legend.frameon": False,
            "lines.linewidth": 1.4,
            "svg.hashsalt": "kbrepro",  # the same figure is the same file
            # labels are placed by the width of this font: another one would overlap
            "svg.fonttype": "path",
        }
    )


def look(name: str, hero: str = "", looks: Mapping[str, Look] | None = None) -> dict[str, Any]:
    """Return the `plot` keywords of an algorithm, from `looks` or the house's; `hero`, the paper's
    own, is thick.

    An algorithm without a look gets the next colour of the cycle.
    """
    weight = {"linewidth": 2.6, "zorder": 3.0} if name == hero else {"linewidth": 1.4}
    colour, style = (LOOK | dict(looks or {})).get(name, (None, None))
    return weight | ({"color": colour, "linestyle": style} if colour else {})
