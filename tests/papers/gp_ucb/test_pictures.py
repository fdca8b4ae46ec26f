"""The figures of the notebook on GP-UCB: each can be read and fits, and its title follows what is drawn."""

import numpy as np
import pandas as pd
import pytest
from traces import trace_of

from kbrepro.figures import KERNEL_LOOK
from kbrepro.kernels import Linear, Matern, grid
from kbrepro.papers.gp_ucb import measures, pictures

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


def blocks():
    level = 1 + np.arange(24) % 8
    rules = ("GP-UCB/5", "EI", *measures.BEHIND.values())
    return pictures.blocks({rule: level + 2 * (rule == "mean only") for rule in rules}, "temperature", "°C", 4)


def growth():
    index = pd.MultiIndex.from_product([["linear", "matern"], [1, 2]])
    columns = {"exponent": 0.4, "low": 0.3, "high": [0.4, 0.5, 0.6, 0.9], "allowed": 0.8, "since": 0.7}
    return pictures.growth(pd.DataFrame(columns, index))


def bounds():
    trace = TRACES["GP-UCB"]._replace(band_ratio=np.ones((24, 1)))
    return pictures.bounds_on_regret({"Theorem 1": (trace, 30.4 * np.cumsum(LEVELS.mean(axis=0)))})


def loosened():
    pulls = np.arange(10, 60, 10)
    its = {"greedy": pulls[:3], "eq. 8": pulls * 2.0, "Lemma 7.8": pulls * 5.0}
    chain = {name: its | {"Theorem 8, O-term omitted": pulls * 2 * times} for name, times in (("SE", 9.7), ("M", 12))}
    return pictures.loosened_bounds(chain, pulls)


THIRDS = {
    f"{third} third tested": {rule: TRACES[rule] for rule in pictures.RULES if third != "other" or rule != "GP-UCB"}
    for third in ("first", "other", "last")
}
FIGURES = {  # figure -> what its title says of it
    lambda: strip([0, 1, 0, 1, 0, 0.5, 0.5, 0.5, 0.5, 0.5]): "then close together",
    lambda: strip([0.5, 0.5, 0.5, 0.5, 0.5, 0, 1, 0, 1, 0]): "keeps pulling arms far apart",
    lambda: pictures.regrets("Fig. 5a", {"": TRACES}): "least median regret, GP-UCB/5 2.00 times that",
    lambda: pictures.regrets("Fig. 5a", {"": TRACES}, "a finding"): "Fig. 5a: a finding",
    lambda: pictures.regrets(
        "Fig. 5b", THIRDS, spread="mean and 95 % interval", unit="°C", block=4
    ): "average regret of each rule, mean of trials",
    blocks: "temperature: average regret beside the worse",
    bounds: "Every bound is at least 30 times",
    growth: "Growth of the regret",
    lambda: pictures.information(FALLING, GROWING, GROWING): "Fig. 3, 20 arms: the faster the spectrum falls",
    lambda: pictures.information(FALLING, GROWING, GROWING | {"linear": 10 * GROWING["linear"]}): "does not follow",
    loosened: "the bound on the gain grows at least 9 times",
    lambda: pictures.rates(np.geomspace(10, 1e6, 20), d=3, dimensions=np.arange(1, 11)): "Fig. 1",
    lambda: pictures.prior_draws(
        {"linear": Linear(), "M": Matern(0.2, nu=2.5)}, grid(30), np.random.default_rng(1)
    ): "Fig. 4",
    lambda: pictures.field(np.eye(9, 2), np.arange(9.0), pd.Timestamp("2004-03-04"), "temperature", "°C"): "",
}


@pytest.mark.parametrize("draw", FIGURES)
def test_a_figure_can_be_read_and_its_title_is_true(draw, checked):
    figure = draw()
    assert FIGURES[draw] in checked(figure)
    assert figure.axes[0].get_xlabel() or figure.axes[-1].get_xlabel()
