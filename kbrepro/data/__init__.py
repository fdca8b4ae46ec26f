"""Sensor readings: `sets` reads and cleans files, `store` finds and fetches them; this is the form
of every set.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd
from scipy.spatial.distance import cdist


class DamagedFile(ValueError):
    """A data file that exists but is not what it should be."""


@dataclass(frozen=True, eq=False)
class SensorData:
    """Readings (n_times, n_sensors) in `unit` at `times`.

    `checksum` is of the readings, rounded to six decimals, and the same for any source file; empty
    for a substitute.
    """

    readings: np.ndarray
    times: pd.DatetimeIndex
    sensors: list[int]
    unit: str
    checksum: str = ""

    @property
    def is_real(self) -> bool:
        """Whether these are readings of a file, not a simulated substitute."""
        return bool(self.checksum)


def substitute(
    times: pd.DatetimeIndex, sensors: list[int], unit: str, *, mean: float, scale: float
) -> SensorData:
    """Return simulated readings at made-up places (40 by 31), the same on every machine.

    A daily cycle whose strength and hour vary smoothly over the places, weather that neighbours
    share, and a little noise, all in units of `scale` around the mean, never below 0.
    """
    rng, shape = np.random.default_rng(2004), (len(times), len(sensors))
    places = rng.uniform((0, 0), (40, 31), size=(len(sensors), 2))
    factor = np.linalg.cholesky(
        np.exp(-0.5 * (cdist(places, places) / 12) ** 2) + 0.01 * np.eye(len(sensors))
    )
    level, strength, delay = (factor @ rng.standard_normal((len(sensors), 3))).T
    hours = np.asarray(times.hour + times.minute / 60)[:, None]
    cycle = (1.2 + 0.2 * strength) * np.sin(2 * np.pi * (hours - 9 - delay) / 24)
    weather = 0.07 * rng.standard_normal(shape)
    for before, now in pairwise(weather):
        now += 0.99 * before
    weather = weather @ factor.T
    readings = mean + scale * (0.3 * level + cycle + weather + 0.03 * rng.standard_normal(shape))
    # four decimals, as the real readings have, hide the last bits in which BLAS libraries differ
    return SensorData(readings.clip(0).round(4), times, sensors, unit)
