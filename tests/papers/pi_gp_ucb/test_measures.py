"""What the notebook on π-GP-UCB measures, against brute force and cases made by hand."""

from functools import partial
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from traces import trace_of

from kbrepro.bandits.kernels import Matern, grid
from kbrepro.bandits.problems import Known, Model, Problem, Trial
from kbrepro.papers.pi_gp_ucb import measures, pictures
from kbrepro.papers.pi_gp_ucb.partition import PartitionedUCB
from kbrepro.papers.pi_gp_ucb.problems import SURFACES, Bumps, LatticeKernel
from kbrepro.trials.simulation import Experiment, rounds

KERNEL = Matern(0.2, nu=1.5)
PI = {"π-GP-UCB": partial(PartitionedUCB, delta=0.1, nu=1.5)}


def bumps(d, side):
    return Bumps(KERNEL, d=d, side=side, noise_variance=1.0, noise_bound=1.0)


#: Of T in the regret of IGP-UCB in 2020, with the gain of 2021, with a lambda that grows, of
#: π-GP-UCB; lower bound.
EXPONENTS = {
    1: (3 / 4, 3 / 4, 7 / 10, 2 / 3, 5 / 8),
    2: (1, 9 / 10, 11 / 14, 17 / 22, 7 / 10),
    3: (1, 1, 5 / 6, 5 / 6, 3 / 4),
}


def test_exponents_of_regret_and_lambda_that_grows_by_hand():
    for d, exponents in EXPONENTS.items():
        assert list(measures.regret_exponents(d, 1.5).values()) == pytest.approx(exponents)
    assert [round(measures.growing_variance(10_000, d, 1.5), 1) for d in (1, 2, 3)] == [
        6.3,
        13.9,
        21.5,
    ]


@given(
    d=st.integers(1, 3), alpha=st.floats(1, 3), spread=st.floats(0.1, 1), seed=st.integers(0, 1000)
)
def test_lemma_7_the_sum_of_variances_is_at_most_4_alpha_times_the_gain(d, alpha, spread, seed):
    """The pivots of the Cholesky factor are alpha + the variance before each pull."""
    points = np.random.default_rng(seed).uniform(size=(60, d)) * spread
    pivots = np.linalg.cholesky(KERNEL(points, points) + alpha * np.eye(60)).diagonal() ** 2
    assert (pivots - alpha).sum() <= 4 * alpha * 0.5 * np.log(pivots / alpha).sum()


@pytest.mark.parametrize(("d", "side", "T"), [(1, 30, 150), (2, 9, 120)])
def test_the_cells_and_their_pulls_are_those_of_the_policy(monkeypatch, d, side, T):
    """Also for pulls that it would not choose: a few arms again and again."""
    held = []
    halve = PartitionedUCB._split

    def watched(policy, number):
        held.append(len(policy.cells[number]._history))
        halve(policy, number)

    monkeypatch.setattr(PartitionedUCB, "_split", watched)
    arms = np.random.default_rng(d).choice(side**d, 8)[np.random.default_rng(T).integers(8, size=T)]
    policy = PI["π-GP-UCB"](bumps(d, side)(Trial(6, 0)).model, T)
    policy.tell(arms, np.zeros(T))
    live = [policy.slot_arm[policy.slot_cell == number] for number in np.unique(policy.slot_cell)]
    split, last = measures.cover_of(arms, side, d, 1.5)
    assert split and len(split) + len(live) == len(policy.cells)
    assert sorted(map(len, split)) == sorted(held)
    expected = [np.flatnonzero(np.isin(arms, inside)).tolist() for inside in live]
    assert sorted(pulled.tolist() for pulled in last) == sorted(expected)


def test_inverses_cost_the_pulls_of_each_cell_cubed_and_squared(monkeypatch):
    """Six pulls: a cell of four splits into three and two, since one lies on the border; two lie in
    another cell.
    """
    cover = [np.arange(4)], [np.arange(3), np.arange(2), np.arange(2)]
    monkeypatch.setattr(measures, "cover_of", lambda *run: cover)
    operations, numbers = measures.inverses(np.zeros((1, 6), dtype=int), 1, 1.5)[0]
    assert operations == pytest.approx((64 + 27 + 8 + 8) / 216)
    assert numbers == pytest.approx((9 + 4 + 4) / 36)


