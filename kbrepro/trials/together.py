"""Trials of one rule are played together, in stacked arrays, with the arms that each has alone.

A round of n trials takes as many calls as that of one. Both ways round in different places, and
what rounding may decide is not decided here: a trial in which an arm comes near the edge of the
tied ones (`best_arm`) is not sure, and has to be played alone.
"""

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from kbrepro.bandits.confidence import Constant, Probable
from kbrepro.bandits.kernels import quiet
from kbrepro.bandits.policies import (
    UCB,
    ExpectedImprovement,
    ProbabilityOfImprovement,
    ThompsonSampling,
)
from kbrepro.bandits.policies.base import TOLERANCE
from kbrepro.bandits.policies.improvement import log_expected_improvement, z_score
from kbrepro.bandits.problems import Problem, Trial
from kbrepro.typing import Array, Bools, Integers, Playable

#: Pulls that wait until they change the covariances, in one product of matrices a trial.
WAITING = 32
#: Numbers in the covariances, at most: 0.4 GB, which is held three times.
MOST = 50_000_000
#: What a width may read of a model.
OF_MODEL = ("norm", "noise_scale", "noise_variance")


class Together:
    """Policies of one rule, one a trial, and their posteriors, by covariances (n, A, A).

    What an index or a width reads of a policy or a posterior is (n, A) or (n,) here.
    """

    def __init__(self, policies: Sequence[Any]) -> None:
        models = [policy.model for policy in policies]
        numbers = {name: np.array([vars(m)[name] for m in models], float) for name in OF_MODEL}
        n_arms = models[0].n_arms
        self.model = SimpleNamespace(n_arms=n_arms, known_norm=numbers["norm"], **numbers)
        self.policies, self.posterior, self.t = policies, self, 1
        self._covariance = np.stack([m.kernel(m.points, m.points) for m in models])
        self._product, self._of = np.empty_like(self._covariance), np.arange(len(models))
        self._rows, self._waiting = np.empty((len(models), WAITING, n_arms)), 0
        self._variance = np.einsum("nii->ni", self._covariance).copy()
        self.mean, self.counts = np.zeros_like(self._variance), np.zeros_like(self._variance)
        self.gain, self.best_rewards = np.zeros(len(models)), np.full(len(models), -np.inf)

    @property
    def sd(self) -> Array:
        """Posterior standard deviations, (n, A)."""
        return np.sqrt(np.maximum(self._variance, 0.0))

    @property
    def widths(self) -> Array:
        """The width of each trial, (n, 1), or one of all."""
        return np.reshape(self.policies[0].width(self), (-1, 1))

    @property
    def targets(self) -> Array:
        """Incumbent + margin of each trial, (n, 1)."""
        rule, best = self.policies[0], self.best_rewards
        if rule.incumbent != "noisy_reward":
            best = np.where(self.counts > 0, self.mean, -np.inf).max(axis=1)
        return best[:, None] + rule.margin

    def deviations(self) -> Array:
        """Return a draw of f - mean in each trial, (n, A), as `Sampling.deviation`."""
        draws = []
        for policy in self.policies:
            prior = policy._draw_from_prior(policy.rng)
            draws.append((prior, policy.rng.standard_normal(len(prior))))
        f, z = np.array(draws).transpose(1, 0, 2)
        precision = self.counts / self.model.noise_variance[:, None]
        weights = (precision * f + np.sqrt(precision) * z)[:, :, None]
        rows = self._rows[:, : self._waiting]
        explained = self._covariance @ weights - rows.transpose(0, 2, 1) @ (rows @ weights)
        return f - explained[:, :, 0]

    def learn(self, arms: Integers, rewards: Array) -> None:
        """Take in one pull of each trial, (n,)."""
        of, noise = self._of, self.model.noise_variance
        rows = self._rows[:, : self._waiting]
        g = self._covariance[of, arms] - (rows[of, :, arms][:, None] @ rows)[:, 0]
        scale = np.sqrt(np.maximum(self._variance[of, arms], 0.0) + noise)
        g /= scale[:, None]
        self.mean += g * ((rewards - self.mean[of, arms]) / scale)[:, None]
        self._variance -= g * g
        self.gain += np.log(scale / np.sqrt(noise))
        self.counts[of, arms] += 1
        np.maximum(self.best_rewards, rewards, out=self.best_rewards)
        self._rows[:, self._waiting] = g
        self._waiting, self.t = (self._waiting + 1) % WAITING, self.t + 1
        if self._waiting == 0:
            np.matmul(self._rows.transpose(0, 2, 1), self._rows, out=self._product)
            self._covariance -= self._product


