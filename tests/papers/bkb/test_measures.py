"""Runs for Figure 1, Theorem 1 and costs, against brute force and cases made by hand; lemmas of the
proof.
"""

from functools import partial
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import eigh

from kbrepro.bandits import information
from kbrepro.bandits.confidence import Constant
from kbrepro.bandits.kernels import Matern, SquaredExponential, grid
from kbrepro.bandits.posterior import RowPosterior
from kbrepro.bandits.problems import GPDraw, RKHSFunction, Trial
from kbrepro.papers.bkb import experiments, measures, pictures
from kbrepro.papers.bkb.measures import shrinking_window, uniform_pulls
from kbrepro.papers.bkb.policy import BKB
from kbrepro.papers.bkb.problems import GaussianRKHSFunction
from kbrepro.papers.bkb.sketch import ArmwisePosterior, BudgetedPosterior, StreamingPosterior

KERNEL, POINTS, NOISE = SquaredExponential(0.07), grid(120), 0.01
SOURCE, HALF = GPDraw(KERNEL, POINTS, NOISE), partial(uniform_pulls, upto=0.5)
FIGURE = SOURCE, HALF, [5, 40], [2.0, 1e9], {"RFF": [50], "QFF": [100]}  # at, qbars, features


@pytest.mark.parametrize("form", [BudgetedPosterior, StreamingPosterior])
def test_variance_ratios(form):
    qbars, trial = [1.0, 3.0, 1e9], Trial(6, 0)
    run = measures.variance_ratios(SOURCE, uniform_pulls, 80, qbars, form, trial)
    few, some, everything = (run["by_qbar"][q] for q in qbars)
    np.testing.assert_allclose([everything["low"], everything["high"]], 1, rtol=1e-5)
    np.testing.assert_array_equal(everything["members"], np.arange(1, 81))
    np.testing.assert_allclose(everything["expected"], everything["members"])
    assert few["high"].max() > 1.5 and (some["low"] <= some["high"]).all()
    # probabilities are those from before the newest observation: 0.99 after it
    assert few["expected"][0] == 1.0
    # members are near the sum of their probabilities, means of 80 steps
    if form is BudgetedPosterior:
        assert some["members"].mean() == pytest.approx(some["expected"].mean(), rel=0.1)
    pulls = uniform_pulls(trial.rng("run"), POINTS, 80)
    dimension = information.effective_dimension(KERNEL, POINTS[pulls], NOISE)
    assert run["dimension"][-1] == pytest.approx(dimension, rel=1e-8)


def test_a_step_is_bad_if_an_arm_leaves_the_interval_of_theorem_1():
    ratios = SimpleNamespace(
        low=np.array([0.9, 0.3, 1.0, 1.0]),
        high=np.array([1.0, 1.0, 2.9, 3.1]),
        members=np.array([1, 2, 2, 3]),
    )
    run = SimpleNamespace(by_qbar={2.0: ratios}, dimension=np.array([1.0, 1.0, 1.0, 0.5]))
    (row,) = measures.followed([run]).to_dict("records")
    assert row == {"qbar": 2.0, "bad steps": 0.5, "kept": 0.75, "size": 3.0}


def test_a_uniform_dictionary_of_equal_size_is_worse_where_pulls_repeat():
    ours, uniform = np.transpose(
        [measures.equal_size(SOURCE, shrinking_window, 150, 4.0, Trial(8, n)) for n in range(5)]
    )
    assert (ours >= 1 - 1e-9).all() and np.median(uniform / ours) > 2
    same = measures.equal_size(SOURCE, shrinking_window, 40, 1e9, Trial(8, 0))
    assert same == pytest.approx((1.0, 1.0), abs=1e-5)  # every pull in both


def test_the_chain_of_proposition_5():
    kernel, points, trial = Matern(0.3, nu=1.5), grid(6, 2), Trial(7, 0)
    chain = measures.dimension_chain(GPDraw(kernel, points, NOISE), uniform_pulls, 25, trial)
    X = points[uniform_pulls(trial.rng("run"), points, 25)]
    K = kernel(X, X) / NOISE
    parts = [K[:t, :t] for t in range(1, 26)]
    own = sum((part @ np.linalg.inv(part + np.eye(len(part))))[-1, -1] for part in parts)
    dimension = information.effective_dimension(kernel, X, NOISE)
    spectral = dimension * (1 + np.log(np.linalg.norm(K, 2) + 1))
    np.testing.assert_allclose(
        chain[-1], [dimension, own, np.linalg.slogdet(np.eye(25) + K)[1], spectral], rtol=1e-8
    )
    assert (np.diff(chain, axis=1) >= -1e-9).all()


