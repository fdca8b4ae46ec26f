"""What judges a claim, on panels known by hand; a wrong rule, rival, side or sign gives another number."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from traces import trace_of

from kbrepro.papers.bkb import measures
from kbrepro.papers.bkb.experiments import Followed, Ratios, Violations
from kbrepro.regret import Trace, log_spaced


def values(judged):
    return {part: its.value for part, its in judged.items()}


# Figure 1: every posterior, side and t has a level of its own, so that no two can be exchanged

NAMES = [*(("BKB", f"qbar={q}") for q in (2, 3, 5)), ("SoR", ""), ("exact", ""), ("DTC, uniform", "3 pulls")]
NAMES += [*(("RFF", f"m={m}") for m in ("|S|", "100", "300")), ("QFF", "m=26"), ("QFF", "m=100")]
TABLE = pd.DataFrame(
    [(seed, *key, t, (1 + seed / 10) * 10.0 ** (n + step), 5.0 + n + step * (-1) ** n, 0.01 * n + step / 1000)
     for seed, (n, key), (step, t) in product((2, 0, 1), enumerate(NAMES), enumerate((6, 63, 215)))],
    columns=["seed", "name", "setting", "t", "starved", "inflated", "coverage"],
)  # fmt: skip

#: Of Theorem 1: bad steps and sizes by dictionary, design, qbar and run.
BAD = {"BKB": 0.01, "BKB, streaming": 0.5}
FOUND = pd.DataFrame(
    [(name, design, q, run, BAD[name] * (d + 1) / q, 0.9 ** (d + 1) * q, 1 - 0.01 * d, 9.0 / q + d)
     for (name, (d, design)), q, run in
     product(product(BAD, enumerate(("uniform", "window"))), (1.0, 2.0, 3.0, 4.0, 8.0), (0, 1))],
    columns=["dictionary", "design", "qbar", "run", "bad", "size", "close", "bound"],
)  # fmt: skip
OWN = pd.DataFrame({"design": list("aabb"), "bad": [0.0, 0.0, 0.1, 0.0]})

RULES = ["exact", "BKB", "BKB, streaming", "BKB, authors' radius", "BKB, Theorem 2's radius", "exact, 3 sd"]
RULES += ["BKB, 3 sd", "exact, tighter width", "mini-GP-UCB"]
FINALS = {rule: np.full(40, 2.0**n) for n, rule in enumerate(RULES)}
FLAT = {rule: np.ones(4) for rule in FINALS}

#: d_eff, sum, log det, eq. 6 of one run at t = 1, 2, 3.
CHAINS = {"uniform": np.array([[[1.0, 2.0, 4.0, 8.0], [2.0, 3.0, 2.0, 10.0], [3.0, 4.0, 8.0, 16.0]]])}
RUNS = [Violations(-1.0, 0.2, 0.5, 1.0), Violations(0.1, -1.0, 0.3, 1.0), Violations(0.0, 0.0, 1.0, 3.5)]
GROWN = pd.concat(
    {length: pd.DataFrame({"members": [m, m], "d_eff": [d, d]}) for length, m, d in ((0.1, 100, 8.0), (0.8, 10, 2.0))}
)


@pytest.mark.parametrize(
    ("judged", "expected"),
    [
        (measures.claim_4_A(TABLE, 1), {"starved": 1.19e3, "starved_2": 1.19e2, "starved_5": 1.19e4,
                                        "inflated": 6, "inflated_2": 7, "inflated_5": 9}),
        (measures.claim_4_B(TABLE, 1), {"sor": 0.032, "exact": 0.042}),
        (measures.claim_4_C(TABLE, 1), {"starved": 1.1e8, "starved_100": 1.1e9, "starved_300": 1.1e10,
                                        "rises_S": 1, "rises_100": 1, "rises_300": 1}),
        (measures.claim_4_D(TABLE, 1), {"few": 1.1e11, "many": 1.2e12 - 1}),
        (measures.claim_4_Q(TABLE, 1), {"starves": 1.1e7, "avoids": 1.1e7, "covers": 0.052}),
        (measures.claim_4_E(OWN, FOUND, 1), {"own": 0.5, "four": 0.005, "eight": 0.0025}),
        (measures.claim_4_F(FOUND, 1), {"one": 0.015, "two": 0.0075}),
        (measures.claim_4_G(FOUND, 1), {"bound": 9 / 8, "low": 0.81 * 3, "high": 0.9 * 8, "close": 0.99}),
        (measures.claim_4_X(FOUND, FINALS, 1), {"four": 0.25, "regret": 1}),
        (measures.claim_4_P({"uniform": np.array([[1.0, 10.0]] * 2), "window": np.array([[2.0, 200.0]] * 2)}, 1),
         {"worse": 2, "uniform": 1}),
        (measures.claim_4_H(FINALS, [FLAT, FINALS], 1), {"theory": 1, "three": 1, "large": 1}),
        (measures.claim_4_N(FINALS, 1), {"theorem": 15, "authors": 7, "three": 31, "sketch": 1}),
        (measures.claim_4_R(FINALS, 1), {"ratio": 1}),
        (measures.claim_4_Y(FINALS, np.array([[3, 3, 5, 3], [3, 3, 3, 3]]), 1), {"two": 255, "switches": 0.5}),
        (measures.claim_4_Z(FINALS, 1), {"less": 127}),
        (measures.claim_4_S(np.array([0.1, 0.3]), GROWN, 50, 1), {"small": 0.2, "worst": 8 / 50, "adapts": 1}),
        (measures.claim_4_L(CHAINS), {"violation": 0.5}),
        (measures.claim_4_L({"a": CHAINS["uniform"][:, :1]}), {"violation": 0}),
        (measures.claim_4_T(CHAINS), {"bound": 3 * np.log(3) / 8, "factor": 1, "eq_6": 2}),
        (measures.claim_4_V(RUNS), {"variance": 0.1, "determinant": 0.2, "corollary": 1 / 3}),
        (measures.claim_4_W([{"BKB": 6.0, "exact": 2.0, "mini-GP-UCB": 2.0},
                             {"BKB": 8.0, "exact": 0.5, "mini-GP-UCB": 1.0}]), {"ratio": 3, "rows": 0.5}),
    ],
)  # fmt: skip
def test_the_parts_of_a_claim(judged, expected):
    assert values(judged) == pytest.approx(expected)


def test_a_column_is_in_the_order_of_seeds():
    table = TABLE.assign(coverage=TABLE["seed"] / 10)
    assert measures.over_seeds(table, "coverage", "SoR", t=63).tolist() == [0.0, 0.1, 0.2]


@pytest.mark.parametrize("n", [1, 2, 7, 40])
def test_statistics_that_are_resampled_are_those_of_numpy_row_by_row(n):
    samples = np.random.default_rng(n).uniform(1, 2, (3, 5, n))  # three columns of the table, five resamples of each
    for one, row in enumerate(np.swapaxes(samples, 0, 1)):
        for level in (0.9, 0.95):
            expected = np.quantile(row, level, axis=-1).max()
            assert measures.largest_quantile(level, *samples)[one] == pytest.approx(expected)
        assert measures.median(samples[0])[one] == pytest.approx(np.median(row[0]))


def test_dictionaries_by_hand():
    """Steps are bad on either side of [1/3, 3]; the bound is 3 (1 + 1/lambda) alpha qbar d_eff."""
    low, high, dimension = np.array([0.34, 0.33, 0.5, 0.9]), np.array([1.0, 1.0, 3.1, 2.9]), np.array([3.0, 3, 3, 5])
    runs = [Followed({2.0: Ratios(low, high, np.array([1, 2, 2, m]), np.full(4, 2.0))}, dimension) for m in (2, 3)]
    its = measures.dictionaries(runs, 0.5)
    assert its["bad"].tolist() == [0.5, 0.5] and its["kept"].tolist() == [2 / 4, 3 / 4]
    assert its["size"].tolist() == [2 / 10, 3 / 10] and its["close"].tolist() == [7 / 8, 1.0]
    np.testing.assert_allclose(its["bound"], [3 * 3 * 3 * 2 * 3 / 2, 3 * 3 * 3 * 2 * 3 / 2])
    assert its["d_eff"].tolist() == [5, 5] and its["qbar"].tolist() == [2, 2]


# Regret


@pytest.mark.parametrize("power", [0.3, 1.0])
def test_the_exponent_is_that_of_the_mean_regret_over_the_last_decade(power):
    t = np.arange(1.0, 1001)
    rise = np.diff(np.concatenate([[0], t**power]))
    rise[:100] = rise[:100].mean()  # what happened before leaves only its sum
    flat = trace_of(np.eye(1, 1000) * np.ones((2, 1)))
    grows, slower = (trace_of([level * rise, 7 * level * rise]) for level in (1, 5))
    one = trace_of([rise, np.eye(1, 1000)[0]])  # the mean is that of regrets, not of exponents
    few, some, ours = "RFF, 20 features", "RFF, 100 features", "BKB, 3 sd"
    judged = measures.claim_4_O({few: grows, ours: flat, some: one}, {few: flat, ours: slower}, 1)
    of_one = np.log10((1000**power + 1) / (100**power + 1))
    expected = {"linear": power, "less": -power, "hundred": of_one, "linear_rough": 0, "less_rough": power}
    assert values(judged) == pytest.approx(expected)


def test_exponents_of_resamples_are_those_row_by_row():
    final, tenth, other_final, other_tenth = np.random.default_rng(0).uniform(1, 9, (4, 5, 7))
    gaps = measures.exponent(final, tenth, other_final, other_tenth)
    for one in range(5):
        its, others = (np.log10(sum(a[one]) / sum(b[one])) for a, b in ((final, tenth), (other_final, other_tenth)))
        assert gaps[one] == pytest.approx(its - others)


def test_band_and_bound_hold_in_all_rounds_and_the_multiplier_leaves_out_the_first():
    ratios = np.full((4, len(log_spaced(20))), 0.25)
    ratios[0, 3], ratios[1, -1] = 5.0, 0.5  # a miss in round 4, which is not the multiplier's
    trace = Trace(np.zeros((4, 20), int), np.full((4, 1), 0.1), np.zeros((4, 1)), ratios)  # R_T = 2
    bounds = {"own": np.array([4.0, 1.0, 1.0, 1.5]), "four": np.array([1.0, 8.0, 1.0, 1.0])}
    judged = measures.claim_4_M({"own": trace, "four": trace}, bounds, 0.1, 1)
    quantile = np.quantile([0.25, 0.5, 0.25, 0.25], 0.9)
    expected = {"band": 0.75, "regret": 0.25, "four": 0.25, "loose": 1.25 / 2, "multiplier": quantile}
    assert values(judged) == pytest.approx(expected)
    other = measures.claim_4_M({"own": trace, "four": trace}, bounds | {"four": bounds["own"]}, 0.1, 1)
    assert other["four"].value == 0  # bounded in the first run alone, where the band fails


# Cost


def test_milliseconds_are_the_median_of_the_neighbours_that_were_timed():
    t = pd.RangeIndex(1, 101, name="t")
    few = pd.Series(np.nan, t)
    few[[49, 53]] = 1.0, 3.0
    found = measures.milliseconds(pd.DataFrame({"all": np.arange(1.0, 101) / 1000, "few": few}, t))
    assert found["all"].loc[[1, 50]].tolist() == [6, 50]  # 1 .. 11, and 40 .. 60
    assert found["few"][50] == 2000 and np.isnan(found["few"][90])


def test_the_costs_of_a_step():
    """BKB's step takes t^power; a refit is slower before t = 30 and from t = 100 on, one of distinct arms never."""
    t = np.arange(1.0, 401)

    def timed(power):
        steps = {"BKB": t**power, "exact, rows": t, "exact, counts": 0.1 * t**power}
        steps["exact, refit"] = t**power * np.where((t >= 30) & (t < 100), 0.5, 2)
        steps["exact, covariance"] = t**power * np.where(t < 30, 2, 0.8)
        return pd.DataFrame(steps, pd.RangeIndex(1, 401, name="t"))

    seconds = {"line": timed(0.0), "plane": timed(0.5), "large": timed(1.0), "larger": timed(0.7)}
    assert values(measures.claim_4_I(seconds)) == pytest.approx({"line": 0, "slope": 0.5, "large": 1.0}, abs=0.01)
    cheaper = measures.cheaper_than(seconds, [10, 50, 200, 400])
    judged = values(measures.claim_4_J(cheaper.assign(plane=cheaper["plane"] + 1)))
    falls = {"line": seconds["line"].assign(**{"exact, rows": 500.0 - t})}
    assert measures.cheaper_than(falls, [10]).loc["rows (straight line)", "line"] == np.inf
    assert judged == {"line": 200, "from": 201, "soon": 201, "counts": 801}
    judged = values(measures.claim_4_K(cheaper, seconds, [20, 50, 200]))
    assert judged == pytest.approx({"rows_d1": 1, "rows_d2": np.median(t[80:] ** 0.5), "covariance": 0.8})
