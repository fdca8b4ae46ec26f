"""What the notebook on π-GP-UCB measures, against brute force and cases made by hand."""

import math
from functools import partial

import numpy as np
import pytest
from scipy import stats
from traces import trace_of

from kbrepro.information import greedy_gain
from kbrepro.kernels import Matern, grid
from kbrepro.papers.pi_gp_ucb import experiments
from kbrepro.papers.pi_gp_ucb.experiments import AVERAGES, average, beside_printed
from kbrepro.papers.pi_gp_ucb.partition import PartitionedUCB
from kbrepro.papers.pi_gp_ucb.problems import Bumps, LatticeKernel
from kbrepro.problems import Known, Model, Problem, Trial
from kbrepro.simulation import Experiment, observations, rounds, run

KERNEL = Matern(0.2, nu=1.5)
PI = {"π-GP-UCB": partial(PartitionedUCB, delta=0.1, nu=1.5)}
RNG = np.random.default_rng(2020)
REGRET, UNIFORM = np.array([1.0, 4.0, 9.0]), np.array([2.0, 2.0, 6.0])  # ratios 1/2, 2, 3/2


def bumps(d, side, alpha=1.0, **given):
    return Bumps(KERNEL, d=d, side=side, noise_variance=alpha, noise_bound=1.0, **given)


# Regret as a share of that of uniform play


def test_uniform_regret_is_the_mean_over_all_arms():
    source = bumps(1, side=10)
    found = experiments.uniform_regret(Experiment(source, {}, 5), 4, seed=7)
    expected = [source(Trial(7, number)).regret(np.arange(10)).mean() for number in range(4)]
    assert found == pytest.approx(expected, rel=1e-12)
    assert len(set(found)) == 4


@pytest.mark.parametrize(("how", "value"), [("mean of ratios", 4 / 3), ("ratio of means", 1.4), ("median", 1.5)])
def test_three_averages_by_hand(how, value):
    assert AVERAGES[how](REGRET, UNIFORM) == pytest.approx(value)
    both = AVERAGES[how](np.stack([REGRET, 2 * REGRET]), np.stack([UNIFORM, UNIFORM]))
    assert both == pytest.approx([value, 2 * value])
    assert average(REGRET, UNIFORM, 3, how).value == pytest.approx(value)


def test_an_average_resamples_runs_with_their_uniform_regret():
    """Shares that are all one half have no spread; those with noise have that of the mean."""
    uniform = RNG.uniform(1, 5, size=300)
    for how in AVERAGES:
        assert average(uniform / 2, uniform, 3, how) == pytest.approx((0.5, 0.5, 0.5))
    noisy = RNG.normal(0.5, 0.1, size=300)
    found = average(noisy * uniform, uniform, 3)
    assert found.high - found.low == pytest.approx(2 * 1.96 * noisy.std() / math.sqrt(300), rel=0.1)
    assert found == average(noisy * uniform, uniform, 3) != average(noisy * uniform, uniform, 4)
    with pytest.raises(ValueError, match="how = 'mode' is not allowed"):
        average(uniform, uniform, 3, "mode")


# Beside a printed mean of 12 runs


@pytest.mark.parametrize("how", ["mean of ratios", "ratio of means"])
def test_a_printed_mean_of_twelve_such_runs_is_compatible_in_95_percent(how):
    """4000 pairs of our 16 runs and 12 others; one standard error of the share is 0.0034.

    Uniform regret differs between functions, the share of it far less: means of either alone would cover nearly always.
    """
    rng = np.random.default_rng(12)
    uniform = rng.uniform(1, 3, size=(4000, 28))
    regret = uniform * rng.normal(0.5, 0.1, size=(4000, 28))
    printed = AVERAGES[how](regret[:, 16:], uniform[:, 16:])
    pairs = zip(regret[:, :16], uniform[:, :16], printed, strict=True)
    found = [beside_printed(*pair, how) for pair in pairs]
    compatible = np.mean([beside.compatible.value <= 1 for beside in found])
    assert compatible == pytest.approx(0.95, abs=0.015)
    covered = np.mean([beside.close.low <= 0 <= beside.close.high for beside in found])
    assert covered == compatible