# Figure 1


def test_pulls_are_uniform_in_their_part_or_in_a_window_that_shrinks_around_one_arm():
    for upto, arms in ((0.5, 60), (np.inf, 120)):
        pulls = uniform_pulls(np.random.default_rng(1), POINTS, 3000, upto=upto)
        assert POINTS[pulls, 0].max() <= upto and len(np.unique(pulls)) == arms
    points = grid(30, 2)[::-1]  # arm numbers say nothing of where an arm is
    pulls = shrinking_window(np.random.default_rng(2), points, 2000)
    spread = [points[part].std(axis=0).mean() for part in np.array_split(pulls, 4)]
    assert (np.diff(spread) < 0).all() and spread[-1] < 0.5 * spread[0]
    assert len(np.unique(pulls[-40:])) <= 50  # 5 % of 900 arms are 45


@pytest.fixture(scope="module")
def watched():
    return measures.snapshots(*FIGURE, Trial(5, 7))


@pytest.fixture(scope="module")
def table():
    return measures.starvation(*FIGURE, 0.5, Trial(5, 7)).set_index(["name", "setting", "t"])


EXACT = {("exact", ""), ("BKB", "qbar=1e+09"), ("BKB, streaming", "qbar=1e+09"), ("QFF", "m=100")}
NAMES = EXACT | {("BKB", "qbar=2"), ("BKB, streaming", "qbar=2"), ("SoR", ""), ("RFF", "m=50")}
NAMES |= {("RFF", "m=|S|"), ("QFF", "m=|S|"), ("DTC, uniform", ""), ("DTC, uniform", "3 pulls")}


def test_snapshots_hold_every_posterior_at_every_time(watched):
    problem, pulls, observations, seen = watched
    assert {(name, how) for name, how, t in seen if t == 5} == NAMES
    exact = RowPosterior(KERNEL, POINTS, NOISE)
    for arm, observation in zip(pulls, observations, strict=True):
        exact.update(arm, observation)
    for name in EXACT:
        np.testing.assert_allclose(seen[*name, 40].sd, exact.sd, rtol=1e-4)
        np.testing.assert_allclose(seen[*name, 40].mean, exact.mean, atol=1e-4)
    # it has learned from the noisy rewards
    assert np.abs(problem.expected_reward - exact.mean)[:60].max() < 0.5
    for t in (5, 40):  # rivals use the dictionary of BKB at the first qbar
        bkb, sor = seen["BKB", "qbar=2", t], seen["SoR", "", t]
        assert (sor.sd <= bkb.sd + 1e-12).all() and sor.n_features == bkb.n_features
        # SoR and DTC differ in the variance only
        np.testing.assert_allclose(sor.mean, bkb.mean, atol=1e-9)
        even = len(bkb.members) + len(bkb.members) % 2
        assert seen["RFF", "m=|S|", t].n_features == seen["QFF", "m=|S|", t].n_features == even
        assert len(seen["DTC, uniform", "", t].members) == len(bkb.members)
        assert len(seen["DTC, uniform", "3 pulls", t].members) == 3


LOOKED_AT = ("exact", ""), ("SoR", ""), ("BKB", "qbar=2")


def test_starvation_is_measured_on_all_arms_and_coverage_on_the_unseen_half(watched, table):
    exact, sor, bkb = (watched.seen[name, how, 40] for name, how in LOOKED_AT)
    row = table.loc["SoR", "", 40]
    assert len(table) == len(watched.seen) and (table["seed"] == 7).all()
    assert row["starved"] == pytest.approx(((exact.sd / sor.sd) ** 2).max())
    assert row["inflated"] == pytest.approx(((sor.sd / exact.sd) ** 2).max())
    far = POINTS[:, 0] > 0.5
    error = np.abs(watched.problem.expected_reward - sor.mean)
    assert row["coverage"] == np.mean(error[far] <= 3 * sor.sd[far])
    assert row["starved"] > 100 and row["coverage"] < 1 and row["features"] == sor.n_features
    assert table.loc["BKB", "qbar=2", 40]["members"] == len(bkb.members)


