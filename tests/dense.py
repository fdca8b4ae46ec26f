"""The textbook's posterior by one dense solve: what every fast form is compared with."""

import numpy as np


def dense_posterior(kernel, points, noise_variance, arms, observations):
    """Return mean (A,) and covariance (A, A) of all points from the sample means of the arms
    pulled.
    """
    K, arms = kernel(points, points), np.array(arms, dtype=int)
    pulled, place, counts = np.unique(arms, return_inverse=True, return_counts=True)
    average = np.bincount(place, observations) / counts
    noisy = K[np.ix_(pulled, pulled)] + np.diag(noise_variance / counts)
    solved = np.linalg.solve(noisy, np.c_[average, K[pulled]])
    return K[:, pulled] @ solved[:, 0], K - K[:, pulled] @ solved[:, 1:]


def dense_at(kernel, X, y, Z, noise_variance):
    """Return mean (k, outputs) and variance (k,) at Z (k, d) from outputs y at X, a row a pull."""
    cross = kernel(X, Z)
    noisy = kernel(X, X) + noise_variance * np.eye(len(X))
    solved = np.linalg.solve(noisy, cross)
    return solved.T @ y, kernel.diag(Z) - (cross * solved).sum(axis=0)
