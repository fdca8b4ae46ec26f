"""The lazy policy beyond exactness (test_exactness.py): its bound, its blocks, its storage, its errors."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kbrepro.confidence import Constant, Improved
from kbrepro.kernels import Empirical, Matern, grid
from kbrepro.papers.pi_gp_ucb import many_arms
from kbrepro.papers.pi_gp_ucb.many_arms import Block, BlockPosterior, KeptCovariance, KeptRows, LazyUCB
from kbrepro.papers.pi_gp_ucb.problems import Bumps, LatticeKernel
from kbrepro.policies import UCB
from kbrepro.posterior import RowPosterior
from kbrepro.problems import Gaussian, Model, Problem, Trial
from kbrepro.simulation import rounds, run

KERNEL = LatticeKernel(Matern(0.3, nu=1.5), 6)
ARMS = grid(6, 2)
TOLD = Model(ARMS, KERNEL, 0.5, noise_scale=1.0, norm=1.0)
#: 900 arms, of which at most MEMBERS are followed at horizons below 1800.
LARGE = Model(grid(30, 2), LatticeKernel(Matern(0.2, nu=1.5), 30), 1.0, norm=1.0)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(
    pulls=st.lists(st.tuples(st.integers(0, 35), st.floats(-20, 20)), min_size=2, max_size=20),
    start=st.integers(0, 19),
    alpha=st.sampled_from([1e-3, 0.3, 1.0, 5.0]),
    width=st.floats(0, 30),
)
def test_no_arm_exceeds_the_bound_of_the_block_s_start(pulls, start, alpha, width):
    """mean_t + w sd_t <= m_s + sqrt(w^2 + sum z^2) sd_s, for wild observations too."""
    posterior = RowPosterior(KERNEL, ARMS, alpha)
    mean, sd, squares = posterior.mean.copy(), posterior.sd, 0.0
    for t, (arm, observation) in enumerate(pulls):
        if t == start:
            mean, sd, squares = posterior.mean.copy(), posterior.sd, 0.0
        squares += (observation - posterior.mean[arm]) ** 2 / (posterior.variance[arm] + alpha)
        posterior.update(arm, observation)
        index, bound = posterior.mean + width * posterior.sd, mean + np.sqrt(width**2 + squares) * sd
        assert (index <= bound + 1e-9 * (1 + np.abs(bound))).all()


def test_the_bound_is_attained():
    """One pull of the arm itself with r = sd_s^2 / sqrt(alpha + sd_s^2): the bound cannot be lowered."""
    alpha, width = 0.5, 2.0
    posterior = RowPosterior(KERNEL, ARMS, alpha)
    r = 1 / np.sqrt(1 + alpha)
    z = width * r / np.sqrt(1 - r**2)
    posterior.update(0, z * np.sqrt(1 + alpha))
    assert posterior.mean[0] + width * posterior.sd[0] == pytest.approx(np.sqrt(width**2 + z**2), rel=1e-12)


def test_a_block_is_the_posterior_of_its_members():
    members = np.array([3, 7, 20, 35])
    before = RowPosterior(KERNEL, ARMS, 0.2)
    for arm, observation in ((7, 1.0), (10, -0.5), (34, 2.0)):
        before.update(arm, observation)
    X = np.array([7, 10, 34])
    solved = np.linalg.solve(KERNEL(ARMS[X], ARMS[X]) + 0.2 * np.eye(3), KERNEL(ARMS[X], ARMS[members]))
    covariance = KERNEL(ARMS[members], ARMS[members]) - KERNEL(ARMS[members], ARMS[X]) @ solved
    block = Block(before.mean[members], before.variance[members], covariance, 0.2)
    for arm, observation in ((20, 0.3), (7, -1.0), (20, 0.8)):
        gain = block.update(int(np.flatnonzero(members == arm)[0]), observation)
        was = before.gain
        before.update(arm, observation)
        assert gain == pytest.approx(before.gain - was, abs=1e-12)
    np.testing.assert_allclose(block.mean, before.mean[members], atol=1e-12)
    np.testing.assert_allclose(block.variance, before.variance[members], atol=1e-12)
    local = [2, 1, 2]
    np.testing.assert_allclose(
        block.factor @ block.factor.T, covariance[np.ix_(local, local)] + 0.2 * np.eye(3), atol=1e-12
    )


def test_few_arms_keep_their_covariance_and_many_keep_rows():
    few, many = (BlockPosterior(LARGE.kernel, LARGE.points, 1.0, horizon) for horizon in (2000, 1700))
    assert isinstance(few._store, KeptCovariance) and isinstance(many._store, KeptRows)


def narrow(policy):
    model = policy.model
    return np.sqrt(model.norm**2 + 2 / model.noise_variance * (policy.posterior.gain + np.log(10)))


@pytest.mark.parametrize(("alpha", "width", "least"), [(1.0, Improved(0.1), 20), (10_000 ** (1 / 3), narrow, 8)])
def test_most_pulls_need_no_look_at_all_arms(alpha, width, least):
    """27000 arms: blocks of a dozen pulls and more. Without the bound's help every block would be one pull long."""
    problem = Bumps(Matern(0.2, nu=1.5), d=3, side=30, noise_variance=alpha, noise_bound=1.0)(Trial(43, 0))
    policy = LazyUCB(problem.model, 600, width=width)
    for t, _, _ in rounds(policy, problem, 600, Trial(43, 0).rng("run")):
        if t == 200:
            early = policy.posterior.n_blocks
    assert least < 400 / (policy.posterior.n_blocks - early) <= many_arms.BLOCK


