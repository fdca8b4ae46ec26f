"""Experiments whose regrets of the full-scale run are kept, by name: each makes the source of their problems.

It takes the parameters of that run; no sensor data is loaded. Table 1 in three dimensions is left out: on its 27000
arms an exact posterior of all arms takes gigabytes and hours.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from kbrepro.kernels import Matern
from kbrepro.papers.pi_gp_ucb.problems import Bumps

NOTEBOOK = "03_pi_gp_ucb_scaling"


def table1(d: int, lengthscale: float, run: Mapping[str, Any], load: Callable[..., Any]) -> Bumps:
    """Return sums of bumps of the Matérn-3/2 kernel on 30^d arms."""
    return Bumps(Matern(lengthscale, nu=1.5), d, side=30, noise_variance=1.0, noise_bound=1.0, noise_scale=1.0)


EXPERIMENTS = {
    f"table1_d{d}{variant}": partial(table1, d, lengthscale)
    for d in (1, 2)
    for variant, lengthscale in {"": 0.2, "_eq2": 0.2 * math.sqrt(3)}.items()  # eq. 2 by its letter
}
BLOCKS: dict[str, int] = {}
