"""What the notebook on IGP-UCB and GP-TS measures, against brute force and cases made by hand."""

import math
from itertools import combinations

import numpy as np
import pytest
from mpmath import mp, mpf
from scipy.stats import norm
from traces import trace_of

from kbrepro.confidence import Improved
from kbrepro.kernels import SquaredExponential, grid
from kbrepro.papers.igp_ucb import experiments
from kbrepro.papers.igp_ucb.experiments import named, pool
from kbrepro.papers.igp_ucb.problems import PosteriorMean
from kbrepro.papers.igp_ucb.widths import Original
from kbrepro.policies import ExpectedImprovement, MeanOnly, ProbabilityOfImprovement
from kbrepro.problems import Gaussian, Known, Model, Problem, Trial
from kbrepro.regret import Estimate, Trace, paired_share
from kbrepro.simulation import Experiment, rounds, run_trials

RULES = ("GP-UCB", "IGP-UCB", "GP-TS", "EI", "PI")
RNG = np.random.default_rng(2017)
NOISY = RNG.uniform(1, 3, size=(6, 30))  # samples of 30 trials


def panel_of(means, n=3, rules=RULES):
    """A panel of n trials with these means, 1 - 0.2 and 1 + 0.2 of them in two trials."""
    spread = np.array([0.8, 1.2] + [1.0] * (n - 2))
    return {rule: mean * spread for rule, mean in zip(rules, means, strict=True)}


# Rules


@pytest.mark.parametrize(
    ("incumbent", "margin", "name"),
    [
        ("mean of pulled arms", 0.0, "EI"),
        ("mean of pulled arms", 0.03, "EI, margin 0.03"),
        ("noisy reward", 0.0, "EI, noisy incumbent"),
        ("noisy reward", 0.1, "EI, noisy incumbent, margin 0.1"),
    ],
)
def test_names_say_what_differs(incumbent, margin, name):
    assert named("EI", incumbent, margin) == name
    assert pool(incumbent, margin) == ("GP-UCB", "IGP-UCB", "GP-TS", name, "PI" + name[2:])


def test_every_interpretation_has_names_of_its_own():
    pools = [pool(*interpretation) for interpretation in experiments.INTERPRETATIONS.values()]
    assert len({name for names in pools for name in names}) == 3 + 2 * len(experiments.INTERPRETATIONS)


@pytest.mark.parametrize(("incumbent", "inside"), experiments.INCUMBENTS.items())
@pytest.mark.parametrize(("rule", "policy"), [("EI", ExpectedImprovement), ("PI", ProbabilityOfImprovement)])
def test_improvement_rules_are_what_their_names_say(incumbent, inside, rule, policy):
    cases = [(incumbent, margin) for margin in (0.0, 0.01, 0.1)]
    rules = experiments.improvement_rules(cases, prior_sd=4.0)
    model = Model(grid(5), SquaredExponential(0.2), 0.1)
    assert set(rules) == {named(name, *case) for name in ("EI", "PI") for case in cases}
    for _, margin in cases:
        made = rules[named(rule, incumbent, margin)](model, 10)
        assert type(made) is policy and made.incumbent == inside and made.random_opening
        assert made.margin == pytest.approx(4 * margin)


def test_at_round_is_the_mean_regret_so_far():
    traces = {"a": trace_of([[4, 2, 0], [1, 1, 4]]), "b": trace_of([[0, 0, 3], [3, 0, 0]])}
    by_rule = {t: experiments.at_round(traces, t) for t in (1, 2, 3)}
    assert {t: panel["a"].tolist() for t, panel in by_rule.items()} == {1: [4, 1], 2: [3, 1], 3: [2, 2]}
    assert by_rule[3]["b"].tolist() == [1, 1]
    for t in (0, 4):
        with pytest.raises(ValueError, match=f"t = {t} is not allowed"):
            experiments.at_round(traces, t)


# Comparisons