@pytest.mark.parametrize("taken_in", [2, 30])
def test_arms_whose_bound_reaches_the_level_are_renewed_and_those_that_can_win_taken_in(monkeypatch, taken_in):
    """After it the bound is that of their own date; those that were not reached keep theirs; members are exact."""
    monkeypatch.setattr(many_arms, "MEMBERS", 3)
    monkeypatch.setattr(many_arms, "RENEWED", 9.0)
    monkeypatch.setattr(many_arms, "TAKEN_IN", taken_in)
    posterior, plain = BlockPosterior(KERNEL, ARMS, 0.5, 30), RowPosterior(KERNEL, ARMS, 0.5)
    for t in range(20):
        for p in (posterior, plain):
            p.update((5 * t) % 36, t % 3 - 1.0)
    posterior.follow(posterior.sd, 0)
    answers, first = [], posterior.members
    for arm, y in zip([*first, *first], [1.0, -2.0, 0.5, 3.0, 1.0, -1.0], strict=True):
        for p in (posterior, plain):
            p.update(int(arm), y)
        outside, dates = posterior._outside.arms, posterior._outside.energy.copy()
        level = np.quantile(posterior._outside.mean + 0.3 * posterior._outside.sd, 0.8)
        answers.append(posterior.stays_below(level, 0.3))
        index, block = plain.mean + 0.3 * plain.sd, posterior.block
        can_win = outside[~(index[outside] < level)]
        assert answers[-1] == (len(can_win) <= taken_in)
        assert np.isin(can_win, posterior.members).all() == answers[-1] or not len(can_win)
        assert sorted([*posterior.members, *posterior._outside.arms]) == list(range(36))
        np.testing.assert_allclose(block.mean, plain.mean[posterior.members], atol=1e-12)
        np.testing.assert_allclose(block.variance, plain.variance[posterior.members], atol=1e-12)
        left = np.isin(outside, posterior._outside.arms)
        new = posterior._outside.energy > dates[left]
        np.testing.assert_allclose(posterior._outside.mean[new], plain.mean[posterior._outside.arms][new], atol=1e-12)
        np.testing.assert_allclose(posterior._outside.sd[new], plain.sd[posterior._outside.arms][new], atol=1e-12)
        assert (index[outside[left]][~new] < level).all()
    assert len(posterior.block.pulled) == 6
    assert (True in answers) == (len(posterior.members) > 3) == (taken_in == 30)
    newest = int(posterior.members[-1])  # a member that was taken in can be pulled, within the block
    for p in (posterior, plain):
        p.update(newest, 2.0)
    np.testing.assert_allclose(posterior.block.mean, plain.mean[posterior.members], atol=1e-12)
    np.testing.assert_allclose(posterior.mean, plain.mean, atol=1e-12)
    np.testing.assert_allclose(posterior.sd, plain.sd, atol=1e-12)


@pytest.mark.parametrize(("excess", "outsider_wins"), [(1e-11, True), (1e-8, False)])
def test_an_arm_outside_that_ties_with_the_best_member_may_win(monkeypatch, excess, outsider_wins):
    """Independent arms; arm 2 is no member, its index is 1 and the best member's a hair more: a tie."""
    monkeypatch.setattr(many_arms, "MEMBERS", 2)
    kernel = Empirical(np.diag([4.0, 1.0 + excess, 1.0]))
    model = Model(kernel.points, kernel, 0.01)
    seed = next(s for s in range(50) if np.random.default_rng(s).permutation(3)[2] == 0)  # arm 2 comes first
    policy, plain = (kind(model, 4, width=Constant(1.0)) for kind in (LazyUCB, UCB))
    rngs = np.random.default_rng(seed), np.random.default_rng(seed)
    for p, rng in zip((policy, plain), rngs, strict=True):
        assert p.ask(rng) == 0
        p.tell(0, 0.0)
    assert policy.posterior.members.tolist() == [0, 1]
    assert policy.ask(rngs[0]) == plain.ask(rngs[1]) == (2 if outsider_wins else 1)


