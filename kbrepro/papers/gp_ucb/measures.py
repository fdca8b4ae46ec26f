"""What the notebook on GP-UCB measures, and its problems from readings of sensors."""

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
import pandas as pd

from kbrepro.bandits.policies import UCB
from kbrepro.bandits.problems import Problem, Rows, Trial
from kbrepro.claims.estimates import growth, intervals
from kbrepro.data import SensorData, sets, store
from kbrepro.trials.curve import Curve
from kbrepro.trials.simulation import rounds
from kbrepro.typing import Array

#: Rows of readings are cut into these parts, in time: one is tested, the others are learned from.
PARTS = ("first third", "second third", "last third")
#: Readings of a mote on a day, by set.
A_DAY = {"temperature": 1440, "half hours": 48}


@dataclass(frozen=True)
class SensorRows:
    """Source whose problems are rows of sensor readings: it names them, and the process that plays
    loads them.

    `name`, `days` and `motes` are those of `data.store.load`, whose readings must have the
    `checksum`; with "" they are the simulated substitute. Used are the days `within`, or all. Of
    their `part` every `every`-th row is played `plays` times in turn, less the means of the other
    parts if `centred`; the kernel matrix is the covariance of these. The noise variance is
    `noise_share` of its mean diagonal or, if that is 0, `noise_variance`. A call raises ValueError
    on other readings, as where they are not here.
    """

    name: str
    days: tuple[str, ...]
    motes: tuple[int, ...]
    checksum: str
    within: tuple[str, ...] = ()
    part: str = "last third"
    every: int = 1
    plays: int = 1
    centred: bool = True
    noise_variance: float = 0.5
    noise_share: float = 0.0
    unit = "°C"

    def __post_init__(self) -> None:
        for name in ("days", "motes", "within"):
            object.__setattr__(self, name, tuple(sorted(getattr(self, name))))

    def __call__(self, trial: Trial) -> Problem:
        return _rows(self)(trial)

    @property
    def is_real(self) -> bool:
        """Whether the readings are those of a file, not a simulated substitute."""
        return bool(self.checksum)

    @property
    def without_data(self) -> bool:
        """Whether the readings are not here."""
        return self.is_real and store.file_of(self.name, self.days) is None

    @property
    def trials(self) -> int:
        """How many trials there are, also where the readings are not here."""
        rows = range(A_DAY[self.name] * len(self.within or self.days))
        tested = np.array_split(rows, len(PARTS))[PARTS.index(self.part)]
        return len(tested[:: self.every]) * self.plays


#: Our days and motes of Fig. 5b.
TEMPERATURE = SensorRows(
    "temperature",
    store.DAYS,
    tuple(sets.MOTES),
    "c2f5a9e31c743a4ff482e0c27ffbd457199c8528ff8e14c391b7faa1535fbbe4",
)
#: Half-hour means of thirty days: of the 35 motes that have readings in each five of them.
HALF_HOURS = SensorRows(
    "half hours",
    tuple(sets.CALENDAR[:30]),
    tuple(sets.COVERED),
    "1075d3dc595a1b8d134d7b006f7bd0327951b9966d6f7a16ef003ef7b92641b2",
)
#: The same of all 41 motes.
HALF_HOURS_OF_ALL = SensorRows(
    "half hours",
    tuple(sets.CALENDAR[:30]),
    tuple(sets.HALF_HOURLY),
    "023b0ab2f02463222ce8b1bfbc3e5917ff1af7149b9a997d1ee7af3636f99ac5",
)


@cache  # a worker plays many trials of a source
def _rows(source: SensorRows) -> Rows:
    data = _loaded(source.name, source.days, source.motes, source.checksum)
    if source.within:
        data = store.on_days(data, source.within)
    parts = np.array_split(data.readings, len(PARTS))
    tested = parts.pop(PARTS.index(source.part))[:: source.every]
    learned = np.concatenate(parts)
    covariance = np.cov(learned, rowvar=False)
    rewards = tested - learned.mean(axis=0) if source.centred else tested
    noise_variance = source.noise_share * covariance.diagonal().mean() or source.noise_variance
    return Rows(covariance, np.repeat(rewards, source.plays, axis=0), float(noise_variance))


@cache
def _loaded(name: str, days: tuple[str, ...], motes: tuple[int, ...], checksum: str) -> SensorData:
    data = store.load(name, days, motes) if checksum else store.simulated(name, days, motes)
    if data.checksum != checksum:
        found = data.checksum or "none, since their file is missing (see data/README.md)"
        raise ValueError(
            f"the readings of {name!r} have another checksum than the plan names: it must be"
            f" {checksum}, and is {found}"
        )
    return data


def sensor_problems(train: Array, test: Array, noise_variance: float) -> tuple[Rows, float]:
    """Return a source with a problem for each row of `test`, and the root of the mean prior
    variance.

    The kernel matrix is the covariance of `train` (rows, n_sensors), whose means are removed from
    the rewards, as a prior of mean zero asks.
    """
    covariance = np.cov(train, rowvar=False)
    prior_sd = math.sqrt(covariance.diagonal().mean())
    return Rows(covariance, test - train.mean(axis=0), noise_variance), prior_sd


def watched(
    policy: UCB, problem: Problem, horizon: int, noise: np.random.Generator
) -> pd.DataFrame:
    """Play arms on a line, and return the posterior before each pull: a row per round and arm.

    `half` is half of the band's height; `pulled` and `observed` are those of the round.
    """
    x = problem.model.points[:, 0]
    frames: list[pd.DataFrame] = []
    for t, arm, observed in rounds(policy, problem, horizon, noise):
        now = {
            "round": t,
            "x": x,
            "f": problem.expected_reward,
            "mean": policy.posterior.mean,
            "half": policy.width(policy) * policy.posterior.sd,
            "pulled": x[arm],
            "observed": observed,
        }
        frames.append(pd.DataFrame(now))
    return pd.concat(frames)


def settled(trace: Curve) -> float:
    """Return the share of trials that pull one arm throughout the last tenth of their rounds."""
    late = trace.arms[:, -(trace.horizon // 10) :]
    return float((np.ptp(late, axis=1) == 0).mean())


def room(trace: Curve, bound: Array) -> dict[str, float]:
    """Return how loose a theorem is: its bound (T,) on the regret of runs, and its width.

    The share of the width is what would do in 9 of 10 runs; a run is below its bound if it is in
    all rounds.
    """
    median = np.median(trace.cumulative_regret[:, -1])
    ratios = trace.band_ratio.max(axis=1)
    below = (trace.cumulative_regret <= bound).all(axis=1)
    return {
        "bound over median regret": float(bound[-1] / median),
        "share of the width that would do": float(np.quantile(ratios, 0.9)),
        "share of runs below the bound": float(below.mean()),
    }


def exponent(trace: Curve, seed: int) -> dict[str, float]:
    """Return the exponent of T in the mean regret over the last decade of rounds, and its 95 %
    interval over runs.
    """
    horizon = trace.horizon
    at = np.unique(np.geomspace(horizon / 10, horizon, 10).astype(int))
    fitted = growth(at, trace.cumulative_regret[:, at - 1], intervals(seed))
    return {"exponent of T": fitted.value, "low": fitted.low, "high": fitted.high}