def test_both_numbers_by_hand():
    """Ratios 1/2, 2, 3/2: mean 4/3, standard deviation 0.7638, t(2) 4.3027; half-width 0.7638 4.3027 sqrt(1/3 + 1/12).

    Ratio of means 7/5; linearised, (R - 7/5 U) / (10/3) = -0.54, 0.36, 0.18.
    """
    half = np.std([0.5, 2, 1.5], ddof=1) * stats.t(2).ppf(0.975) * math.sqrt(5 / 12)
    found = beside_printed(REGRET, UNIFORM, 2.0)
    assert found.compatible.value == pytest.approx((2 / 3) / half) and half == pytest.approx(2.121, abs=1e-3)
    assert found.close == pytest.approx((-1 / 3, -1 / 3 - half / 2, -1 / 3 + half / 2))
    half = np.std([-0.54, 0.36, 0.18], ddof=1) * stats.t(2).ppf(0.975) * math.sqrt(5 / 12)
    found = beside_printed(REGRET, UNIFORM, 1.0, "ratio of means")
    assert found.compatible.value == pytest.approx(0.4 / half)
    assert found.close == pytest.approx((0.4, 0.4 - half, 0.4 + half))


def test_signs_and_sides():
    """`close` is positive where our mean is larger; `compatible` knows distances only."""
    shares, one = 0.5 + 0.1 * np.tile([-1, 1], 20), np.ones(40)
    below, above = (beside_printed(shares, one, printed) for printed in (0.3, 0.7))
    assert below.close.value == pytest.approx(2 / 3) and above.close.value == pytest.approx(-2 / 7)
    assert below.compatible.value == pytest.approx(above.compatible.value) and below.compatible.value > 1


def test_where_twelve_runs_tell_too_little_a_near_mean_decides_nothing():
    """Half-widths of 0.67 times the spread (40 runs): more than a quarter of a printed 0.5 from a spread of 0.19 on."""
    one, signs = np.ones(40), np.tile([-1, 1], 20)
    narrow, wide = (beside_printed(0.5 + spread * signs, one, 0.5).compatible for spread in (0.17, 0.2))
    assert narrow == pytest.approx((0.0, 0.0, 0.0))
    assert wide.value == wide.low == pytest.approx(0) and wide.high > 1
    for spread in (0.17, 0.2):  # far off is off however wide
        far = beside_printed(0.5 + spread * signs, one, 0.1).compatible
        assert far.low == far.value == far.high > 1


def test_a_median_has_no_such_interval():
    with pytest.raises(ValueError, match="how = 'median' is not allowed"):
        beside_printed(REGRET, UNIFORM, 1.0, "median")


def test_crossing_by_hand():
    rival = trace_of([[1, 1, 1, 1.5, 1, 1], [1, 1, 1, 1.5, 1, 1]])
    assert experiments.crossing(trace_of([[3, 0, 0, 0, 0, 0]]), rival) == 4  # a tie in round 3 is not below
    assert experiments.crossing(trace_of([[6, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0]]), rival) == 4  # the mean of two runs
    assert experiments.crossing(trace_of([[0, 4, 0, 0, 0, 0]]), rival) == 4  # below, behind, below
    assert experiments.crossing(trace_of([[0, 0, 0, 0, 0, 0]]), rival) == 1
    assert experiments.crossing(rival, rival) == 6  # never


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