def test_figure_1_with_the_dictionary_of_distinct_arms_has_the_same_pulls(watched, table):
    settings, trial = (*FIGURE, 0.5), Trial(5, 7)
    armwise = measures.starvation(*settings, trial, ArmwisePosterior).set_index(table.index.names)
    for same in ("exact", "BKB, streaming"):
        assert armwise.loc[same].equals(table.loc[same])
    everything = armwise.loc["BKB", "qbar=1e+09", 40]
    assert everything["members"] == len(np.unique(watched.pulls)) < 40
    assert everything["inflated"] == pytest.approx(1, rel=1e-5)


def test_figure_1_is_readable_and_says_what_is_covered(checked, styled, watched, table):
    figure = pictures.strip(watched, {"BKB": "qbar=2", "SoR": ""})
    checked(figure)
    row = table.loc["SoR", "", 40]
    title = f"SoR, m = {row['features']:.0f}\n{row['coverage']:.0%} of unseen f inside"
    assert figure.axes[3].get_title() == title  # by row


def test_streaming_dictionaries_can_be_left_out(table):
    without = measures.starvation(*FIGURE, 0.5, Trial(5, 7), streaming=False)
    kept = table.drop("BKB, streaming", level="name").index
    assert [*zip(without["name"], without["setting"], without["t"], strict=True)] == [*kept]


def brute_force(pulls, chance, uniform):
    """Worst ratio, either way, of the DTC variance on the pulls that are included."""
    members = POINTS[np.unique(pulls[uniform < chance])]
    X = POINTS[pulls]
    nystrom = KERNEL(POINTS, members) @ np.linalg.pinv(KERNEL(members, members), rcond=1e-13)
    Q = nystrom @ KERNEL(members, X)
    inner = nystrom @ KERNEL(members, POINTS)
    at_pulls = inner[np.ix_(pulls, pulls)]
    solved = np.linalg.solve(at_pulls + NOISE * np.eye(len(pulls)), Q.T)
    variance = 1 - np.einsum("ij,ji->i", Q, solved)
    exact = np.linalg.solve(KERNEL(X, X) + NOISE * np.eye(len(X)), KERNEL(X, POINTS))
    ratio = variance / (1 - np.einsum("ij,ij->j", KERNEL(X, POINTS), exact))
    return max(ratio.max(), 1 / ratio.min())


def test_dictionaries_without_and_with_the_newest_pull():
    trial = Trial(4, 2)
    found = measures.newest_pull(SOURCE, uniform_pulls, [12], 2.0, trial)
    rng = trial.rng("run")
    pulls = uniform_pulls(rng, POINTS, 12)
    uniform = rng.random(12)
    exact = RowPosterior(KERNEL, POINTS, NOISE)
    for arm in pulls[:-1]:
        exact.update(arm, 0.0)
    without = brute_force(pulls, 2.0 * exact.variance[pulls] / NOISE, uniform)
    exact.update(pulls[-1], 0.0)
    after = brute_force(pulls, 2.0 * exact.variance[pulls] / NOISE, uniform)
    assert found["without"] == pytest.approx(without, rel=1e-4)
    assert found["with"] == pytest.approx(after, rel=1e-4)


def starved(worst):
    """Kept seeds of Fig. 1 with one posterior at one t."""
    rows = [("BKB", f"qbar={q}", t, ratio, 1.0, t) for (q, t), ratio in worst.items()]
    frame = pd.DataFrame(rows, columns=["name", "setting", "t", "starved", "inflated", "members"])
    return frame.assign(seed=0)


def test_accuracy_by_qbar_asks_for_all_panels(checked, styled):
    one = starved({(1, 6): 1.0, (1, 63): 3.1, (2.5, 6): 2.9, (2.5, 63): 1.0})
    two = starved({(1, 6): 1.0, (1, 63): 1.0, (2.5, 6): 1.0, (2.5, 63): 1.0}).assign(seed=1)
    close, members = measures.accuracy_by_qbar([one, two])
    assert close.to_dict() == {1.0: 0.5, 2.5: 1.0} and members.to_dict() == {1.0: 63, 2.5: 63}
    tables = [pd.DataFrame({"each pull": column, "other": column}) for column in (close, members)]
    checked(pictures.accuracy(*tables))


# Costs


def test_sizes_are_those_after_the_pull():
    source = RKHSFunction(SquaredExponential(0.2), grid(8, 2), 0.01, norm=2.0)
    bkb = partial(BKB, width=Constant(2.0), qbar=2.0)
    sizes = measures.sizes_of_steps(source, bkb, 40, Trial(2, 0))
    members, features, distinct = (sizes[name] for name in ("members", "features", "distinct"))
    assert (features <= np.minimum(members, distinct)).all() and (members <= sizes.index).all()
    assert (np.diff(distinct) >= 0).all() and members[1] == features[1] == distinct[1] == 1
    assert sizes["d_eff"][1] == pytest.approx(1 / 1.01)  # one pull: k / (k + lambda)


