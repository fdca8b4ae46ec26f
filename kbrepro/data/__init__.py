"""Sensor readings: `store` finds, fetches and verifies them; this is the form of every set after cleaning."""

import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.io.matlab import MatReadError

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
