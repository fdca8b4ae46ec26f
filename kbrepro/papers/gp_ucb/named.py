"""Experiments whose regrets of the full-scale run are kept, by name: each makes the source of their problems.

It takes the parameters of that run, and `load(name)`, which loads sensor data (`kbrepro.data.store.load`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from kbrepro.kernels import SquaredExponential, grid
from kbrepro.papers.gp_ucb.experiments import rotations, sensor_problems
from kbrepro.problems import GPDraw, Rows

NOTEBOOK = "01_gp_ucb_information_gain"
THIRDS = ("first_third", "second_third", "last_third")


def fig5a(run: Mapping[str, Any], load: Callable[..., Any]) -> GPDraw:
    """Return draws from the squared exponential kernel on [0, 1]."""
    return GPDraw(SquaredExponential(0.2), grid(run["n_arms"]), noise_variance=0.025)


def fig5b(third: int, run: Mapping[str, Any], load: Callable[..., Any]) -> Rows:
    """Return temperatures of one third (0, 1, 2) of the days, learned from the others."""
    train, test = rotations(load("temperature").readings)[third]
    return sensor_problems(train, test[:: run["every"]], noise_variance=0.5)[0]


EXPERIMENTS = {"fig5a": fig5a} | {f"fig5b_{name}": partial(fig5b, third) for third, name in enumerate(THIRDS)}
#: How many consecutive trials resemble each other, where any do: at full scale, four hours.
BLOCKS = {f"fig5b_{name}": 240 for name in THIRDS}
