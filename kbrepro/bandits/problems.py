"""Bandit problems: the model that a policy is given, and the reward and noise that it does not see.

A *source* of problems is a small frozen value that is called with a `Trial` and returns the problem
of that trial.
"""

import math
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.linalg.lapack import dpstrf

from kbrepro import checks
from kbrepro.bandits.kernels import Empirical, Independent, check_kernel, quiet
from kbrepro.bandits.posterior import Stack
from kbrepro.bandits.posterior.lattice import LATTICE_FROM, LatticeDraws
from kbrepro.bandits.posterior.likelihood import fitted
from kbrepro.typing import Array, Kernel

#: Pivoted Cholesky stops when no arm has more than this share of the largest variance left.
FACTOR_TOLERANCE = 1e-12
#: Columns of a factor, at most, where the covariance of all arms does not fit.
MOST_COLUMNS = 2000
#: Of ten arms or more a kernel is asked, at twenty, whether one has another that is correlated.
MANY, SAMPLED, NEAR = 10, 20, 1e-3
#: A fit says that rewards lie, on average, more than so many of their sds from `mean`.
OFF = 5.0
#: Purpose of a generator -> last entry of its seed, and which child of that stream it is. No entry
#: is 0: numpy pads a seed with zeros, and [seed, number, 0] would be the stream of [seed, number].
STREAMS = {"function": (1, ()), "run": (2, ()), "noise": (2, (0,)), "policy": (2, (1,))}


@dataclass(frozen=True)
class Trial(checks.Checked):
    """Root seed and number of one trial; all of its random streams are built from these two."""

    seed: int
    number: int
    checked = {"seed": checks.non_negative_int, "number": checks.non_negative_int}

    def rng(self, purpose: str) -> Generator:
        """Return a new generator for one purpose; ValueError on another.

        `function` draws the problem, `noise` its observations, and of `policy` each policy owns
        one; the last two are the children of `run`, for jobs that draw themselves.
        """
        checks.one_of(STREAMS, purpose=purpose)
        stream, child = STREAMS[purpose]
        seeds = np.random.SeedSequence([self.seed, self.number, stream], spawn_key=child)
        return np.random.default_rng(seeds)