def _upper_bound(trials: Together) -> Array:
    return trials.mean + trials.widths * trials.sd


def _drawn(trials: Together) -> Array:
    return trials.mean + trials.widths * trials.deviations()


def _expected_improvement(trials: Together) -> Array:
    units = np.array([[policy.prior_sd] for policy in trials.policies])
    return log_expected_improvement(trials.mean, trials.sd, trials.targets) - np.log(units)


def _probability_of_improvement(trials: Together) -> Array:
    return z_score(trials.mean, trials.sd, trials.targets)


#: A rule -> its index (n, A); of how many arms, at most, it is faster than alone; and how near an
#: arm may come to the edge of the tied ones, in tolerances of a tie for each pull so far: a little
#: more than both ways were ever seen to differ.
RULES: dict[object, tuple[Callable[[Together], Array], int, float]] = {
    UCB: (_upper_bound, 300, 3e-5),
    ThompsonSampling: (_drawn, 100, 1e-5),
    ExpectedImprovement: (_expected_improvement, 300, 1.5e-4),
    ProbabilityOfImprovement: (_probability_of_improvement, 300, 1.5e-4),
}


def noise_of(problems: Sequence[Any], trials: Sequence[Trial], horizon: int) -> Array:
    """Return the noise that each trial's `Problem.pull` adds in each round, (n, T)."""
    drawn = []
    for problem, trial in zip(problems, trials, strict=True):
        rng = trial.rng("noise")
        drawn.append([problem.draw_noise(rng) for _ in range(horizon)])
    return np.array(drawn)


def knows(make: Any, problems: Sequence[Playable]) -> bool:
    """Return whether `play_together` plays policies of `make` on these problems."""
    kind, settings = getattr(make, "func", make), getattr(make, "keywords", {})
    width = settings.get("width", Constant(0.0))
    if kind not in RULES or "form" in settings or not isinstance(width, Constant | Probable):
        return False
    n_arms = {problem.model.n_arms for problem in problems}
    most = min(RULES[kind][1], np.sqrt(MOST / len(problems)))
    plain = all(type(one) is Problem and not np.any(one.model.mean) for one in problems)
    return plain and len(n_arms) == 1 and n_arms.pop() <= most


@quiet
def play_together(policies: Sequence[Any], rewards: Array, noise: Array) -> tuple[Any, Any]:
    """Return the arms (n, T) that policies of one rule, one a trial, pull where arms have expected
    rewards (n, A) and rounds noise (n, T), and which trials are sure (n,).
    """
    index_of, _, near = RULES[type(policies[0])]
    arms, sure = np.empty(noise.shape, dtype=np.int32), np.ones(len(noise), bool)
    # before any pull nothing is rounded
    now = np.array([policy.ask() for policy in policies])
    trials, ranks = Together(policies), np.stack([policy.ties() for policy in policies])
    units = np.array([policy.unit for policy in policies])
    for t in range(noise.shape[1]):
        if t > 0:
            now = _best_arms(index_of(trials), ranks, units, near * t, sure)
        arms[:, t] = now
        trials.learn(now, rewards[trials._of, now] + noise[:, t])
    return arms, sure


def _best_arms(index: Array, ranks: Integers, units: Array, near: float, sure: Bools) -> Integers:
    """Return `best_arm` of each trial, (n,); one with another arm `near` the edge is not sure."""
    top = index.max(axis=1)
    finite, slack = np.isfinite(top), TOLERANCE * (units + np.abs(top))
    tied = index >= (top - (1 + near) * slack)[:, None]
    if finite.all() and np.count_nonzero(tied) == len(top):
        return index.argmax(axis=1)
    surely = index >= (top - max(1 - near, 0.0) * slack)[:, None]
    sure &= finite & (tied == surely).all(axis=1)
    return np.where(tied, ranks, ranks.shape[1]).argmin(axis=1)