@pytest.mark.parametrize("nu", [0.5, 1.5, 2.5, 5.0])
def test_no_exponent_is_below_the_lower_bound_and_what_came_later_is_no_larger(nu):
    for d in range(1, 9):
        found = experiments.regret_exponents(d, nu)
        assert found["lower bound"] == min(found.values()) and max(found.values()) <= 1
        assert found["IGP-UCB, 2020"] >= found["IGP-UCB, gain of 2021"] >= found["IGP-UCB, lambda grows"] - 1e-12
        gain = d / (2 * nu + d)  # the regret is the gain times the root of T
        assert found["IGP-UCB, gain of 2021"] == pytest.approx(min(1, gain + 0.5))


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
    assert experiments.late_exponent(3 * t**0.4) == pytest.approx((0.4, 0.4, 0.4))
    bent = np.where(t < 100, 1000.0 * t, 3 * t**0.4)
    assert experiments.late_exponent(bent) == pytest.approx((0.4, 0.4, 0.4))
    bent = np.where(t < 90, 3 * t**0.9, 3 * 90**0.5 * t**0.4)
    assert 0.45 < experiments.late_exponent(bent, decades=2).value < 0.85
    steeper = np.where(t < 10, 1e6, 3 * t**0.7)
    assert experiments.late_exponent(steeper, decades=2) == pytest.approx((0.7, 0.7, 0.7))


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
        assert found.width[t - 1] == pytest.approx(max(widths) - problem.model.norm, rel=1e-12)
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


def test_arms_are_looked_at_only_where_asked():
    experiment, trial = Experiment(bumps(1, 10), PI, 60), Trial(6, 1)
    with_arms, without = (experiments.cell_run(experiment, look, trial) for look in (True, False))
    assert math.isnan(without.moved) and not math.isnan(with_arms.moved)
    assert without.width.tolist() == with_arms.width.tolist() and without[:2] == with_arms[:2]


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


# Seconds


def test_seconds_of_segments_are_medians_of_means():
    """Two segments of three runs: means 2, 5, 2 and 3, 3, 9; the median of all steps of the first would be 1."""
    seconds = np.array([[1, 1, 4, 3, 3, 3], [1, 1, 13, 3, 3, 3], [1, 1, 4, 1, 1, 25.0]])
    found = experiments.segment_seconds(trace_of(seconds, seconds), segments=2)
    assert found.tolist() == [2, 3]
    seconds = RNG.uniform(size=(4, 97))
    expected = [np.median([run[part].mean() for run in seconds]) for part in np.array_split(range(97), 50)]
    assert experiments.segment_seconds(trace_of(seconds, seconds)) == pytest.approx(expected)
    long = trace_of(np.zeros((2, 300)), np.full((2, 100), 6.0))  # hundredths of three rounds each
    assert experiments.segment_seconds(long).tolist() == [2.0] * 50


def test_growth_of_seconds_leaves_out_the_first_tenth():
    middle = np.arange(50) + 0.5
    seconds = 1e-3 * middle**0.3
    seconds[:5] = 7.0
    assert experiments.growth_of_seconds(seconds) == pytest.approx((0.3, 0.3, 0.3))
    seconds[5] = 7.0
    assert experiments.growth_of_seconds(seconds).value < 0.2


def test_seconds_of_computing_anew_grow_with_the_pulls():
    """The least of three tries each: other programs only add to it."""
    tries = [experiments.refit_seconds(bumps(1, 30), [5, 600], Trial(9, n))["seconds"] for n in range(3)]
    assert all(list(its) == [5, 600] and min(its.values()) > 0 for its in tries)
    few, many = (min(its[t] for its in tries) for t in (5, 600))
    assert many > 3 * few


def test_summed_up_is_exact_for_a_power_law():
    seconds = {t: 2e-3 * t**1.5 for t in (1, 7, 100, 1000)}
    assert experiments.summed_up(seconds, 1000) == pytest.approx(2e-3 * (np.arange(1, 1001) ** 1.5).sum(), rel=1e-12)
    backwards = dict(reversed(seconds.items()))
    assert experiments.summed_up(backwards, 1000) == experiments.summed_up(seconds, 1000)


def test_beyond_the_pulls_measured_rounds_count_as_the_nearest():
    """2 seconds until round 10, 8 from round 40 on, in between 2 (t / 10)."""
    inside = sum(2 * t / 10 for t in range(11, 40))
    assert experiments.summed_up({10: 2.0, 40: 8.0}, 50) == pytest.approx(10 * 2 + inside + 11 * 8)
