"""The figures of the notebook on IGP-UCB and GP-TS: each can be read and fits, and its title follows what is drawn."""

import numpy as np
import pandas as pd
import pytest
from traces import trace_of

from kbrepro import figures
from kbrepro.kernels import SquaredExponential, grid
from kbrepro.papers.igp_ucb import pictures
from kbrepro.papers.igp_ucb.experiments import pool
from kbrepro.problems import Model, Problem
from kbrepro.regret import Estimate

MEAN = (*pool("mean of pulled arms"), "PI, margin 0.01")
NOISY = pool("noisy reward")
RNG = np.random.default_rng(1)
X = np.linspace(0, 1, 40)
ROW = np.linspace(0.5, 2, 40)
CLASSICAL = RNG.uniform(1, 2, 24)

pytestmark = pytest.mark.usefixtures("styled")


def idea():
    problem = Problem(Model(grid(40), SquaredExponential(0.2), 0.1), np.sin(6 * X))
    rounds = pd.RangeIndex(1, 41, name="round")
    widths = {"GP-UCB": 500, "IGP-UCB": 4, "IGP-UCB, gain of the pulls": 8, "IGP-UCB, tighter": 6}
    over_time = pd.DataFrame({name: w * np.sqrt(rounds / 8) for name, w in widths.items()}, index=rounds)
    posterior = 0.9 * np.sin(6 * X), 0.1 + 0.1 * X, np.cos(6 * X)
    return pictures.idea(problem, posterior, [(arm, np.sin(6 * X[arm])) for arm in range(0, 40, 6)], over_time)


def regrets():
    levels = np.linspace(0.5, 1.5, 6)[:, None] * np.arange(1.0, 301) ** -0.4
    rules = dict.fromkeys((*NOISY, *MEAN))
    traces = {rule: trace_of((1.0 + (7 * i) % 8) * levels) for i, rule in enumerate(rules)}  # IGP-UCB: 8
    best = traces | {"IGP-UCB": trace_of(0.5 * levels)}
    traces |= {"IGP-UCB": trace_of(0.9 * levels), "EI": trace_of(0.8 * levels)}
    columns = {"noisy incumbent": NOISY, "mean-based incumbent": MEAN}
    return pictures.regrets("Fig. 7", {"(a) SE": traces, "(b) Matérn": best}, columns)


def deciding():
    panels = {name: {"IGP-UCB": RNG.uniform(1, 2, 25), "EI": RNG.uniform(1, 2, 25)} for name in ("SE", "Matérn")}
    for panel in panels.values():
        panel["GP-TS"] = 3 * panel["IGP-UCB"]
    panels["SE"]["EI"][3] = 0.0  # drawn at the smallest above 0
    return pictures.deciding(panels, {"Thompson": "GP-TS", "EI, mean-based": "EI"}, seed=3)


def since():
    panels = {"Fig. 1": (0.8 * CLASSICAL, CLASSICAL, 1), "light, a third": (0.9 * CLASSICAL, CLASSICAL, 8)}
    panels["two blocks"] = np.repeat([0.1, 1.0], 12) * CLASSICAL, CLASSICAL, 12  # an interval that reaches below 0
    return pictures.since(panels, seed=3)


def incumbent():
    excess = np.linspace(-3, 2, 200) + np.linspace(-0.1, 0.1, 5)[:, None]
    shares = {"EI": 0.9, "EI, noisy incumbent": 0.5, "IGP-UCB": 0.8, "PI": 0.2}
    return pictures.incumbent(excess, {rule: np.linspace(0, [end, 0.9 * end], 200).T for rule, end in shares.items()})


def sensors():
    first = {"GP-UCB": 3 * ROW, "IGP-UCB": ROW, "EI, noisy incumbent": 2 * ROW}
    second = {"GP-UCB": ROW, "IGP-UCB": 2 * ROW, "EI, noisy incumbent": np.where(ROW < 0.6, 0, 3 * ROW)}
    return pictures.sensors({"light": (first, "Lux"), "temperature": (second, "°C")}, horizon=100)


def theorems():
    excess = {"at random": RNG.exponential(0.5, 200) + 4, "largest mean": RNG.exponential(0.5, 200) - 0.5}
    run = trace_of(np.zeros((20, 2)))
    covered = {"SE": run._replace(band_ratio=np.full((20, 2), 0.5))}
    covered["Matérn"] = run._replace(band_ratio=np.linspace(0.1, 1.05, 20)[:, None])
    return pictures.theorems(excess, covered, 0.1)


def kernels_and_dimensions():
    rules = (*NOISY[1:], "EI, margin 0.01", "PI, margin 0.01")
    table = pd.DataFrame(1.5 + np.arange(24.0).reshape(4, 6), [f"SE, given lengthscale {i}" for i in range(4)], rules)
    return pictures.kernels_and_dimensions(table, {d: Estimate(2.0 * d, 1.5 * d, 2.5 * d) for d in (1, 2, 3, 4)})


TITLES = {  # figure -> what its title says of it
    idea: "GP-UCB's band is up to 125 times as wide as that of IGP-UCB",
    regrets: "IGP-UCB leads with the noisy incumbent,\nno one rule leads with the mean-based incumbent",
    deciding: "Regret of the rivals over that of IGP-UCB",
    since: "Regret with the tighter width over that with the classical one",
    incumbent: "ends 2.0 R above every arm",
    sensors: "smallest median first",
    theorems: "is crossed clearly more often than allowed;\nthe band of Theorem 2 holds in 95.0% of runs",
    kernels_and_dimensions: "of PI, margin 0.01, is up to 24.5 times as large.\nGP-TS has 2.0 to 8.0 times",
}


@pytest.mark.parametrize("draw", TITLES)
def test_a_figure_can_be_read_and_its_title_is_true(draw, checked):
    figure = draw()
    assert TITLES[draw] in checked(figure)
    assert figure.axes[-1].get_xlabel()


def test_variants_of_a_rule_are_told_apart():
    for rule in ("EI", "PI"):
        variants = {name: look for name, look in pictures.VARIANTS.items() if name.startswith(rule)}
        assert list(variants) == [f"{rule}, margin {margin}" for margin in (0.01, 0.03, 0.1)]
        looks = [*variants.values(), figures.LOOK[rule], figures.LOOK[f"{rule}, noisy incumbent"]]
        assert len(set(looks)) == 5 and len({colour for colour, _ in looks}) == 1


def test_sensors_are_sorted_by_median():
    rules = [label.get_text() for label in sensors().axes[0].get_yticklabels()]
    assert rules == ["IGP-UCB", "EI, noisy incumbent", "GP-UCB"]
