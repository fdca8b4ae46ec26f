"""The figures of the notebook on IGP-UCB and GP-TS: each can be read and fits."""

import numpy as np
import pytest
from traces import trace_of

from kbrepro import figures
from kbrepro.papers.igp_ucb import pictures
from kbrepro.papers.igp_ucb.experiments import pool

MEAN = (*pool("mean of pulled arms"), "PI, margin 0.01")
NOISY = pool("noisy reward")
RNG = np.random.default_rng(1)
ROW = np.linspace(0.5, 2, 40)
CLASSICAL = RNG.uniform(1, 2, 24)

pytestmark = pytest.mark.usefixtures("styled")


def regrets():
    levels = np.linspace(0.5, 1.5, 6)[:, None] * np.arange(1.0, 301) ** -0.4
    rules = dict.fromkeys((*NOISY, *MEAN))
    traces = {rule: trace_of((1.0 + (7 * i) % 8) * levels) for i, rule in enumerate(rules)}  # IGP-UCB: 8
    best = traces | {"IGP-UCB": trace_of(0.5 * levels)}
    traces |= {"IGP-UCB": trace_of(0.9 * levels), "EI": trace_of(0.8 * levels)}
    columns = {"noisy incumbent": NOISY, "mean-based incumbent": MEAN}
    return pictures.regrets("Fig. 7", {"(a) SE": traces, "(b) Matérn": best}, columns)


def since():
    panels = {"Fig. 1": (0.8 * CLASSICAL, CLASSICAL), "light, a third": (0.9 * CLASSICAL, CLASSICAL)}
    return pictures.since(panels, seed=3)


def incumbent():
    excess = np.linspace(-3, 2, 200) + np.linspace(-0.1, 0.1, 5)[:, None]
    shares = {"EI": 0.9, "EI, noisy incumbent": 0.5, "IGP-UCB": 0.8, "PI": 0.2}
    return pictures.incumbent(excess, {rule: np.linspace(0, [end, 0.9 * end], 200).T for rule, end in shares.items()})


def sensors():
    first = {"GP-UCB": 3 * ROW, "IGP-UCB": ROW, "EI, noisy incumbent": 2 * ROW}
    second = {"GP-UCB": ROW, "IGP-UCB": 2 * ROW, "EI, noisy incumbent": np.where(ROW < 0.6, 0, 3 * ROW)}
    return pictures.sensors({"light": (first, "Lux"), "temperature": (second, "°C")}, horizon=100)


@pytest.mark.parametrize("draw", [regrets, since, incumbent, sensors])
def test_a_figure_can_be_read(draw, checked):
    figure = draw()
    assert checked(figure) and figure.axes[-1].get_xlabel()


def test_variants_of_a_rule_are_told_apart():
    for rule in ("EI", "PI"):
        variants = {name: look for name, look in pictures.VARIANTS.items() if name.startswith(rule)}
        assert list(variants) == [f"{rule}, margin {margin}" for margin in (0.01, 0.03, 0.1)]
        looks = [*variants.values(), figures.LOOK[rule], figures.LOOK[f"{rule}, noisy incumbent"]]
        assert len(set(looks)) == 5 and len({colour for colour, _ in looks}) == 1


def test_sensors_are_sorted_by_median():
    rules = [label.get_text() for label in sensors().axes[0].get_yticklabels()]
    assert rules == ["IGP-UCB", "EI, noisy incumbent", "GP-UCB"]