def test_behind_is_the_largest_over_rivals_and_panels():
    """IGP-UCB 3 against 4, 5, 1 and 2: 200 % above EI in the first panel; the second, smaller everywhere, hides it."""
    panels = [panel_of([4, 3, 5, 1, 2]), panel_of([6, 3, 6, 6, 2])]
    assert experiments.behind(panels[:1], "IGP-UCB", RULES, 1).value == pytest.approx(2.0)
    assert experiments.behind(panels[1:], "IGP-UCB", RULES, 1).value == pytest.approx(0.5)
    assert experiments.behind(panels[1:], "IGP-UCB", RULES[:4], 1).value == pytest.approx(-0.5)
    assert experiments.behind(iter(panels), "IGP-UCB", iter(RULES), 1).value == pytest.approx(2.0)


def test_behind_takes_the_largest_ends_too():
    panel = dict(zip("abc", NOISY, strict=False))
    shares = [paired_share(panel["a"], panel[rival], 3, 5) for rival in "bc"]
    expected = Estimate(*(max(ends) for ends in zip(*shares, strict=True)))
    assert experiments.behind([panel], "a", "abc", 3, block=5) == expected


def test_median_share_and_ratio_over_the_last_axis():
    a, b = np.array([[1.0, 9.0, 2.0], [3.0, 3.0, 9.0]]), np.array([[4.0, 4.0, 1.0], [2.0, 0.0, 40.0]])
    assert experiments.median_share(a, b).tolist() == [-0.5, 0.5]
    assert experiments.ratio(a, b) == pytest.approx([4 / 3, 15 / 42])


FAILING, LATER = Estimate(0.3, 0.12, 0.4), Estimate(-0.3, -0.5, -0.2)
WIDE, NARROW = Estimate(0.0, -0.9, 0.9), Estimate(0.05, 0.04, 0.06)


@pytest.mark.parametrize(
    ("estimates", "least_alike"),
    [
        ([FAILING, WIDE], FAILING),  # a failure counts for more than a wide interval that decides nothing
        ([NARROW, WIDE], WIDE),  # without failures the widest reach
        ([NARROW, Estimate(-0.07, -0.08, -0.05)], Estimate(-0.07, -0.08, -0.05)),
        ([FAILING, LATER, WIDE], LATER),  # of two failures the farther
        ([NARROW], NARROW),
        ([Estimate(0.2, 0.1, 0.3), WIDE], WIDE),  # touching the limit is no failure
    ],
)
def test_farthest(estimates, least_alike):
    assert experiments.farthest(estimates, 0.1) == least_alike
    assert experiments.farthest(iter(estimates[::-1]), 0.1) == least_alike


def test_inversions_by_brute_force():
    rng = np.random.default_rng(3)
    for _ in range(200):
        orders = rng.permutation(5), rng.permutation(5)
        first, second = (panel_of(order + 1.0) for order in orders)
        expected = 0
        for i, j in combinations(range(5), 2):
            opposite = (orders[0][i] < orders[0][j]) != (orders[1][i] < orders[1][j])
            expected += opposite and (i, j) != (3, 4)
        assert experiments.inversions(first, second, RULES) == expected


def test_ei_and_pi_are_one_and_ties_are_no_inversion():
    first = panel_of([5, 4, 3, 2, 1])
    assert experiments.inversions(first, panel_of([5, 4, 3, 1, 2]), RULES) == 0
    assert experiments.inversions(first, panel_of([5, 4, 2, 3, 1]), RULES) == 1
    assert experiments.inversions(first, panel_of([5, 5, 3, 2, 1]), RULES) == 0
    assert experiments.inversions(first, panel_of([1, 2, 3, 4, 5]), RULES) == 9


@pytest.mark.parametrize("n", [10, 30])
def test_over_best(n):
    panel = panel_of([9, 3, 4, 2, 8], n)
    assert experiments.over_best(panel, "IGP-UCB", RULES, 1).value == pytest.approx(1.5)
    assert experiments.over_best(panel, "IGP-UCB", RULES[:3], 1) == (1, 1, 1)  # the same spread: always the best
    assert experiments.over_best(panel, "GP-UCB", RULES, 1).value == pytest.approx(4.5)


