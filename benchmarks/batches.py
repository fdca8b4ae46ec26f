"""Four arms at once by GP-UCB (GP-BUCB), here and with models of other libraries, fitted anew.

The problem of `peers`. A refitted model takes pending arms in as observations at its mean, which
leaves the mean and takes the variance: all of these must pull the same arms. BoTorch's own way with
pending points, qUCB with `X_pending`, samples the joint posterior and need not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import pandas as pd

from benchmarks.harness import STOP_AFTER, Play, compared
from benchmarks.peers import FORMS, OURS, THEOREM_1, Refit, on_line
from kbrepro.bandits.policies import UCB
from kbrepro.bandits.problems import Problem

AT_ONCE = 4
#: Of qUCB.
SAMPLES = 128


class Refitted(UCB):
    """GP-BUCB on a model that is fitted anew with each pending arm at its mean."""

    posterior: Refit

    def _batch(self, n: int) -> list[int]:
        arms: list[int] = []
        for _ in range(n):
            arms.append(self.choose())
            self.posterior.update(arms[-1], self.posterior.mean[arms[-1]])
        self.posterior.forget(n)
        return arms


def sampled() -> Callable[..., UCB]:
    """Return GP-UCB with batches by BoTorch's qUCB; ImportError where it is not installed."""
    import torch
    from botorch.acquisition import qUpperConfidenceBound
    from botorch.sampling import SobolQMCNormalSampler

    class Sampled(Refitted):
        def _batch(self, n: int) -> list[int]:
            fitted = self.posterior.model
            if not fitted:
                return super()._batch(n)
            points = torch.tensor(self.model.points)
            sampler = SobolQMCNormalSampler(torch.Size([SAMPLES]), seed=1)
            index = qUpperConfidenceBound(fitted, self.width(self) ** 2, sampler)
            arms: list[int] = []
            for _ in range(n):
                with torch.no_grad():
                    arms.append(int(index(points[:, None]).argmax()))
                index.set_X_pending(points[arms])
            return arms

    return Sampled


def measure(n_arms: int, rounds: int, repeats: int) -> pd.DataFrame:
    """Return a row per policy."""
    problem = on_line(n_arms)

    def load(form: str, rule: Callable[[], type[UCB]]) -> Play:
        make = partial(rule(), width=THEOREM_1, form=FORMS[form]())
        return lambda rounds: _play(make(problem.model), problem, rounds)

    loads: dict[str, Callable[[], Play]] = {OURS: partial(load, OURS, lambda: UCB)}
    for name in ("scikit-learn", "GPyTorch", "BoTorch", "tinygp"):
        loads[name] = partial(load, name, lambda: Refitted)
    loads["BoTorch, X_pending"] = partial(load, "BoTorch", sampled)
    return compared(loads, [rounds], repeats)


def _play(policy: UCB, problem: Problem, rounds: int) -> Iterator[list[int]]:
    rng = np.random.default_rng(2)
    for _ in range(rounds):
        arms = policy.ask(AT_ONCE)
        policy.tell(arms, [problem.pull(arm, rng) for arm in arms])
        yield arms


ASKS = (
    f"How long do 25 rounds of {AT_ONCE} arms at once take on 1000 arms? `times`: as long as here,"
    f" ratio of medians. `X_pending`: qUCB with {SAMPLES} samples, which may pull others. A job is"
    f" stopped after {STOP_AFTER:g} s."
)
FULL = {"n_arms": 1000, "rounds": 25, "repeats": 3}
TOY = {"n_arms": 30, "rounds": 3, "repeats": 2}
