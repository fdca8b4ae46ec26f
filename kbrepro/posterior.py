"""Exact GP posterior over a finite set of arms, updated one pull at a time.

With prior covariance k, noise variance s2 and a pull of arm i with observation y, the posterior changes by

    gain vector  g = c / sqrt(v_i + s2),   c = current covariance between arm i and all arms, v_i its variance
    mean     += g * (y - mean_i) / sqrt(v_i + s2)
    variance -= g^2                                          (Srinivas et al., eq. 1-2, one row at a time)

The two forms differ only in how they find c. Both are exact; neither adds jitter.
"""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dsymv, dsyr

from kbrepro import checks
from kbrepro.kernels import Array, Kernel


class Learning(Protocol):
    """What every policy keeps: it takes in what a pull of an arm gave."""

    def update(self, arm: int, observation: Any) -> None: ...


class Posterior(Learning, Protocol):
    """What an upper confidence bound and its width look at: mean and sd of every arm, (A,), and gain in nats."""

    @property
    def mean(self) -> Array: ...
    @property
    def sd(self) -> Array: ...
    @property
    def gain(self) -> float: ...


class ExactPosterior:
    """Posterior mean and variance of every arm, and the information gain of the pulls so far.

    Attributes: `mean` (A,), `counts` (A,) pulls of each arm, `gain` (nats) = I(y; f) of the pulls so far,
    `noise_variance`, `prior_variance` (A,).
    """

    def __init__(self, kernel: Kernel, points: Array, noise_variance: float) -> None:
        checks.positive(noise_variance=noise_variance)
        self.noise_variance = noise_variance
        self.prior_variance = kernel.diag(points)
        self.mean = np.zeros(len(points))
        self.counts: NDArray[np.int64] = np.zeros(len(points), dtype=int)
        self.gain = 0.0
        self._variance = self.prior_variance.astype(float).copy()

    @property
    def n_arms(self) -> int:
        """Number of arms A."""
        return len(self.mean)

    @property
    def variance(self) -> Array:
        """Posterior variance of every arm, (A,); rounding below zero is cut off here and nowhere else."""
        return np.maximum(self._variance, 0.0)

    @property
    def sd(self) -> Array:
        """Posterior standard deviation of every arm, (A,)."""
        return np.sqrt(self.variance)

    def update(self, arm: int, observation: float) -> None:
        """Condition on one noisy observation of `arm`; IndexError or ValueError on a bad arm or a NaN."""
        checks.arm_index(arm, self.n_arms)
        checks.finite_number(observation=observation)
        scale = np.sqrt(max(self._variance[arm], 0.0) + self.noise_variance)
        g = self._covariance_with(arm) / scale
        self.gain += np.log(scale / np.sqrt(self.noise_variance))  # Lemma 5.3, one term
        self._remember(g)
        self.mean += g * ((observation - self.mean[arm]) / scale)
        self._variance -= g * g
        self.counts[arm] += 1

    def _covariance_with(self, arm: int) -> Array:
        raise NotImplementedError

    def _remember(self, g: Array) -> None:
        raise NotImplementedError


class Rows:
    """Rows of one length, appended one at a time: an array that doubles when it is full."""

    def __init__(self, length: int) -> None:
        self._store, self._n = np.empty((16, length)), 0

    def __len__(self) -> int:
        return self._n

    def __call__(self) -> Array:
        """Return the rows so far (n, length), a view."""
        return self._store[: self._n]

    def append(self, row: Array) -> None:
        """Add one row (length,)."""
        if self._n == len(self._store):
            self._store = np.concatenate([self._store, np.empty_like(self._store)])
        self._store[self._n] = row
        self._n += 1


class RowPosterior(ExactPosterior):
    """Keeps one row of V = L^-1 K(pulled, points) per pull: O(t A) a step, t x A memory."""

    def __init__(self, kernel: Kernel, points: Array, noise_variance: float) -> None:
        super().__init__(kernel, points, noise_variance)
        self._kernel, self._points = kernel, points
        self._rows = Rows(len(points))

    def _covariance_with(self, arm: int) -> Array:
        V = self._rows()
        return self._kernel(self._points[arm : arm + 1], self._points)[0] - V[:, arm] @ V

    def _remember(self, g: Array) -> None:
        self._rows.append(g)


class CovariancePosterior(ExactPosterior):
    """Keeps the A x A posterior covariance (one triangle, in place): O(A^2) a step whatever t."""

    def __init__(self, kernel: Kernel, points: Array, noise_variance: float) -> None:
        super().__init__(kernel, points, noise_variance)
        self._upper = np.asfortranarray(kernel(points, points))

    def covariance_times(self, vector: Array) -> Array:
        """Return C v (A,), C the posterior covariance of all arms, for a vector v (A,)."""
        return dsymv(1.0, self._upper, vector)

    def _covariance_with(self, arm: int) -> Array:
        return np.concatenate([self._upper[:arm, arm], self._upper[arm, arm:]])

    def _remember(self, g: Array) -> None:
        self._upper = dsyr(-1.0, g, a=self._upper, overwrite_a=1)


def exact_posterior(kernel: Kernel, points: Array, noise_variance: float, horizon: int) -> ExactPosterior:
    """Return the form that is faster for `horizon` pulls of A arms: rows up to 1.5 A pulls, else covariance."""
    checks.positive_int(horizon=horizon)
    form: type[ExactPosterior] = RowPosterior if horizon <= 1.5 * len(points) else CovariancePosterior
    return form(kernel, points, noise_variance)
