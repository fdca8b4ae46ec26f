"""A trace whose regret is given: in round t an arm of its own is pulled, which loses that much."""

import numpy as np

from kbrepro.regret import Trace, edges


def trace_of(regret, seconds=None):
    """Return a trace with this regret (trials, rounds), and seconds (trials, hundredths of the run)."""
    regret = np.asarray(regret, dtype=float)
    arms = np.broadcast_to(np.arange(regret.shape[-1], dtype=np.int32), regret.shape)
    hundredths = len(edges(regret.shape[-1])) - 1
    seconds = np.zeros((*regret.shape[:-1], hundredths)) if seconds is None else np.asarray(seconds, dtype=float)
    return Trace(arms, regret, seconds, np.empty((*regret.shape[:-1], 0)))
