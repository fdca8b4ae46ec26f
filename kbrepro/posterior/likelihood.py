"""Lengthscale, variance and noise by maximum marginal likelihood, with a mild prior on their logarithms."""

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular

from kbrepro import checks
from kbrepro.kernels import Array

#: What is fitted: sd of its logarithm under the prior, whose median is `START` of the span or of the mean square.
SPREAD = {"lengthscale": 1.0, "variance": 1.5, "noise_variance": 2.0}
START = {"lengthscale": 0.3, "variance": 1.0, "noise_variance": 0.1}
#: Default bounds, in sds of the prior; draws from it from which the optimiser starts, besides its median.
REACH, RESTARTS = 5.0, 5


def fitted(kernel: Any, points: Array, rewards: Array, spans: Array, bounds: Any, rng: Any) -> tuple[Any, float]:
    """Return the kernel and the noise variance of largest likelihood times prior, see `Model.fit`.

    `points` (n, d) and `rewards` (n,), less their prior mean, are those of the pulls, `spans` (d,) of all arms.
    """
    names = {field.name for field in fields(kernel)} if is_dataclass(kernel) else set()
    if not {"lengthscale", "variance"} <= names:
        raise checks.refused("kernel", kernel, "one with lengthscale and variance to fit, such as Matern(0.2, nu=2.5)")
    square = float(np.mean(rewards**2))
    checks.positive(**{"mean square of rewards - mean": square})
    per_axis = isinstance(getattr(kernel, "lengthscale", None), tuple)
    spans = np.where(spans > 0, spans, spans.max() or 1.0)
    scales = {
        "lengthscale": spans if per_axis else spans.max(keepdims=True),
        "variance": np.array([square]),
        "noise_variance": np.array([square]),
    }
    sizes = [len(scale) for scale in scales.values()]
    centre = np.log(np.concatenate([START[name] * scale for name, scale in scales.items()]))
    spread = np.repeat(list(SPREAD.values()), sizes)
    low, high = _bounds(bounds, centre - REACH * spread, centre + REACH * spread, sizes)

    def loss(logs: Array) -> float:
        off = (logs - centre) / spread
        return float(off @ off / 2) - log_likelihood(*_at(kernel, logs), points, rewards)

    from scipy.optimize import minimize  # here: `import kbrepro` need not load it

    starts = [centre, *(centre + spread * checks.seeded(rng=rng).standard_normal((RESTARTS, len(centre))))]
    ends = [minimize(loss, np.clip(x, low, high), bounds=np.c_[low, high]) for x in starts]
    return _at(kernel, min(ends, key=lambda end: float(end.fun)).x)


def _at(kernel: Any, logs: Array) -> tuple[Any, float]:
    """Kernel and noise variance at the logarithms of lengthscales, variance and noise."""
    *lengthscales, variance, noise = np.exp(logs).tolist()
    given = tuple(lengthscales) if isinstance(kernel.lengthscale, tuple) else lengthscales[0]
    return replace(kernel, lengthscale=given, variance=variance), noise


def log_likelihood(kernel: Any, noise: float, points: Array, rewards: Array) -> float:
    """Return that of rewards (n,) less their prior mean (Rasmussen & Williams 2006, eq. 2.30); -1e100 if singular."""
    try:
        factor = cholesky(kernel(points, points) + noise * np.eye(len(points)), lower=True)
    except LinAlgError:
        return -1e100
    left = solve_triangular(factor, rewards, lower=True)
    return float(-0.5 * left @ left - np.log(factor.diagonal()).sum() - 0.5 * len(left) * math.log(2 * math.pi))


def _bounds(given: Any, low: Array, high: Array, sizes: list[int]) -> tuple[Array, Array]:
    """Logarithms of lower and upper bounds, those that are given instead of the default ones."""
    if given is not None and not (isinstance(given, Mapping) and set(given) <= set(SPREAD)):
        named = 'a mapping such as {"lengthscale": (0.05, 2.0)} with names of ' + ", ".join(SPREAD)
        raise checks.refused("bounds", given, named)
    ends = np.cumsum([0, *sizes])
    for name, pair in (given or {}).items():
        place, bound = list(SPREAD).index(name), checks.array("bounds", pair)
        if bound.shape not in ((2,), (sizes[place], 2)) or not np.all((bound.T[0] > 0) & (bound.T[0] <= bound.T[1])):
            allowed = "(low, high) with 0 < low <= high, or one pair for each lengthscale; equal ones keep a value"
            raise checks.refused(f"bounds[{name!r}]", pair, allowed)
        part = slice(ends[place], ends[place + 1])
        low[part], high[part] = np.log(bound).T
    return low, high
