"""How often a sentence comes out under every interpretation."""

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from kbrepro.claims.judging import Reading
from kbrepro.figures.pieces import name_rows, titled
from kbrepro.figures.style import SMALLEST, WIDTH


def readings(title: str, numbers: list[Reading]) -> Figure:
    """Return the share of reruns that print a sentence under every reading, the main one first,
    with its interval; hollow: does not count.
    """
    figure, ax = plt.subplots(figsize=(WIDTH, 1.3 + 0.26 * len(numbers)))
    for place, reading in enumerate(numbers):
        value, low, high, *_ = reading.probability
        ax.plot([low, high], [place, place], color="black", linewidth=1.6, solid_capstyle="butt")
        face = "black" if reading.counts(numbers[0]) else "white"
        ax.plot(
            value,
            place,
            "o",
            color="black",
            markerfacecolor=face,
            markersize=6,
            clip_on=False,
            zorder=3,
        )
    for limit in (0.1, 0.9):
        ax.axvline(limit, color="#707070", linewidth=0.8, linestyle="--", zorder=0)
    name_rows(
        ax,
        [
            f"{reading.choice}: {reading.value}" if reading.choice else "main interpretation"
            for reading in numbers
        ],
    )
    ax.set(xlim=(-0.02, 1.02), xlabel="share of reruns that would print it (95 % interval)")
    if not all(reading.counts(numbers[0]) for reading in numbers):
        figure.supxlabel("hollow: does not count", size=SMALLEST)
    return titled(figure, title)
