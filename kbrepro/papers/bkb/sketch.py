"""Posteriors over a finite set of arms that live on finitely many features.

With features z(x) in R^m, counts n and V = sum_i n_i z_i z_i^T + noise_variance I:

    mean      = z^T V^-1 sum of z_i y_i
    variance  = noise_variance z^T V^-1 z     subset of regressors (SoR), Fourier features
              + max(0, k(x, x) - |z|^2)       deterministic training conditional (DTC)

(Calandriello et al., eq. 4, times lambda = noise_variance: their sigma~^2 is divided by it, a
variance here is not.) A step costs O((A + distinct arms pulled) m^2), whatever the number of pulls.
"""

import numpy as np
from numpy.random import Generator
from scipy.linalg import cholesky, solve_triangular
from scipy.special import roots_hermite

from kbrepro import checks
from kbrepro.bandits.kernels import SquaredExponential
from kbrepro.bandits.posterior import Uncertain, check_noise, check_reward
from kbrepro.typing import Array, Integers, Kernel

#: Eigenvalues of the dictionary's kernel matrix below this share of the largest count as 0.
RANK_TOLERANCE = 1e-13


def nystrom_features(columns: Array, inducing: Integers) -> Array:
    """Return features (A, r) with z_i^T z_j = k_i^T K_S^+ k_j, r the rank of K_S.

    `columns` (m, A) is K(S, points). Calandriello et al., Section 3.1, up to a rotation.
    """
    eigenvalues, vectors = np.linalg.eigh(columns[:, inducing])
    kept = eigenvalues > RANK_TOLERANCE * eigenvalues[-1]
    return columns.T @ (vectors[:, kept] / np.sqrt(eigenvalues[kept]))


