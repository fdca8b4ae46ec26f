"""What the notebook on π-GP-UCB measures, against brute force and cases made by hand."""

import math
from functools import partial

import numpy as np
import pytest
from scipy import stats
from traces import trace_of

from kbrepro.confidence import Constant
from kbrepro.information import greedy_gain
from kbrepro.kernels import Matern, grid
from kbrepro.papers.pi_gp_ucb import experiments
from kbrepro.papers.pi_gp_ucb.partition import PartitionedUCB
from kbrepro.papers.pi_gp_ucb.problems import Bumps, LatticeKernel
from kbrepro.policies import UCB
from kbrepro.problems import Known, Model, Problem, Trial
from kbrepro.simulation import Experiment, observations, rounds, run

KERNEL = Matern(0.2, nu=1.5)
PI = {"π-GP-UCB": partial(PartitionedUCB, delta=0.1, nu=1.5)}
RNG = np.random.default_rng(2020)


def bumps(d, side, alpha=1.0, **given):
    return Bumps(KERNEL, d=d, side=side, noise_variance=alpha, noise_bound=1.0, **given)


# Regret as a share of that of uniform play


def test_uniform_regret_is_the_mean_over_all_arms():
    source = bumps(1, side=10)
    uniform = experiments.uniform_regret(source, 4, seed=7)
    expected = [source(Trial(7, number)).regret(np.arange(10)).mean() for number in range(4)]
    assert uniform == pytest.approx(expected, rel=1e-12)
    assert len(set(uniform)) == 4


# Beside a printed mean of 12 runs


def test_a_printed_mean_of_twelve_such_runs_is_compatible_in_95_percent():
    """4000 pairs of our 16 runs and 12 others; one standard error of the share is 0.0034."""
    shares = np.random.default_rng(12).normal(0.5, 0.1, size=(4000, 28))
    ours, printed = shares[:, :16], shares[:, 16:].mean(axis=1)
    inside = np.abs(printed - ours.mean(axis=1)) <= experiments.half_width(ours, axis=1)
    assert inside.mean() == pytest.approx(0.95, abs=0.015)


def test_a_prediction_interval_by_hand():
    """Ratios 1/2, 2, 3/2: standard deviation 0.7638, t(2) 4.3027; half-width 0.7638 4.3027 sqrt(1/3 + 1/12)."""
    half = np.std([0.5, 2, 1.5], ddof=1) * stats.t(2).ppf(0.975) * math.sqrt(5 / 12)
    assert experiments.half_width(np.array([0.5, 2, 1.5])) == pytest.approx(half)


def test_crossing_by_brute_force():
    rng = np.random.default_rng(3)
    for _ in range(200):
        ours, rival = rng.integers(0, 4, size=(2, 3, 8))
        below = ours.cumsum(axis=1).sum(axis=0) < rival.cumsum(axis=1).sum(axis=0)
        expected = next((t for t in range(1, 9) if below[t - 1 :].all()), 8)
        assert experiments.crossing(trace_of(ours), trace_of(rival)) == expected


# Theory


@pytest.mark.parametrize(
    ("d", "exponents"),
    [
        (1, [3 / 4, 3 / 4, 7 / 10, 2 / 3, 5 / 8]),
        (2, [1, 9 / 10, 11 / 14, 17 / 22, 7 / 10]),  # 15 / 14 in 2020: empty
        (3, [1, 1, 5 / 6, 5 / 6, 3 / 4]),
    ],
)
def test_regret_exponents_by_hand(d, exponents):
    found = experiments.regret_exponents(d, 1.5)
    names = ["IGP-UCB, 2020", "IGP-UCB, gain of 2021", "IGP-UCB, lambda grows", "π-GP-UCB", "lower bound"]
    assert list(found) == names
    assert list(found.values()) == pytest.approx(exponents)


