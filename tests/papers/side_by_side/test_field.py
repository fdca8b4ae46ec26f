"""The field and the bench: who plays where, which proof holds where, what a wrong assumption
changes.
"""

import math
from functools import partial

import numpy as np
import pytest

from kbrepro.bandits.confidence import Flynn2024
from kbrepro.bandits.kernels import Matern, SquaredExponential, grid
from kbrepro.bandits.policies import UCB
from kbrepro.bandits.problems import Gaussian, GPDraw, Model, Problem, Trial
from kbrepro.papers.side_by_side import bench
from kbrepro.papers.side_by_side.bench import BOUNDED, DRAWN, Misled, synthetic
from kbrepro.papers.side_by_side.field import UniformPlay, field, with_grown_variance
from kbrepro.trials.simulation import run, start_policy

ENTRIES = field(0.1)
BENCH = synthetic(50, 40, {"Table 1": 5, "BKB": 6}, 60)


@pytest.mark.parametrize("problem", BENCH)
def test_every_rule_plays_where_it_is_defined(problem):
    setting = BENCH[problem]
    trial = Trial(setting.seed, 0)
    rules, met = setting.rules(0.1), setting.source(trial)
    assert met.model.known_norm > 0  # where no paper gives one it is a smoothed one
    for entry in rules.values():
        policy = start_policy(entry.make, met.model, 4, trial)
        run(policy, met, 4, trial.rng("noise"))
    assert ("π-GP-UCB" in rules) == setting.grid and ("IGP-UCB, both" in rules) == (setting.nu > 0)
    assert ("BKB" in rules) == (problem != "Table 1, d = 2")


def test_the_proof_of_a_rule_holds_where_its_assumptions_do():
    met = {
        name: [problem for problem, each in BENCH.items() if each.met(entry)]
        for name, entry in ENTRIES.items()
    }
    bounded, drawn = (
        [problem for problem, each in BENCH.items() if each.holds == kind]
        for kind in (BOUNDED, DRAWN)
    )
    assert (
        met["BPE, tighter"] == met["IGP-UCB, tighter"] == bounded
        and met["PIMS"] == met["GP-UCB"] == drawn
    )
    # proved for lambda of at least 1
    assert met["IGP-UCB"] == met["GP-TS"] == ["Table 1, d = 1", "Table 1, d = 2"]
    assert met["EI"] == met["BKB"] == met["π-GP-UCB"] == met["SupKernelUCB, tuned"] == []


def test_a_tuned_rule_has_a_tenth_of_the_width_and_lambda_grows_in_the_units_of_the_reward():
    model = Model(grid(9), Matern(0.2, nu=1.5), 0.04, norm=2.0)
    for name in ("SupKernelUCB", "BPE, tighter"):
        printed, tuned = (ENTRIES[rule].make(model, 30)._half for rule in (name, f"{name}, tuned"))
        assert tuned == pytest.approx(printed / 10)
    policy = with_grown_variance(partial(UCB, width=Flynn2024(0.1)), 1.5, model, 1000)
    assert policy.model.noise_variance == pytest.approx(0.04 * 1000 ** (1 / 5))
    assert policy.model.noise_scale == pytest.approx(0.2)


def test_uniform_play_is_uniform_and_learns_nothing():
    model = Model(grid(40), SquaredExponential(0.2), 0.01)
    policy = UniformPlay(model, 8000)
    problem = Problem(model, np.sin(6 * model.points[:, 0]), Gaussian(0.1))
    counts = np.bincount(run(policy, problem, 8000, np.random.default_rng(3)).arms, minlength=40)
    # chi-squared, 39 degrees of freedom: above 80 once in 10,000
    assert ((counts - 200) ** 2 / 200).sum() < 80
    assert policy.posterior.counts.sum() == 0 and policy.t == 8001


@pytest.mark.parametrize("how", [{}, {"lengthscale": 0.5}, {"noise": 3.0}, {"norm": 1 / 3}])
def test_a_wrong_assumption_changes_what_policies_are_given_and_nothing_else(how):
    source = bench.with_norm(GPDraw(SquaredExponential(0.2), grid(30), 0.025))
    right, wrong = source(Trial(3, 1)), Misled(source, **how)(Trial(3, 1))
    np.testing.assert_array_equal(right.expected_reward, wrong.expected_reward)
    pulls = [problem.pull(4, np.random.default_rng(1)) for problem in (right, wrong)]
    assert pulls[0] == pulls[1]
    assert wrong.model.kernel.lengthscale == pytest.approx(0.2 * how.get("lengthscale", 1))
    assert wrong.model.noise_variance == pytest.approx(0.025 * how.get("noise", 1) ** 2)
    assert wrong.model.noise_scale == pytest.approx(math.sqrt(0.025) * how.get("noise", 1))
    assert wrong.model.norm == pytest.approx(right.model.norm * how.get("norm", 1))
