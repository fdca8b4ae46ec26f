"""The lazy policy beyond exactness (test_exactness.py): its bound, its blocks, its storage, its errors."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kbrepro.confidence import improved_rkhs
from kbrepro.kernels import Empirical, Matern, grid
from kbrepro.papers.pi_gp_ucb import many_arms
from kbrepro.papers.pi_gp_ucb.many_arms import Block, LazyUCB, igp_ucb
from kbrepro.papers.pi_gp_ucb.problems import LatticeKernel, bumps
from kbrepro.policies import UCB
from kbrepro.posterior import RowPosterior

KERNEL = LatticeKernel(Matern(0.3, nu=1.5), 6)
ARMS = grid(6, 2)
WIDTH = partial(improved_rkhs, norm=1.0, noise_scale=1.0, delta=0.1)


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
    width = partial(improved_rkhs, norm=1.0, noise_scale=1.0, delta=0.1)
    few = LazyUCB(LatticeKernel(Matern(0.2, nu=1.5), 30), grid(30, 2), 1.0, width, 2000)
    many = LazyUCB(LatticeKernel(Matern(0.2, nu=1.5), 30), grid(30, 2), 1.0, width, 1700)
    assert isinstance(few._store, many_arms.Covariance) and isinstance(many._store, many_arms.Rows)


def test_most_pulls_need_no_look_at_all_arms():
    """27000 arms: blocks of a dozen pulls and more. Without the bound's help every block would be one pull long."""
    problem = bumps(np.random.default_rng(43), 0, Matern(0.2, nu=1.5), d=3, side=30, noise_variance=1.0, noise_bound=1)
    policy, rng, noise = igp_ucb(problem, 600, noise_scale=1.0, delta=0.1), *np.random.default_rng(44).spawn(2)
    blocks = []  # the blocks themselves, kept so that no two share an identity
    for _ in range(600):
        arm = policy.ask(rng)
        policy.tell(arm, problem.pull(arm, noise))
        if not blocks or policy._block is not blocks[-1][0]:
            blocks.append((policy._block, policy.t))
    late = [t for _, t in blocks if t > 200]
    assert 10 < 400 / len(late) <= many_arms.BLOCK


@pytest.mark.parametrize(("excess", "outsider_wins"), [(1e-11, True), (1e-8, False)])
def test_an_arm_outside_that_ties_with_the_best_member_may_win(monkeypatch, excess, outsider_wins):
    """Independent arms; arm 2 is no member, its index is 1 and the best member's a hair more: a tie."""
    monkeypatch.setattr(many_arms, "MEMBERS", 2)
    kernel = Empirical(np.diag([4.0, 1.0 + excess, 1.0]))
    seed = next(s for s in range(50) if np.random.default_rng(s).permutation(3)[2] == 0)  # arm 2 comes first
    policy, rng = LazyUCB(kernel, kernel.points, 0.01, lambda gain: 1.0, 4), np.random.default_rng(seed)
    plain, plain_rng = UCB(RowPosterior(kernel, kernel.points, 0.01), lambda t: 1.0), np.random.default_rng(seed)
    for p, stream in ((policy, rng), (plain, plain_rng)):
        assert p.ask(stream) == 0
        p.tell(0, 0.0)
    assert policy._members.tolist() == [0, 1]
    assert policy.ask(rng) == plain.ask(plain_rng) == (2 if outsider_wins else 1)


def test_rows_are_allocated_once():
    policy = LazyUCB(LatticeKernel(Matern(0.2, nu=1.5), 30), grid(30, 2), 1.0, WIDTH, 300)
    rows, rng = policy._store._rows, np.random.default_rng(45)
    for _ in range(300):
        policy.tell(policy.ask(rng), 0.5)
    policy._end_block()
    assert policy._store._rows is rows and rows.shape == (300, 900) and policy._store._n == 300


def test_pulls_that_were_not_asked_for_count_too(monkeypatch):
    monkeypatch.setattr(many_arms, "MEMBERS", 4)
    policy, plain = LazyUCB(KERNEL, ARMS, 0.5, WIDTH, 40), UCB(RowPosterior(KERNEL, ARMS, 0.5), WIDTH, of_gain=True)
    assert isinstance(policy._store, many_arms.Rows)
    rngs = np.random.default_rng(46), np.random.default_rng(46)
    for t in range(40):
        asked = [p.ask(rng) for p, rng in zip((policy, plain), rngs, strict=True)]
        assert asked[0] == asked[1]
        arm = asked[0] if t % 3 else (7 * t) % 36
        for p in (policy, plain):
            p.tell(arm, t % 5 - 2.0)
    np.testing.assert_allclose(policy.mean, plain.posterior.mean, atol=1e-10)


def test_a_bad_pull_is_named_and_changes_nothing():
    policy = LazyUCB(KERNEL, ARMS, 0.5, WIDTH, 2)
    policy.tell(3, 1.0)
    mean = policy.mean
    with pytest.raises(IndexError, match="arm = 36 is not allowed"):
        policy.tell(36, 1.0)
    with pytest.raises(ValueError, match="observation = nan is not allowed"):
        policy.tell(3, float("nan"))
    np.testing.assert_array_equal(policy.mean, mean)
    policy.tell(3, 1.0)
    with pytest.raises(ValueError, match="pull 3 is not allowed: the horizon is 2"):
        policy.tell(3, 1.0)


def test_bad_settings_are_named():
    with pytest.raises(ValueError, match="noise_variance = 0 is not allowed"):
        LazyUCB(KERNEL, ARMS, 0, WIDTH, 10)
    with pytest.raises(ValueError, match="horizon = 0 is not allowed"):
        LazyUCB(KERNEL, ARMS, 1.0, WIDTH, 0)
