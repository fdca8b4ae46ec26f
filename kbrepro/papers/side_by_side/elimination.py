"""Rules whose regret is near-optimal on paper: BPE and SupKernelUCB.

Their samples fall into groups (batches or levels). Within a group arms are chosen without a look at
its observations, so that a narrow band holds; arms that a band excludes are dropped.

Left out, since their steps could not be confirmed from two sources: random exploration with domain
shrinking (Salgia, Vakili & Zhao 2024; how long its epochs are, and by which band it shrinks) and
GP-ThreDS (the same, 2021; its tests).
"""

import math
from typing import Any

import numpy as np

from kbrepro import checks
from kbrepro.bandits.policies.base import AskTell, Seed, best_arm, learns
from kbrepro.bandits.posterior import ExactPosterior, exact_posterior
from kbrepro.bandits.problems import Model
from kbrepro.papers.side_by_side.widths import FixedDesign
from kbrepro.typing import Array, Bools


class _Eliminating(AskTell):
    """What the rules share: ties by one permutation, drawn first, and the arms that are left."""

    def __init__(self, model: Model, horizon: int, *, width: FixedDesign, rng: Seed = 0) -> None:
        checks.positive_int(horizon=horizon)
        self.start(model, rng)
        self.horizon = horizon
        self.width = width
        self.left: Bools = checks.read_only(np.ones(model.n_arms, dtype=bool))
        self.prior_sd = float(np.sqrt(model.kernel.diag(model.points).max()))

    def _best(self, index: Array, unit: float) -> int:
        """The arm left with the largest index, whose unit is given."""
        among = np.where(self.left, index, -np.inf)
        return best_arm(among, self.ties(), unit)

    def _prior(self, pulls: int) -> ExactPosterior:
        model = self.model
        return exact_posterior(model.kernel, model.points, model.noise_variance, pulls)


def squared_lengths(horizon: int) -> list[int]:
    """Return batch lengths N_i = ceil(sqrt(T N_(i-1))), N_0 = 1, the last one cut at T."""
    lengths: list[int] = []
    length = 1
    left = horizon
    while left > 0:
        length = math.ceil(math.sqrt(horizon * length))
        lengths.append(min(length, left))
        left -= length
    return lengths


class BPE(_Eliminating):
    """Batched pure exploration: in a batch the arm left with the largest sd; then arms are dropped.

    Li & Scarlett (2022), arXiv 2110.07788. After a batch an arm stays if its upper bound, by the
    posterior of this batch alone, reaches the largest lower bound. The width counts arms times
    batches (`squared_lengths`). Raises ValueError if the model has no norm.
    """

    def __init__(self, model: Model, horizon: int, **settings: Any) -> None:
        super().__init__(model, horizon, **settings)
        self._planned = squared_lengths(horizon)
        self._half = self.width.of(model, model.n_arms * len(self._planned))
        self._ends = np.cumsum(self._planned)
        self.batch = 0
        self.posterior = self._prior(self._planned[0])

    def choose(self) -> int:
        """Return the arm to pull; it depends on no observation of this batch."""
        return self._best(self.posterior.variance, self.prior_sd**2)

    @learns("posterior", "t", "left", "batch")
    def learn(self, arm: int, observation: float) -> None:
        """Take in what a pull of `arm` gave; IndexError on a bad arm, ValueError on a NaN."""
        ends = self._ends[self.batch] <= self.t < self.horizon
        # before the update, since it may not fit
        after = self._prior(self._planned[self.batch + 1]) if ends else self.posterior
        self.posterior.update(arm, observation)
        self.t += 1
        if ends:
            half = self._half * self.posterior.sd
            mean = self.posterior.mean
            stays = mean + half >= (mean - half)[self.left].max()
            self.left = checks.read_only(self.left & stays)
            self.batch += 1
            self.posterior = after


class SupKernelUCB(_Eliminating):
    """SupKernelUCB: levels s = 1, 2, ... of ever finer width, each with its own samples.

    Valko, Korda, Munos, Flaounas & Cristianini (2013). In every round, from level 1 up, with w_s(x)
    = width sd_s(x) among the arms still left: if all w_s <= unit / sqrt(T), pull the one with the
    largest upper bound and keep its sample nowhere; else if all are at most unit 2^-s, keep the
    arms whose upper bound is at least the largest less unit 2^(1-s), and go on to level s + 1; else
    pull an arm of w_s > unit 2^-s and keep its sample at level s: here that of largest w_s, which
    the statement leaves open. `unit` is what a reward is worth: 1 as printed, where rewards lie in
    [0, 1]. The width counts arms x rounds x levels.

    The arms are the same in every round, so a level that was passed gets no further sample and is
    passed again in the same way: the climb goes on from where the last round stopped, and a round
    costs one posterior. Once `settled` all levels stay as they are, and the same arm is pulled
    until the end. Levels change when it is asked: to go on later it must be saved. Raises
    ValueError if the model has no norm or unit <= 0.
    """

    def __init__(self, model: Model, horizon: int, *, unit: float = 1.0, **settings: Any) -> None:
        super().__init__(model, horizon, **settings)
        checks.positive(unit=unit)
        self.unit = unit
        self.least = unit / math.sqrt(horizon)
        # at the last one 2^-s <= 1 / sqrt(T)
        n_levels = max(1, math.ceil(math.log2(horizon) / 2))
        self._half = self.width.of(model, model.n_arms * n_levels * horizon)
        # made when they are reached; the last is the one of this round
        self.levels: tuple[ExactPosterior, ...] = (self._prior(horizon),)
        self.settled: int | None = None

    def choose(self) -> int:
        """Return the arm to pull; it depends on no observation of the level that keeps it."""
        while self.settled is None:
            level = self.levels[-1]
            half = self._half * level.sd
            upper = level.mean + half
            finest = self.unit * 0.5 ** len(self.levels)
            widest = half[self.left].max()
            if widest <= self.least:
                self.settled = self._best(upper, self.prior_sd)
            elif widest > finest:
                return self._best(half, self.prior_sd)
            else:
                near = upper >= upper[self.left].max() - 2 * finest
                self.left = checks.read_only(self.left & near)
                self.levels = *self.levels, self._prior(self.horizon)
        return self.settled

    def learn(self, arm: int, observation: float) -> None:
        """Take in what a pull of `arm` gave."""
        if self.settled is None:
            self.levels[-1].update(arm, observation)
        self.t += 1
