"""The counterexamples of docs/errors.md, each computed."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from kbrepro.bandits.information import greedy_gain
from kbrepro.bandits.kernels import Matern, SquaredExponential, grid
from kbrepro.bandits.posterior import RowPosterior
from kbrepro.papers.bkb.sketch import FeaturePosterior, NystromPosterior, nystrom_features
from kbrepro.papers.gp_ucb.gain import spectral_bound, split_bound
from kbrepro.papers.pi_gp_ucb.measures import counterexample
from kbrepro.papers.pi_gp_ucb.partition import possible_cells, split_exponent


@pytest.mark.parametrize("noise_variance", [0.5, 0.9, 10.0])
def test_lemma_7_8_of_srinivas_et_al_is_negative_for_one_arm_and_noise_of_variance_10(
    noise_variance,
):
    """It is below the gain from 0.5 on; the lemma that it relaxes, with the same factor, holds."""
    gained = greedy_gain(SquaredExponential(1.0), np.zeros((1, 1)), noise_variance, 1)[0][0]
    bound = split_bound(np.ones(1), noise_variance, 1)
    assert gained == pytest.approx(0.5 * math.log1p(1 / noise_variance)) and gained > bound
    assert (bound < 0) == (noise_variance > 1)
    assert gained < spectral_bound(np.ones(1), noise_variance, 1)[0]


ONE = SquaredExponential(1e9)  # 1 between any two points


def both_sides(kernel, n, run):
    """Both sides of Lemma 10 after n distinct arms on a line, for the arms whose noise was positive
    before the last.
    """
    return counterexample(
        kernel, [n], 0.1, SimpleNamespace(rng=lambda _: np.random.default_rng([10, run]))
    )[0]


@pytest.mark.parametrize(
    ("n", "runs", "left", "right"), [(500, 20, 64, (12, 25, 32)), (2000, 2, 250, (13, 34, 49))]
)
def test_lemma_10_of_janz_et_al_is_false_for_a_set_that_looks_at_the_noise(n, runs, left, right):
    for kernel, bound in zip(
        (ONE, SquaredExponential(0.2), Matern(0.2, nu=1.5)), right, strict=True
    ):
        sides = np.array([both_sides(kernel, n, run) for run in range(runs)])
        assert (sides[:, 0] > sides[:, 1]).all()
        assert sides.mean(axis=0) == pytest.approx([left, bound], rel=0.05)
        if n == 2000:  # without the square
            assert set(np.sqrt(sides[:, 0]) > sides[:, 1]) == {kernel is ONE}


def test_the_numbers_of_cells_that_the_page_names():
    assert [sum(possible_cells(10_000, d, 1.5)) for d in (1, 2, 3)] == [330, 196_560, 153_391_616]
    assert (sum(possible_cells(1000, 2, 1.5)), int(4 * 1001 ** (2 * split_exponent(2, 1.5)))) == (
        16_709,
        15_943,
    )


def test_dtc_may_lie_below_the_exact_variance_and_the_subset_of_regressors_far_below_it():
    """Calandriello et al., Sections 1 and 3.2: three of many pulls as subset, near its edge and far
    from it.
    """
    kernel, line, noise_variance = SquaredExponential(math.sqrt(1 / 200)), grid(100), 0.01
    pulls = np.random.default_rng(1).integers(0, 50, 215)
    exact, dtc = (
        RowPosterior(kernel, line, noise_variance),
        NystromPosterior(kernel, line, noise_variance),
    )
    dtc.use_dictionary(pulls[:3])
    regressors = FeaturePosterior(
        nystrom_features(kernel(line[dtc.inducing], line), dtc.inducing), noise_variance
    )
    for arm in pulls:
        for posterior in (exact, dtc, regressors):
            posterior.update(arm, 0.0)
    assert (
        1.1
        < (exact.variance / dtc.variance).max()
        < 10
        < 1e6
        < (exact.variance / regressors.variance).max()
    )