@dataclass(frozen=True, eq=False)
class Model(checks.Checked):
    """What a policy is given: the arms' points (A, d), and the kernel and noise variance of its
    posterior.

    `noise_scale` is the R of the theorems, by default the root of `noise_variance`; `replace(model,
    noise_variance=x)` keeps it. `mean` is the prior mean, a number or one per arm (A,); `norm`
    bounds the RKHS norm of the expected reward less that mean, if a bound is known. Points are
    copied. Raises ValueError on a value out of range, unless points are finite numbers and (A, d),
    or on a kernel that is no covariance (`kernels.check_kernel`). Warns if no arm tells anything of
    another, as where points and lengthscale are in different units.
    """

    points: Array = field(repr=False)
    kernel: Kernel
    noise_variance: float
    noise_scale: float = None  # type: ignore[assignment]  # never None once it is made
    norm: float | None = None
    mean: float | Array = field(default=0.0, repr=False)
    checked = {
        "points": 2,
        "kernel": checks.kernel,
        "noise_variance": checks.positive,
        "noise_scale": checks.non_negative,
        "norm": checks.positive,
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.noise_scale is None:
            object.__setattr__(self, "noise_scale", float(np.sqrt(self.noise_variance)))
        check_kernel(self.kernel, self.points)
        checks.per_arm(self.n_arms, self.mean)
        object.__setattr__(self, "mean", checks.array("mean", self.mean))
        if not isinstance(self.kernel, Independent | Empirical) and self._far_apart():
            warnings.warn(
                f"kernel = {checks.shown(self.kernel)} has no correlation above {NEAR:g} between"
                " arms, so each arm is learned alone: lengthscale and points must be in the same"
                " unit; if this is intended, use Independent()",
                stacklevel=4,
            )

    @quiet
    def _far_apart(self) -> bool:
        """Whether of a sample of arms none has another one near."""
        n, kernel = self.n_arms, self.kernel
        sds = np.sqrt(kernel.diag(self.points))
        for arm in np.linspace(0, n - 1, SAMPLED).astype(int):
            row = np.abs(kernel(self.points[arm : arm + 1], self.points)[0])
            near = row > NEAR * sds[arm] * sds
            if near.sum() > near[arm]:
                return False
        return n >= MANY and bool(sds.all())

    @property
    def n_arms(self) -> int:
        """Number of arms A."""
        return len(self.points)

    @quiet
    def fit(
        self,
        arms: object,
        rewards: object,
        noise_variance: object = None,
        *,
        bounds: object = None,
        rng: int | Generator | None = 0,
    ) -> "Model":
        """Return the model with lengthscale, variance and noise that make the rewards (n,) of arms
        (n,) most likely.

        The mean is not fitted: set it. Maximum marginal likelihood with a mild log-normal prior
        around 0.3 of the arms' extent, the mean square of rewards less `mean`, and a tenth of that;
        the same in any unit. A kernel with one lengthscale for each axis gets one for each.
        `bounds` instead of the default ones, such as {"lengthscale": (0.05, 2.0)}, or with one pair
        for each axis; equal ones keep a value. Lengthscales are in the points' unit, variances in
        that of rewards, squared. scipy's L-BFGS-B starts from the prior's median and five draws of
        `rng`. `noise_variance`, one or one for each reward, is known: it is not fitted, and that of
        the model stays, which is that of a reward with None; all of `policy.history` can be given,
        and is fitted where no noise variance was told. The time depends on the number of distinct
        arms. One warning says which values ended at a bound, or did not move, another that rewards
        lie far from `mean`. No theorem covers a fitted model, and a bound on the norm under another
        kernel is none: `norm` becomes None. Raises IndexError on an arm out
        of range, ValueError on rewards that are no finite numbers or all the prior mean, and on
        another kernel, MemoryError if the arms do not fit.
        """
        arms = checks.chosen(self.n_arms, "arms", arms, flags=False)
        rewards = checks.array("rewards", rewards, 1)
        if len(arms) != len(rewards):
            raise ValueError(
                f"rewards has shape {rewards.shape}: it must be ({len(arms)},), one for each arm"
            )
        left = rewards - checks.per_arm(self.n_arms, self.mean)[arms]
        if abs(left.mean()) > OFF * left.std():
            warnings.warn(
                f"fit: rewards lie {left.mean():.4g} +- {left.std():.2g} from mean ="
                f" {np.mean(self.mean)}, which fit does not change: set it",
                stacklevel=3,
            )
        spans = np.ptp(self.points, axis=0)
        variances = checks.noise_variances(len(rewards), noise_variance)
        noises = [own or self.noise_variance for own in variances] if any(variances) else None
        kernel, noise = fitted(self.kernel, self.points[arms], left, spans, bounds, rng, noises)
        if noises is not None:
            return replace(self, kernel=kernel, norm=None)
        return replace(
            self, kernel=kernel, noise_variance=noise, noise_scale=math.sqrt(noise), norm=None
        )

    @property
    def known_norm(self) -> float:
        """The `norm`; ValueError if it was not given."""
        if self.norm is None:
            raise ValueError("norm = None is not allowed: norm must be a bound on the RKHS norm")
        return self.norm


@dataclass(frozen=True)
class Gaussian(checks.Checked):
    """Normal noise of standard deviation `sd` >= 0."""

    sd: float
    checked = {"sd": checks.non_negative}

    def __call__(self, rng: Generator) -> float:
        return self.sd * rng.standard_normal()


@dataclass(frozen=True)
class Uniform(checks.Checked):
    """Noise uniform on [-bound, bound], which is sub-Gaussian with scale `bound` >= 0."""

    bound: float
    checked = {"bound": checks.non_negative}

    def __call__(self, rng: Generator) -> float:
        return self.bound * rng.uniform(-1, 1)


@dataclass(frozen=True, eq=False)
class Problem(checks.Checked):
    """What policies are given (`model`), and what they do not see: expected reward (A,) and noise.

    By default the noise is Gaussian with the model's `noise_scale`. Expected rewards are copied, by
    position. Raises ValueError on the wrong shape or a reward that is no finite number.
    """

    model: Model
    expected_reward: Array = field(repr=False)
    noise: Callable[[Generator], float] | None = None
    checked = {
        "model": partial(checks.having, "a Model", "n_arms", "points"),
        "expected_reward": 1,
        "noise": checks.function,
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        shape, needed = self.expected_reward.shape, (self.model.n_arms,)
        if shape != needed:
            raise ValueError(f"expected_reward has shape {shape}: it must be (A,) = {needed}")

    def pull(self, arm: int, rng: Generator) -> float:
        """Return the reward of `arm` plus noise drawn from `rng`; IndexError on a bad arm."""
        checks.arm_index(arm, self.model.n_arms)
        return float(self.expected_reward[arm] + self.draw_noise(rng))

    def draw_noise(self, rng: Generator) -> float:
        """Return the noise of a pull, drawn from `rng`."""
        noise = Gaussian(self.model.noise_scale) if self.noise is None else self.noise
        return noise(rng)

    def regret(self, arms: NDArray[np.integer]) -> Array:
        """Return the instantaneous regret of pulling `arms`, same shape, at least 0; IndexError on
        a bad arm.
        """
        arms = np.asarray(arms)
        checks.arms(self.model.n_arms, "arms", arms)
        return self.expected_reward.max() - self.expected_reward[arms]


@dataclass(frozen=True, eq=False)
class Known:
    """Source that returns the same `problem` in every trial: only the noise and the policies' own
    draws change.
    """

    problem: Problem

    def __post_init__(self) -> None:
        checks.having("a Problem", "pull", "regret", "model", problem=self.problem)

    def __call__(self, trial: Trial) -> Problem:
        return self.problem


@quiet
def covariance_factor(K: Array) -> Array:
    """Return F (A, r) with F F^T = K (A, A) up to FACTOR_TOLERANCE max(diag K), by pivoted
    Cholesky.

    Smooth kernels are numerically singular (rank 19 for 1000 points of the squared exponential,
    lengthscale 0.2), and K is never inverted. On grids, arms that mirror each other tie for the
    next pivot, and rounding would decide which function is drawn: weights that fall from 2 to 1
    favour the earlier arm.
    """
    weights = np.linspace(2.0, 1.0, len(K))[:, None]
    c, pivots, rank, _ = dpstrf(
        weights * K * weights.T, tol=FACTOR_TOLERANCE * K.diagonal().max(), lower=1
    )
    factor = np.zeros((len(K), rank))
    factor[pivots - 1] = np.tril(c)[:, :rank]
    return factor / weights


def factor_by_columns(kernel: Kernel, points: Array) -> Array:
    """Return the factor of `covariance_factor` without the covariance (A, A): its columns at the
    pivots are asked for one by one, O(A r^2). MemoryError if there are more than MOST_COLUMNS, or
    they do not fit.
    """
    left, rows = np.array(kernel.diag(points), dtype=float), Stack(len(points))
    weights, least = np.linspace(2.0, 1.0, len(points)) ** 2, FACTOR_TOLERANCE * left.max()
    while (weighted := weights * left).max() > least:
        if len(rows) == MOST_COLUMNS:
            raise MemoryError(f"points: a factor of more than {MOST_COLUMNS} columns")
        arm, V = int(weighted.argmax()), rows()
        column = kernel(points[arm : arm + 1], points)[0] - V[:, arm] @ V
        column /= np.sqrt(left[arm])
        rows.append(column)
        left -= column**2
        left[arm] = 0.0
    return rows().T


@quiet
def factor_draw(factor: Array, rng: Generator) -> Array:
    """Return a draw f = F z (A,), z standard normal, from a factor F (A, r) of the covariance."""
    return factor @ rng.standard_normal(len(factor))[: factor.shape[1]]


@quiet
def prior_draws(kernel: Kernel, points: Array) -> Callable[[Generator], Array]:
    """Return a function of rng that draws f (A,) ~ GP(0, kernel) at points (A, d).

    By a factor of the covariance; on a large lattice by FFT, unless the torus is too long since the
    kernel is smooth. Where the covariance does not fit, the factor of a smooth kernel does, which
    has few columns; MemoryError if neither fits.
    """
    n, other = len(points), ", or arms on a lattice"
    if n >= LATTICE_FROM:
        try:
            return LatticeDraws(kernel, points)
        except (ValueError, MemoryError) as reason:
            other += f" ({reason})"
    other += f", or a kernel so smooth that {MOST_COLUMNS} columns suffice"
    try:
        checks.pairs(n, "points: a factor of the covariance", other=other)
    except MemoryError:
        with suppress(MemoryError):
            return partial(factor_draw, factor_by_columns(kernel, points))
        raise
    return partial(factor_draw, covariance_factor(kernel(points, points)))


@dataclass(frozen=True, eq=False)
class _Source(checks.Checked):
    """A source with kernel, points and noise variance."""

    kernel: Kernel
    points: Array = field(repr=False)
    noise_variance: float
    checked = {"points": 2, "kernel": checks.kernel, "noise_variance": checks.positive}


@dataclass(frozen=True, eq=False)
class GPDraw(_Source):
    """Source of problems whose expected reward is a draw from the prior that the policies are
    given.
    """

    @quiet
    def __call__(self, trial: Trial) -> Problem:
        reward = prior_draws(self.kernel, self.points)(trial.rng("function"))
        return Problem(Model(self.points, self.kernel, self.noise_variance), reward)


@dataclass(frozen=True, eq=False)
class Rows(checks.Checked):
    """Source whose trial number n has row n of `rewards` (n_rows, A) as expected reward; nothing is
    drawn.

    `covariance` (A, A) is the kernel matrix; `norm_of(reward, covariance)` is the norm that the
    policies are given. Raises ValueError on a missing reading or a covariance that is not positive
    semidefinite, IndexError past the last row.
    """

    covariance: Array = field(repr=False)
    rewards: Array = field(repr=False)
    noise_variance: float
    norm_of: Callable[[Array, Array], float] | None = None
    checked = {"norm_of": checks.function}

    def __post_init__(self) -> None:
        super().__post_init__()
        # those of missing data are NaN, and refused when a trial is made
        for name in ("covariance", "rewards"):
            object.__setattr__(
                self, name, checks.array(name, getattr(self, name), 2, least=1, finite=False)
            )
        if not np.isnan(self.rewards).all():  # else its share of their variance is NaN, too
            checks.positive(noise_variance=self.noise_variance)

    def __call__(self, trial: Trial) -> Problem:
        checks.finite_array(rewards=self.rewards)
        n = len(self.rewards)
        if trial.number >= n:
            raise IndexError(
                f"trial = {checks.shown(trial.number)} is not allowed: trial must be one of the {n}"
                f" rows, 0 to {n - 1}"
            )
        kernel, reward = Empirical(self.covariance), self.rewards[trial.number]
        norm = self.norm_of and self.norm_of(reward, kernel.covariance)
        return Problem(Model(kernel.points, kernel, self.noise_variance, norm=norm), reward)


@dataclass(frozen=True, eq=False)
class RKHSFunction(_Source):
    """Source of functions with exactly this RKHS `norm`, and noise uniform on +-
    sqrt(noise_variance).

    f = sum_i a_i k(c_i, .) with n_centres arms drawn without replacement as centres and normal
    weights a, scaled so that sqrt(a^T K a) = norm. Raises ValueError unless norm > 0 and 1 <=
    n_centres <= A.
    """

    norm: float
    n_centres: int = 20
    checked = _Source.checked | {"norm": checks.positive, "n_centres": checks.positive_int}

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.n_centres > len(self.points):
            raise checks.refused(
                "n_centres", self.n_centres, f"at most the number of arms, {len(self.points)}"
            )

    @quiet
    def __call__(self, trial: Trial) -> Problem:
        rng = trial.rng("function")
        centres = self.points[rng.choice(len(self.points), self.n_centres, replace=False)]
        weights = rng.standard_normal(self.n_centres)
        weights *= np.sqrt(self.norm**2 / (weights @ self.kernel(centres, centres) @ weights))
        model = Model(self.points, self.kernel, self.noise_variance, norm=self.norm)
        return Problem(
            model, self.kernel(self.points, centres) @ weights, Uniform(model.noise_scale)
        )
