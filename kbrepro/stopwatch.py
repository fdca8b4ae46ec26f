"""How long the steps of a run take, early and late in it."""

from __future__ import annotations

import time
from itertools import pairwise

import numpy as np

from kbrepro import checks
from kbrepro.kernels import Array
from kbrepro.simulation import Experiment, stream


def step_seconds(experiment: Experiment, segments: int, seed: int, trial: int) -> dict[str, Array]:
    """Return for every policy the mean seconds a step (segments,) in equal parts of one run; shorter if T is.

    The run is that of `simulation.run_trials` with the same seed and trial: same problem, same pulls. For `map_trials`:
    `functools.partial(step_seconds, experiment, segments)`.
    """
    checks.positive_int(segments=segments)
    problem = experiment.problem(stream(seed, trial, "function"), trial)
    ends = np.unique(np.linspace(0, experiment.horizon, segments + 1).astype(int))
    seconds = {}
    for name, make_policy in experiment.policies.items():
        noise_rng, policy_rng = stream(seed, trial, "run").spawn(2)
        policy, clock = make_policy(problem, experiment.horizon), [time.perf_counter()]
        for start, stop in pairwise(ends):
            for _ in range(start, stop):
                arm = policy.ask(policy_rng)
                policy.tell(arm, problem.pull(arm, noise_rng))
            clock.append(time.perf_counter())
        seconds[name] = np.diff(clock) / np.diff(ends)
    return seconds