@pytest.mark.parametrize(("number", "n", "side"), [(0, 20, 20), (1, 16, 4), (1, 17, 5), (1, 24, 5), (2, 20, 3)])
def test_greedy_gains_are_those_of_the_greedy_rule(number, n, side):
    """On the fewest points a side that give n arms, in the order in which ties fall."""
    trial, points = Trial(5, number), grid(side, number + 1)
    assert len(points) >= n > (side - 1) ** (number + 1)
    order = np.argsort(trial.rng("run").spawn(2)[1].permutation(len(points)))
    expected, _ = greedy_gain(KERNEL, points[order], 1.0, 30)
    found = experiments.greedy_gains(KERNEL, n, 30, trial)
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    assert found[0] == pytest.approx(0.5 * math.log(2))


def test_a_late_exponent_is_that_of_the_last_decades():
    t = np.arange(1, 1001)
    assert experiments.late_exponent(3 * t**0.4) == pytest.approx(0.4)
    kinked = np.where(t < 100, 1000.0 * t, 3 * t**0.4)
    assert experiments.late_exponent(kinked) == pytest.approx(0.4)
    assert experiments.late_exponent(3 * t**0.4, 2) == pytest.approx(0.4) != experiments.late_exponent(kinked, 2)
    at = experiments.last_decades(1000, 2)
    assert (at[0], at[-1], len(at)) == (10, 1000, 20)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_the_first_cover_is_too_large_until(d):
    """T = 10000: while 4 (t + 1)^(1/2) < 22, 4 (t + 1)^(6/5) < 12^2, 4 (t + 1)^2 < 8^3; t + 1 < 30.3, 19.8, 11.3."""
    assert experiments.cover_too_large_until(10_000, d, 1.5) == {1: 29, 2: 18, 3: 10}[d]
    b, q = (d + 1) / (d + 3), d * (d + 1) / (d * (d + 2) + 3)
    for horizon in (1, 30, 400):
        cells = max(1, round(horizon ** (q / d))) ** d
        too_large = [t for t in range(1, horizon + 1) if cells > 4 * (t + 1) ** (b * d)]
        assert experiments.cover_too_large_until(horizon, d, 1.5) == max(too_large, default=0)


# Cells


