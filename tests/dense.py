"""The textbook's posterior by one dense solve: what every fast form is compared with."""

import numpy as np

from kbrepro.bandits.posterior import (
    CovariancePosterior,
    DistinctPosterior,
    LatticePosterior,
    RowPosterior,
)

#: The exact forms; the lattice is the last.
FORMS = [RowPosterior, CovariancePosterior, DistinctPosterior, LatticePosterior]


def dense_posterior(kernel, points, noise_variance, arms, observations):
    """Return mean (A,) and covariance (A, A) of all points; one noise variance, or one a pull."""
    K, arms = kernel(points, points), np.array(arms, dtype=int)
    noisy = K[np.ix_(arms, arms)] + noise_variance * np.eye(len(arms))
    solved = np.linalg.solve(noisy, np.c_[observations, K[arms]])
    return K[:, arms] @ solved[:, 0], K - K[:, arms] @ solved[:, 1:]


def dense_at(kernel, X, y, Z, noise_variance):
    """Return mean (k, outputs) and variance (k,) at Z (k, d) from outputs y at X, a row a pull."""
    cross = kernel(X, Z)
    noisy = kernel(X, X) + noise_variance * np.eye(len(X))
    solved = np.linalg.solve(noisy, cross)
    return solved.T @ y, kernel.diag(Z) - (cross * solved).sum(axis=0)
