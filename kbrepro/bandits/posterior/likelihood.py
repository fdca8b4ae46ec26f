"""Lengthscale, variance and noise by maximum marginal likelihood, with a mild prior on their
logarithms.
"""

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cholesky, solve_triangular

from kbrepro import checks
from kbrepro.typing import Array, Kernel

#: What is fitted: sd of its logarithm under the prior, whose median is `START` of the span or of
#: the mean square.
SPREAD = {"lengthscale": 1.0, "variance": 1.5, "noise_variance": 2.0}
START = {"lengthscale": 0.3, "variance": 1.0, "noise_variance": 0.1}
#: Default bounds, in sds of the prior; draws from it from which the optimiser starts, besides its
#: median.
REACH, RESTARTS = 5.0, 5
#: The rewards say nothing of a value if one sd of its prior more or less changes the log likelihood
#: by less (nats).
NOTHING = 0.01
#: What a covariance that is singular has as log likelihood.
SINGULAR = -1e100


class Pulls(NamedTuple):
    """All that n rewards say of the m distinct points where they were measured.

    `points` (m, d); `mean` (m,) of the rewards there, each weighted by `weights`; their sums
    `total` (m,); `square`, the weighted sum of squares of the rewards less their point's mean;
    `logs`, the sum of the logarithms of all weights less that of the totals. A reward of weight w
    has the noise variance noise / w.
    """

    points: Array
    mean: Array
    total: Array
    square: float
    logs: float
    n: int


def pulls_of(points: Array, rewards: Array, weights: Array) -> Pulls:
    """Return what rewards (n,) of these weights (n,) at points (n, d) say."""
    distinct, place = np.unique(points, axis=0, return_inverse=True)
    place = place.ravel()
    total = np.asarray(np.bincount(place, weights), dtype=float)
    mean = np.bincount(place, weights * rewards) / total
    square = float(weights @ (rewards - mean[place]) ** 2)
    logs = float(np.log(weights).sum() - np.log(total).sum())
    return Pulls(distinct, mean, total, square, logs, len(rewards))


def fitted(
    kernel: Any,
    points: Array,
    rewards: Array,
    spans: Array,
    bounds: object,
    rng: object,
    noise_variances: Sequence[float] | None,
) -> tuple[Any, float]:
    """Return the kernel and the noise variance of largest likelihood times prior, see `Model.fit`.

    `points` (n, d) and `rewards` (n,), less their prior mean, are those of the pulls, `spans` (d,)
    of all arms. If the noise variances are known, one a reward, the returned one is 1: what they
    are multiplied by.
    """
    if not {"lengthscale", "variance"} <= getattr(kernel, "__dataclass_fields__", {}).keys():
        raise checks.refused(
            "kernel",
            kernel,
            "one with lengthscale and variance to fit, such as Matern(0.2, nu=2.5)",
        )
    square = float(np.mean(rewards**2))
    checks.positive(**{"mean square of rewards - mean": square})
    noise_is_known = noise_variances is not None
    weights = 1 / np.array(noise_variances) if noise_is_known else np.ones(len(rewards))
    pulls = pulls_of(points, rewards, weights)
    m = len(pulls.mean)
    checks.pairs(m, "arms: a fit")
    spans = np.where(spans > 0, spans, spans.max() or 1.0)
    axes = spans if isinstance(kernel.lengthscale, tuple) else spans.max(keepdims=True)
    names = np.array(["lengthscale"] * len(axes) + ["variance", "noise_variance"])
    centre = np.log([START[name] for name in names] * np.append(axes, [square, square]))
    spread = np.array([SPREAD[name] for name in names])
    reach = REACH * spread
    box = np.c_[centre - reach, centre + reach]
    _restrict(box, bounds, names, noise_is_known)

    def likelihood(logs: Array) -> float:
        return log_likelihood(*_at(kernel, logs), pulls)

    def loss(logs: Array) -> float:
        off = (logs - centre) / spread
        return float(off @ off / 2) - likelihood(logs)

    from scipy.optimize import minimize  # here: `import kbrepro` need not load it

    draws = checks.seeded(rng=rng).standard_normal((RESTARTS, len(centre)))
    starts = [centre, *(centre + spread * draws)]
    ends = [minimize(loss, np.clip(x, *box.T), bounds=box) for x in starts]
    best = min(ends, key=lambda end: float(end.fun)).x
    found, noise = _at(kernel, best)
    smallest = noise / pulls.total.max()
    least = np.finfo(float).eps * m * found.variance
    if smallest < least:
        raise ValueError(
            f"noise_variance = {smallest:.3g} of the mean of an arm's rewards is not allowed in a"
            f" fit: it must be at least {least:.3g} for {m} arms"
        )
    said = []
    for place in np.flatnonzero(np.diff(box)):
        step, value = np.diag(spread)[place], f"{names[place]} = {math.exp(best[place]):.3g}"
        near = [likelihood(logs) for logs in (best - step, best, best + step)]
        if np.ptp(near) < NOTHING:
            said.append(f"{value} did not change, as the likelihood does not depend on it")
        elif best[place] in box[place]:
            said.append(f"{value} ended at a bound")
    if said:
        # whoever called Model.fit, past `quiet`
        warnings.warn("fit: " + "; ".join(said), stacklevel=4)
    return found, noise