@pytest.mark.parametrize(("d", "side", "alpha", "T"), [(1, 30, 1.0, 150), (2, 9, 1.0, 120)])
def test_cells_of_a_run_by_brute_force(d, side, alpha, T):
    experiment, trial = Experiment(bumps(d, side, alpha), PI, T), Trial(6, 0)
    found = experiments.cell_run(experiment, True, trial)
    problem = experiment.problem(trial)
    policy = PartitionedUCB(problem.model, T, delta=0.1, nu=1.5)
    pulled, moved, before = [], 0, {}
    for t, arm, _ in rounds(policy, problem, T, trial.rng("run")):
        log = math.log(4 * (t + 1) ** ((d + 1) / (d + 3) * d) / 0.1)
        now, widths = {}, []
        for number in set(policy.slot_cell.tolist()):
            cell = policy.cells[number]
            widths.append(problem.model.norm + math.sqrt(2 * (cell.gain + 1 + log)))
            index = cell.mean + widths[-1] * cell.sd
            tied = cell.arms[index >= index.max() - 1e-10 * (1 + abs(index.max()))]
            now[number] = list(cell.history), tied[policy.rank[tied].argmin()]
        assert found.width[t - 1] == pytest.approx(max(widths) - problem.model.norm, rel=2e-7)  # single precision
        same = [number for number in now if number in before and now[number][0] == before[number][0] != []]
        moved += any(now[number][1] != before[number][1] for number in same)
        before = now
        pulled.append(arm)
    last = [set(policy.cells[number].arms.tolist()) for number in set(policy.slot_cell.tolist())]
    late = max(sum(arm in arms for arm in pulled[-T // 10 :]) for arms in last) / (T // 10)
    assert (found.created, found.gain) == (policy.n_created, policy.largest_gain)
    assert found.late_share == late
    assert found.moved == moved / T > 0
    assert found.created > policy.n_initial > 1
    assert experiments.cell_run(experiment, False, trial).width.shape == (0,)


# Bounds


def outside():
    """A function far outside the band that the norm told allows."""
    model = Model(grid(9, 1), LatticeKernel(KERNEL, 9), 1.0, noise_scale=0.1, norm=0.1)
    return Known(Problem(model, 9 * np.cos(5 * model.points[:, 0])))


@pytest.mark.parametrize(
    ("source", "T", "holds"), [(bumps(1, 9), 60, True), (bumps(2, 9), 60, True), (outside(), 40, 0)]
)
def test_band_and_bound_of_a_run_by_brute_force(source, T, holds):
    experiment, trial = Experiment(source, PI, T), Trial(8, 0)
    found, problem = experiments.band_run(experiment, trial), source(trial)
    trace = run(PI["π-GP-UCB"](problem.model, T), problem, T, trial.rng("run"), record_band=True)
    policy, bound = PI["π-GP-UCB"](problem.model, T), 0.0
    observed = observations(problem, trace.arms, trial.rng("run"))
    for arm, observation in zip(trace.arms.tolist(), observed, strict=True):
        widths = policy.widths()
        slots = np.flatnonzero(policy.slot_arm == arm)
        half = [widths[policy.slot_cell[slot]] * policy.slot_sd[slot] for slot in slots]
        bound += 2 * max((policy.slot_mean[slot] + its, its) for slot, its in zip(slots, half, strict=True))[1]
        policy.tell(arm, observation)
    assert found.ratio == pytest.approx(trace.band_ratio.max(), rel=1e-12)
    assert found.band == holds == (trace.band_ratio <= 1).all()
    assert found.bound == pytest.approx(bound, rel=1e-12)
    assert found.regret == pytest.approx(trace.regret.sum(), rel=1e-12)
    assert found.regret > 0 and (not holds or found.regret < found.bound)


# Operations


@pytest.mark.parametrize(("d", "side", "T"), [(1, 30, 150), (2, 9, 120)])
def test_operations_of_a_run_by_hand(d, side, T):
    """Rows where the pull lies, and once for each half that a split has made in the round before."""
    experiment, trial = Experiment(bumps(d, side), PI, T), Trial(6, 0)
    problem, expected = experiment.problem(trial), np.empty(T)
    policy = PI["π-GP-UCB"](problem.model, T)
    known = len(policy.cells)
    for t, arm, _ in rounds(policy, problem, T, trial.rng("run")):
        in_use = [policy.cells[number] for number in set(policy.slot_cell.tolist())]
        sizes = [(len(cell.history), len(cell.arms), arm in cell.arms) for cell in in_use]
        made = [(len(cell.history), len(cell.arms)) for cell in policy.cells[known:]]
        expected[t - 1] = sum(m + inside * ((n + 1) ** 2 + m * (n + 1)) for n, m, inside in sizes)
        expected[t - 1] += sum(n**3 / 3 + m * n**2 for n, m in made)
        known = len(policy.cells)
    assert known > policy.n_initial
    found = experiments.cell_run(experiment, False, trial).operations
    assert found == pytest.approx(experiments.by_hundredths(expected))


def test_exact_operations_are_rows_and_solves():
    """Round t: t^2 + A t + A; in the hundredths of 200 rounds means of two."""
    found = experiments.exact_operations(30, 200)
    assert found[:2].tolist() == [(1 + 30 + 4 + 60) / 2 + 30, (9 + 90 + 16 + 120) / 2 + 30] and len(found) == 100
    assert experiments.by_hundredths(np.arange(7.0)).tolist() == list(range(7))


def test_the_width_of_a_run_is_that_of_each_round_less_the_norm():
    rule = {"IGP-UCB": partial(UCB, width=Constant(3.0))}
    source = bumps(1, 9)
    found = experiments.width_of_run(Experiment(source, rule, 20), Trial(4, 0))
    assert found == pytest.approx(np.full(20, 3.0 - source(Trial(4, 0)).model.norm), rel=2e-7)  # single precision
