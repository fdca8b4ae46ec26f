"""What the notebook on GPN-UCB measures, against dense algebra and the equations written out.

What it prints of kept trials is compared there.
"""

import numpy as np
import pytest
from dense import dense_at
from scipy.spatial.distance import cdist
from traces import trace_of

from kbrepro.bandits.kernels import grid
from kbrepro.bandits.problems import Trial
from kbrepro.papers.gpn_ucb import measures
from kbrepro.papers.gpn_ucb.policies import GPNUCB, nonadaptive
from kbrepro.papers.gpn_ucb.problems import KERNEL, SMALL, DrawnChain, RandomNetwork, exact_chain
from kbrepro.papers.gpn_ucb.sets import FeedForward
from kbrepro.trials.simulation import run

LOOSE = RandomNetwork(FeedForward(KERNEL), grid(30, 1, -2, 2), (1, 1, 1), norm=2.0)


@pytest.mark.parametrize(
    ("mode", "all_arms"), [("paper", False), ("outward", False), ("paper", True)]
)
def test_regret_over_its_bound_is_that_of_equation_49_and_theorem_1_written_out(mode, all_arms):
    """m = 3, B = L = 2: r_t over 4 (16 s_1 + 4 s_2 + s_3), R_T over 2^4 2 2^2 Sigma_T."""
    trial, problem, outward = Trial(3, 1), LOOSE(Trial(3, 1)), mode == "outward"
    radius = 10.0 if outward else 1.0
    how = {"n_grid": 301, "outward": outward, "half_width": 2.0, "radius": radius}
    policy = GPNUCB(problem.model, 9, rng=trial.rng("policy"), all_arms=all_arms, **how)
    arms, sds = run(policy, problem, 9, trial.rng("noise")).arms, np.ones((9, 3))
    inputs = [problem.model.points, *problem.outputs[:2]]
    for t, i in np.ndindex(9, 3):
        if t:
            before, z = arms[:t], inputs[i][arms[t : t + 1]]
            _, variance = dense_at(KERNEL, inputs[i][before], problem.outputs[i][before], z, 1e-7)
            sds[t, i] = np.sqrt(max(variance[0], 0))
    h = 2 / 300
    added = 10 * 2 * (4 * h + h) if outward else 0.0
    regret, rounds = problem.regret(arms), np.arange(1, 10)
    ratios = measures.bound_ratios(LOOSE, 301, 9, trial, mode=mode, all_arms=all_arms)
    assert ratios["step"] == pytest.approx(
        (regret / (4 * sds @ [16, 4, 1] + added)).max(), rel=1e-3
    )
    total = np.cumsum(regret) / (128 * np.cumsum(sds, axis=0).max(axis=1) + added * rounds)
    assert ratios["total"] == pytest.approx(total.max(), rel=1e-3)
    assert ratios["slack"] == pytest.approx(added / problem.reward_range)


def test_composed_bounds_are_the_weighted_sum():
    sds = [np.full(36, 0.1), np.full(36, 0.2), np.full(36, 0.4)]
    bound = measures.composed_bound(exact_chain(6)(Trial(4, 1)), sds)
    # B sum_i L^(m - i) sd_i, B = L = 2
    np.testing.assert_allclose(bound, 2.0 * (4 * 0.1 + 2 * 0.2 + 0.4))
    for structure, expected in (
        ("feed-forward", 2 * 0.1 + np.sqrt(2) * 0.2 + 0.4),
        ("multi-output", 0.7),
    ):
        wide = SMALL[structure][0](Trial(4, 1))  # two outputs, two outputs, one; B = L = 1
        np.testing.assert_allclose(
            measures.composed_bound(wide, [np.full(100, sd[0]) for sd in sds]), expected
        )


def test_errors_of_nonadaptive_sampling_are_the_largest_over_designs_and_arms():
    problem, shares, errors, regrets = LOOSE(Trial(4, 2)), [], [], []
    for per_side in (3, 5):
        mean, sds = nonadaptive(problem, per_side)
        bound = 2.0 * (4 * sds[0] + 2 * sds[1] + sds[2])
        error, chosen = np.abs(problem.expected_reward - mean), mean.argmax()
        shares.append(((error / bound).max(), problem.regret(chosen) / (2 * bound.max())))
        errors.append(error.max())
        regrets.append(problem.regret(chosen))
    composed = measures.composed_errors(LOOSE, [3, 5], Trial(4, 2))
    assert [composed["error"], composed["regret"]] == pytest.approx(np.max(shares, axis=0))
    np.testing.assert_allclose(measures.design_errors(LOOSE, [3, 5], Trial(4, 2)), errors)
    np.testing.assert_allclose(measures.nonadaptive_regrets(LOOSE, [3, 5], Trial(4, 2)), regrets)


def test_simple_regrets_are_of_the_rows_asked_for_at_the_pulls_asked_for():
    regret = np.array([[0.8, 0.9, 0.4, 0.6], [0.5, 0.02, 0.3, 0.3]])
    rules = {"EI": trace_of(regret)}
    whole = measures.simple_regrets(rules, np.array([2, 4])).loc["EI"]
    assert whole.tolist() == pytest.approx([100 * (0.8 + 0.4 + 0.02 + 0.02) / 4, 50.0])
    some = measures.simple_regrets(rules, np.array([2, 4]), np.array([False, True])).loc["EI"]
    assert some.tolist() == pytest.approx([2.0, 0.0])


def test_the_best_arm_is_excluded_if_the_envelope_of_the_first_layer_misses_its_output():
    """Against eqs. 9 and 10 written out; the envelope excludes at least what the bounds do."""
    rng, found = np.random.default_rng(0), []
    for number in range(12):
        chain = DrawnChain(9)(Trial(6, number))
        X, f = chain.model.points, chain.outputs[0][:, 0]
        best, arms = chain.expected_reward.argmax(), rng.choice(81, 12, replace=False)
        mean, variance = dense_at(KERNEL, X[arms], f[arms, None], X, 1e-7)
        half, cone = 2 * np.sqrt(np.maximum(variance, 0)), 2 * cdist(X, X[best : best + 1])[:, 0]
        high, low = (mean[:, 0] + half + cone).min(), (mean[:, 0] - half - cone).max()
        wanted = not low <= f[best] <= high
        assert measures.excludes_best(chain, arms) == wanted
        assert wanted or abs(f[best] - mean[best, 0]) <= half[best]
        found.append(wanted)
    assert len(set(found)) == 2
    judged = measures.what_bounds_did(DrawnChain(9), [number], arms[None], np.array([0.2]), 6)
    assert judged["excluded"].tolist() == [wanted] and judged["missed"].all()


def test_trials_that_were_stored_in_parts_are_put_together_and_picked():
    regret = np.array([[0.8, 0.9], [0.5, 0.2], [0.1, 0.3]])
    whole = {"EI": trace_of(regret)}
    parts = [measures.picked(whole, slice(2)), measures.picked(whole, slice(2, 3))]
    np.testing.assert_array_equal(measures.joined(parts)["EI"].regret, regret)
    np.testing.assert_array_equal(
        measures.picked(whole, slice(None, None, 2))["EI"].regret, regret[::2]
    )