def _at(kernel: Any, logs: Array) -> tuple[Any, float]:
    """Kernel and noise variance at the logarithms of lengthscales, variance and noise."""
    *lengthscales, variance, noise = np.exp(logs).tolist()
    scales = tuple(lengthscales) if isinstance(kernel.lengthscale, tuple) else lengthscales[0]
    return replace(kernel, lengthscale=scales, variance=variance), noise


def log_likelihood(kernel: Kernel, noise: float, pulls: Pulls) -> float:
    """Return that of all rewards less their prior mean (Rasmussen & Williams 2006, eq. 2.30);
    SINGULAR if it has none.

    It is the likelihood of the means at the distinct points times that of what is left of each
    reward:

        N(mean; 0, K_m + noise / total) (2 pi noise)^((m - n) / 2) exp((logs - square / noise) / 2)
    """
    try:
        factor = cholesky(
            kernel(pulls.points, pulls.points) + np.diag(noise / pulls.total), lower=True
        )
    except LinAlgError:
        return SINGULAR
    left = solve_triangular(factor, pulls.mean, lower=True)
    means = (
        float(left @ left) / 2
        + np.log(factor.diagonal()).sum()
        + len(left) * math.log(2 * math.pi) / 2
    )
    repeats = (pulls.n - len(left)) * math.log(2 * math.pi * noise) / 2
    return float(pulls.logs / 2 - pulls.square / (2 * noise) - means - repeats)


def _restrict(box: Array, bounds: object, names: NDArray[np.str_], noise_is_known: bool) -> None:
    """Replace logarithms of default bounds, (low, high) in the rows of `box` (n, 2), by those that
    are given, and by 0 of a known noise.
    """
    fitted = list(SPREAD)[: -1 if noise_is_known else None]
    if bounds is not None and not (isinstance(bounds, Mapping) and set(bounds) <= set(fitted)):
        raise checks.refused(
            "bounds",
            bounds,
            'a mapping such as {"lengthscale": (0.05, 2.0)} with names of ' + ", ".join(fitted),
        )
    for name, pair in (bounds or {}).items():
        part, bound = names == name, checks.array("bounds", pair)
        shaped = bound.shape in ((2,), (part.sum(), 2))
        if not shaped or not (bound > 0).all() or not (np.diff(bound) >= 0).all():
            raise checks.refused(
                f"bounds[{name!r}]",
                pair,
                "(low, high) with 0 < low <= high, or one pair for each lengthscale; low = high"
                " fixes the value",
            )
        box[part] = np.log(bound)
    if noise_is_known:
        box[-1] = 0.0
