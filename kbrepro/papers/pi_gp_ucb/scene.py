"""The recorded scene of the paper on π-GP-UCB: cells that split over f and round its best arm."""

from functools import cache
from itertools import count
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from kbrepro.figures.live.moments import rounded
from kbrepro.figures.style import look
from kbrepro.kernels import Array, Matern
from kbrepro.papers.pi_gp_ucb import pictures
from kbrepro.papers.pi_gp_ucb.partition import PartitionedUCB, initial_side, must_split
from kbrepro.papers.pi_gp_ucb.problems import Bumps
from kbrepro.problems import Problem, Trial
from kbrepro.simulation import rounds

SEED, HORIZON, SIDE, D, NU = 2020, 1500, 30, 2, 1.5
#: Rounds that are kept, and those of the still picture.
KEPT = (1, 50, 100, 200, 300, *range(400, 500, 20), *range(500, 1501, 100))
STILL = (1, 300, 700, 1500)
COLOUR = look(pictures.HERO)["color"]


@cache
def _played() -> tuple[Problem, pd.DataFrame]:
    """The problem, and a row a cell of each round kept: its round, place, cells a side, pulls inside."""
    problem = Bumps(Matern(0.2, nu=NU), d=D, side=SIDE, noise_variance=1.0, noise_bound=1.0)(Trial(SEED, 1))
    policy, rows = PartitionedUCB(problem.model, HORIZON, delta=0.1, nu=NU), []
    for t, _, _ in rounds(policy, problem, HORIZON, Trial(SEED, 1).rng("run")):
        if t in KEPT:
            whole = [policy.cells[number] for number in np.unique(policy.slot_cell)]
            rows += [[t, *c.corner, c.side, len(c.history)] for c in whole]
    return problem, pd.DataFrame(rows, columns=["round", "column", "row", "parts", "pulls"])


def _pulls_to_split(side: int) -> int:
    """Return the number of pulls at which a cell of side 1 / `side` splits."""
    return next(pulls for pulls in count() if must_split(side, pulls, D, NU, "paper"))


def _frame(its: pd.DataFrame, best: Array, most: int) -> dict[str, Any]:
    """The cells of one round: left their outlines, right their pulls; and what is said of them."""
    marks: list[list[Any]] = [[], []]
    for parts, cells in its.groupby("parts"):
        boxes = [[c.column, c.row, c.column + 1, c.row + 1, round(85 * c.pulls / most)] for c in cells.itertuples()]
        marks[0].append(["boxes", [box[:4] for box in boxes], "none", COLOUR, int(parts)])
        marks[1].append(["boxes", boxes, COLOUR, COLOUR, int(parts)])
    corners, scaled = its[["column", "row"]].to_numpy(), best * its[["parts"]].to_numpy()
    holds = (corners <= scaled) & (scaled <= corners + 1)
    own, t = its["parts"][holds.all(axis=1)].max(), its["round"].iloc[0]
    says = (
        f"{len(its)} cells, the smallest of side 1/{its['parts'].max()}, that with the best arm (cross) of side "
        f"1/{own}; the largest number of pulls in one is {its['pulls'].max()}."
    )
    return {"label": f"round {t}", "says": says, "marks": marks}


def _panels(problem: Problem) -> list[dict[str, Any]]:
    """The function, and the square that its cells fill."""
    f, points = problem.expected_reward, problem.model.points
    best, last, half = points[f.argmax()], SIDE - 1, 0.5 / (SIDE - 1)
    shades, places = 45 * (f.max() - f) / np.ptp(f), points * last
    ground = [[*rounded(p - 0.5, 1), *rounded(p + 0.5, 1), round(s)] for p, s in zip(places, shades, strict=True)]
    axes = {
        "square": True,
        "x": [-half, 1 + half],
        "y": [-half, 1 + half],
        "over": [["text", *rounded(best), "✚", "#c04800"]],
    }
    axes |= {"xlabel": "arm, first coordinate", "ylabel": "arm, second coordinate"}
    return [
        axes | {"title": "f, unknown: light is high", "under": [["boxes", ground, "#000", "none", last]]},
        axes | {"title": "pulls inside a cell: dark is many", "under": []},
    ]


def scene() -> dict[str, Any]:
    """Return the numbers and the words of the scene."""
    problem, rows = _played()
    best, first = problem.model.points[problem.expected_reward.argmax()], initial_side(HORIZON, D, NU)
    return {
        "title": "π-GP-UCB: where do cells split?",
        "says": [
            "Each square is a cell with a posterior of its own, and it splits into four once it holds "
            f"{_pulls_to_split(first)} pulls; a cell of half the side needs more, {_pulls_to_split(2 * first)}, and "
            "here none has split again.",
            "The smallest cells lie where f is high and round its best arm, since most pulls go there; elsewhere the "
            "first, large cells are left as they were.",
        ],
        "try": "Go back to round 1 and play (a step is 20 to 100 rounds). When does the first cell split, and when "
        "has the one with the best arm become as small as the smallest?",
        "panels": _panels(problem),
        "key": [[COLOUR, "edges of cells"]],
        "note": "Cross: the best arm.",
        "frames": [_frame(its, best, rows["pulls"].max()) for _, its in rows.groupby("round")],
        "open": len(KEPT) - 1,
    }


def still() -> Figure:
    """Return the picture shown where scripts are off: four rounds."""
    problem, rows = _played()
    frames = rows[rows["round"].isin(STILL)].assign(
        x=lambda its: its["column"] / its["parts"],
        y=lambda its: its["row"] / its["parts"],
        side=lambda its: 1 / its["parts"],
    )
    return pictures.cells(frames, problem.model.points, problem.expected_reward)
