"""The field and the bench: who plays where, which proof holds where, what a wrong assumption changes."""

import math
from functools import partial

import numpy as np
import pytest

from kbrepro.confidence import Flynn2024
from kbrepro.kernels import Matern, SquaredExponential, grid
from kbrepro.papers.igp_ucb.problems import rkhs_norm
from kbrepro.papers.side_by_side import bench
from kbrepro.papers.side_by_side.bench import BOUNDED, DRAWN, NEITHER, WRONG, Misled, Setting, chosen_rows, synthetic
from kbrepro.papers.side_by_side.field import TUNED, WITH_A_SCALE, field, scaled, tuned, with_grown_variance
from kbrepro.policies import UCB
from kbrepro.problems import GPDraw, Model, Rows, Trial
from kbrepro.simulation import run

ENTRIES = field(0.1)
SEEDS = {"Table 1": 5, "BKB": 6}
BENCH = synthetic(50, 40, SEEDS, 60)


@pytest.mark.parametrize("problem", BENCH)
def test_every_policy_plays_where_it_is_defined_and_tuned_too(problem):
    its = BENCH[problem]
    there = its.defined(field(0.1, nu=its.nu))
    there |= its.defined(tuned(there, dict.fromkeys(WITH_A_SCALE, 5.0)))
    met = its.source(Trial(its.seed, 0))
    assert met.model.known_norm > 0  # where no paper gives one it is a smoothed one
    for name, entry in there.items():
        trace = run(entry.make(met.model, 12), met, 12, Trial(its.seed, 0).rng("run"))
        assert trace.arms.shape == (12,), name
    assert ("π-GP-UCB" in there) == its.grid and ("IGP-UCB, both" in there) == its.matern
    assert all((name + TUNED in there) == (name in there and name + TUNED not in its.without) for name in WITH_A_SCALE)


def test_the_proof_of_a_rule_holds_where_its_assumptions_do():
    met = {name: [problem for problem, its in BENCH.items() if its.met(entry)] for name, entry in ENTRIES.items()}
    bounded = [problem for problem, its in BENCH.items() if its.holds == BOUNDED]
    drawn = [problem for problem, its in BENCH.items() if its.holds == DRAWN]
    assert met["BPE"] == met["IGP-UCB, tighter"] == bounded and met["PIMS"] == met["GP-UCB"] == drawn
    assert met["IGP-UCB"] == met["GP-TS"] == ["Table 1, d = 1", "Table 1, d = 2"]  # proved for lambda of at least 1
    assert met["EI"] == met["BKB"] == met["π-GP-UCB"] == []
    assert Setting(BENCH["Rosenbrock"].source, 9, NEITHER).met(ENTRIES["BPE"]) is False


def test_one_scale_divides_beta_whatever_the_rule():
    model = Model(grid(9), Matern(0.2, nu=1.5), 0.04, norm=2.0)
    of = {name: (ENTRIES[name].make(model, 30), scaled(ENTRIES[name].make, 4.0)(model, 30))
          for name in WITH_A_SCALE}  # fmt: skip
    for name, (plain, half) in of.items():
        if name == "π-GP-UCB, tighter":
            np.testing.assert_allclose(half.widths(), plain.widths() / 2)
        elif name in ("SupKernelUCB", "BPE, tighter", "BPE, doubling"):
            assert half._half == pytest.approx(plain._half / 2)
        else:
            assert half.width(half) == pytest.approx(plain.width(plain) / 2), name
    assert of["IGP-UCB, both"][1].model.noise_variance == of["IGP-UCB, both"][0].model.noise_variance


def test_lambda_grows_in_the_units_of_the_reward():
    for scale in (1.0, 0.1):
        model = Model(grid(9), Matern(0.2, nu=1.5), scale**2, norm=2.0)
        policy = with_grown_variance(partial(UCB, width=Flynn2024(0.1)), 1.5, model, 1000)
        assert policy.model.noise_variance == pytest.approx(scale**2 * 1000 ** (1 / 5))
        assert policy.model.noise_scale == pytest.approx(scale)


# The bench


def test_trials_shared_with_other_notebooks_have_their_seeds():
    assert {problem: its.seed for problem, its in BENCH.items() if its.seed} == {
        "Table 1, d = 1": 5, "Table 1, d = 2": 5, "BKB's problem": 6}  # fmt: skip
    with_other = synthetic(50, 40, SEEDS | {"BKB": 7}, 60)["BKB's problem"]
    assert not np.array_equal(with_other.source.points, BENCH["BKB's problem"].source.points)
    assert BENCH["Table 1, d = 1"].horizon == 60 and BENCH["BKB's problem"].horizon == 60


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_assumption_changes_what_policies_are_told_and_nothing_else(case):
    source = bench.with_norm(GPDraw(SquaredExponential(0.2), grid(30), 0.025))
    right, wrong = source(Trial(3, 1)), Misled(source, **WRONG[case])(Trial(3, 1))
    np.testing.assert_array_equal(right.expected_reward, wrong.expected_reward)
    pulls = [problem.pull(4, np.random.default_rng(1)) for problem in (right, wrong)]
    assert pulls[0] == pulls[1]
    how = {"lengthscale": 1.0, "noise": 1.0, "norm": 1.0} | WRONG[case]
    assert wrong.model.kernel.lengthscale == pytest.approx(0.2 * how["lengthscale"])
    assert wrong.model.noise_variance == pytest.approx(0.025 * how["noise"] ** 2)
    assert wrong.model.noise_scale == pytest.approx(math.sqrt(0.025) * how["noise"])
    assert wrong.model.norm == pytest.approx(right.model.norm * how["norm"])


def test_rows_are_evenly_spaced():
    rows = Rows(np.eye(3), np.arange(300.0).reshape(100, 3), 0.1)
    norm = partial(rkhs_norm, kind="smoothed", ridge=0.1)
    chosen = chosen_rows(rows, 5, norm)
    np.testing.assert_array_equal(chosen.rewards[:, 0], 3.0 * np.array([0, 24, 49, 74, 99]))
    assert chosen(Trial(1, 4)).model.norm == pytest.approx(norm(rows.rewards[99], np.eye(3)))