def test_the_dictionary_at_the_end_is_that_of_the_sizes():
    source = experiments.smooth(40, 2, NOISE, 5)
    bkb = experiments.rules(0.1, 2.0)["BKB"]
    end = measures.dictionary_at_end(source, bkb, 120, Trial(5, 1))
    sizes = measures.sizes_of_steps(source, bkb, 120, Trial(5, 1))
    assert end["members"] == sizes["members"].iloc[-1]
    assert 0 <= end["left out"] <= end["often"] <= 120 // measures.OFTEN


def test_the_noise_is_gaussian_and_the_functions_are_the_same():
    how = SquaredExponential(0.2), grid(30), NOISE
    ours = GaussianRKHSFunction(*how, norm=2.0)(Trial(3, 1))
    bounded = RKHSFunction(*how, norm=2.0)(Trial(3, 1))
    np.testing.assert_array_equal(ours.expected_reward, bounded.expected_reward)
    rng = np.random.default_rng(1)
    noise = np.array([ours.pull(0, rng) for _ in range(4000)]) - ours.expected_reward[0]
    assert noise.std() == pytest.approx(0.1, rel=0.05)
    assert (np.abs(noise) > 0.1).mean() == pytest.approx(0.317, abs=0.03)
    assert ours.model.norm == 2.0 and ours.model.noise_scale == pytest.approx(0.1)


def test_random_arms_are_uniform_in_their_dimension_and_the_lengthscale_is_the_one_asked_for():
    source = experiments.smooth(50, 3, 0.01, 7, 1.5)
    assert source.points.shape == (50, 3) and source.kernel == SquaredExponential(1.5)
    assert np.ptp(source.points, axis=0) == pytest.approx(1, abs=0.15)
    assert (experiments.smooth(50, 3, 0.01, 8).points != source.points).all()


# What is proved of variances and determinants


def test_proposition_4_and_the_determinant_of_a_sketch():
    """sigma^2 / (1 + sigma^2(x_t)) <= the next one <= sigma^2, in units of lambda; a sketch has no
    larger log det.
    """
    exact = RowPosterior(KERNEL, POINTS, NOISE)
    bkb = BudgetedPosterior(KERNEL, POINTS, NOISE, 1.5, np.random.default_rng(9))
    for arm in uniform_pulls(np.random.default_rng(9), POINTS, 100):
        before = exact.variance / NOISE
        for posterior in (exact, bkb):
            posterior.update(arm, 0.0)
        now = exact.variance / NOISE
        assert (before / (1 + before[arm]) <= now * (1 + 1e-9)).all()
        assert (now <= before * (1 + 1e-9)).all()
        assert bkb.gain <= exact.gain * (1 + 1e-9)
    assert bkb.gain < 0.999 * exact.gain  # something is lost


def dictionary(seed, pulls=100, d=30):
    """Design matrix A with lambda = 1, pulls Phi (n, d), projection P of a drawn dictionary, and
    its accuracy eps.
    """
    rng = np.random.default_rng(seed)
    Phi = rng.standard_normal((pulls, d)) * 0.5 ** np.arange(d)
    A = Phi.T @ Phi + np.eye(d)
    chance = np.minimum(1, rng.choice([1, 4]) * np.einsum("ij,ij->i", Phi @ np.linalg.inv(A), Phi))
    drawn = rng.random(pulls) < chance
    error = (Phi[drawn].T / chance[drawn]) @ Phi[drawn] - Phi.T @ Phi
    P = np.linalg.pinv(Phi[drawn]) @ Phi[drawn]
    return A, Phi, P, np.abs(eigh(error, A, eigvals_only=True)).max()


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.integers(0, 10**6))
def test_corollary_3_with_lemma_6_and_proposition_10(seed):
    """At the accuracy that the dictionary has, not only at 1/2."""
    A, Phi, P, eps = dictionary(seed)
    if eps < 1:
        sketched = eigh(P @ Phi.T @ Phi @ P + np.eye(30), A, eigvals_only=True)
        alpha = (1 + eps) / (1 - eps)
        assert 1 / alpha <= sketched[0] and sketched[-1] <= alpha
        lost = eigh(np.eye(30) - P, np.linalg.inv(A), eigvals_only=True)[-1]
        assert 1 - 1e-6 <= lost <= 1 / (1 - eps)
