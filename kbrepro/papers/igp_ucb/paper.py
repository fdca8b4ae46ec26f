"""Chowdhury and Gopalan (2017), the paper on IGP-UCB and GP-TS."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from kbrepro.papers import Paper

if TYPE_CHECKING:
    from kbrepro.papers import Style

MARGINS: dict[float, Style] = {0.01: "--", 0.03: "-.", 0.1: (0, (5, 1, 1, 1, 1, 1))}
FAMILIES: dict[str, Mapping[str, Style]] = {
    "#702020": {"IGP-UCB": "-", "IGP-UCB, tighter": "--", "IGP-UCB, gain of the pulls": "-."},
    "#805880": {"GP-TS": "-"},
    # PI is the paper's name of MPI
    "#388058": {"PI": "-", "PI, noisy incumbent": ":"}
    | {f"PI, margin {margin}": style for margin, style in MARGINS.items()},
    "#a04000": {f"EI, margin {margin}": style for margin, style in MARGINS.items()},
}
PAPER = Paper("02_igp_ucb_gp_ts_sensors", FAMILIES, title="IGP-UCB and GP-TS, 2017")
