"""The loads behind the claims on BKB by hand."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
from traces import trace_of

from kbrepro.bandits import information
from kbrepro.bandits.kernels import SquaredExponential, grid
from kbrepro.bandits.problems import RKHSFunction
from kbrepro.papers.bkb import claims


def by_hand(**results):
    """Kept results written here, of steps on 1000 arms."""
    source = SimpleNamespace(points=np.zeros((1000, 1)))
    steps = SimpleNamespace(what=SimpleNamespace(args=(source,)))
    return SimpleNamespace(results=results.__getitem__, planned=lambda label: steps)


def followed(low, high):
    ratios = SimpleNamespace(low=np.array(low), high=np.array(high))
    return SimpleNamespace(by_qbar=dict.fromkeys(claims.QBARS, ratios))


def test_worst_ratios_look_at_both_sides_and_a_tenth_is_not_all():
    one = followed([0.25, 0.34], [1.0, 2.9])
    np.testing.assert_allclose(claims.worst_ratio(one.by_qbar[4.0]), [4.0, 1 / 0.34])
    long = followed(np.ones(20), np.r_[np.full(2, 1.5), np.full(17, 1.0), 4.0])
    columns = claims.ratios_by_qbar(
        by_hand(**{f"BKB, {design}": [long] for design in claims.DESIGNS})
    )
    assert [
        columns["qbar = 4", f"{what}, plane"].item() for what in ("worst", "worst of a tenth")
    ] == [4.0, 1.5]


def test_seeds_of_figure_1_take_the_worst_side_of_all_panels():
    columns = ["seed", "name", "setting", "t", "starved", "inflated", "coverage"]
    rows = [(0, "BKB", "qbar=3", 6, 1.0, 1.5, 0.5), (0, "BKB", "qbar=3", 215, 1.0, 1.0, 1.0)]
    rows += [(1, "BKB", "qbar=3", 6, 1.0, 2.0, 0.5), (1, "BKB", "qbar=3", 215, 4.0, 1.0, 0.25)]
    frames = [pd.DataFrame(rows[i : i + 2], columns=columns) for i in (0, 2)]
    labels = {label: frames for label in ("starvation", *claims.OTHERS.values())}
    labels["Fig. 1, own qbar"] = [followed(np.ones(215), np.ones(215))]
    seeds = claims.seeds_of_figure_1(by_hand(**labels))
    assert seeds["BKB, qbar=3", "worst ratio"].tolist() == [1.5, 4.0]
    assert seeds["BKB, qbar=3", "coverage, t = 215"].tolist() == [1.0, 0.25]
    assert seeds["BKB, qbar=3, exp(-r^2/200)", "inflated, t = 6"].tolist() == [1.5, 2.0]
    assert set(seeds["BKB, Theorem 1's", "worst ratio"]) == {1.0}


def test_steps_of_runs_by_hand(monkeypatch):
    monkeypatch.setattr(claims, "worst_log_det", lambda source, horizon: 100.0)
    sizes = {"t": np.arange(1, 11), "members": 3, "features": 2, "distinct": 4, "d_eff": 1.5}
    kept = by_hand(
        **{"cost, A = 1000, d = 1": [{"sizes": sizes}], "sizes, A = 1000, d = 1": [sizes]}
    )
    columns = {name: set(column) for name, column in claims.steps_of_runs(1, kept).items()}
    assert columns["BKB", "total"] == {1004 * 4} and columns["exact, rows", "total"] == {10000}
    assert (columns["BKB", "space"], columns["exact, refit", "space"]) == ({2}, {10})
    assert columns["BKB", "log det"] == {3 * 1.5 * np.log(10)} and columns[
        "worst case", "log det"
    ] == {100}


def test_the_worst_case_bounds_the_log_determinant_of_any_pulls():
    source = RKHSFunction(SquaredExponential(0.2), grid(30), 0.01, norm=1.0)
    gains, _ = information.greedy_gain(source.kernel, source.points, 0.01, 40)
    assert 2 * gains[-1] <= claims.worst_log_det(source, 40) < 30 * np.log(1 + 40 / 0.01)


def test_dictionaries_and_fixed_sizes_by_hand():
    pairs = claims.equal_sizes(
        by_hand(**{"equal size, window": [(1.0, 10.0)], "equal size, uniform": [(1.0, 1.0)]})
    )
    assert pairs["DTC, window", "total"] == 10 and pairs["BKB, window", "total"] == 1
    traces = {"two features": {"RFF": trace_of(np.ones((1, 20)))}, "more features": {}}
    sizes = claims.fixed_sizes(SimpleNamespace(traces=traces.__getitem__))
    assert (sizes["RFF", "total"], sizes["RFF", "first tenth"]) == (20, 2)
