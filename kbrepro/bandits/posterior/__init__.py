"""Exact GP posterior over a finite set of arms, updated one pull at a time.

With prior covariance k, noise variance s2 and a pull of arm i with observation y, the posterior
changes by

    gain vector g = c / sqrt(v_i + s2), c = current covariance between arm i and all arms, v_i its
    variance mean += g * (y - mean_i) / sqrt(v_i + s2) variance -= g^2 (Srinivas et al., eq. 1-2,
    one row at a time)

The forms differ only in how they find c. All are exact; none adds jitter. What changes is kept as a
deviation from the prior mean, so that a constant in rewards and prior mean is taken off once, when
a reward is told.
"""

import math
import warnings
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cholesky, solve_triangular
from scipy.linalg.blas import dsymv, dsyr, dsyrk

from kbrepro import checks
from kbrepro.bandits.kernels import quiet
from kbrepro.bandits.posterior.lattice import (
    AHEAD_FROM,
    COLUMNS,
    LATTICE_FROM,
    AlmostLattice,
    Precision,
    PriorCovariance,
)
from kbrepro.typing import Array, Integers, Kernel

#: A column is refined so many times at most.
REFINED = 2
#: Least noise variance in prior variances, by use: it must stand out from the rounding of what it
#: is added to.
LEAST_NOISE = {
    "a posterior": 1e-12,
    "a posterior on a lattice": 1e-5,
    "draws from a posterior": 1e-8,
    "an effective dimension": 1e-10,
}
#: The use of rules that draw.
DRAWS = "draws from a posterior"
#: Beyond so many prior standard deviations a reward, or prior variances a noise variance, is a word
#: for "failed" or "unknown", whose sums overflow.
MOST_REWARD, MOST_NOISE = 1e150, 1e100
#: Largest sum over pulls of rounding / (variance left + noise variance): means keep four digits or
#: more.
MOST_ROUNDING = 10.0
#: Of so many arms the covariance is kept where no horizon is known, and for draws: one row a
#: distinct arm is no faster.
FEW = 500
#: One row a distinct arm is cheaper than the covariance up to this share of all arms.
DISTINCT = 0.5
#: Pulls an arm from which on the covariance is cheaper than rows.
COVARIANCE_FROM = 1.5
#: How far a number of float64 is off, at most, as a share of it.
EPSILON = float(np.finfo(float).eps)


def check_noise(noise_variance: float, unit: float, use: str = "a posterior") -> None:
    """Raise ValueError unless the noise variance is at least LEAST_NOISE of this use and at most
    MOST_NOISE, in units of `unit`.
    """
    checks.positive(noise_variance=noise_variance)
    if noise_variance < (least := LEAST_NOISE[use] * unit):
        raise checks.refused("noise_variance", noise_variance, f"at least {least:.3g} for {use}")
    if 0 < MOST_NOISE * unit < noise_variance:
        raise checks.refused(
            "noise_variance", noise_variance, f"at most {MOST_NOISE:.0e} prior variances"
        )


def check_reward(observation: float, unit: float) -> None:
    """Raise ValueError unless a finite reward, less its prior mean, is at most MOST_REWARD prior
    standard deviations; `unit` is the prior variance.
    """
    if 0 < MOST_REWARD * math.sqrt(unit) < abs(observation):
        allowed = f"within {MOST_REWARD:.0e} prior standard deviations of its prior mean"
        raise checks.refused("observation", float(observation), allowed)


