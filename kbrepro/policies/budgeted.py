"""BKB: GP-UCB on a dictionary that is drawn anew after every pull (Calandriello et al., Algorithm 1).

The radius is given by name:

- `paper`: Theorem 2; `corrected`: the same with the 1 / lambda that its printed proof loses.
- `authors`: that of the authors' code.
- `logdet`: the radius of exact GP-UCB with the log-determinant of the sketch; not proved.
- a number: so many standard deviations.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from kbrepro import checks
from kbrepro.confidence import budgeted, budgeted_authors, self_normalised
from kbrepro.kernels import Array
from kbrepro.policies.ucb import UCB
from kbrepro.sparse import BudgetedPosterior, StreamingPosterior

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