def outside():
    """A function far outside the band that the norm allows."""
    model = Model(grid(9, 1), LatticeKernel(KERNEL, 9), 1.0, noise_scale=0.1, norm=0.1)
    return Known(Problem(model, 9 * np.cos(5 * model.points[:, 0])))


@pytest.mark.parametrize(
    ("source", "T", "holds"), [(bumps(2, 9), 60, True), (outside(), 40, False)]
)
def test_band_and_bound_of_a_run_by_brute_force(source, T, holds):
    trial, problem = Trial(8, 0), source(Trial(8, 0))
    policy = PI["π-GP-UCB"](problem.model, T, rng=trial.rng("policy"))
    regret, bound, ratio, f = 0.0, 0.0, 0.0, problem.expected_reward
    for _, arm, _ in rounds(policy, problem, T, trial.rng("noise")):
        half = policy.widths()[policy.slot_cell] * policy.slot_sd
        ratio = max(ratio, (np.abs(f[policy.slot_arm] - policy.slot_mean) / half).max())
        own = policy.slot_arm == arm
        bound += 2 * max(zip((policy.slot_mean + half)[own], half[own], strict=True))[1]
        regret += f.max() - f[arm]
    measured = measures.band_run(Experiment(source, PI, T), trial)
    assert measured == pytest.approx(
        {"band": holds, "ratio": ratio, "bound": bound, "regret": regret}, rel=1e-12
    )
    assert holds == (ratio <= 1) and regret > 0


# Figures

IGP, PI_GP_UCB = BOTH = "IGP-UCB", "π-GP-UCB"
PRINTED = dict(zip(product((1, 2, 3), BOTH), (0.11, 0.09, 0.71, 0.52, 0.97, 0.77), strict=True))
SHARES = {case: value * np.linspace(0.9, 1.1, 25) for case, value in PRINTED.items()}


def played(pi):
    """Traces whose mean regret a round is `pi`, and 1 for IGP-UCB."""
    levels = np.tile(np.linspace(0.5, 1.5, 6)[:, None], 300)
    return {IGP: trace_of(levels), PI_GP_UCB: trace_of(pi * levels)}


def test_six_intervals_hold_at_once_as_often_as_one_alone():
    """Of six independent means of 12 runs, beside 30 runs each, in about 95 % of cases."""
    rng = np.random.default_rng(3)
    held = {1: [], 6: []}
    for _ in range(1000):
        runs, means = rng.normal(size=(6, 30)), rng.normal(size=(6, 12)).mean(axis=1)
        for intervals, inside in held.items():
            halves = np.array([measures.half_width(values, intervals) for values in runs])
            inside.append(abs(means - runs.mean(axis=1)) <= halves)
    assert np.mean(held[1]) == pytest.approx(0.95, abs=0.01)
    assert np.all(held[6], axis=1).mean() == pytest.approx(0.95, abs=0.02)


@pytest.mark.usefixtures("styled")
def test_figures_can_be_read_and_show_intervals_and_regret_of_a_round(checked):
    figure = pictures.table_1(SHARES, PRINTED)
    checked(figure)
    low, high = figure.axes[0].containers[1][2][0].get_segments()[0][:, 1]
    half = measures.half_width(SHARES[1, PI_GP_UCB])
    assert (low, high) == pytest.approx((0.09 - half, 0.09 + half))
    figure = pictures.figure_1(played(0.8))
    checked(figure)
    line = next(line for line in figure.axes[1].lines if line.get_label() == PI_GP_UCB)
    assert line.get_ydata() == pytest.approx(0.8) and line.get_xdata()[[0, -1]] == pytest.approx(
        [2, 299]
    )
    checked(pictures.surfaces({name: played(0.5 + place) for place, name in enumerate(SURFACES)}))