def level_of(prior_mean: Array) -> float:
    """Return the middle one of prior means (A,): differences of large numbers to it are exact."""
    return float(np.sort(prior_mean)[len(prior_mean) // 2])


#: What a form that has no covariance finds with a column: the weights v (m,), the variance, and the
#: row of K of an arm that is new.
Found = tuple[Array, float, Array | None]


class Uncertain(checks.Changing):
    """What keeps a variance of every point, which rounding may put below zero."""

    _variance: Array

    @property
    def variance(self) -> Array:
        """Posterior variance of every arm or fixed point; what rounding puts below zero is cut off
        here alone.
        """
        return np.maximum(self._variance, 0.0)

    @property
    def sd(self) -> Array:
        """Posterior standard deviation of every arm or fixed point."""
        return np.sqrt(self.variance)


class ExactPosterior(Uncertain):
    """Posterior mean and variance of every arm, and the information gain of the pulls so far.

    `mean` is that of the prior, a number or one per arm.

    Attributes: `mean` (A,), `level`, the middle one of the prior means, `centred` (A,), the mean
    less that level, `counts` (A,) pulls of each arm, `gain` (nats) = I(y; f) of the pulls so far,
    `noise_variance`. Arrays are copies: they stay what they were, and writing to them is harmless.
    Raises ValueError on a noise variance below LEAST_NOISE prior variances.
    """

    use = "a posterior"
    _error = EPSILON  # of a covariance between arms, in prior variances

    def __init__(
        self, kernel: Kernel, points: Array, noise_variance: float, *, mean: float | Array = 0.0
    ) -> None:
        checks.kernel(kernel=kernel)
        self._kernel, self._points = kernel, (points := checks.array("points", points, 2, least=1))
        self._prior_variance = np.array(kernel.diag(points), dtype=float)
        self._unit, self._rounding = float(self._prior_variance.max()), 0.0
        check_noise(noise_variance, self._unit, self.use)
        self.noise_variance = checks.python_number(noise_variance)
        self._prior_mean, self._variance = (
            checks.per_arm(len(points), mean=mean),
            self._prior_variance.copy(),
        )
        self.level = level_of(self._prior_mean)
        self._above = self._prior_mean - self.level
        self._deviation: Array = np.zeros(len(points))  # of the posterior mean from the prior mean
        self._counts: Integers = np.zeros(len(points), dtype=int)
        # pulls of each arm, each in units of 1 / noise_variance
        self._weights: Array = np.zeros(len(points))
        self.gain = 0.0
        self._prepare()

    @property
    def n_arms(self) -> int:
        """Number of arms A."""
        return len(self._deviation)

    @property
    def mean(self) -> Array:
        """Posterior mean of every arm, (A,)."""
        return self._prior_mean + self._deviation

    @property
    def centred(self) -> Array:
        """Posterior mean of every arm less the prior means' `level`, (A,), to all digits however
        high that is.
        """
        return self._above + self._deviation

    @property
    def counts(self) -> Integers:
        """Number of pulls of every arm, (A,)."""
        return self._counts.copy()

    @property
    def precision(self) -> Array:
        """Sum over the pulls of every arm of 1 / their noise variance, (A,)."""
        return self._weights / self.noise_variance

    @quiet
    def update(self, arm: int, observation: float, noise_variance: float | None = None) -> None:
        """Condition on one noisy observation of `arm`; IndexError or ValueError on a bad arm or a
        NaN.

        `noise_variance` is that of this observation. ValueError if it is below LEAST_NOISE prior
        variances, or below what so many pulls of arms whose rewards are known need: then nothing is
        changed.
        """
        checks.arm_index(arm, self.n_arms)
        # plain numbers of common size are right without a look, which takes time in every pull
        if type(observation) is not float or not abs(observation) <= 1e9:  # or NaN
            checks.finite_number(observation=observation)
            check_reward(observation - self._prior_mean[arm], self._unit)
        if noise_variance is not None:
            check_noise(noise_variance, self._unit, self.use)
        noise = noise_variance or self.noise_variance
        covariance, variance, kept = self._column(arm)
        total = max(variance, 0.0) + noise
        rounding = self._rounding + self._error * self._unit / total
        if rounding > MOST_ROUNDING:
            least, pulls = noise * rounding / MOST_ROUNDING, 1 + self._counts.sum()
            raise checks.refused(
                "noise_variance", noise, f"at least {least:.3g} for {pulls} pulls like these"
            )
        scale = math.sqrt(total)
        g = covariance / scale
        # large numbers first: exact
        off = (observation - self._prior_mean[arm]) - self._deviation[arm]
        step, shrinks, more = g * (off / scale), g * g, self.noise_variance / noise
        # what may not fit comes first: an error leaves all as it was
        self._remember(arm, g, more, kept)
        self.gain += math.log(scale / math.sqrt(noise))  # Lemma 5.3, one term
        self._variance[arm] = variance
        self._deviation += step
        self._variance -= shrinks
        self._counts[arm] += 1
        self._weights[arm] += more
        self._rounding = rounding

    def _prepare(self) -> None:
        """Make what a form keeps of its own."""

    def covariance_with(self, arm: int) -> Array:
        """Return the posterior covariance of `arm` with all arms, (A,)."""
        return self._column(arm)[0]

    def _column(self, arm: int) -> tuple[Array, float, Found | None]:
        """The covariance of `arm` with all arms (A,), its variance, and what `_remember` needs;
        changes nothing.
        """
        return self.covariance_with(arm), float(self._variance[arm]), None

    def _remember(self, arm: int, g: Array, more: float, kept: Found | None) -> None:
        """Keep what a pull of `arm` changes; it counts as `more` pulls with the model's noise
        variance.
        """
        raise NotImplementedError


class Stack(checks.Changing):
    """Rows of equal length, appended one at a time: an array that at least doubles when it is
    full.
    """

    shared = ("_store",)

    def __init__(self, length: int) -> None:
        self._store, self._n = np.empty((16, length)), 0

    def __len__(self) -> int:
        return self._n

    def __call__(self) -> Array:
        """Return the rows so far (n, length), a view."""
        return self._store[: self._n]

    def make_room(self, more: int) -> None:
        """Make room for so many more rows; MemoryError, in GB, if they do not fit."""
        have, length = self._store.shape
        room = max(2 * have, self._n + more)
        if self._n + more > have:
            what = f"points: rows for {room} pulls of {length} arms"
            checks.memory(8.0 * room * length, what, "up to {} pulls", 8.0 * length)
            self._store = np.concatenate([self._store, np.empty((room - have, length))])

    def __getstate__(self) -> dict[str, object]:
        return {"_store": self().copy(), "_n": self._n}  # what is saved has no room yet

    def append(self, row: Array) -> None:
        """Add one row (length,)."""
        if self._n == len(self._store):
            self.make_room(1)
        self._store[self._n] = row
        self._n += 1


class CovariancePosterior(ExactPosterior):
    """Keeps the A x A posterior covariance (one triangle, in place): O(A^2) per step for any t;
    MemoryError, in GB.
    """

    def _prepare(self) -> None:
        checks.pairs(self.n_arms, "points: the covariance")
        self._upper = np.asfortranarray(self._kernel(self._points, self._points))

    def covariance_with(self, arm: int) -> Array:
        return np.concatenate([self._upper[:arm, arm], self._upper[arm, arm:]])

    def _remember(self, arm: int, g: Array, more: float, kept: Found | None) -> None:
        self._upper = dsyr(-1.0, g, a=self._upper, overwrite_a=1)

    def mean_given(self, f: Array, z: Array) -> Array:
        """Return the deviation of the mean (A,) had every arm's rewards been f (A,) and noise, z
        (A,) standard normal.

        That is C (n f / s2 + sqrt(n / s2) z), C the posterior covariance, whose rounding is divided
        by s2: `DRAWS` need more noise.
        """
        precision = self.precision
        return dsymv(1.0, self._upper, precision * f + np.sqrt(precision) * z)


class RowPosterior(ExactPosterior):
    """Keeps one row of V = L^-1 K(pulled, points) per pull: O(t A) per step, t x A memory."""

    def _prepare(self) -> None:
        self._rows = Stack(self.n_arms)

    def covariance_with(self, arm: int) -> Array:
        V = self._rows()
        return self._kernel(self._points[arm : arm + 1], self._points)[0] - V[:, arm] @ V

    def _remember(self, arm: int, g: Array, more: float, kept: Found | None) -> None:
        self._rows.append(g)
        self._error = EPSILON * math.sqrt(len(self._rows))


class PulledPosterior(ExactPosterior):
    """Keeps the inverse among the m distinct arms pulled: 4 m^2 bytes, however many pulls there
    are.

    With X the arms pulled, N their counts and M = K(X, X) + s2 N^-1, the column of an arm i is a
    product of K with few weights: k_i + K v, v = -M^-1 k(X, i), for a new arm, and K v, v = (s2 /
    n_i) M^-1 e_i, for one pulled before. Subclasses say how K is multiplied.
    """

    #: v is refined while its residual exceeds this share of the variance.
    residual = 2e-15

    def _prepare(self) -> None:
        self._pulled: Integers = np.empty(0, dtype=int)
        self._place: Integers = np.full(self.n_arms, -1)  # of every arm in `_pulled`
        self._inverse = Precision()

    def _prior_with(self, arm: int) -> tuple[Array, Array]:
        """Return what `_product` needs of an arm that is new, (A,), and k(X, arm), (m,)."""
        raise NotImplementedError

    def _product(self, own: Array | None, v: Array) -> Array:
        """Return k_i + K v (A,) for v (m,) at the arms pulled; without `own`, K v."""
        raise NotImplementedError

    def mean_given(self, f: Array, z: Array) -> Array:
        """Return the deviation of the mean (A,) had every arm's rewards been f (A,) and noise, z
        (A,) standard normal.

        That is K(., X) M^-1 (f + sqrt(s2 / n) z): no difference of large numbers, as a product with
        C would be.
        """
        pulled, noise = self._pulled, self._noise
        rewards = f[pulled] + np.sqrt(noise) * z[pulled]
        largest = float(np.abs(rewards).max(initial=0.0))
        return self._refined(None, self._inverse.times(rewards), rewards, largest)[0]

    def _column(self, arm: int) -> tuple[Array, float, Found | None]:
        """As in all forms; the variance is without the rounding of all updates so far, which the
        noise may not cover.

        What is kept is v, this variance and `own`.
        """
        place, target, own = self._place[arm], np.zeros(len(self._pulled)), None
        if place < 0:
            own, to_pulled = self._prior_with(arm)
            v = -self._inverse.times(to_pulled, arm)
        else:
            noise = self.noise_variance / self._weights[arm]
            target[place] = noise
            v = noise * self._inverse.column(int(place))
        column, v = self._refined(own, v, target, self._prior_variance[arm])
        variance = float(column[arm])
        return column, variance, (v, variance, own)

    @property
    def _noise(self) -> Array:
        """Noise variance of the mean reward of every arm pulled, (m,)."""
        return self.noise_variance / self._weights[self._pulled]

    def _refined(
        self, own: Array | None, v: Array, target: Array, size: float
    ) -> tuple[Array, Array]:
        """Return k_i + K v (A,) and v (m,), so that k_i + K v + s2 / n v = target at the arms
        pulled.

        The first v is refined while it is off by more than `residual` times the `size` of the
        numbers.
        """
        pulled, noise = self._pulled, self._noise
        for again in range(1 + REFINED):
            found = self._product(own, v)
            off = target - found[pulled] - noise * v
            if again == REFINED or not np.any(np.abs(off) > self.residual * size):
                break
            v += self._inverse.times(off)
        return found, v

    def _remember(self, arm: int, g: Array, more: float, kept: Found | None) -> None:
        assert kept is not None
        (v, variance, _), place = kept, self._place[arm]
        if place < 0:
            scale = np.sqrt(max(variance, 0.0) + self.noise_variance / more)
            self._inverse.add(np.append(v, 1.0) / scale)
            self._place[arm] = len(self._pulled)
            self._pulled = np.append(self._pulled, arm)
        else:  # its noise falls from s2 / n to s2 / (n + more)
            n = self._weights[arm]
            column = v * (n / self.noise_variance)
            less = self.noise_variance * more / (n * (n + more))
            self._inverse.add(column * np.sqrt(less / (1 - less * column[place])))


class DistinctPosterior(PulledPosterior):
    """Keeps one row of K a distinct arm: O(m A) per step, m x A memory, for any t.

    With `most` distinct arms, a share DISTINCT of all, it takes the covariance, which does not
    grow; so it does at a pull with less noise than draws need, for which the covariance is more
    exact. Where that does not fit it stays as it is.
    """

    def _prepare(self) -> None:
        super()._prepare()
        self.most = int(DISTINCT * self.n_arms)
        self._rows = Stack(self.n_arms)

    def _prior_with(self, arm: int) -> tuple[Array, Array]:
        row = self._kernel(self._points[arm : arm + 1], self._points)[0]
        return row, row[self._pulled]

    def _product(self, own: Array | None, v: Array) -> Array:
        product = v @ self._rows()
        return product if own is None else product + own

    def _remember(self, arm: int, g: Array, more: float, kept: Found | None) -> None:
        assert kept is not None
        full = kept[2] is not None and len(self._pulled) == self.most
        little = self.noise_variance / more < LEAST_NOISE[DRAWS] * self._unit
        if full or little:
            with suppress(LinAlgError, MemoryError):  # else all stays as it is
                self._upper = self._covariance()
                self.__class__ = CovariancePosterior  # type: ignore[assignment]
                del self._inverse, self._rows, self._pulled, self._place
                self._remember(arm, g, more, None)
                return
        new = kept[2]
        self._rows.make_room(new is not None)
        super()._remember(arm, g, more, kept)
        if new is not None:
            self._rows.append(new)

    def _covariance(self) -> Array:
        """Return the upper half of the covariance (A, A); LinAlgError if M has no factor."""
        checks.pairs(self.n_arms, "points: the covariance")
        M = self._rows()[:, self._pulled] + np.diag(self._noise)
        V = solve_triangular(cholesky(M, lower=True), self._rows(), lower=True)
        K = np.asfortranarray(self._kernel(self._points, self._points))
        return dsyrk(-1.0, V.T, beta=1.0, c=K, overwrite_c=1)


class LatticePosterior(PulledPosterior):
    """For arms on a regular lattice: one product with K per step by FFT, no t x A array.

    Raises ValueError if the points are no lattice, the kernel is not stationary or the noise
    variance below LEAST_NOISE prior variances, MemoryError if it does not fit.
    """

    use = "a posterior on a lattice"
    residual = 1e-13  # transforms round more

    def _prepare(self) -> None:
        super()._prepare()
        self._prior = PriorCovariance(self._kernel, self._points)

    def make_room(self, pulls: int) -> None:
        """Raise MemoryError, in GB, unless so many pulls fit."""
        self._inverse.make_room(min(pulls, self.n_arms))

    def _prior_with(self, arm: int) -> tuple[Array, Array]:
        points = self._points
        row = self._kernel(points[self._pulled], points[arm : arm + 1])[:, 0]
        return np.eye(1, self.n_arms, arm)[0], row

    def look_ahead(self, arm: int, index: Array) -> None:
        """Take the new arms of largest index (A,) along in the pass over the inverse that a new
        `arm` needs; this changes nothing that is shown.
        """
        products = self._inverse.ahead
        pulled = self._pulled
        if self._place[arm] >= 0 or arm in products or len(pulled) < AHEAD_FROM:
            return
        new = self._place < 0
        new[[arm, *products]] = False
        others = np.flatnonzero(new)
        if len(others) >= COLUMNS:
            others = others[np.argpartition(-index[others], COLUMNS - 2)[: COLUMNS - 1]]
        arms = [arm, *others.tolist()]
        self._inverse.look_ahead(arms, self._kernel(self._points[arms], self._points[pulled]))

    def _product(self, own: Array | None, v: Array) -> Array:
        weights = np.zeros(self.n_arms) if own is None else own
        weights[self._pulled] = v
        return self._prior(weights)


class AfterPending(ExactPosterior):
    """What an exact posterior, `conditioned`, will be after pulls whose rewards are not known yet.

    `mean` (A,) and `gain` are as they are; `variance`, `sd`, `counts`, `precision` (A,) and
    covariances are those after the pulls, which do not depend on what they give. MemoryError, in
    GB, unless there is `room` for so many more.
    """

    conditioned: Any = None

    def __init__(
        self, posterior: ExactPosterior, pending: Sequence[int] = (), *, room: int = 0
    ) -> None:
        vars(self).update(vars(posterior))
        self.conditioned, self._rows, self._variance = (
            posterior,
            Stack(posterior.n_arms),
            posterior.variance,
        )
        self._deviation, self._counts = self._deviation.copy(), posterior.counts
        self._weights = self._weights.copy()
        self._rows.make_room(len(pending) + room)
        for arm in pending:
            self.pull(arm)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.conditioned, name)

    def covariance_with(self, arm: int) -> Array:
        V = self._rows()
        return self.conditioned.covariance_with(arm) - V[:, arm] @ V

    def pull(self, arm: int) -> None:
        """Add a pending pull of `arm`."""
        g = self.covariance_with(arm)
        g /= math.sqrt(max(self._variance[arm], 0.0) + self.noise_variance)
        self._rows.append(g)
        self._variance -= g * g
        self._counts[arm] += 1
        self._weights[arm] += 1


def lattice_posterior(
    kernel: Kernel, points: Array, noise_variance: float, *, mean: float | Array = 0.0
) -> LatticePosterior | None:
    """Return the lattice form for `LATTICE_FROM` or more arms, if all three allow it, else None; a
    warning says why almost a lattice is none.
    """
    if len(points) >= LATTICE_FROM:
        try:
            return LatticePosterior(kernel, points, noise_variance, mean=mean)
        except AlmostLattice as reason:
            warnings.warn(f"{reason}; without a lattice pulls and draws take longer", stacklevel=2)
        except ValueError:  # a kernel that does not declare it, little noise
            pass
    return None


def exact_posterior(
    kernel: Kernel,
    points: Array,
    noise_variance: float,
    horizon: int | None = None,
    *,
    mean: float | Array = 0.0,
) -> ExactPosterior:
    """Return the fastest form for `horizon` pulls of A arms; MemoryError, in GB, if it does not
    fit.

    That is the lattice form on a lattice of many arms. Of up to FEW arms it is rows for up to 1.5 A
    pulls and covariance for more, or without a horizon. Of more arms it is one row a distinct arm,
    which becomes the covariance when half the arms were pulled, or rows if there is little noise.
    """
    if horizon is not None:
        checks.positive_int(horizon=horizon)
    points = checks.array("points", points, 2, least=1)
    A = len(points)
    pulls = int(horizon or (2 * A if A <= FEW else A))
    if on_lattice := lattice_posterior(kernel, points, noise_variance, mean=mean):
        on_lattice.make_room(pulls)
        return on_lattice
    most = int(COVARIANCE_FROM * A)
    needed = 8.0 * A * pulls if pulls <= most else checks.KERNEL_BYTES * A**2
    what = f"points: the posterior of {A} arms over {pulls} pulls"
    checks.memory(needed, what, "horizon = {} or less", 8.0 * A, most=most)
    if A > FEW:
        distinct = DistinctPosterior(kernel, points, noise_variance, mean=mean)
        if noise_variance >= LEAST_NOISE[LatticePosterior.use] * distinct._unit:
            return distinct
    if pulls > most:
        return CovariancePosterior(kernel, points, noise_variance, mean=mean)
    rows = RowPosterior(kernel, points, noise_variance, mean=mean)
    rows._rows.make_room(horizon or 0)
    return rows
