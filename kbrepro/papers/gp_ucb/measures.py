"""Problems from readings of sensors."""

import math

import numpy as np

from kbrepro.kernels import Array
from kbrepro.problems import Rows


def sensor_problems(train: Array, test: Array, noise_variance: float) -> tuple[Rows, float]:
    """Return a source with one problem per row of `test`, and the root of the mean prior variance.

    The kernel matrix is the covariance of `train` (rows, n_sensors), whose means are removed from
    the rewards, as a prior of mean zero asks.
    """
    covariance = np.cov(train, rowvar=False)
    source = Rows(covariance, test - train.mean(axis=0), noise_variance)
    return source, math.sqrt(covariance.diagonal().mean())