@pytest.mark.parametrize("n", [10, 30])
def test_over_best_has_an_interval_that_ends_at_one(n):
    """Two rules that are level: the ratio is at least 1 whichever of them a resample puts first."""
    panel = {"a": NOISY[0][:n], "b": NOISY[1][:n], "c": NOISY[2][:n] + 9}
    value, low, high = experiments.over_best(panel, "a", "abc", 1)
    assert value == pytest.approx(max(1, panel["a"].mean() / panel["b"].mean()))
    assert low == 1 < high
    far = experiments.over_best(panel, "c", "abc", 1)
    assert 1 < far.low < far.value < far.high
    assert far.value == pytest.approx(panel["c"].mean() / min(panel["a"].mean(), panel["b"].mean()))


def test_inflation_of_known_ratios():
    """Rules grow by 8 and 2 on one pair, by 4 and 1 on the other: geometric mean sqrt(8); rivals by 1, 4, 2, 2: 2."""
    names = ("GP-UCB", "GP-TS", "EI", "PI")
    right, wrong = panel_of([1, 5, 2, 3], rules=names), panel_of([8, 10, 2, 12], rules=names)
    other, wronger = panel_of([7, 2, 1, 5], rules=names), panel_of([28, 2, 2, 10], rules=names)
    pairs = [(right, wrong), (other, wronger)]
    estimate = experiments.inflation(pairs, names[:2], names[2:], 1)
    assert estimate == pytest.approx([math.sqrt(8) / 2] * 3)  # all have one spread: resampling changes nothing
    assert experiments.inflation(pairs, names[2:], names[:2], 1).value == pytest.approx(2 / math.sqrt(8))
    assert experiments.inflation(pairs[:1], names[:1], names[1:], 1).value == pytest.approx(8 / 8 ** (1 / 3))


def test_inflation_resamples_trials_in_common():
    """Noise that right and wrong kernel share cancels; noise of their own does not."""
    a, b = NOISY[0], NOISY[1]
    common = experiments.inflation([({"a": a, "b": b}, {"a": 3 * a, "b": 2 * b})], "a", "b", 1)
    assert common == pytest.approx([1.5] * 3)
    own = experiments.inflation([({"a": a, "b": b}, {"a": 3 * NOISY[2], "b": 2 * NOISY[3]})], "a", "b", 1)
    assert own.low < own.value - 0.05 and own.high > own.value + 0.05


def test_the_power_of_the_root_is_a_half():
    dimensions = [1, 2, 3, 4]
    below = [np.array([1.0, 2.0, 3.0]) * d for d in dimensions]
    above = [d**0.5 * 7 * sample for d, sample in zip(dimensions, below, strict=True)]
    assert experiments.power_of(dimensions, above, below, 1) == pytest.approx([0.5] * 3)
    assert experiments.power_of(dimensions, below, above, 1).value == pytest.approx(-0.5)


def test_the_power_is_that_of_least_squares():
    dimensions = [1, 2, 4]
    ratios = NOISY[:3].mean(axis=1) / NOISY[3:].mean(axis=1)
    expected = np.polyfit(np.log(dimensions), np.log(ratios), 1)[0]
    estimate = experiments.power_of(dimensions, list(NOISY[:3]), list(NOISY[3:]), 1)
    assert estimate.value == pytest.approx(expected)
    assert estimate.low < estimate.value < estimate.high


def test_smallest_ratio():
    a, b, c = NOISY[:3]
    pairs = [(a, b), (c + 3, b), (a, c)]
    ratios = [x.mean() / y.mean() for x, y in pairs]
    estimate = experiments.smallest_ratio(iter(pairs), 1)
    assert estimate.value == pytest.approx(min(ratios)) and max(ratios) > 1.5
    assert estimate.low < estimate.value < estimate.high
    assert experiments.smallest_ratio([(6 * b, b), (2 * b, b)], 1) == pytest.approx([2.0] * 3)


# The incumbent


