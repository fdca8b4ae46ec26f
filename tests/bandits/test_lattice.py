"""Arms on a lattice: products, posterior, policies and draws against dense algebra."""

import pickle
from functools import partial
from itertools import islice
from types import SimpleNamespace

import numpy as np
import pytest
from dense import dense_posterior

from kbrepro import paths
from kbrepro.bandits.confidence import Constant
from kbrepro.bandits.kernels import Linear, Matern, SquaredExponential, grid, points_of
from kbrepro.bandits.policies import UCB, ThompsonSampling
from kbrepro.bandits.posterior import (
    CovariancePosterior,
    LatticePosterior,
    RowPosterior,
    exact_posterior,
    lattice,
)
from kbrepro.bandits.posterior.lattice import LatticeDraws, Precision, lattice_of
from kbrepro.bandits.problems import Model, factor_draw, prior_draws

KERNELS = [
    SquaredExponential(0.2, variance=1.3),
    Matern(0.3, nu=1.5),
    Matern(0.15, nu=2.5, variance=2.0),
]
LATTICES = [grid(30), grid(4, 3), grid(5, 2, low=-1.0, high=3.0)]
UNEVEN = points_of([np.arange(3) / 2, np.arange(4) / 7, np.array([0.3])])

every_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=str)
every_lattice = pytest.mark.parametrize(
    "points", [*LATTICES, UNEVEN], ids=["1", "3", "2, wide", "3, uneven"]
)


def test_points_that_are_no_lattice():
    with pytest.raises(ValueError, match="points are not a lattice: 12 points, "):
        lattice_of(np.random.default_rng(3).random((12, 2)))
    with pytest.raises(ValueError, match="see axis 0: each axis must have equal steps"):
        lattice_of(grid(9) ** 2)


# The inverse among the arms pulled


def test_the_inverse_is_a_sum_of_squares_whatever_its_panels(monkeypatch):
    monkeypatch.setattr(lattice, "PANEL", 48)
    rng, inverse, exact = np.random.default_rng(4), Precision(), np.zeros((0, 0))
    for pull in range(210):
        size = len(exact) + (pull % 3 < 2)
        q, v = rng.standard_normal((2, size))
        exact = np.pad(exact, (0, size - len(exact))) + np.outer(q, q)
        inverse.add(q)
        place = int(rng.integers(size))
        np.testing.assert_allclose(inverse.times(v), exact @ v, rtol=1e-10, atol=1e-9)
        np.testing.assert_allclose(inverse.column(place), exact[:, place], rtol=1e-12, atol=1e-11)
        if pull % 20 == 3:
            names, V = [pull, pull + 1], rng.standard_normal((2, size))
            inverse.look_ahead(names, V)
        if pull > 2:  # arms that came later make v longer; after that the panels have changed
            for name, looked in zip(names, V, strict=True):
                longer = np.concatenate([looked, rng.standard_normal(size - len(looked))])
                np.testing.assert_allclose(
                    inverse.times(longer, name), exact @ longer, rtol=1e-10, atol=1e-9
                )
    assert size > 2 * lattice.PANEL


# The posterior


def check_against_dense(kernel, points, noise_variance):
    """Assert mean and variance after few and after 200 pulls, half of them of three arms."""
    rng, posterior = np.random.default_rng(5), LatticePosterior(kernel, points, noise_variance)
    f, arms, observations = prior_draws(kernel, points)(rng), [], []
    for t in range(200):
        arms.append(int(rng.integers(3 if rng.random() < 0.5 else len(points))))
        observations.append(f[arms[-1]] + np.sqrt(noise_variance) * rng.standard_normal())
        posterior.update(arms[-1], observations[-1])
        if t in (0, 7, 60, 199):
            mean, C = dense_posterior(kernel, points, noise_variance, arms, observations)
            np.testing.assert_allclose(posterior.mean, mean, rtol=0, atol=1e-10)
            np.testing.assert_allclose(posterior.variance, C.diagonal(), rtol=0, atol=1e-10)


@every_kernel
@every_lattice
@pytest.mark.parametrize("noise_variance", [2.0, 0.01])
def test_mean_and_variance_are_those_of_a_dense_solve(kernel, points, noise_variance):
    check_against_dense(kernel, points, noise_variance)


