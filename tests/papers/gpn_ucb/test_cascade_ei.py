"""Both forms of cEI against direct sampling and a brute-force sum."""

import numpy as np
import pytest

from kbrepro.kernels import SquaredExponential
from kbrepro.papers.gpn_ucb import cascade_ei
from kbrepro.papers.gpn_ucb.posterior import LayerPosterior
from kbrepro.papers.gpn_ucb.problems import exact_chain
from kbrepro.problems import Trial

KERNEL = SquaredExponential(1.0)
PULLS = (3, 30, 60, 25, 12)


def rng(*seed):
    return np.random.default_rng([57, *seed])


@pytest.fixture(scope="module")
def after_pulls():
    """A chain after a few pulls, told to both forms of cEI."""
    problem = exact_chain(8)(Trial(57, 26))
    policies = (
        cascade_ei.ExactCascadeEI(problem.model, 9),
        cascade_ei.SampledCascadeEI(problem.model, 9, samples=40_000),
    )
    for arm in PULLS:
        for policy in policies:
            policy.tell(arm, problem.pull(arm, rng(0)))
    return problem, *policies


def direct_samples(problem, n, generator):
    """Samples of every arm's reward straight from the posteriors, without tables."""
    points = problem.model.points
    layers = [LayerPosterior(KERNEL, points[:1] if i == 0 else np.zeros((1, 1)), 1e-7, 1) for i in range(3)]
    for arm in PULLS:
        z = points[arm]
        for layer, output in zip(layers, problem.outputs, strict=True):
            layer.update(z, output[arm])
            z = output[arm]
    z = np.repeat(points, n, axis=0)
    for layer in layers:
        mean, sd = layer.at(z)
        z = mean + sd[:, None] * generator.standard_normal((len(z), 1))
    return z.reshape(len(points), n)


@pytest.fixture(scope="module")
def excess(after_pulls):
    """Means of direct samples (A,) of every arm's improvement, and their errors (A,)."""
    problem, exact, _ = after_pulls
    gains = np.maximum(direct_samples(problem, 4000, rng(27)) - exact.best_reward, 0)
    return gains.mean(axis=1), gains.std(axis=1) / np.sqrt(4000) + 1e-4


def test_both_forms_of_cascade_ei_agree_with_direct_sampling(after_pulls, excess):
    _, exact, sampled = after_pulls
    (mean, error), computed, many = excess, exact.expected_improvement(), sampled.expected_improvement()
    assert (np.abs(computed - mean) <= 5 * error).all()  # arms already pulled included
    assert (np.abs(many - mean) <= 5 * error * np.sqrt(1.1)).all()  # of 40 000 samples an arm
    assert (np.abs(computed - many) <= 5 * error * np.sqrt(0.1) + 1e-4).all()


def test_the_quadrature_is_the_brute_force_sum_also_where_values_dip(after_pulls):
    """Nodes far closer than any feature of the integrands, values of the last layer from a table 1000 times as fine."""
    _, exact, _ = after_pulls
    nodes = np.arange(-6, 6.01, 0.03)
    weights = np.exp(-0.5 * nodes**2) / np.exp(-0.5 * nodes**2).sum()
    fine = np.linspace(-5, 5, 1_000_001)
    last = cascade_ei.expected_excess(*exact.posterior.at(2, fine), exact.best_reward)
    expected = []
    arms = [*PULLS, *range(0, 64, 5)]
    for mean, sd in zip(*(its[arms] for its in exact.posterior.first()), strict=True):
        means, sds = exact.posterior.at(1, mean + sd * nodes)
        expected.append(weights @ np.interp(means[:, None] + sds[:, None] * nodes, fine, last) @ weights)
    expected, computed = np.array(expected), exact.expected_improvement()[arms]
    np.testing.assert_allclose(computed, expected, rtol=0.01, atol=1e-3 * expected.max())
    pulled = slice(len(PULLS))
    assert expected[pulled].max() < 0.01 * expected.max()  # the dips
    np.testing.assert_allclose(computed[pulled], expected[pulled], rtol=0.01, atol=1e-9)