def test_excess_of_the_largest_reward_by_hand():
    """Two arms of expected reward 3 and 0, without noise; the noise scale that is told is 0.5."""
    model = Model(grid(2), SquaredExponential(0.2), 1.0, noise_scale=0.5)
    silent = Known(Problem(model, np.array([3.0, 0.0]), Gaussian(0.0)))
    trace = Trace(np.array([[1, 1, 0, 1], [0, 1, 1, 1]]), np.zeros((2, 2)), np.zeros((2, 4)), np.zeros((2, 0)))
    excess = experiments.excess_of_largest_reward(trace, silent, 5)
    assert excess.tolist() == [[-6.0, -6.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]


def test_excess_of_the_largest_reward_is_that_of_the_run_that_was_played():
    source, seen = PosteriorMean(SquaredExponential(0.2), n_arms=20), []
    its = run_trials(Experiment(source, {"mean only": MeanOnly}, 30), 2, 7)["mean only"]
    for number in range(2):
        trial = Trial(7, number)
        problem = source(trial)
        seen.append([y for *_, y in rounds(MeanOnly(problem.model, 30), problem, 30, trial.rng("run"))])
    tops = [[source(Trial(7, n)).expected_reward.max()] for n in range(2)]
    scales = [[source(Trial(7, n)).model.noise_scale] for n in range(2)]
    expected = (np.maximum.accumulate(seen, axis=1) - tops) / np.array(scales)
    np.testing.assert_array_equal(experiments.excess_of_largest_reward(its, source, 7), expected)


def test_scales_are_those_that_policies_are_told():
    source = PosteriorMean(SquaredExponential(0.2), n_arms=20)
    model = source(Trial(7, 1)).model
    assert experiments.scales(source, Trial(7, 1)) == (model.noise_scale, model.norm)


# Theorems


def test_theorem_3_bound_by_dense_algebra():
    """gamma_3 over two arms: the largest sum of log(1 + m eigenvalue / lambda) / 2 with m_1 + m_2 = 3, tried out."""
    model = Model(grid(2), SquaredExponential(0.9), 1 + 2 / 3, noise_scale=0.7, norm=1.5)
    k = model.kernel(model.points, model.points)[0, 1]
    eigenvalues = [1 + k, 1 - k]
    gain = max(
        sum(
            0.5 * math.log(1 + m * value / (1 + 2 / 3))
            for m, value in zip((first, 3 - first), eigenvalues, strict=True)
        )
        for first in range(4)
    )
    width = 1.5 + 0.7 * math.sqrt(2 * (gain + 1 + math.log(1 / 0.1)))
    assert experiments.theorem_3_bound(model, 3, 0.1) == pytest.approx(2 * width * math.sqrt(4 * 5 * gain))


def test_rates_by_hand():
    """Theorem 3: B sqrt(T gamma) + sqrt(T gamma (gamma + ln 1/delta)); Theorem 4 as it is printed."""
    given = {"norm": 2.0, "delta": 0.1}
    assert experiments.rate("IGP-UCB", 5.0, 100, **given) == pytest.approx(
        2 * math.sqrt(500) + math.sqrt(500 * (5 + math.log(10)))
    )
    assert experiments.rate("GP-TS", 5.0, 100, **given, d=3) == pytest.approx(
        math.sqrt((5 + math.log(20)) * 3 * math.log(600)) * (math.sqrt(500) + 2 * math.sqrt(100 * math.log(20)))
    )
    with pytest.raises(ValueError, match="rule = 'GP-UCB'"):
        experiments.rate("GP-UCB", 5.0, 100, **given)


@pytest.mark.parametrize("power", [1, 2, 3])
def test_log_exponent_is_that_of_the_two_widths(power):
    """At rounds 1e3 and 1e9, from `widths.Original` and `Improved`, whose gain here is (ln t)^power."""
    rounds, log_ratio = (10**3, 10**9), []
    for t in rounds:
        gain = math.log(t) ** power
        old = Original(0.1, lambda before, gain=gain: gain).at(t, norm=1.3)
        log_ratio.append(math.log(old / Improved(0.1).at(gain, norm=1.3, noise_scale=0.6)))
    expected = (log_ratio[1] - log_ratio[0]) / math.log(math.log(rounds[1]) / math.log(rounds[0]))
    logs = tuple(math.log(t) for t in rounds)
    found = experiments.log_exponent(power, logs, norm=1.3, noise_scale=0.6, delta=0.1)
    assert found == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("power", [1, 2, 3])
def test_log_exponent_tends_to_three_halves(power):
    given = {"norm": 1.3, "noise_scale": 0.6, "delta": 0.1}
    off = [abs(experiments.log_exponent(power, (x, 10 * x), **given) - 1.5) for x in (1e2, 1e4, 1e6, 1e12)]
    assert off == sorted(off, reverse=True)
    assert off[-1] < 1e-4 < 1e-3 < off[0]


def test_lemma_7_at_one_and_around_its_limit_to_thirty_digits():
    """P(Z > 1) = 0.15866 against exp(-1) / (4 sqrt(pi)) = 0.05189; below the limit the lemma's sign is wrong."""
    assert experiments.normal_tail(1.0) == pytest.approx(0.1586552539314571, rel=1e-12)
    assert experiments.anti_concentration(1.0) == pytest.approx(0.05188844, rel=1e-6)
    limit = experiments.lemma_7_fails_below()
    assert limit == pytest.approx(0.343, abs=5e-4)
    with mp.workdps(30):
        for factor in (1 - 1e-9, 1 + 1e-9):
            beta = mpf(limit) * mpf(factor)
            tail, below = mp.erfc(beta / mp.sqrt(2)) / 2, mp.exp(-(beta**2)) / (4 * mp.sqrt(mp.pi) * beta)
            assert (tail >= below) == (factor > 1)


def test_lemma_7_holds_above_the_limit_and_fails_everywhere_below():
    limit = experiments.lemma_7_fails_below()
    for beta, holds in [(np.linspace(1e-3, limit - 1e-9, 5000), False), (np.linspace(limit + 1e-9, 30, 5000), True)]:
        assert ((norm.sf(beta) >= experiments.anti_concentration(beta)) == holds).all()
        np.testing.assert_allclose(experiments.normal_tail(beta), norm.sf(beta), rtol=1e-12)


def test_a_lemma_that_held_would_have_limit_zero(monkeypatch):
    monkeypatch.setattr(experiments, "anti_concentration", lambda beta: 0.01 * np.exp(-(np.asarray(beta) ** 2)))
    assert experiments.lemma_7_fails_below() == 0.0


SE = SquaredExponential(0.2)
SLOPE = 5.0  # L of this kernel: the root of its mixed second derivative, 1 / lengthscale


def expansion(scale=1.0):
    """f = sum a_i k(c_i, .), its norm known, told at its own centres."""
    centres = np.array([[0.1], [0.35], [0.6], [0.95]])
    a, K = scale * np.array([1.0, -2.0, 1.5, 0.5]), SE(centres, centres)
    return Problem(Model(centres, SE, 0.1, norm=float(np.sqrt(a @ K @ a))), K @ a), centres, a


@pytest.mark.parametrize("t", [1, 3, 6])
def test_discretisation_of_a_function_of_known_norm(t):
    problem, centres, a = expansion()
    found = experiments.discretisation(problem, SLOPE, t, n_probes=3002)
    n = math.ceil(problem.model.norm * SLOPE * t**2)
    assert found["points of D_t"] == n and found["1 / t^2"] == 1 / t**2
    x = np.linspace(0, 1, 3002)  # 3001 is prime: no test point lies halfway between two points
    midpoints = (np.arange(n) + 0.5) / n
    nearest = midpoints[np.abs(x[:, None] - midpoints).argmin(axis=1)]
    error = np.abs((SE(x[:, None], centres) - SE(nearest[:, None], centres)) @ a).max()
    assert found["largest |f(x) - f([x])|"] == pytest.approx(error, rel=1e-6)
    assert 0.1 / t**2 < found["largest |f(x) - f([x])|"] <= 0.5 / t**2 * (1 + 1e-6)  # |x - [x]| <= 1 / (2 n)


def test_a_norm_that_is_too_small_breaks_the_bound():
    """A tenth of the norm and a fifth of L: the set is too coarse, and the function says so."""
    problem, _, _ = expansion()
    lying = Problem(Model(problem.model.points, SE, 0.1, norm=problem.model.norm / 10), problem.expected_reward)
    found = experiments.discretisation(lying, SLOPE / 5, 6, n_probes=3002)
    assert found["largest |f(x) - f([x])|"] > found["1 / t^2"]
