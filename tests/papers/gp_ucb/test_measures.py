"""What judges a claim, on panels whose answer is known by hand; a wrong rule, rival or sign gives another number."""

import numpy as np
import pytest

from kbrepro.papers.gp_ucb import measures
from kbrepro.regret import Estimate, Trace

RULES = [
    "GP-UCB",
    "GP-UCB/5",
    "EI",
    "MPI",
    "mean only",
    "variance only",
    *measures.MARGINS.values(),
    "IRGP-UCB",
    "PIMS",
]
#: Every rule has its own level, so that no two can be exchanged: 1, 2, 4, 8, ... in all of 40 trials.
REGRET = {rule: np.full(40, 2.0**n) for n, rule in enumerate(dict.fromkeys([*RULES, "IRGP-UCB", "PIMS", "GP-EIMS"]))}
WORSE = {rule: 1000.0 - its for rule, its in REGRET.items()}


@pytest.mark.parametrize(
    ("judged", "values"),
    [
        (measures.claim_1_D(REGRET, 1), {"difference": 1}),
        (measures.claim_1_E(REGRET, 1), {"mean": 2 / 4 - 1, "median": 2 / 4 - 1}),
        (measures.claim_1_F(REGRET, 1), {"margin_0": 31, "margin_001": 63, "margin_003": 127, "margin_01": 3}),
        (measures.claim_1_G(REGRET, 1), {"mean_only": 14, "variance_only": 30}),
        (measures.claim_1_P(REGRET, 1), {"ratio": 1 / 4}),
        (measures.claim_1_T(REGRET, 1), {"irgp_ucb": 255, "pims": 511, "gp_eims": 1023}),
        (measures.claim_1_U(REGRET, 1), {"tail": 4 / 1024}),
        (measures.claim_1_V(REGRET, WORSE, 4, 1), {"synthetic": 511, "temperature": -511}),
        (measures.claim_1_H(REGRET, 4), {"mean_only": 12, "variance_only": 28, "margin_0": 60, "margin_01": 4}),
        (measures.claim_1_I(REGRET, 4), {"literal": 0, "equal": 2 / 4 - 1}),
        (measures.claim_1_O(REGRET, WORSE, 4, 1), {"synthetic": 2 / 4 - 1, "temperature": 998 / 968 - 1}),
        (measures.claim_1_J(REGRET, WORSE), {"usc": 2 / 4 - 1, "metr_la": 998 / 996 - 1}),
        (measures.claim_1_K(REGRET, WORSE), {"usc": 8 / 2 - 1, "metr_la": 992 / 998 - 1}),
    ],
)
def test_the_parts_of_a_claim_on_regret(judged, values):
    assert {part: judged[part].value for part in values} == pytest.approx(values)


def test_trials_that_are_stuck_and_trials_that_settled():
    arms, gaps = np.zeros((3, 20), dtype=int), np.array([[0.01, 0.02, 1.0]] * 3)
    arms[1, -1], wrong = 1, np.full((3, 20), 2)
    runs = {"GP-UCB/5": arms, "mean only": np.concatenate([arms[:2], wrong[:1]])}
    traces = {rule: Trace(its, gaps, np.zeros((3, 1)), np.zeros((3, 1))) for rule, its in runs.items()}
    stuck = measures.stuck_trials(traces)
    assert stuck["mean only"].tolist() == [False, False, True] and not stuck["GP-UCB/5"].any()
    assert measures.settled_share(traces) == pytest.approx({"GP-UCB/5": 2 / 3, "mean only": 2 / 3})
    assert measures.claim_1_Q(stuck, 1)["stuck"].value == pytest.approx(1 / 3)


def test_a_theorem_holds_only_if_it_does_in_every_round():
    arms, ratio = np.array([[0, 1], [0, 0]]), np.array([[0.5, 1.5], [0.2, 0.4]])
    trace = Trace(arms, np.array([[1.0, 3.0]] * 2), np.zeros((2, 1)), ratio)
    found = measures.theorem(trace, np.array([1.0, 3.0]), 1)
    assert (found["bound"].value, found["band"].value) == (0.5, 0.5)
    assert found["multiplier"].value == pytest.approx(np.quantile([1.5, 0.4], 0.9))


def test_growth_of_regret_is_that_of_the_worst_case_of_each_kernel():
    grown = {
        (name, d): Estimate(0.1 * d, 0.0, 1.0) for name in ("linear", "squared exponential", "matern") for d in (1, 3)
    }
    found = measures.claim_1_N(grown, {case: 0.25 if case[0] == "matern" else 0.05 for case in grown})
    values = {part: its.value for part, its in found.items()}
    assert values == pytest.approx({"sublinear": 0.3, "linear": 0.25, "se": 0.25, "matern": 0.05})


def test_norms_of_draws():
    found = measures.claim_1_S(np.array([[1.0, 3.0], [3.0, 5.0]]))
    assert (found["grows"].value, found["level"].value) == (2.0, 4.0)


def test_the_order_of_the_kernels_is_that_of_the_paper():
    eq_8 = {(9, "a"): np.r_[np.zeros(49) + 1e-9, 4.0, 8.0], (9, "b"): np.r_[np.ones(49), 3.0, 2.0]}
    assert measures.claim_1_A(eq_8, ["a", "b"])["gap"].value == pytest.approx(0.25)
    assert measures.claim_1_A(eq_8, ["b", "a"])["gap"].value < 0


def test_growth_of_the_gain():
    T = np.arange(1, 1001)
    gains = {("linear", d): 0.5 * d * np.log(T) for d in (1, 2)}
    gains |= {("squared exponential", d): np.log(T + 1e-9) ** (d + 1) for d in (1, 2, 3)}
    gains |= {("matern", d): T ** (0.5 * measures.information.matern_exponent(d, 2.5)) for d in (1, 2, 3)}
    assert measures.growth_of_gain(gains)["linear", 2] == pytest.approx((1.0, 1.0, 1.0))
    assert measures.claim_1_B(gains, 0.025)["slope"].value == pytest.approx(0, abs=1e-9)
    found = {part: its.value for part, its in measures.claim_1_C(gains).items()}
    assert found == pytest.approx({"se": 1.0, "matern": 0.5, "rises": 3 / 4})


def test_interpretations():
    its = {"GP-UCB/5": np.full(8, 2.0), ("EI", "x", 0.0): np.full(8, 4.0), ("MPI", "x", 0.1): np.full(8, 16.0)}
    its["EI", "x", 0.1] = np.full(8, 1.0)
    assert measures.five_against_ei(its, "x", 0.0, 1).value == pytest.approx(-0.5)
    assert measures.mpi_against_five(its, "x", 0.1, 1).value == pytest.approx(7)
    assert measures.mpi_behind_both(its, "x", 0.1, 2).value == pytest.approx(12)  # of EI with its own margin
    assert measures.equal_to_ei(its, "x", 0.1, 2).value == pytest.approx(1)
