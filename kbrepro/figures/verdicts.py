"""The verdicts of all papers in one picture: a square a sentence, or a dot over a line."""

from collections import Counter
from collections.abc import Mapping
from itertools import chain
from textwrap import shorten
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from kbrepro.claims.scorecard import PLURALS, TOO_FEW, VERDICTS, Card, Row, not_rerun, observed
from kbrepro.figures.style import SMALLEST, WIDTH

#: A verdict -> its colour; blue and orange differ for every eye.
COLOURS = dict(zip(VERDICTS, ("#1f66a8", "#c8501e", "#8c8c8c", "#ffffff"), strict=True))
#: What has no verdict is white, with this edge.
EDGE = "#777777"
HATCH = "/////"
#: A sentence that was not rerun.
DOT: dict[str, Any] = {"color": "black", "marker": "o", "linestyle": "", "markersize": 3.5}


def squares(runs: Mapping[str, Card], titles: Mapping[str, str]) -> Figure:
    """Return a square for each sentence, a row a paper: strong if no interpretation that counts
    reverses its verdict, pale if one does, hatched if uncertain, with a dot if not rerun.
    """
    figure, ax = plt.subplots(figsize=(5.7, 3.4))
    shown = {name: sorted(map(_kind, claims)) for name, claims in _observed(runs).items()}
    for y, row in enumerate(shown.values()):
        for x, kind in enumerate(row):
            ax.add_patch(Rectangle((x + 0.06, y + 0.1), 0.88, 0.8, **_style(*kind[:3])))
            ax.plot([x + 0.5] * kind[3], [y + 0.5] * kind[3], **DOT)
    kinds = [*chain(*shown.values())]
    handles: list[Any] = []
    for (rank, turned), n in sorted(Counter(kind[:2] for kind in kinds).items()):
        label = f"{n} {PLURALS[VERDICTS[rank]]}" + ", an open choice reverses it" * turned
        handles.append(Patch(**_style(rank, turned), label=label))
    *_, uncertain, once = map(sum, zip(*kinds, strict=True)) if kinds else (0, 0)
    look: dict[str, Any] = {"facecolor": EDGE, "edgecolor": "white", "hatch": HATCH, "linewidth": 0}
    handles.append(Patch(**look, label=f"hatched: {uncertain} uncertain"))
    handles += ax.plot([], [], **DOT | {"color": EDGE}, label=f"dot: {once} played once, not rerun")
    _bare(ax)
    most = max([19, *map(len, shown.values())])
    ax.set(xlim=(0, most), ylim=(max(len(shown), 1), 0))
    ax.set_yticks([y + 0.5 for y in range(len(shown))], [titles[name] for name in shown])
    figure.legend(
        handles=handles, loc="outside lower center", ncols=2, handlelength=1.2, columnspacing=1
    )
    figure.suptitle(f"{len(kinds)} sentences: would a rerun support them?")
    return figure


def ranges(runs: Mapping[str, Card], titles: Mapping[str, str]) -> Figure:
    """Return a row for each sentence: a dot where the main interpretation lies, of 100 reruns, and
    a line over all that count; hollow if the verdict is uncertain, a square if nothing was rerun.
    """
    shown = _observed(runs)
    rows = sum(map(len, shown.values())) + 1.5 * len(shown)
    figure, ax = plt.subplots(figsize=(WIDTH, 0.165 * rows + 1))
    y, places, names = 0.0, [], []
    for notebook, claims in shown.items():
        ax.text(-0.02, y, titles[notebook], ha="right", va="center", weight="bold")
        for record in claims:
            y += 1
            places.append(y)
            names.append(f"{shorten(record['quote'], 66, placeholder=' …')}  {record['id']}")
            _range(ax, y, record)
        y += 1.5
    _bare(ax)
    ax.set(xlim=(-0.02, 1.02), ylim=(y - 0.5, -1), xlabel="reruns of 100 that support the sentence")
    ax.set_xticks([0, 0.1, 0.5, 0.9, 1], ["0", "10", "50", "90", "100"])
    ax.set_yticks(places, names, fontsize=SMALLEST - 0.5)
    for low, high, verdict in ((-0.02, 0.1, VERDICTS[1]), (0.9, 1.02, VERDICTS[0])):
        ax.axvspan(low, high, color=COLOURS[verdict], alpha=0.1, linewidth=0)
    handles = [
        Patch(facecolor=COLOURS[word], edgecolor=EDGE, label=PLURALS[word]) for word in VERDICTS
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=4, fontsize=SMALLEST)
    return figure


def _observed(runs: Mapping[str, Card]) -> dict[str, list[Row]]:
    """The sentences that count, by notebook."""
    shown = {}
    for name, run in runs.items():
        if claims := observed(run["claims"]):
            shown[name] = claims
    return shown


def _kind(record: Row) -> tuple[int, bool, bool, bool]:
    """The place of a sentence's verdict; whether a choice reverses it, whether it is uncertain, and
    whether nothing was rerun.
    """
    turned = record["agree"] < record["counted"]
    return VERDICTS.index(record["verdict"]), turned, record["uncertain"], not_rerun(record)


def _style(rank: int, turned: bool, uncertain: bool = False) -> dict[str, Any]:
    """How a square looks: pale is four tenths as strong; white has an edge."""
    strength = 0.4 if turned else 1.0
    face = [1 - strength * (1 - part) for part in to_rgb(COLOURS[VERDICTS[rank]])]
    if VERDICTS[rank] == TOO_FEW:
        return {"facecolor": face, "edgecolor": EDGE, "linewidth": 0.8}
    hatch = HATCH if uncertain else None
    return {"facecolor": face, "edgecolor": "white", "hatch": hatch, "linewidth": 0}


def _range(ax: Axes, y: float, record: Row) -> None:
    """A sentence's dot and line."""
    shares = [one["probability"]["value"] for one in record["readings"] if one["counts"]]
    main = record["readings"][0]["probability"]["value"]
    without = record["verdict"] == TOO_FEW
    colour = EDGE if without else COLOURS[record["verdict"]]
    ax.plot([min([main, *shares]), max([main, *shares])], [y, y], color=colour, alpha=0.5)
    face = "white" if without or record["uncertain"] else colour
    marker = "s" if not_rerun(record) else "o"
    ax.plot(main, y, marker, color=colour, markersize=5, markerfacecolor=face)


def _bare(ax: Axes) -> None:
    """Axes without frame, grid and ticks."""
    ax.grid(visible=False)
    ax.tick_params(length=0)
    ax.set_xticks([])
    for spine in ax.spines.values():
        spine.set_visible(False)
