"""The figures of the notebook on GP-UCB: each can be read and fits."""

import numpy as np
import pandas as pd
import pytest
from traces import trace_of

from kbrepro.figures import KERNEL_LOOK
from kbrepro.kernels import Linear, Matern, grid
from kbrepro.papers.gp_ucb import pictures

pytestmark = pytest.mark.usefixtures("styled")
LEVELS = np.linspace(0.5, 1.5, 24)[:, None] * np.arange(1.0, 101) ** -0.4
SCALES = dict.fromkeys((*pictures.RULES, *pictures.LATER), 3) | {"GP-UCB": 1, "GP-UCB/5": 2}
TRACES = {rule: trace_of(scale * LEVELS) for rule, scale in SCALES.items()}
FALLING = {name: 30.0 * base ** np.arange(20) for name, base in zip(KERNEL_LOOK, (1, 0.8, 0.5, 0.1), strict=True)}
GROWING = {name: scale * np.log1p(np.arange(1, 60)) for name, scale in zip(KERNEL_LOOK, (9, 4, 3, 2), strict=True)}


def strip(pulls):
    x, n = np.tile(np.linspace(0, 1, 9), len(pulls)), np.arange(len(pulls)) + 1
    frame = {"round": np.repeat(n, 9), "x": x, "f": x, "mean": x / 2, "half": 0.3, "pulled": np.repeat(pulls, 9)}
    return pictures.strip(pd.DataFrame(frame | {"observed": 0.9}), (1, 2))


def growth():
    index = pd.MultiIndex.from_product([["linear", "matern"], [1, 2]])
    columns = {"exponent": 0.4, "low": 0.3, "high": [0.4, 0.5, 0.6, 0.9], "allowed": 0.8, "since": 0.7}
    return pictures.growth(pd.DataFrame(columns, index))


def bounds():
    trace = TRACES["GP-UCB"]._replace(band_ratio=np.ones((24, 1)))
    return pictures.bounds_on_regret({"Theorem 1": (trace, 30.4 * np.cumsum(LEVELS.mean(axis=0)))})


THIRDS = {
    f"{third} third tested": {rule: TRACES[rule] for rule in pictures.RULES if third != "other" or rule != "GP-UCB"}
    for third in ("first", "other", "last")
}
DRAWS = {"linear": Linear(), "M": Matern(0.2, nu=2.5)}
FIGURES = {
    "strip": lambda: strip([0, 1, 0, 1, 0, 0.5, 0.5, 0.5, 0.5, 0.5]),
    "one panel": lambda: pictures.regrets("Fig. 5a", {"": TRACES}),
    "three panels": lambda: pictures.regrets("Fig. 5b", THIRDS, spread="mean and 95 % interval", unit="°C", block=4),
    "bounds": bounds,
    "growth": growth,
    "information": lambda: pictures.information(FALLING, GROWING, GROWING),
    "rates": lambda: pictures.rates(np.geomspace(10, 1e6, 20), d=3, dimensions=np.arange(1, 11)),
    "draws": lambda: pictures.prior_draws(DRAWS, grid(30), np.random.default_rng(1)),
    "field": lambda: pictures.field(np.eye(9, 2), np.arange(9.0), pd.Timestamp("2004-03-04"), "temperature", "°C"),
}


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_can_be_read(name, checked):
    figure = FIGURES[name]()
    checked(figure)
    assert figure.axes[0].get_xlabel() or figure.axes[-1].get_xlabel()
