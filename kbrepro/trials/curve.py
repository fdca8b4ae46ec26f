"""The regret of a policy over trials and rounds, and the rounds at which it is kept and shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kbrepro import checks
from kbrepro.bandits.kernels import quiet
from kbrepro.typing import Array, Integers

#: Rounds at which curves are tabulated.
N_TABULATED = 60


@dataclass(frozen=True)
class Curve(checks.Checked):
    """The regret of one policy in n trials of T rounds; that of one run has no first axis.

    R_t is known at the rounds `at` (m,), which end with T. With arms these are all rounds: `arms`
    (n, T), and `gaps` (n, A), the largest expected reward minus the arm's; in kept curves gaps of
    arms that no policy pulled are NaN. Without arms, `totals` (n, m) is R_t at these rounds.
    `seconds` (n, at most 100): of each hundredth of the run, without arms (n, 1) of the whole; a
    round's time ends at its observation and includes the `tell` of the round before. `band_ratio`
    (n, k): the largest |f - mean| / (width sd) over all arms before each pull, the worst since the
    previous round of `log_spaced(T)`. What was not recorded is one NaN. Arrays are read-only.
    """

    at: Integers
    seconds: Array
    band_ratio: Array
    arms: Any = None
    gaps: Any = None
    totals: Any = None

    @property
    def horizon(self) -> int:
        """Rounds T of every run."""
        return int(self.at[-1])

    @property
    def regret(self) -> Array:
        """Instantaneous regret of every round, a look-up, (n, T); ValueError if arms are not
        kept.
        """
        if self.arms is None:
            raise ValueError(
                "this curve is stored without arms: it has R_t at some rounds, but not the regret"
                " of single rounds"
            )
        return np.take_along_axis(self.gaps, self.arms, axis=-1)

    @property
    def cumulative_regret(self) -> Array:
        """R_t: the total regret of the first t rounds, (n, T); NaN in rounds that are not kept."""
        if self.totals is None:
            return np.cumsum(self.regret, axis=-1)
        filled = np.full((len(self.totals), self.horizon), np.nan)
        filled[:, self.at - 1] = self.totals
        return filled

    @property
    def average_regret(self) -> Array:
        """R_t / t: the mean regret of the first t rounds, (n, T); NaN in rounds that are not
        kept.
        """
        return self.cumulative_regret / np.arange(1, self.horizon + 1)

    @property
    def seconds_a_round(self) -> Array:
        """Mean seconds per round in each hundredth of the run, same shape as `seconds`."""
        return self.seconds / np.diff(edges(self.horizon))

    def first(self, trials: int) -> Curve:
        """Return the first `trials` of many trials (all of them if there are fewer)."""
        parts = {name: part[:trials] for name, part in vars(self).items() if part is not None}
        return replace(self, **parts | {"at": self.at})

    @quiet
    def scaled(self, by: Array) -> Curve:
        """Return the curve with every regret divided by `by` (trials,), one number per trial."""
        if self.totals is None:
            return replace(self, gaps=self.gaps / by[:, None])
        return replace(self, totals=self.totals / by[:, None])


def final_average_regret(curves: Mapping[str, Curve]) -> dict[str, Array]:
    """Return R_T / T of every trial (n,), by policy."""
    return {policy: curve.average_regret[:, -1] for policy, curve in curves.items()}


def simple_regret(curve: Curve) -> Array:
    """Return the regret of the best arm pulled so far, (n, T); ValueError without arms."""
    return np.minimum.accumulate(curve.regret, axis=-1)


def as_curve(regret: object) -> Curve:
    """Return the curve of a plain array of regret (n, T), one number a round, or a curve as it
    is.
    """
    if isinstance(regret, Curve):
        return regret
    lost, none = checks.array("regret", regret, 2, least=1), np.full((1, 1), np.nan)
    rounds = np.arange(lost.shape[1])
    return Curve(rounds + 1, none, none, np.broadcast_to(rounds, lost.shape), lost)


def edges(horizon: int) -> Integers:
    """Return 0 and the rounds after which the hundredths of a run end; below 100 rounds, after each
    of them.
    """
    return np.linspace(0, horizon, min(horizon, 100) + 1).astype(int)


def kept_rounds(horizon: int) -> Integers:
    """Return the rounds at which R_t is kept if arms are not: those that figures and tables of
    curves show.
    """
    return np.union1d(log_spaced(horizon), log_spaced(horizon, N_TABULATED))


def log_spaced(horizon: int, n: int = 100) -> Integers:
    """Return at most n distinct rounds (m,), evenly spaced on a log scale, the first 1 and the last
    `horizon`.

    Raises ValueError unless both are positive.
    """
    checks.positive_int(horizon=horizon, n=n)
    return np.unique(np.geomspace(1, horizon, n).astype(int))
