"""What judges a claim, on numbers whose answer is known by hand; a wrong rule, rival or end gives another number."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from kbrepro.papers.bkb import measures
from kbrepro.regret import Estimate, Trace

#: Every rule loses its own power of two in all of 40 trials, so that no two can be exchanged.
RULES = ["exact", "BKB", "BKB, 3 sd", "exact, 3 sd", "BKB, Theorem 2's radius", "BKB, authors' radius"]
LOST = {rule: np.full(40, 2.0**n) for n, rule in enumerate(RULES)}


def values(judged):
    return {part: its.value for part, its in judged.items()}


@pytest.mark.parametrize(
    ("judged", "expected"),
    [
        (measures.claim_4_H(LOST, [LOST, {"BKB": LOST["exact"], "exact": LOST["exact"]}], 1), (1, 4 / 8 - 1, 1)),
        (measures.claim_4_N(LOST, 1), (15, 1, 7, 31)),
        (
            measures.claim_4_W([{"BKB": 6, "exact": 9, "mini-GP-UCB": 3}, {"BKB": 8, "exact": 2, "mini-GP-UCB": 2}]),
            (2, 1),
        ),
        (measures.claim_4_J({"refit": 3, "counts": 5}, {"refit": 7, "counts": 9}), (3, 7, 9, 7)),
        (measures.claim_4_L([np.array([[1.0, 2.0], [3.0, 2.0]])]), (0.5,)),
    ],
)
def test_the_parts_of_a_claim(judged, expected):
    assert tuple(values(judged).values()) == pytest.approx(expected)


def test_seconds_of_a_step():
    t = np.arange(1, 401)
    of = {name: pd.DataFrame({"BKB": power, "exact, rows": t / 100.0}) for name, power in
          (("line", t**0.5), ("plane", t**1.5), ("large", t**2.0))}  # fmt: skip
    assert values(measures.claim_4_I(of, 400)) == pytest.approx({"slope": 1.5, "line": 0.5, "large": 2.0}, abs=0.05)
    flat = pd.DataFrame({"BKB": np.ones(400), "exact, rows": t / 100.0})
    ms = pd.DataFrame({"t": [10, 60, 90], "BKB": [1, 2, 4], "exact, covariance": [9, 4, 2]}).set_index("t")
    found = values(measures.claim_4_K(flat, flat, ms))
    assert found == pytest.approx({"rows_d1": 100, "rows_d2": 100, "covariance": 2}, rel=0.1)


def starved():
    """Two seeds; every number its own."""
    rows, number = [], 0
    for name, settings in {"BKB": ["qbar=2", "qbar=3", "qbar=5"], "RFF": ["m=|S|", "m=100", "m=300"], "SoR": [""],
                           "QFF": ["m=26", "m=100"], "DTC, uniform": ["3 pulls"], "exact": [""]}.items():  # fmt: skip
        for setting in settings:
            number += 1
            for t in (21, 46, 215):
                rows += [{"seed": seed, "name": name, "setting": setting, "t": t, "starved": number * t,
                          "inflated": 2 * number * t, "coverage": number / 20} for seed in (0, 1)]  # fmt: skip
    return pd.DataFrame(rows)


def test_starvation():
    table, at = starved(), (21, 46, 215)
    found = values(measures.claim_4_A(table, at, 1))
    assert found["starved"] == pytest.approx(2 * 215) and found["inflated_5"] == pytest.approx(2 * 3 * 215)
    assert values(measures.claim_4_B(table, 1)) == pytest.approx({"sor": 7 / 20, "exact": 11 / 20})
    features = values(measures.claim_4_C(table, at, 1))
    assert (features["starved"], features["starved_300"]) == pytest.approx((4 * 215, 6 * 215))
    assert features["rises_S"] == pytest.approx(np.log10(215 / 46))
    assert values(measures.claim_4_D(table, 1)) == pytest.approx({"few": 8 * 215, "many": 2 * 9 * 215 - 1})
    dtc = values(measures.claim_4_Q(table, 1))
    assert dtc == pytest.approx({"starves": 10 * 215, "avoids": 10 * 215, "covers": 0.5})


def test_theorem_1():
    def its(bad, size=2.0, close=0.5, bound=3.0):
        return SimpleNamespace(bad=np.full(4, bad), size=np.full(4, size), close=np.full(4, close), bound=bound)

    found = {
        ("BKB", design, q): its(bad / q, size=bad)
        for design, bad in (("a", 0.4), ("b", 0.8))
        for q in (1.0, 2.0, 3.0, 4.0, 8.0)
    }
    found |= {("BKB, streaming", "a", 4.0): its(9.0, bound=1.0)}
    assert values(measures.claim_4_E(found, {"a": Estimate(0.1, 0, 1), "b": Estimate(0.3, 0, 1)}, 1)) == pytest.approx(
        {"own": 0.3, "four": 0.2, "eight": 0.1}
    )
    assert values(measures.claim_4_F(found, 1)) == pytest.approx({"one": 0.6, "two": 0.3})
    assert values(measures.claim_4_G(found, 1)) == pytest.approx({"bound": 3, "low": 0.4, "high": 0.8, "close": 0.5})


def trace_of(power):
    """Mean regret that grows as a power of t."""
    gaps = np.diff(np.arange(0, 101.0) ** power)
    return Trace(np.tile(np.arange(100), (4, 1)), np.tile(gaps, (4, 1)), np.zeros((4, 1)), np.full((4, 54), power))


def test_exponents_of_regret():
    smooth = {"RFF, 20 features": trace_of(0.9), "RFF, 100 features": trace_of(0.7), "BKB, 3 sd": trace_of(0.5)}
    rough = {"RFF, 20 features": trace_of(1.0), "BKB, 3 sd": trace_of(0.8)}
    expected = {"linear": 0.9, "less": -0.4, "linear_rough": 1.0, "hundred": 0.7, "less_rough": -0.2}
    assert values(measures.claim_4_O(smooth, rough, 1)) == pytest.approx(expected)


def test_theorem_9_holds_in_a_run_only_if_it_does_in_all_rounds():
    bands = {"own": trace_of(0.5), "four": trace_of(2.0)}  # whose ratios are 0.5 and 2
    lost = bands["own"].regret.sum(axis=1)
    bounds = {"own": 3 * lost, "four": np.r_[lost[:2] * 0, np.full(2, 1e9)]}
    found = values(measures.claim_4_M(bands, bounds, 0.1, 1))
    assert found == pytest.approx({"band": 1, "regret": 1, "four": 0, "loose": 3, "multiplier": 2})


def test_proposition_4():
    runs = [SimpleNamespace(variance=-1.0, determinant=0.25, low=0.5, high=2.0)]
    runs += [SimpleNamespace(variance=-2.0, determinant=-1.0, low=0.2, high=2.0)]
    assert values(measures.claim_4_V(runs, 3.0)) == pytest.approx(
        {"variance": 0, "determinant": 0.25, "corollary": 0.5}
    )