def test_rows_are_allocated_once():
    problem = Problem(LARGE, np.full(LARGE.n_arms, 0.5), Gaussian(0.0))
    policy = LazyUCB(LARGE, 300, width=Improved(0.1))
    store, columns = policy.posterior._store, policy.posterior._store._columns
    run(policy, problem, 300, np.random.default_rng(45))
    assert policy.posterior.mean.shape == (900,)  # all arms are brought up to date
    assert store._columns is columns and columns.shape == (900, 300) and store._n == 300


@pytest.mark.parametrize("opening", [False, True])
@pytest.mark.parametrize(("members", "store"), [(4, KeptRows), (36, KeptCovariance)])
def test_the_plain_policy_s_arms_with_pulls_not_asked_for_and_looks_in_between(monkeypatch, members, store, opening):
    """Foreign pulls, random first arms, two questions in one round, and reading the posterior before the pull."""
    monkeypatch.setattr(many_arms, "MEMBERS", members)
    policy, plain = (kind(TOLD, 60, width=Improved(0.1), random_opening=opening) for kind in (LazyUCB, UCB))
    assert isinstance(policy.posterior._store, store)
    rngs, f = (np.random.default_rng(46), np.random.default_rng(46)), np.cos(ARMS).sum(axis=1)
    for t in range(60):
        asked = [[p.ask(rng) for _ in range(1 + (t % 5 == 0))] for p, rng in zip((policy, plain), rngs, strict=True)]
        assert asked[0] == asked[1]
        arm = asked[0][-1] if t % 3 < 2 else (7 * t) % 36
        if t % 4 == 0:
            assert policy.band_ratio(f) == pytest.approx(plain.band_ratio(f), abs=1e-9)
        for p in (policy, plain):
            p.tell(arm, t % 5 - 2.0)
    np.testing.assert_allclose(policy.posterior.mean, plain.posterior.mean, atol=1e-10)


def test_a_posterior_that_nobody_asks_is_exact(monkeypatch):
    """Pulls told to the posterior alone: it chooses members by itself, also where the block is full."""
    monkeypatch.setattr(many_arms, "MEMBERS", 5)
    monkeypatch.setattr(many_arms, "BLOCK", 3)
    posterior, plain = BlockPosterior(KERNEL, ARMS, 0.5, 30), RowPosterior(KERNEL, ARMS, 0.5)
    for t in range(30):
        for p in (posterior, plain):
            p.update((t // 7) ** 2, t % 4 - 1.0)
        assert posterior.block is None or len(posterior.block.pulled) < 3
    np.testing.assert_allclose(posterior.mean, plain.mean, atol=1e-10)
    np.testing.assert_allclose(posterior.sd, plain.sd, atol=1e-9)
    assert posterior.gain == pytest.approx(plain.gain, abs=1e-10)


def test_a_bad_pull_is_named_and_changes_nothing():
    policy = LazyUCB(TOLD, 2, width=Improved(0.1))
    policy.tell(3, 1.0)
    mean = policy.posterior.mean
    with pytest.raises(IndexError, match="arm = 36 is not allowed"):
        policy.tell(36, 1.0)
    with pytest.raises(ValueError, match="observation = nan is not allowed"):
        policy.tell(3, float("nan"))
    np.testing.assert_array_equal(policy.posterior.mean, mean)
    policy.tell(3, 1.0)
    with pytest.raises(ValueError, match="pull 3 is not allowed: the horizon is 2"):
        policy.tell(3, 1.0)


def test_bad_settings_are_named():
    with pytest.raises(ValueError, match="noise_variance = 0 is not allowed"):
        BlockPosterior(KERNEL, ARMS, 0, 10)
    with pytest.raises(ValueError, match="horizon = 0 is not allowed"):
        LazyUCB(TOLD, 0, width=Improved(0.1))
    with pytest.raises(ValueError, match="norm = None is not allowed"):
        LazyUCB(Model(ARMS, KERNEL, 0.5), 10, width=Improved(0.1)).ask(np.random.default_rng(47))
