"""Sensor readings: found, fetched and verified by `store`; what every set looks like once it is cleaned."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd


class DamagedFile(ValueError):
    """A data file that is there but is not what it should be."""


@dataclass(frozen=True, eq=False)
class SensorData:
    """Readings (n_times, n_sensors) in `unit` at `times`; locations (n_sensors, 2) or None; arrays are read-only."""

    readings: np.ndarray
    times: pd.DatetimeIndex
    sensors: list[int]
    unit: str
    source: str
    is_real: bool
    locations: np.ndarray | None = None

    def __post_init__(self) -> None:
        for array in (self.readings, self.locations):
            if array is not None:
                array.flags.writeable = False  # `load` hands the same arrays to everybody