def test_weights_that_are_inexact_are_refined(monkeypatch):
    times = Precision.times

    def rounded(*given):
        return times(*given).astype(np.float32).astype(float)

    monkeypatch.setattr(Precision, "times", rounded)
    check_against_dense(KERNELS[1], LATTICES[2], 0.1)


def test_arms_of_largest_index_share_a_pass_over_the_inverse_and_the_arms_are_the_same(monkeypatch):
    monkeypatch.setattr("kbrepro.bandits.posterior.AHEAD_FROM", 10)
    passes, once = [], Precision._times_panels
    monkeypatch.setattr(
        Precision, "_times_panels", lambda self, V: passes.append(len(V)) or once(self, V)
    )

    def played(ahead):
        monkeypatch.setattr(UCB, "looks_ahead", ahead)
        passes.clear()
        model, rng = Model(grid(12, 2), KERNELS[1], 0.1), np.random.default_rng(2)
        policy = UCB(model, width=Constant(3.0), form=LatticePosterior)
        for t in range(130):
            policy.tell(policy.ask(), rng.standard_normal())
            if t == 70:
                policy = pickle.loads(pickle.dumps(policy))
        return policy.history, policy.posterior.mean, len(passes)

    (plain, plain_mean, many), (history, mean, few) = played(False), played(True)
    assert history == plain and len(set(history.arms)) > 60 and few < many / 2
    np.testing.assert_allclose(mean, plain_mean, rtol=0, atol=1e-13)


# The form for a size


def test_the_form_is_chosen_by_size(monkeypatch):
    monkeypatch.setattr("kbrepro.bandits.posterior.LATTICE_FROM", 40)

    def form(n_arms, horizon, kernel=KERNELS[1]):
        return type(exact_posterior(kernel, grid(n_arms, low=0.5), 0.1, horizon))

    assert form(40, 10) is LatticePosterior
    assert form(40, 80, Linear()) is CovariancePosterior
    # up to 1.5 pulls an arm
    assert form(39, 10) is form(39, 58) is RowPosterior
    assert form(39, 59) is CovariancePosterior
    sampling = partial(ThompsonSampling, Model(grid(40), KERNELS[1], 0.1), width=Constant(1.0))
    assert type(sampling().posterior) is LatticePosterior
    assert type(sampling(form=CovariancePosterior).posterior) is CovariancePosterior


def test_draws_of_a_smooth_kernel_are_made_by_a_factor(monkeypatch):
    monkeypatch.setattr("kbrepro.bandits.problems.LATTICE_FROM", 40)
    monkeypatch.setattr(lattice, "LONGEST_TORUS", -3000)
    assert type(prior_draws(Matern(0.1, nu=1.5), grid(50))) is LatticeDraws
    assert prior_draws(SquaredExponential(10.0), grid(50)).func is factor_draw


# Draws


@every_kernel
@pytest.mark.parametrize("points", [grid(12), grid(3, 2, low=-1.0, high=3.0)], ids=["1", "2, wide"])
def test_draws_have_the_covariance_of_the_prior(kernel, points, monkeypatch):
    """A draw is linear in its noise, so the sum over unit noises is its covariance; in several
    chunks.
    """
    monkeypatch.setattr(lattice, "AT_ONCE", 10)
    implied = sum(np.outer(draw, draw) for draw in unit_draws(LatticeDraws(kernel, points))) / 2
    assert implied == pytest.approx(kernel(points, points), abs=1e-9)


def unit_draws(draws):
    """Both draws of every noise that is 1 at one place and 0 at all others."""
    size = int(np.prod([2 * half for half in draws._half]))
    for place in range(2 * size):
        ones = iter(np.eye(1, 2 * size, place)[0])
        rng = SimpleNamespace(
            standard_normal=lambda n, ones=ones: np.reshape([*islice(ones, int(np.prod(n)))], n)
        )
        yield draws(rng)
        yield draws(rng)


def test_the_page_on_many_arms_runs(capfd):
    page = (paths.project_root() / "docs" / "many_arms.md").read_text(encoding="utf-8")
    code = page.split("```python\n")[1].split("```")[0]
    assert "kb.grid(100, d=3)" in code and len(code.splitlines()) <= 13
    told = {}
    exec(code.replace("kb.grid(100", "kb.grid(22").replace("300", "10"), told)
    assert type(told["policy"].posterior) is LatticePosterior and told["lost"] > 0
    assert "regret_a_round=" in capfd.readouterr().err or told["bar"].disable
