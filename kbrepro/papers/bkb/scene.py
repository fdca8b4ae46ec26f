"""The recorded scene of the paper on BKB: a dictionary that starves, and BKB's, of the same arms, that does not."""

from functools import cache, partial
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from kbrepro.figures.live.moments import rounded
from kbrepro.kernels import SquaredExponential, grid
from kbrepro.papers.bkb import pictures, starvation
from kbrepro.papers.bkb.starvation import BAND, Watched
from kbrepro.problems import GPDraw, Trial

SEED, N_ARMS, NOISE_VARIANCE, UPTO = 2019, 200, 0.01, 0.5
#: Numbers of pulls that are kept; of the still picture the paper's three.
KEPT, STILL = (2, 4, 6, 9, 14, 20, 30, 45, 63, 90, 140, 215), (6, 63, 215)
SHOWN = {"exact": "", "SoR": "", "BKB": "qbar=2"}
#: Every so manyth arm is drawn.
EVERY = 2


@cache
def _watched() -> Watched:
    """Fig. 1 of the paper: a draw of k(x, x') = exp(-100 (x - x')^2), observed in the left half alone."""
    source = GPDraw(SquaredExponential(np.sqrt(1 / 200)), grid(N_ARMS), NOISE_VARIANCE)
    left_half = partial(starvation.uniform_pulls, upto=UPTO)
    return starvation.snapshots(source, left_half, list(KEPT), [2.0], {"RFF": [], "QFF": []}, Trial(SEED, 0))


def scene() -> dict[str, Any]:
    """Return the numbers and the words of the scene."""
    watched, frames = _watched(), []
    x = watched.problem.model.points[:, 0]
    for t in KEPT:
        views = {name: watched.seen[name, setting, t] for name, setting in SHOWN.items()}
        bands = {n: {"mean": rounded(v.mean[::EVERY]), "sd": rounded(v.sd[::EVERY])} for n, v in views.items()}
        frames.append({"t": t, "views": bands, "members": rounded(x[np.unique(views["BKB"].members)])})
    return {
        "kind": "bands",
        "title": "BKB: who is certain of what was never seen?",
        "says": [
            "Both posteriors are approximated from the same few arms, the dictionary (ticks below), and nothing was "
            "observed in the right half.",
            "There SoR (left) is certain of a value that is wrong; BKB (right) takes into account what its dictionary "
            "cannot express, so that its band opens as the exact one does (black).",
        ],
        "try": "Go back to 2 pulls and step on: does more data make SoR's band hold more of f? (It goes up and "
        "down, since the dictionary is drawn anew each time, and stays below a half.)",
        "shown": {"SoR": "SoR: its variance starves", "BKB": "BKB: its variance does not"},
        "band": BAND,
        "upto": UPTO,
        "x": rounded(x[::EVERY]),
        "f": rounded(watched.problem.expected_reward[::EVERY]),
        "observed": [rounded(its) for its in zip(x[watched.pulls], watched.observations, strict=True)],
        "frames": frames,
        "open": len(KEPT) - 1,
    }


def still() -> Figure:
    """Return the picture that stands where scripts are off: the paper's three rows."""
    watched = _watched()
    x = watched.problem.model.points[:, 0]
    observed = {t: (x[watched.pulls[:t]], watched.observations[:t]) for t in STILL}
    sizes = {(name, t): watched.seen[name, SHOWN[name], t].n_features for name in ("SoR", "BKB") for t in STILL}
    frames = starvation.frames(watched, SHOWN)
    return pictures.strip(frames[frames["t"].isin(STILL)], observed, sizes)
