"""Sensor readings: `store` finds, fetches and verifies them; this is the form of every set after cleaning."""

import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.io.matlab import MatReadError
from scipy.signal import lfilter
from scipy.spatial.distance import cdist

_DAMAGED = (MatReadError, zipfile.BadZipFile, zlib.error)
_UNREADABLE = (OSError, EOFError, ValueError, TypeError, LookupError, NotImplementedError, *_DAMAGED)


class DamagedFile(ValueError):
    """A data file that exists but is not what it should be."""


@dataclass(frozen=True, eq=False)
class SensorData:
    """Readings (n_times, n_sensors) in `unit` at `times`; locations (n_sensors, 2) or None; arrays are read-only.

    `checksum` is of the readings, rounded to six decimals, and the same for any source file; empty for a substitute.
    """

    readings: np.ndarray
    times: pd.DatetimeIndex
    sensors: list[int]
    unit: str
    source: str
    is_real: bool
    locations: np.ndarray | None = None
    checksum: str = ""

    def __post_init__(self) -> None:
        for array in (self.readings, self.locations):
            if array is not None:
                array.flags.writeable = False  # `load` hands the same arrays to everybody


@contextmanager
def reading(path: Path, what: str) -> Iterator[None]:
    """Turn any error from a damaged file into a DamagedFile that names the file and what it should be."""
    try:
        yield
    except _UNREADABLE as error:
        raise DamagedFile(f"{path}: cannot be read as {what} ({' '.join(str(error).split())})") from error


def substitute(
    times: pd.DatetimeIndex, sensors: Sequence[int], unit: str, *, mean: float, scale: float, rows_a_day: int
) -> SensorData:
    """Return simulated readings at made-up places (40 by 31), the same on every machine.

    A daily cycle whose strength and hour vary smoothly over the places, weather of three hours that neighbours share,
    and a little noise, all in units of `scale` around the mean, never below 0.
    """
    rng, shape = np.random.default_rng(2004), (len(times), len(sensors))
    places = rng.uniform((0, 0), (40, 31), size=(len(sensors), 2))
    covariance = np.exp(-0.5 * (cdist(places, places) / 12) ** 2) + 0.01 * np.eye(len(sensors))
    factor = np.linalg.cholesky(covariance)
    level, strength, delay = (factor @ rng.standard_normal((len(sensors), 3))).T
    hours = 24 / rows_a_day * np.arange(len(times))[:, None]
    cycle = (1.2 + 0.2 * strength) * np.sin(2 * np.pi * (hours - 9 - delay) / 24)
    keep = np.exp(-8 / rows_a_day)
    shocks = np.sqrt(1 - keep**2) * rng.standard_normal(shape)
    weather = 0.5 * lfilter([1.0], [1.0, -keep], shocks, axis=0) @ factor.T
    readings = mean + scale * (0.3 * level + cycle + weather + 0.03 * rng.standard_normal(shape))
    # four decimals, as the real readings have, hide the last bits in which BLAS libraries differ
    readings, places = readings.clip(0).round(4), places.round(4)
    return SensorData(readings, times, list(sensors), unit, "simulated substitute", False, places)
