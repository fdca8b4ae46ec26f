"""The recorded scene of the paper on π-GP-UCB: cells that split over f and round its best arm."""

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from kbrepro.kernels import Matern
from kbrepro.papers.pi_gp_ucb import pictures
from kbrepro.papers.pi_gp_ucb.partition import PartitionedUCB
from kbrepro.papers.pi_gp_ucb.problems import Bumps
from kbrepro.problems import Problem, Trial
from kbrepro.simulation import rounds

SEED, HORIZON, SIDE = 2020, 1500, 30
#: Rounds that are kept; of the still picture four of them.
KEPT = (1, 50, 100, 200, 300, *range(400, 500, 20), *range(500, 1501, 100))
STILL = (1, 300, 700, 1500)


@cache
def _played() -> tuple[Problem, pd.DataFrame]:
    """The problem, and a row a cell of each round kept: its round, place, cells a side, pulls inside."""
    problem = Bumps(Matern(0.2, nu=1.5), d=2, side=SIDE, noise_variance=1.0, noise_bound=1.0)(Trial(SEED, 1))
    policy, rows = PartitionedUCB(problem.model, HORIZON, delta=0.1, nu=1.5), []
    for t, _, _ in rounds(policy, problem, HORIZON, Trial(SEED, 1).rng("run")):
        if t in KEPT:
            whole = [policy.cells[number] for number in np.unique(policy.slot_cell)]
            rows += [[t, *c.corner, c.side, len(c.history)] for c in whole]
    return problem, pd.DataFrame(rows, columns=["round", "column", "row", "parts", "pulls"])


def scene() -> dict[str, Any]:
    """Return the numbers and the words of the scene."""
    problem, rows = _played()
    f, points = problem.expected_reward, problem.model.points
    cells = rows.set_index("round")
    frames = [{"t": t, "cells": cells.loc[[t]].to_numpy(dtype=int).tolist()} for t in KEPT]
    return {
        "kind": "cells",
        "title": "π-GP-UCB: where do cells split?",
        "says": [
            "Each square is a cell with a posterior of its own, and it splits into four once it holds enough pulls: "
            "the smaller it is, the more.",
            "The smallest cells lie where f is high and round its best arm, since most pulls go there; elsewhere the "
            "first, large cells are left as they were.",
        ],
        "try": "Go back to round 1 and play (a step is 20 to 100 rounds). When does the first cell split, and when "
        "has the one with the best arm become as small as the smallest?",
        "hero": pictures.HERO,
        "side": SIDE,
        "f": np.rint(100 * (f - f.min()) / np.ptp(f)).astype(int).tolist(),
        "best": points[f.argmax()].round(4).tolist(),
        "frames": frames,
        "open": len(KEPT) - 1,
    }


def still() -> Figure:
    """Return the picture that stands where scripts are off: four rounds."""
    problem, rows = _played()
    frames = rows[rows["round"].isin(STILL)].assign(
        x=lambda its: its["column"] / its["parts"],
        y=lambda its: its["row"] / its["parts"],
        side=lambda its: 1 / its["parts"],
    )
    return pictures.cells(frames, problem.model.points, problem.expected_reward)
