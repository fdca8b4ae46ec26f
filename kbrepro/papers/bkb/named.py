"""Experiments whose regrets of the full-scale run are kept, by name: each makes the source of their problems.

It takes the parameters of that run; no sensor data is loaded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from kbrepro.kernels import SquaredExponential
from kbrepro.problems import RKHSFunction

NOTEBOOK = "04_bkb_variance_starvation"


def regret(run: Mapping[str, Any], load: Callable[..., Any]) -> RKHSFunction:
    """Return functions of norm 2 on random arms of the unit square, which are the same in all trials."""
    n = run["regret_arms"]
    points = np.random.default_rng([run["seed"], n, 2]).uniform(size=(n, 2))
    return RKHSFunction(SquaredExponential(0.2), points, run["noise_variance"], norm=2.0)


EXPERIMENTS = {"regret": regret}
BLOCKS: dict[str, int] = {}
