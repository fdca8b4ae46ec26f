"""The figures of the notebook on BKB: readable, and what they draw is what they were given."""

import numpy as np
import pandas as pd
import pytest
from traces import trace_of

from kbrepro.papers.bkb import costs, pictures

pytestmark = pytest.mark.usefixtures("styled")


def frames():
    x, parts = np.linspace(0, 1, 41), []
    for t in (6, 63):
        for name, sd in (("exact", 1.0), ("BKB", 1.0), ("SoR", 0.1)):
            member = (np.arange(41) == 5) * 2 if name == "BKB" else 0
            columns = {"t": t, "name": name, "x": x, "f": np.where(x < 0.7, 0.2, 1.0), "mean": 0.0, "sd": sd}
            parts.append(pd.DataFrame(columns | {"member": member}))
    return pd.concat(parts)


def strip():
    observed = {6: ([0.1, 0.2], [0.5, 0.6]), 63: ([0.3], [0.1])}
    return pictures.strip(frames(), observed, {(name, t): t for name in ("BKB", "SoR") for t in observed})


def starved():
    rows = [(seed, "SoR", "", t, 1e12, 1.0) for seed in range(5) for t in (6, 215)]
    rows += [(seed, "BKB", "", t, 1.0, 10.0) for seed in range(5) for t in (6, 215)]
    table = pd.DataFrame(rows, columns=["seed", "name", "setting", "t", "starved", "inflated"])
    return pictures.starvation(table, {"BKB, as is": ("BKB", ""), "SoR": ("SoR", "")})


def transition():
    rows = [
        (name, design, q, run, run / 50 + (name != "BKB") / q, 1.0 + run, 18.4)
        for name in ("BKB", "BKB, streaming")
        for design in ("uniform", "window")
        for q in (1.0, 4.0)
        for run in (0, 1)
    ]
    columns = ["dictionary", "design", "qbar", "run", "bad", "size", "d_eff"]
    return pictures.transition(pd.DataFrame(rows, columns=columns))


def regret():
    levels = {"exact": 2.0, "BKB": 2.1, "BKB, Theorem 2's radius": 8.0, "exact, 3 sd": 0.5}
    falling = np.linspace(0.5, 1.5, 6)[:, None] * np.diff(np.arange(301) ** 0.6)
    return pictures.regret({name: trace_of(level * falling) for name, level in levels.items()}, "Regret")


def ratios():
    base = np.random.default_rng(1).uniform(1, 2, 30)
    return pictures.beside_exact({"exact": base, "BKB": 1.05 * base, "wide": 4 * base}, ["BKB", "wide"], seed=1)


def operations():
    t = pd.RangeIndex(1, 401, name="t")
    sizes = pd.DataFrame({"members": 30, "features": 20, "distinct": 25, "d_eff": 6.5}, t)
    return pictures.operations_per_step({f"A = {n}": [costs.operations(sizes, n)] for n in (10, 99)})


@pytest.mark.parametrize("draw", [strip, starved, transition, regret, ratios, operations])
def test_a_figure_is_readable(draw, checked):
    figure = draw()
    assert checked(figure)
    assert all(ax.get_xlabel() or figure.get_supxlabel() for ax in figure.axes[-1:])


def test_a_panel_of_figure_1_says_how_much_of_the_unseen_half_its_band_holds():
    titles = [ax.get_title() for ax in strip().axes]
    assert titles[1] == "SoR, m = 6\n35% of unseen f inside"  # 7 of 20 arms beyond 0.5 have f = 0.2, sd is 0.1
    assert "100% of unseen" in titles[0]


def test_ratios_are_over_the_exact_rule():
    (ax,) = ratios().axes
    dots = np.concatenate([line.get_xdata() for line in ax.lines if len(line.get_xdata()) == 30])
    np.testing.assert_allclose(np.unique(dots.round(6)), [1.05, 4.0])
