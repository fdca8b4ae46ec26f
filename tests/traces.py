"""Curves whose arms, or whose regret, are given."""

import numpy as np

from kbrepro.trials.curve import Curve, edges


def curve_of(arms, gaps, seconds=None, band_ratio=None):
    """Return a curve of arms (..., rounds) and gaps (..., arms)."""
    at, none = np.arange(1, np.shape(arms)[-1] + 1), np.full((1, 1), np.nan)
    return Curve(
        at,
        none if seconds is None else seconds,
        none if band_ratio is None else band_ratio,
        arms,
        gaps,
    )


def trace_of(regret, seconds=None):
    """Return a curve with this regret (trials, rounds), and seconds (trials, hundredths of the
    run).

    In round t an arm of its own is pulled, which loses that much.
    """
    regret = np.asarray(regret, dtype=float)
    arms = np.broadcast_to(np.arange(regret.shape[-1], dtype=np.int32), regret.shape)
    hundredths = len(edges(regret.shape[-1])) - 1
    seconds = (
        np.zeros((*regret.shape[:-1], hundredths))
        if seconds is None
        else np.asarray(seconds, dtype=float)
    )
    return curve_of(arms, regret, seconds, np.empty((*regret.shape[:-1], 0)))
