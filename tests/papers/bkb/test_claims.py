"""The claims on BKB: numbers that stood in edition 0.3.0 are the same (old id, part, value), and the loads by hand."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from kbrepro import information, paths
from kbrepro.claims import replication_probabilities
from kbrepro.claims.tables import Kept, View, Whole
from kbrepro.kernels import SquaredExponential, grid
from kbrepro.papers.bkb import claims
from kbrepro.papers.bkb.experiments import Followed, Ratios
from kbrepro.regret import Trace

KEPT = Kept(paths.project_root() / "results" / "paper" / "04_bkb_variance_starvation" / "played")


def whole(table, **reading):
    """All kept trials of a table as one experiment."""
    trials = table.under(KEPT, reading)
    return View(trials, Whole(table, np.random.default_rng(0), redrawn=False))


def effect(claim, **reading):
    return np.ravel(claim.effect(*(whole(table, **reading) for table in claim.tables(claim.effect))))[0]


OLD = [
    ("4-A inflated_3", 1.00281282001, claims.bkb_is_close_in_figure_1, {}),
    ("4-A inflated_2", 7.60670413275, claims.bkb_is_close_in_figure_1, {"qbar": "2"}),
    ("4-A inflated_5", 1.00000089111, claims.bkb_is_close_in_figure_1, {"qbar": "5"}),
    ("4-B sor", 0.389195000000, claims.sor_starves, {}),
    ("4-C starved", 5.05387833446, claims.random_features_starve, {}),
    ("4-C starved_100", 2.07902404777, claims.random_features_starve, {"features": "100"}),
    ("4-F four", 0.0, claims.theorem_1_holds_at_a_small_qbar, {}),
    ("4-F three", 0.000458333333333, claims.theorem_1_holds_at_a_small_qbar, {"qbar": "3"}),
    ("4-F two", 0.0540000000000, claims.theorem_1_holds_at_a_small_qbar, {"qbar": "2"}),
    ("4-F one", 0.758416666667, claims.theorem_1_holds_at_a_small_qbar, {"qbar": "1"}),
    ("4-H theory", 0.00301374152400, claims.the_sketch_costs_no_regret, {}),
    ("4-H three", 0.0194171485000, claims.the_sketch_costs_no_regret, {"radius": "3 sd"}),
    ("4-R ratio", 0.000359669455715, claims.the_sketch_costs_no_regret, {"kernel": "linear"}),
    ("4-N theorem", 3.81691082581, claims.the_radius_decides, {}),
    ("4-P worse", 2.13547969795, claims.the_choice_of_points_matters, {}),
    ("4-P uniform", 0.0125242457678, claims.the_choice_of_points_matters, {"pulls": "uniform"}),
    ("4-S dimension", 0.827128550021, claims.d_eff_is_small, {}),
    ("4-Y two", 0.164575340761, claims.mini_gp_ucb_is_cheap_and_good, {}),
]


@pytest.mark.parametrize(("value", "claim", "reading"), [row[1:] for row in OLD], ids=[row[0] for row in OLD])
def test_the_same_quantity_is_the_same_number(value, claim, reading):
    assert effect(claim, **reading) == pytest.approx(value, rel=1e-9, abs=1e-15)


THEOREMS = [
    ("4-G bound", 38.9580574036, lambda: 1 / claims.theorem_1_size.check(KEPT).room),
    ("4-T bound", 0.130050732342, lambda: 1 / claims.log_det_by_d_eff.check(KEPT).room),
    ("4-L violation", 1 + 3.26405569240e-14, lambda: claims.proposition_5.check(KEPT).room),
    ("4-V variance", 1 + 1.88293824976e-13, lambda: claims.proposition_4.check(KEPT).room),
    ("4-AA space", 2.97172915744 / 4, lambda: claims.cost_by_d_eff.check(KEPT).room),
    ("4-S rough", 0.305483973192, lambda: whole(claims.spaces)["lengthscale 0.1"][0]),
]


@pytest.mark.parametrize(("value", "number"), [row[1:] for row in THEOREMS], ids=[row[0] for row in THEOREMS])
def test_theorems_have_the_room_they_had(value, number):
    assert number() == pytest.approx(value, rel=1e-9)


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

    folder = None

    def __init__(self, traces=None, **results):
        self._results, self._traces = results, traces

    def results(self, label):
        return self._results[label]

    def traces(self, label):
        return self._traces[label]


def ratios(low, high):
    return Ratios(np.array(low), np.array(high), np.array([1, 2]), np.array([1, 2]))


def test_worst_ratios_and_bad_steps_look_at_both_sides():
    one = ratios([0.25, 0.5], [1.0, 3.5])
    kept = ByHand(own=[Followed({9.0: one}, np.ones(2))])
    np.testing.assert_allclose(claims.worst_ratios(kept, "own"), [[4.0, 3.5]])
    assert claims.bad_steps(one).tolist() == [True, True]
    assert claims.bad_steps(ratios([0.34, 0.3], [2.9, 1.0])).tolist() == [False, True]


def test_ratios_by_qbar_tell_a_tenth_from_all():
    steps = np.r_[np.full(2, 1.5), np.full(17, 1.0), 4.0]
    one = Ratios(np.ones(20), steps, steps, steps)
    kept = ByHand(
        **{f"BKB, {design}": [Followed(dict.fromkeys(claims.QBARS, one), steps)] for design in claims.DESIGNS}
    )
    columns = claims.ratios_by_qbar(kept)
    of_plane = [columns["qbar = 4", f"{what}, plane"].item() for what in ("worst", "worst of a tenth", "bad")]
    assert of_plane == [4.0, 1.5, 0.05]


def test_seeds_of_figure_1_take_the_worst_side_of_all_panels():
    columns = ["seed", "name", "setting", "t", "starved", "inflated", "coverage"]
    rows = [(1, "BKB", "qbar=3", 6, 1.0, 2.0, 0.5), (1, "BKB", "qbar=3", 215, 4.0, 1.0, 0.25)]
    rows += [(0, "BKB", "qbar=3", 6, 1.0, 1.5, 0.5), (0, "BKB", "qbar=3", 215, 1.0, 1.0, 1.0)]
    frames = [pd.DataFrame(rows[i : i + 2], columns=columns) for i in (2, 0)]
    labels = {label: frames for label in ("starvation", *claims.OTHERS.values())}
    one = Ratios(*(np.ones(215) for _ in range(4)))
    found = claims.seeds_of_figure_1(ByHand(**labels, **{"Fig. 1, own qbar": [Followed({9.0: one}, np.ones(215))]}))
    assert found["BKB, qbar=3", "worst ratio"].tolist() == [1.5, 4.0]  # in the order of seeds
    assert found["BKB, qbar=3", "starves"].tolist() == [0.0, 1.0]
    assert found["BKB, qbar=3", "coverage, t = 215"].tolist() == [1.0, 0.25]
    assert found["BKB, qbar=3, exp(-r^2/200)", "inflated, t = 6"].tolist() == [1.5, 2.0]
    assert found["BKB, Theorem 1's", "worst ratio"].tolist() == [1.0]


def test_dictionaries_fixed_sizes_and_whole_runs_by_hand():
    pairs = claims.equal_sizes(ByHand(**{"equal size, window": [(1.0, 10.0)], "equal size, uniform": [(1.0, 1.0)]}))
    assert pairs["DTC, window", "decades"] == 1 and pairs["BKB, window", "total"] == 1
    trace = Trace(np.zeros((1, 20), int), np.ones((1, 20)), np.ones((1, 20)), np.ones((1, 20)))
    sizes = claims.fixed_sizes(ByHand({"two features": {"RFF": trace}, "more features": {}}))
    assert (sizes["RFF", "total"], sizes["RFF", "first tenth"]) == (20, 2)
    runs = [{"operations": {"BKB": 5.0}}], [{"operations": {"BKB": 7.0}}]
    of_runs = claims.whole_runs(ByHand(**{f"whole runs, d = {d}": run for d, run in zip((1, 2), runs, strict=True)}))
    assert of_runs["BKB", "total"].tolist() == [5.0, 7.0]


def test_steps_of_runs_by_hand(monkeypatch):
    monkeypatch.setattr(claims, "seed_of", lambda kept, label: 1)
    monkeypatch.setattr(claims, "worst_log_det", lambda points, horizon: 100.0)
    t = pd.RangeIndex(1, 11, name="t")
    sizes = pd.DataFrame({"members": 3, "features": 2, "distinct": 4, "d_eff": 1.5}, t)
    kept = ByHand(**{"cost, A = 1000, d = 1": [{"sizes": sizes}], "sizes, A = 1000, d = 1": [sizes]})
    columns = claims.steps_of_runs(1, kept)
    assert columns["BKB", "total"].tolist() == [1004 * 4] * 2 and columns["kept", "total"][0] == 1004 * 16
    assert (columns["exact, rows", "at a fifth"][0], columns["exact, rows", "total"][0]) == (2000, 10000)
    assert (columns["BKB", "space"][0], columns["exact, refit", "space"][0]) == (2000, 10000)
    np.testing.assert_allclose(columns["BKB, with alpha", "log det"], 4.5 * np.log(10))


def test_dimension_from_counts_is_that_of_the_pulls():
    points, arms = grid(7), np.array([0, 3, 3, 6, 6, 6])
    kernel = SquaredExponential(0.3)
    ours = claims.dimension(kernel, points, np.bincount(arms, minlength=7))
    assert ours == pytest.approx(
        information.effective_dimension(kernel, points[arms], claims.NOISE_VARIANCE), rel=1e-12
    )


def test_the_points_of_the_costs_are_those_that_were_played():
    settings = claims.store.opened(KEPT.folder, "sizes, A = 1000, d = 2")[0]
    norm = settings["job"]["sizes_of_steps"]["positional"][0]["RKHSFunction"]["points"]["array"]["norm"]
    points = np.random.default_rng([claims.seed_of(KEPT, "sizes, A = 1000, d = 2"), 1000, 2]).uniform(size=(1000, 2))
    assert np.linalg.norm(points) == pytest.approx(norm, rel=1e-12)


def test_the_worst_case_bounds_the_log_determinant_of_any_pulls():
    points = grid(30)
    K = SquaredExponential(0.2)(points, points)
    gains, _ = information.greedy_gain(SquaredExponential(0.2), points, claims.NOISE_VARIANCE, 40)
    assert 2 * gains[-1] <= claims.worst_log_det(points, 40) < len(K) * np.log(1 + 40 / claims.NOISE_VARIANCE)
