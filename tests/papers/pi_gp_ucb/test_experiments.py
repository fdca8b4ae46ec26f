"""What the notebook on π-GP-UCB measures, against brute force and cases made by hand."""

import math
from functools import partial
from itertools import pairwise, product
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from traces import trace_of

from kbrepro.kernels import Matern, grid
from kbrepro.papers.pi_gp_ucb import experiments, pictures
from kbrepro.papers.pi_gp_ucb.partition import PartitionedUCB, initial_side
from kbrepro.papers.pi_gp_ucb.problems import SURFACES, Bumps, LatticeKernel
from kbrepro.papers.pi_gp_ucb.since import growing_variance
from kbrepro.problems import Known, Model, Problem, Trial
from kbrepro.simulation import Experiment, rounds

KERNEL = Matern(0.2, nu=1.5)
PI = {"π-GP-UCB": partial(PartitionedUCB, delta=0.1, nu=1.5)}


def bumps(d, side):
    return Bumps(KERNEL, d=d, side=side, noise_variance=1.0, noise_bound=1.0)


def test_uniform_regret_is_the_mean_over_all_arms():
    expected = [bumps(1, 10)(Trial(7, number)).regret(np.arange(10)).mean() for number in range(4)]
    assert experiments.uniform_regret(bumps(1, 10), 4, seed=7) == pytest.approx(expected, rel=1e-12)


def test_the_half_width_of_a_prediction_interval_by_hand():
    """Three ratios, t(2), sqrt(1/3 + 1/12)."""
    half = np.std([0.5, 2, 1.5], ddof=1) * stats.t(2).ppf(0.975) * math.sqrt(5 / 12)
    assert experiments.half_width(np.array([0.5, 2, 1.5])) == pytest.approx(half)


# Theory


#: Of T in the regret of IGP-UCB in 2020, with the gain of 2021, with a lambda that grows, of π-GP-UCB; lower bound.
EXPONENTS = {
    1: (3 / 4, 3 / 4, 7 / 10, 2 / 3, 5 / 8),
    2: (1, 9 / 10, 11 / 14, 17 / 22, 7 / 10),
    3: (1, 1, 5 / 6, 5 / 6, 3 / 4),
}


@pytest.mark.parametrize("d", EXPONENTS)
def test_regret_exponents_by_hand(d):
    assert list(experiments.regret_exponents(d, 1.5).values()) == pytest.approx(EXPONENTS[d])


def test_lambda_that_grows_is_that_of_the_theorem():
    assert [round(growing_variance(10_000, d, 1.5), 1) for d in (1, 2, 3)] == [6.3, 13.9, 21.5]
    with pytest.raises(ValueError, match="horizon = 0 is not allowed"):
        growing_variance(0, 1, 1.5)


@given(d=st.integers(1, 3), alpha=st.floats(1, 3), spread=st.floats(0.1, 1), seed=st.integers(0, 1000))
def test_lemma_7_the_sum_of_variances_is_at_most_4_alpha_times_the_gain(d, alpha, spread, seed):
    """The pivots of the Cholesky factor are alpha + the variance before each pull."""
    points = np.random.default_rng(seed).uniform(size=(60, d)) * spread
    pivots = np.linalg.cholesky(KERNEL(points, points) + alpha * np.eye(60)).diagonal() ** 2
    assert (pivots - alpha).sum() <= 4 * alpha * 0.5 * np.log(pivots / alpha).sum()


# Runs


