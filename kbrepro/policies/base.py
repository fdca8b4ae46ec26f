"""What all policies share: `ask` for an arm, `tell` its observation, and one rule for ties.

Arms within 1e-10 (unit + |max|) of the maximum are tied, and a given order decides; the unit is that of the index, so
that rewards in any unit give the same arms. Exact equality is never required: floating-point ties do not survive a
change of BLAS.

A policy owns its generator: save it, `pickle.dumps(policy)`, and it goes on as if nothing had happened. A policy that
is told earlier arms and rewards before it is first asked pulls what the saved one would, with two limits: a rule that
draws needs the generator's state of that round, and ties fall to the lowest arm, since the order that was drawn in
round 1 is not known. Policies that must be saved say so.
"""

from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from kbrepro import checks
from kbrepro.kernels import Array
from kbrepro.posterior import ExactPosterior, Learning, Posterior, exact_posterior
from kbrepro.problems import Model

TOLERANCE = 1e-10
#: A seed, or a generator that a policy draws from and owns.
Seed = int | np.random.Generator


def best_arm(index: Array, rank: NDArray[np.int64] | None = None, unit: float = 1.0) -> int:
    """Return the arm with the largest index (A,); among tied arms that of lowest `rank` (A,), else of lowest number.

    `unit` is the unit of the index: the prior standard deviation of an index in units of reward, 1 of a logarithm.
    Raises ValueError if an index is NaN.
    """
    top = index.max()
    if np.isnan(top):
        raise ValueError(f"index[{int(np.isnan(index).argmax())}] = nan is not allowed: index must not be NaN")
    slack = 0.0 if np.isinf(top) else TOLERANCE * (unit + abs(top))
    tied = np.flatnonzero(index >= top - slack)
    return int(tied[0] if rank is None else tied[rank[tied].argmin()])


class Player(Protocol):
    """A policy: `ask` returns the arm to pull, `tell` takes in the observation; it draws from `rng` alone."""

    rng: np.random.Generator

    def ask(self) -> int: ...
    def tell(self, arm: int, observation: Any) -> None: ...


@runtime_checkable
class Banded(Player, Protocol):
    """A policy with a confidence band, which holds if the ratio is at most 1."""

    def band_ratio(self, expected_reward: Array) -> float: ...


class Arms(Protocol):
    """The least that a policy is given."""

    @property
    def n_arms(self) -> int: ...


class IndexPolicy:
    """Pulls the arm with the largest `index`; one permutation, the first thing drawn from `rng`, breaks ties.

    Made from a `model`, the horizon if it is known, and `rng`, a seed or a generator. With `random_opening` the first
    arm is uniformly random instead. A subclass gives the index, its `unit` (see `best_arm`) and its `prior`. If it is
    first asked after round 1, it draws no permutation.
    """

    model: Arms
    posterior: Learning
    unit: float = 1.0

    def __init__(self, model: Arms, horizon: int | None = None, *, rng: Seed = 0, random_opening: bool = False) -> None:
        checks.having("a model, such as Model(points, kernel, noise_variance)", "n_arms", model=model)
        if horizon is not None:
            checks.positive_int(horizon=horizon)
        checks.boolean(random_opening=random_opening)
        self.model, self.t, self.random_opening = model, 1, bool(random_opening)
        self.rng = checks.seeded(rng=rng)
        self.posterior = self.prior(horizon)
        self._rank: NDArray[np.int64] | None = None
        self._first_asked = 0

    def prior(self, horizon: int | None) -> Learning:
        """Return the posterior before the first pull."""
        raise NotImplementedError

    def index(self) -> Array:
        """Return the index of every arm in this round, (A,)."""
        raise NotImplementedError

    def ask(self) -> int:
        """Return the arm to pull; ValueError on an index that is not one number an arm, or NaN."""
        self._first_asked = self._first_asked or self.t
        if self.random_opening and self.t == 1:
            return int(self.rng.integers(self.model.n_arms))
        if self._rank is None and self._first_asked == 1:
            self._rank = self.rng.permutation(self.model.n_arms)
        index = checks.array("index", self.index(), copy=False, finite=False)
        if index.shape != (self.model.n_arms,):
            raise ValueError(f"index has shape {index.shape}: it must be (A,) = ({self.model.n_arms},)")
        return best_arm(index, self._rank, self.unit)

    def tell(self, arm: int, observation: Any) -> None:
        """Take in what a pull of `arm` gave; IndexError on a bad arm, ValueError on a NaN."""
        self.posterior.update(arm, observation)
        self.t += 1


class Policy(IndexPolicy):
    """An acquisition rule for plain problems: an `IndexPolicy` with the exact posterior of all arms.

    `form` is one of those in `posterior`; by default `exact_posterior` chooses it by size. The unit of the index is the
    largest prior standard deviation unless a subclass says otherwise.
    """

    model: Model
    posterior: Posterior

    def __init__(
        self,
        model: Model,
        horizon: int | None = None,
        *,
        form: Callable[..., ExactPosterior] | None = None,
        **settings: Any,
    ) -> None:
        checks.having("a Model", "n_arms", "points", "kernel", "noise_variance", model=model)
        if form is not None and not (isinstance(form, type) and issubclass(form, ExactPosterior)):
            given, allowed = checks.shown(form), "a form of the posterior, such as RowPosterior"
            raise ValueError(f"form = {given} is not allowed: form must be {allowed}")
        self.form = form
        self.prior_sd = float(np.sqrt(model.kernel.diag(model.points).max()))
        super().__init__(model, horizon, **settings)

    @property
    def unit(self) -> float:  # type: ignore[override]  # read only
        return self.prior_sd

    def prior(self, horizon: int | None) -> Posterior:
        of_model = self.model.kernel, self.model.points, self.model.noise_variance
        return self.form(*of_model) if self.form else exact_posterior(*of_model, horizon)