def random_features(kernel: Kernel, points: Array, n_features: int, rng: Generator) -> Array:
    """Return random Fourier features (A, n) of points (A, d), n even (Rahimi & Recht).

    Half of them are cosines, half sines; n is `n_features`, or one less. Raises ValueError for
    kernels other than the squared exponential.
    """
    frequencies = rng.standard_normal((n_features // 2, points.shape[1]))
    return _fourier(kernel, points, frequencies, np.full(len(frequencies), 0.5 / len(frequencies)))


def quadrature_features(kernel: Kernel, points: Array, n_features: int) -> Array:
    """Return quadrature Fourier features (A, n) of points (A, 1), n even and at most n_features.

    Mutný & Krause's Gauss-Hermite rule; a node and its mirror image share a cosine and a sine.
    Raises ValueError for kernels other than the squared exponential.
    """
    nodes, weights = roots_hermite(n_features - n_features % 2)
    half = nodes > 0
    frequencies = nodes[half, None] * np.sqrt(2)
    return _fourier(kernel, points, frequencies, (weights / np.sqrt(np.pi))[half])


def _fourier(kernel: Kernel, points: Array, frequencies: Array, weights: Array) -> Array:
    """Cosines and sines of frequencies (m, d) at lengthscale 1; weights (m,) sum to a half."""
    if not isinstance(kernel, SquaredExponential):
        needed = "kernel must be SquaredExponential, whose spectral density these features fit"
        raise ValueError(f"kernel = {kernel!r} is not allowed: {needed}")
    angles = points @ (frequencies / kernel.lengthscale).T
    scales = np.sqrt(np.tile(2 * kernel.variance * weights, 2))
    return np.concatenate([np.cos(angles), np.sin(angles)], axis=1) * scales


class FeaturePosterior(Uncertain):
    """The posterior on features (A, m): in the DTC form if a `prior_variance` (A,) is given.

    Without it is the SoR form. `n_features` is m (of a dictionary: its rank). Arrays are copies, as
    of the exact posterior, and the least noise variance is the same.
    """

    _known: tuple[Array, Array, float] | None

    def __init__(
        self, features: Array, noise_variance: float, prior_variance: Array | None = None
    ) -> None:
        self.noise_variance = noise_variance
        self._prior_variance = prior_variance
        self._counts: Integers = np.zeros(len(features), dtype=int)
        self._sums = np.zeros(len(features))
        squared = self._embed(features)
        largest = squared if prior_variance is None else prior_variance
        self._unit = float(largest.max())
        check_noise(noise_variance, self._unit)

    def _embed(self, features: Array) -> Array:
        """Take in features (A, m); return their squared norms (A,)."""
        self._features = features
        self.n_features = features.shape[1]
        squared = np.einsum("ij,ij->i", features, features)
        self._residual = 0.0
        if self._prior_variance is not None:
            self._residual = np.maximum(self._prior_variance - squared, 0.0)
        self._known = None
        return squared

    @property
    def counts(self) -> Integers:
        """Number of pulls of every arm, (A,)."""
        return self._counts.copy()

    @property
    def mean(self) -> Array:
        """Posterior mean of every arm, (A,)."""
        return self._conditioned()[0].copy()

    @property
    def variance(self) -> Array:
        """Posterior variance of every arm, (A,), not divided by the noise variance."""
        return self._conditioned()[1].copy()

    @property
    def gain(self) -> float:
        """1/2 log det(V / noise_variance) in nats: the information gain on the features."""
        return self._conditioned()[2]

    @property
    def summed_variance(self) -> float:
        """Sum of variance / noise_variance over the pulls so far: an effective dimension."""
        return float(self._counts @ self.variance) / self.noise_variance

    def update(self, arm: int, observation: float) -> None:
        """Condition on one noisy observation of `arm`; ValueError on a NaN."""
        checks.finite_number(observation=observation)
        check_reward(observation, self._unit)
        self._counts[arm] += 1
        self._sums[arm] += observation
        self._known = None

    def _conditioned(self) -> tuple[Array, Array, float]:
        """Mean, variance and gain, computed when first asked for after a change."""
        if self._known is not None:
            return self._known
        pulled = np.flatnonzero(self._counts)
        Z = self._features[pulled]
        V = (Z.T * self._counts[pulled]) @ Z + self.noise_variance * np.eye(self.n_features)
        L = cholesky(V, lower=True, check_finite=False)
        inverse = solve_triangular(L, np.eye(len(L)), lower=True, check_finite=False)
        whitened = self._features @ inverse.T  # twice as fast as a triangular solve for all arms
        mean = whitened @ (inverse @ (Z.T @ self._sums[pulled]))
        # this form subtracts nothing, so nothing cancels
        variance = self.noise_variance * np.einsum("ij,ij->i", whitened, whitened) + self._residual
        gain = float(np.log(np.diag(L) / np.sqrt(self.noise_variance)).sum())
        self._known = mean, variance, gain
        return self._known


class NystromPosterior(FeaturePosterior):
    """The DTC posterior on the Nyström features of a dictionary of arms.

    `dictionary` (members,) lists the arms in it with repeats, `inducing` (m,) the distinct ones; at
    first it is empty, and the posterior the prior.
    """

    def __init__(self, kernel: Kernel, points: Array, noise_variance: float) -> None:
        no_features = np.empty((len(points), 0))
        super().__init__(no_features, noise_variance, kernel.diag(points).astype(float))
        self._kernel = kernel
        self._points = points
        self.dictionary = self.inducing = checks.read_only(np.empty(0, dtype=int))
        self._columns = np.empty((0, len(points)))

    def use_dictionary(self, members: Integers) -> None:
        """Take the arms in `members`, repeats allowed, as dictionary."""
        self.dictionary = checks.read_only(members)
        distinct = np.unique(members)
        if np.array_equal(distinct, self.inducing):
            return
        columns = np.empty((len(distinct), len(self._points)))
        kept = np.isin(distinct, self.inducing)
        columns[kept] = self._columns[np.searchsorted(self.inducing, distinct[kept])]
        columns[~kept] = self._kernel(self._points[distinct[~kept]], self._points)
        self._columns = columns
        self.inducing = checks.read_only(distinct)
        self._embed(nystrom_features(columns, distinct))


class BudgetedPosterior(NystromPosterior):
    """The posterior of BKB: after every pull a new dictionary of earlier pulls.

    A pull is in it with probability min(1, qbar s); s is the variance of its arm before the newest
    observation, divided by the noise variance (Calandriello et al., Algorithm 1). A dictionary that
    would be empty holds the newest pull. `rng` draws it. Raises ValueError unless qbar >= 1.
    """

    def __init__(
        self, kernel: Kernel, points: Array, noise_variance: float, qbar: float, rng: Generator
    ) -> None:
        if not 1 <= qbar < np.inf:
            raise ValueError(f"qbar = {qbar!r} is not allowed: qbar must be at least 1")
        super().__init__(kernel, points, noise_variance)
        self.qbar = qbar
        self.rng = rng

    def inclusion(self) -> Array:
        """Return the probability (A,) with which a pull of each arm enters the next dictionary."""
        return np.minimum(1.0, self.qbar * self.variance / self.noise_variance)

    def update(self, arm: int, observation: float) -> None:
        inclusion = self.inclusion()
        super().update(arm, observation)
        members = self._draw(inclusion, arm)
        self.use_dictionary(members if len(members) else np.array([arm]))

    def _draw(self, inclusion: Array, newest: int) -> Integers:
        pulled = np.flatnonzero(self._counts)
        return np.repeat(pulled, self.rng.binomial(self._counts[pulled], inclusion[pulled]))


class ArmwisePosterior(BudgetedPosterior):
    """The posterior on a dictionary of distinct arms, drawn anew after every pull.

    The authors' later code has it: an arm pulled n times is in it with probability min(1, n qbar
    s), where the paper draws for each of the n pulls; s as in `BudgetedPosterior`.
    """

    def _draw(self, inclusion: Array, newest: int) -> Integers:
        pulled = np.flatnonzero(self._counts)
        chances = self._counts[pulled] * inclusion[pulled]
        return pulled[self.rng.random(len(pulled)) < chances]


class StreamingPosterior(BudgetedPosterior):
    """The posterior on a dictionary from which members only drop out.

    Calandriello et al., Section 3.2, leave it open. The newest pull enters with probability p; a
    member that is there with probability p stays with p' / p, p' the smaller of p and its
    probability now.
    """

    _members = np.empty(0, dtype=int)  # one entry a pull that is still a member,
    _probabilities = np.empty(0)  # and the probability of that

    def _draw(self, inclusion: Array, newest: int) -> Integers:
        members = np.append(self._members, newest)
        before = np.append(self._probabilities, 1.0)
        now = np.minimum(before, inclusion[members])
        stays = self.rng.random(len(members)) * before < now
        self._members = members[stays]
        self._probabilities = now[stays]
        return self._members
