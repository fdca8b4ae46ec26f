"""The recorded scene of the paper on BKB: on the same dictionary the variance of SoR starves, and BKB's does not."""

from functools import cache, partial
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from kbrepro.figures.live.moments import F, rounded
from kbrepro.figures.style import look
from kbrepro.kernels import SquaredExponential, grid
from kbrepro.papers.bkb import pictures, starvation
from kbrepro.papers.bkb.starvation import BAND, Watched
from kbrepro.problems import GPDraw, Trial

SEED, N_ARMS, NOISE_VARIANCE, UPTO = 2019, 200, 0.01, 0.5
#: Numbers of pulls that are kept, and those of the still picture, the paper's three.
KEPT, STILL = (2, 4, 6, 9, 14, 20, 30, 45, 63, 90, 140, 215), (6, 63, 215)
SHOWN = {"exact": "", "SoR": "", "BKB": "qbar=2"}
TITLES = {"SoR": "SoR: its variance starves", "BKB": "BKB: its variance does not"}
GREY, SHADE, TINTS = "#b0b0b0", "#e4e4e4", {"SoR": "#f8dbe6", "BKB": "#d3dbee"}
#: One arm in so many is drawn.
EVERY = 2


@cache
def _watched() -> Watched:
    """Fig. 1 of the paper: a draw of k(x, x') = exp(-100 (x - x')^2), observed in the left half alone."""
    source = GPDraw(SquaredExponential(np.sqrt(1 / 200)), grid(N_ARMS), NOISE_VARIANCE)
    left_half = partial(starvation.uniform_pulls, upto=UPTO)
    return starvation.snapshots(source, left_half, list(KEPT), [2.0], {"RFF": [], "QFF": []}, Trial(SEED, 0))


def _frame(t: int) -> dict[str, Any]:
    """What stands after t pulls: of both the band before the exact one, and the dictionary; how much of f they hold."""
    watched = _watched()
    x, f = watched.problem.model.points[:, 0], watched.problem.expected_reward
    views = {name: watched.seen[name, setting, t] for name, setting in SHOWN.items()}
    ends = {n: [rounded((v.mean + s * BAND * v.sd)[::EVERY], 2) for s in (-1, 1)] for n, v in views.items()}
    members = rounded(x[np.unique(views["BKB"].members)])
    observed = [rounded(its) for its in zip(x[watched.pulls[:t]], watched.observations[:t], strict=True)]
    marks, held = [], []
    for name in TITLES:
        colour, view = look(name)["color"], views[name]
        ticks = ["boxes", [[m - 0.002, -4.65, m + 0.002, -4.2] for m in members], colour]
        bands = [["area", *ends["exact"], GREY, 1, "#222", 2], ["area", *ends[name], TINTS[name], 1, colour, 1.2]]
        marks.append([*bands, ["dots", observed, 2], ticks])
        held.append(np.mean(np.abs(f - view.mean)[x > UPTO] <= BAND * view.sd[x > UPTO]))
    sor, bkb = (f"{100 * share:.0f} % of the points" for share in held)
    says = f"Where nothing was observed, the band holds f at {sor} for SoR and {bkb} for BKB. "
    says += f"Dictionary: {len(members)} arms, the same for both."
    return {"label": f"{t} pulls", "says": says, "marks": marks}


def scene() -> dict[str, Any]:
    """Return the numbers and the words of the scene."""
    watched, low, high = _watched(), -4.8, 4.5
    x, f = (rounded(its[::EVERY]) for its in (watched.problem.model.points[:, 0], watched.problem.expected_reward))
    panel = {"x": [0, 1], "y": [low, high], "xlabel": "arm x", "ylabel": "reward", "inputs": x}
    panel |= {"under": [["boxes", [[0, low, UPTO, high]], SHADE]], "over": [["line", x, f, F[0], F[2]]]}
    bands = [[look(name)["color"], f"{name} ± {BAND:g} sd"] for name in TITLES]
    return {
        "title": "BKB: who is certain of what was never seen?",
        "says": [
            "Nothing was observed in the right half, so the exact posterior (grey, black edges) is uncertain there; "
            "SoR and BKB approximate it from the same few arms, the dictionary (ticks below).",
            "SoR's variance starves: far from the data its band (left) shrinks to nothing about a value that is wrong, "
            "while BKB's (right) covers the exact one, since it adds what its dictionary cannot express.",
        ],
        "try": "Go back to 2 pulls and step on: does more data make SoR's band hold more of f?",
        "panels": [panel | {"title": title} for title in TITLES.values()],
        "key": [[GREY, f"exact ± {BAND:g} sd", "", 10], *bands, F, [SHADE, "the half that is observed", "", 10]],
        "note": "Where the darker grey shows, the panel's band lacks what the exact one has. Dots: what was observed.",
        "frames": [_frame(t) for t in KEPT],
        "open": len(KEPT) - 1,
    }


def still() -> Figure:
    """Return the picture shown where scripts are off: the paper's three rows."""
    watched = _watched()
    x = watched.problem.model.points[:, 0]
    observed = {t: (x[watched.pulls[:t]], watched.observations[:t]) for t in STILL}
    sizes = {(name, t): watched.seen[name, SHOWN[name], t].n_features for name in ("SoR", "BKB") for t in STILL}
    frames = starvation.frames(watched, SHOWN)
    return pictures.strip(frames[frames["t"].isin(STILL)], observed, sizes)
