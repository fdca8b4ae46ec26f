"""The claims on BKB: numbers under readings that stood in edition 0.3.0 (id, value), and the loads by hand."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from traces import trace_of

from kbrepro import information, paths, store
from kbrepro.claims import replication_probabilities
from kbrepro.claims.tables import Kept, View, Whole
from kbrepro.kernels import SquaredExponential, grid
from kbrepro.papers.bkb import claims
from kbrepro.papers.bkb.experiments import Followed, Ratios

KEPT = Kept(paths.project_root() / "results" / "paper" / "04_bkb_variance_starvation" / "played")


def whole(table, **reading):
    """All kept trials of a table as one experiment."""
    trials = table.under(KEPT, reading)
    return View(trials, Whole(table, np.random.default_rng(0), redrawn=False))


def effect(claim, **reading):
    return np.ravel(claim.effect(*(whole(table, **reading) for table in claim.tables(claim.effect))))[0]


#: The main readings, with their verdicts, are in the committed claims.json (tests/test_rejudge.py).
OLD = [
    ("4-A", 7.60670413275, claims.bkb_is_close_in_figure_1, {"qbar": "2"}),
    ("4-A", 1.00000089111, claims.bkb_is_close_in_figure_1, {"qbar": "5"}),
    ("4-C", 2.07902404777, claims.random_features_starve, {"features": "100"}),
    ("4-F", 0.000458333333333, claims.theorem_1_holds_at_a_small_qbar, {"qbar": "3"}),
    ("4-F", 0.0540000000000, claims.theorem_1_holds_at_a_small_qbar, {"qbar": "2"}),
    ("4-F", 0.758416666667, claims.theorem_1_holds_at_a_small_qbar, {"qbar": "1"}),
    ("4-H", 0.0194171485000, claims.the_sketch_costs_no_regret, {"radius": "3 sd"}),
    ("4-R", 0.000359669455715, claims.the_sketch_costs_no_regret, {"kernel": "linear"}),
    ("4-P", 0.0125242457678, claims.the_choice_of_points_matters, {"pulls": "uniform"}),
]


@pytest.mark.parametrize(("old", "value", "claim", "reading"), OLD)
def test_the_same_quantity_is_the_same_number(old, value, claim, reading):
    assert effect(claim, **reading) == pytest.approx(value, rel=1e-9, abs=1e-15)


def test_theorems_have_the_room_they_had():
    assert 1 / claims.theorem_1_size.check(KEPT).room == pytest.approx(38.9580574036, rel=1e-9)
    assert 1 / claims.log_det_by_d_eff.check(KEPT).room == pytest.approx(0.130050732342, rel=1e-9)
    assert claims.cost_by_d_eff.check(KEPT).room == pytest.approx(2.97172915744 / 4, rel=1e-9)
    assert claims.propositions_4_and_5.check(KEPT).room == pytest.approx(1 + 1.88e-13, abs=1e-12)


def test_figure_1_is_one_seed_and_with_qbar_2_its_probability_is_the_share_of_close_seeds():
    trials = claims.fig1.under(KEPT, {"qbar": "2"})
    share = np.mean(trials.column("BKB", "worst ratio") <= 3)
    predicate = claims.bkb_is_close_in_figure_1.predicate
    assert claims.fig1.size == 1 and 0.8 < share < 0.95

    def probability(table):
        rng = np.random.default_rng(5)
        (number,) = replication_probabilities(predicate, [[table.under(KEPT, {"qbar": "2"})]], rng, redraws=50)
        return number.value

    assert probability(claims.fig1) == pytest.approx(share, abs=0.01)
    assert abs(probability(replace(claims.fig1, size=25)) - share) > 0.1  # another experiment: the mean of 25 seeds


def test_rules_swapped_give_another_verdict():
    regret = whole(claims.radii)
    assert claims.the_radius_decides.predicate(regret).all()
    swapped = {"BKB": "BKB, Theorem 2's radius", "BKB, Theorem 2's radius": "BKB"}
    wrong = whole(replace(claims.radii, readings={"swapped": {"yes": swapped}}))
    assert not claims.the_radius_decides.predicate(wrong).any()


class ByHand:
    """Kept results written here."""

    def __init__(self, traces=None, **results):
        self.results, self.traces = results.__getitem__, (traces or {}).__getitem__

    def seed(self, label):
        return 1


def followed(low, high):
    ratios = Ratios(np.array(low), np.array(high), np.array([1, 2]), np.array([1, 2]))
    return Followed(dict.fromkeys(claims.QBARS, ratios), np.ones(2))


def test_worst_ratios_and_bad_steps_look_at_both_sides_and_a_tenth_is_not_all():
    one = followed([0.25, 0.34], [1.0, 2.9])
    np.testing.assert_allclose(claims.worst_ratios(ByHand(own=[one]), "own")[0], [4.0, 1 / 0.34])
    bad = [claims.bad_steps(run.by_qbar[4.0]).tolist() for run in (one, followed([0.5, 0.34], [3.1, 2.9]))]
    assert bad == [[True, False]] * 2
    long = followed(np.ones(20), np.r_[np.full(2, 1.5), np.full(17, 1.0), 4.0])
    columns = claims.ratios_by_qbar(ByHand(**{f"BKB, {design}": [long] for design in claims.DESIGNS}))
    plane = [columns["qbar = 4", f"{what}, plane"].item() for what in ("worst", "worst of a tenth", "bad")]
    assert plane == [4.0, 1.5, 0.05]


def test_seeds_of_figure_1_take_the_worst_side_of_all_panels():
    columns = ["seed", "name", "setting", "t", "starved", "inflated", "coverage"]
    rows = [(0, "BKB", "qbar=3", 6, 1.0, 1.5, 0.5), (0, "BKB", "qbar=3", 215, 1.0, 1.0, 1.0)]
    rows += [(1, "BKB", "qbar=3", 6, 1.0, 2.0, 0.5), (1, "BKB", "qbar=3", 215, 4.0, 1.0, 0.25)]
    frames = [pd.DataFrame(rows[i : i + 2], columns=columns) for i in (0, 2)]
    labels = {label: frames for label in ("starvation", *claims.OTHERS.values())}
    labels["Fig. 1, own qbar"] = [Followed({9.0: Ratios(*np.ones((4, 215)))}, np.ones(215))]
    seeds = claims.seeds_of_figure_1(ByHand(**labels))
    assert seeds["BKB, qbar=3", "worst ratio"].tolist() == [1.5, 4.0]
    assert seeds["BKB, qbar=3", "starves"].tolist() == [0.0, 1.0]
    assert seeds["BKB, qbar=3", "coverage, t = 215"].tolist() == [1.0, 0.25]
    assert seeds["BKB, qbar=3, exp(-r^2/200)", "inflated, t = 6"].tolist() == [1.5, 2.0]
    assert seeds["BKB, Theorem 1's", "worst ratio"].tolist() == [1.0]


def test_dictionaries_fixed_sizes_and_whole_runs_by_hand():
    pairs = claims.equal_sizes(ByHand(**{"equal size, window": [(1.0, 10.0)], "equal size, uniform": [(1.0, 1.0)]}))
    assert pairs["DTC, window", "decades"] == 1 and pairs["BKB, window", "total"] == 1
    trace = trace_of(np.ones((1, 20)))
    sizes = claims.fixed_sizes(ByHand({"two features": {"RFF": trace}, "more features": {}}))
    assert (sizes["RFF", "total"], sizes["RFF", "first tenth"]) == (20, 2)
    runs = {f"whole runs, d = {d}": [{"operations": {"BKB": spent}}] for d, spent in ((1, 5.0), (2, 7.0))}
    assert claims.whole_runs(ByHand(**runs))["BKB", "total"].tolist() == [5.0, 7.0]


def test_steps_of_runs_by_hand(monkeypatch):
    monkeypatch.setattr(claims, "worst_log_det", lambda points, horizon: 100.0)
    sizes = {"t": np.arange(1, 11), "members": 3, "features": 2, "distinct": 4, "d_eff": 1.5}
    kept = ByHand(**{"cost, A = 1000, d = 1": [{"sizes": sizes}], "sizes, A = 1000, d = 1": [sizes]})
    columns = claims.steps_of_runs(1, kept)
    assert columns["BKB", "total"].tolist() == [1004 * 4] * 2 and columns["kept", "total"][0] == 1004 * 16
    assert (columns["exact, rows", "at a fifth"][0], columns["exact, rows", "total"][0]) == (2000, 10000)
    space = [columns[rule, "space"].tolist() for rule in ("BKB", "kept", "exact, refit")]
    assert space == [[2000.0] * 2, [4000.0] * 2, [10000.0] * 2]
    np.testing.assert_allclose(columns["BKB, with alpha", "log det"], 4.5 * np.log(10))
    assert columns["worst case", "log det"].tolist() == [100.0] * 2


def test_dimension_from_counts_is_that_of_the_pulls():
    arms, kernel = np.array([0, 3, 3, 6, 6, 6]), SquaredExponential(0.3)
    of_pulls = information.effective_dimension(kernel, grid(7)[arms], claims.NOISE_VARIANCE)
    assert claims.dimension(kernel, grid(7), np.bincount(arms, minlength=7)) == pytest.approx(of_pulls, rel=1e-12)


def test_the_points_of_the_costs_are_those_that_were_played():
    settings = store.opened(KEPT.folder, "sizes, A = 1000, d = 2")[0]
    norm = settings["job"]["sizes_of_steps"]["positional"][0]["RKHSFunction"]["points"]["array"]["norm"]
    points = np.random.default_rng([KEPT.seed("sizes, A = 1000, d = 2"), 1000, 2]).uniform(size=(1000, 2))
    assert np.linalg.norm(points) == pytest.approx(norm, rel=1e-12)


def test_the_worst_case_bounds_the_log_determinant_of_any_pulls():
    points = grid(30)
    K = SquaredExponential(0.2)(points, points)
    gains, _ = information.greedy_gain(SquaredExponential(0.2), points, claims.NOISE_VARIANCE, 40)
    assert 2 * gains[-1] <= claims.worst_log_det(points, 40) < len(K) * np.log(1 + 40 / claims.NOISE_VARIANCE)
