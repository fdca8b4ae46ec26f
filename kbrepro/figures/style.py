"""House style, and the look of every algorithm, kernel and state of a claim: the same in every figure."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import seaborn as sns

#: Widest figure, in inches: the text width of a page. A column is 3.4.
WIDTH = 7.2
#: Smallest type, in points.
SMALLEST = 8.0

#: Colour and line style, by name or as (offset, (on, off, ...)).
Look = tuple[str, str | tuple[int, tuple[int, ...]]]

#: The families of algorithms: a colour, and the line style of every variant. The colours are the result of a search:
#: contrast with white at least 3:1 (7:1 for the papers' own algorithms), and between two families of one paper a
#: CIEDE2000 distance of at least 15, for normal vision, deuteranopia and protanopia alike.
_FAMILIES: dict[str, dict[str, str]] = {
    "#202868": {"GP-UCB": "--", "GP-UCB/5": "-"},
    "#a04000": {"EI": "-", "EI, noisy incumbent": ":"},
    # Chowdhury & Gopalan name MPI PI
    "#388058": {"MPI": "-", "MPI, noisy incumbent": ":", "PI": "-", "PI, noisy incumbent": ":"},
    "#504848": {"mean only": "-."},
    "#a88800": {"variance only": "--"},
    "#805880": {"GP-TS": "-"},
    "#6020f8": {"IRGP-UCB": "--"},
    "#a88090": {"PIMS": "-."},
    "#5088f8": {"GP-EIMS": "-", "DTC, uniform": "-"},
    "#702020": {"IGP-UCB": "-", "IGP-UCB, tighter": "--", "IGP-UCB, gain of the pulls": "-."}
    | {"IGP-UCB, lambda grows": ":", "IGP-UCB, both": "-."},
    "#083098": {"π-GP-UCB": "-", "π-GP-UCB, thesis": "--", "π-GP-UCB, both": "-."},
    "#289898": {"mini-GP-UCB": "-"},
    "#000000": {"exact": "-"},
    "#083090": {"BKB": "-", "BKB, streaming": "--", "BKB, authors' radius": ":", "BKB, Theorem 2's radius": "-."},
    "#e03078": {"SoR": "-"},
    "#b08000": {"RFF": "-."},
    "#007058": {"QFF": ":"},
    "#701020": {"GPN-UCB": "-"},
    "#707070": {"NonAda": "-"},
    "#0098a8": {"cUCB": "-."},
    "#4850d8": {"OI": ":"},
    "#c87808": {"cEI": "-", "cEI, exact": "--"},
}

#: Colour and line style of every algorithm.
LOOK = {name: (colour, style) for colour, its in _FAMILIES.items() for name, style in its.items()}

#: The same for kernels.
KERNEL_LOOK: dict[str, tuple[str, str]] = {
    "independent": ("#707070", "-."),
    "Matérn 2.5": ("#388058", "--"),
    "squared exponential": ("#202868", "-"),
    "linear": ("#c04800", ":"),
}

#: Colour and marker of the state of a part of a claim.
STATE_LOOK = {"holds": ("#083098", "o"), "fails": ("#c04800", "X"), "undecided": ("#707070", "D")}

#: Colours of curves that have no look of their own, in turn; the first is far from every paper's own algorithm.
CYCLE = ("#c87808", "#083098", "#007058", "#e03078", "#000000", "#5088f8")


def use_style() -> None:
    """Set the house style for all figures that follow."""
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
            "svg.fonttype": "path",  # labels are placed by the width of this font: another one would overlap
        }
    )


def look(name: str, hero: str = "") -> dict[str, Any]:
    """Return the `plot` keywords of an algorithm; `hero`, the one that a paper is about, is thick and on top.

    An algorithm that has no look of its own gets the next colour of the cycle.
    """
    weight = {"linewidth": 2.6, "zorder": 3.0} if name == hero else {"linewidth": 1.4}
    if name not in LOOK:
        return weight
    colour, style = LOOK[name]
    return {"color": colour, "linestyle": style} | weight
