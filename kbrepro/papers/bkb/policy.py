"""BKB: GP-UCB on a dictionary that is drawn anew after every pull (Calandriello et al., Algorithm 1).

The radius is given by name:

- `paper`: Theorem 2; `corrected`: the same with the 1 / lambda that its printed proof loses.
- `authors`: that of the authors' code.
- `logdet`: the radius of exact GP-UCB with the log-determinant of the sketch; not proved.
- a number: so many standard deviations.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from kbrepro import checks
from kbrepro.confidence import self_normalised
from kbrepro.kernels import Array
from kbrepro.papers.bkb.sketch import BudgetedPosterior, StreamingPosterior
from kbrepro.policies.ucb import UCB

RADII = ("paper", "corrected", "authors", "logdet")


class BKB(UCB):
    """UCB on a `BudgetedPosterior`. `width(summed_variance, pulls)`, with `of_gain` `width(gain)`, multiplies its sd.

    The first arm is uniformly at random. The dictionary's draws come from a child of the first `rng` that asks.
    """

    def ask(self, rng: np.random.Generator) -> int:
        if self.posterior.rng is None:
            self.posterior.rng = rng.spawn(1)[0]
        return super().ask(rng)

    def index(self, t: int) -> Array:
        # ties fall by a random permutation: one common value makes the first arm uniform whatever the kernel
        return np.zeros(self.posterior.n_arms) if t == 1 else super().index(t)

    def width_in(self, t: int) -> float:
        if self.of_gain:
            return self.width(self.posterior.gain)
        return self.width(self.posterior.summed_variance, t - 1)


def bkb(
    problem: Any,
    horizon: int,
    *,
    qbar: float,
    radius: str | float = "logdet",
    norm: float = 1.0,
    delta: float = 0.1,
    accuracy: float = 0.5,
    streaming: bool = False,
) -> BKB:
    """Return BKB for a `problems.Problem` whose reward has an RKHS norm of at most `norm`, whatever the horizon.

    `radius` as at the top of this file, `accuracy` the epsilon of Theorem 2; with `streaming` the dictionary is the
    one that Section 3.2 leaves open. Raises ValueError on another radius, or unless qbar >= 1.
    """
    form = StreamingPosterior if streaming else BudgetedPosterior
    posterior = form(problem.kernel, problem.arms, problem.noise_variance, qbar)
    known = {"norm": norm, "noise_variance": problem.noise_variance, "noise_scale": problem.noise_sd, "delta": delta}
    if not isinstance(radius, str):
        checks.positive(radius=radius)
        return BKB(posterior, partial(_constant, radius), of_gain=True)
    checks.one_of(RADII, radius=radius)
    if radius == "logdet":
        return BKB(posterior, partial(self_normalised, **known), of_gain=True)
    if radius == "authors":
        return BKB(posterior, partial(budgeted_authors, **known))
    squared_kappa = float(posterior.prior_variance.max())
    constants = {"accuracy": accuracy, "squared_kappa": squared_kappa, "corrected": radius == "corrected"}
    return BKB(posterior, partial(budgeted, **known, **constants))


def _constant(radius: float, gain: float) -> float:
    return radius


def budgeted(
    summed_variance: float,
    pulls: int,
    *,
    norm: float,
    noise_scale: float,
    noise_variance: float,
    delta: float,
    accuracy: float = 0.5,
    squared_kappa: float = 1.0,
    corrected: bool = False,
) -> float:
    """Return beta~ / sqrt(noise_variance), beta~ of Calandriello et al., Theorem 2:

    2 noise_scale sqrt(alpha log(squared_kappa pulls) S + log(1 / delta)) + (1 + 1 / sqrt(1 - eps)) sqrt(lambda) norm.

    lambda is `noise_variance`, eps the `accuracy`, alpha = (1 + eps) / (1 - eps), S the `summed_variance` over the
    pulls so far, divided by lambda; the logarithm is that of at least 2 pulls. The paper's sigma~ is divided by
    sqrt(lambda), a standard deviation here is not: hence the width is. `corrected` has squared_kappa / lambda in the
    logarithm, as eq. 6 gives: the printed chain loses its 1 / lambda. Raises ValueError if the logarithm is negative.
    """
    checks.positive(norm=norm, noise_scale=noise_scale, noise_variance=noise_variance, squared_kappa=squared_kappa)
    checks.non_negative(summed_variance=summed_variance)
    checks.non_negative_int(pulls=pulls)
    checks.probability(delta=delta, accuracy=accuracy)
    inside = squared_kappa * max(pulls, 2) / (noise_variance if corrected else 1.0)
    if inside < 1:
        raise ValueError(f"squared_kappa = {squared_kappa!r} is not allowed: its product with the pulls must exceed 1")
    alpha = (1 + accuracy) / (1 - accuracy)
    noise = 2 * noise_scale * math.sqrt(alpha * math.log(inside) * summed_variance + math.log(1 / delta))
    return noise / math.sqrt(noise_variance) + (1 + 1 / math.sqrt(1 - accuracy)) * norm


def budgeted_authors(
    summed_variance: float, pulls: int, *, norm: float, noise_scale: float, noise_variance: float, delta: float
) -> float:
    """Return norm + noise_scale / sqrt(noise_variance) sqrt(log(pulls) S + log(1 / delta)); S as in `budgeted`.

    The radius in the code of the authors of BKB: without the factor 2, alpha, and the terms in epsilon and kappa. The
    logarithm is that of at least 2 pulls.
    """
    checks.positive(norm=norm, noise_scale=noise_scale, noise_variance=noise_variance)
    checks.non_negative(summed_variance=summed_variance)
    checks.non_negative_int(pulls=pulls)
    checks.probability(delta=delta)
    noise = noise_scale * math.sqrt(math.log(max(pulls, 2)) * summed_variance + math.log(1 / delta))
    return norm + noise / math.sqrt(noise_variance)


def budgeted_regret_bound(
    effective_dimension: float,
    horizon: int,
    *,
    norm: float,
    noise_scale: float,
    noise_variance: float,
    delta: float,
    accuracy: float = 0.5,
    squared_kappa: float = 1.0,
) -> float:
    """Return the bound of Calandriello et al., Theorem 2, on the regret of `horizon` rounds.

    2 (2 alpha)^(3/2) sqrt(T) (noise_scale d log(squared_kappa T) + sqrt(lambda norm^2 d log(squared_kappa T)) +
    noise_scale log(1 / delta)), d the `effective_dimension` of the pulls. Holds with probability 1 - delta.
    """
    checks.positive(norm=norm, noise_scale=noise_scale, noise_variance=noise_variance, squared_kappa=squared_kappa)
    checks.non_negative(effective_dimension=effective_dimension)
    checks.at_least(2, horizon=horizon)
    checks.probability(delta=delta, accuracy=accuracy)
    alpha = (1 + accuracy) / (1 - accuracy)
    growth = effective_dimension * math.log(squared_kappa * horizon)
    terms = noise_scale * growth + norm * math.sqrt(noise_variance * growth) + noise_scale * math.log(1 / delta)
    return 2 * (2 * alpha) ** 1.5 * math.sqrt(horizon) * terms


def smallest_qbar(horizon: int, *, delta: float, accuracy: float = 0.5) -> float:
    """Return 6 alpha log(4 T / delta) / eps^2, from which on Calandriello et al., Theorem 1, holds for T rounds."""
    checks.positive_int(horizon=horizon)
    checks.probability(delta=delta, accuracy=accuracy)
    return 6 * (1 + accuracy) / (1 - accuracy) * math.log(4 * horizon / delta) / accuracy**2