@pytest.mark.parametrize(("d", "side", "T"), [(1, 30, 150), (2, 9, 120)])
def test_cells_and_operations_of_a_run_by_brute_force(d, side, T):
    """Operations: rows where the pull lies, and once for each half that a split has made in the round before."""
    experiment, trial = Experiment(bumps(d, side), PI, T), Trial(6, 0)
    measured, problem = SimpleNamespace(**experiments.cell_run(experiment, True, trial)), experiment.problem(trial)
    policy = PI["π-GP-UCB"](problem.model, T)
    pulled, moved, before, operations, known = [], 0, {}, [], len(policy.cells)
    for t, arm, _ in rounds(policy, problem, T, trial.rng("run")):
        log = math.log(4 * (t + 1) ** ((d + 1) / (d + 3) * d) / 0.1)
        live = {number: policy.cells[number] for number in policy.slot_cell.tolist()}
        now, widths = {}, {k: math.sqrt(2 * (cell.gain + 1 + log)) for k, cell in live.items()}
        for number, cell in live.items():
            index = cell.mean + (problem.model.norm + widths[number]) * cell.sd
            tied = cell.arms[index >= index.max() - 1e-10 * (1 + abs(index.max()))]
            now[number] = list(cell.history), tied[policy.rank[tied].argmin()]
        assert measured.width[t - 1] == pytest.approx(max(widths.values()), rel=2e-7)  # single precision
        same = [number for number in now if number in before and now[number][0] == before[number][0] != []]
        moved += any(now[number][1] != before[number][1] for number in same)
        sizes = [(len(cell.history) + 1, len(cell.arms), arm in cell.arms) for cell in live.values()]
        made = [(len(cell.history), len(cell.arms)) for cell in policy.cells[known:]]
        operations.append(
            sum(m + inside * (n**2 + m * n) for n, m, inside in sizes) + sum(n**3 / 3 + m * n**2 for n, m in made)
        )
        before, pulled, known = now, [*pulled, arm], len(policy.cells)
    last = [set(policy.cells[number].arms.tolist()) for number in set(policy.slot_cell.tolist())]
    assert measured.late_share == max(sum(arm in arms for arm in pulled[-T // 10 :]) for arms in last) / (T // 10)
    assert measured.created == len(policy.cells) > initial_side(T, d, 1.5) ** d
    assert (measured.gain, measured.moved) == (policy.cell_gain.max(), moved / T) and moved
    ends = np.linspace(0, T, 101).astype(int)
    means = [np.mean(operations[start:end]) for start, end in pairwise(ends)]
    assert measured.operations == pytest.approx(means)
    other = experiments.cell_run(experiment, False, trial)
    assert other["width"].shape == (0,) and np.isnan(other["moved"]) and other["late_share"] == measured.late_share


def outside():
    """A function far outside the band that the norm allows."""
    model = Model(grid(9, 1), LatticeKernel(KERNEL, 9), 1.0, noise_scale=0.1, norm=0.1)
    return Known(Problem(model, 9 * np.cos(5 * model.points[:, 0])))


@pytest.mark.parametrize(
    ("source", "T", "holds"), [(bumps(1, 9), 60, True), (bumps(2, 9), 60, True), (outside(), 40, False)]
)
def test_band_and_bound_of_a_run_by_brute_force(source, T, holds):
    trial, problem = Trial(8, 0), source(Trial(8, 0))
    measured = experiments.band_run(Experiment(source, PI, T), trial)
    policy, bound, ratio, f = PI["π-GP-UCB"](problem.model, T), 0.0, 0.0, problem.expected_reward
    regret = 0.0
    for _, arm, _ in rounds(policy, problem, T, trial.rng("run")):
        half = policy.widths()[policy.slot_cell] * policy.slot_sd
        ratio = max(ratio, (np.abs(f[policy.slot_arm] - policy.slot_mean) / half).max())
        own = policy.slot_arm == arm
        bound += 2 * max(zip((policy.slot_mean + half)[own], half[own], strict=True))[1]
        regret += f.max() - f[arm]
    assert measured == pytest.approx({"band": holds, "ratio": ratio, "bound": bound, "regret": regret}, rel=1e-12)
    assert holds == (ratio <= 1) and regret > 0


# Figures


IGP, PI_GP_UCB = BOTH = "IGP-UCB", "π-GP-UCB"
PRINTED = dict(zip(product((1, 2, 3), BOTH), (0.11, 0.09, 0.71, 0.52, 0.97, 0.77), strict=True))
SHARES = {case: value * np.linspace(0.9, 1.1, 25) for case, value in PRINTED.items()}


def played(pi):
    """Traces whose mean regret a round is `pi`, and 1 for IGP-UCB."""
    levels = np.tile(np.linspace(0.5, 1.5, 6)[:, None], 300)
    return {IGP: trace_of(levels), PI_GP_UCB: trace_of(pi * levels)}


def test_a_printed_value_stands_beside_where_ours_would_lie(checked, styled):
    figure = pictures.table_1(SHARES, PRINTED)
    checked(figure)
    (ax,) = figure.axes
    assert [bar[0].get_ydata()[0] for bar in ax.containers] == pytest.approx([*PRINTED.values()])
    low, high = ax.containers[1][2][0].get_segments()[0][:, 1]
    half = experiments.half_width(SHARES[1, PI_GP_UCB])
    assert (low, high) == pytest.approx((0.09 - half, 0.09 + half))


def test_regret_of_a_round_is_that_of_its_hundredth_of_the_run(checked, styled):
    figure = pictures.figure_1(played(0.8))
    checked(figure)
    line = next(line for line in figure.axes[1].lines if line.get_label() == PI_GP_UCB)
    assert line.get_ydata() == pytest.approx(0.8) and line.get_xdata()[[0, -1]] == pytest.approx([2, 299])


def test_eight_surfaces_are_readable(checked, styled):
    checked(pictures.surfaces({name: played(0.5 + place) for place, name in enumerate(SURFACES)}))
