"""How close do 100 evaluations without noise come to the top of a function of six dimensions?

It is Hartmann's. `python -m benchmarks.box` writes results/box.json, in some minutes. Arms are
Sobol points, fixed or, as in docs/recipes.md, joined by new ones around the best; both fit the
model every ten evaluations. Optuna's GPSampler (`pip install optuna torch`) optimises its rule over
the box itself; without it its rows are missing.
"""

import math
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from scipy.stats import qmc

import kbrepro as kb
from benchmarks.harness import Job, keep, measured
from kbrepro.typing import Array

#: Hartmann's function on [0, 1]^6 (Surjanovic & Bingham, Virtual Library of Simulation
#: Experiments); its largest value.
ALPHA = np.array([1.0, 1.2, 3.0, 3.2])
A = np.array(
    [
        [10, 3, 17, 3.5, 1.7, 8],
        [0.05, 10, 17, 0.1, 8, 14],
        [3, 3.5, 1.7, 10, 17, 8],
        [17, 8, 0.05, 10, 0.1, 14],
    ]
)
P = np.array(
    [
        [1312, 1696, 5569, 124, 8283, 5886],
        [2329, 4135, 8307, 3736, 1004, 9991],
        [2348, 1451, 3522, 2883, 3047, 6650],
        [4047, 8828, 8732, 5743, 1091, 381],
    ]
)
TOP = 3.322368011415511
#: Evaluations until the first fit.
FIRST = 20
#: Evaluations from one fit to the next.
EVERY = 10
#: Noise variance, close to none.
NOISE = 1e-6


def hartmann(x: Array) -> float:
    """Return the value at x (6,)."""
    distances = (A * (x - 1e-4 * P) ** 2).sum(axis=1)
    return float(ALPHA @ np.exp(-distances))


def sobol(n: int, evaluations: int, seed: int, near: int = 0) -> Iterator[float]:
    """Yield the values found by EI on n Sobol points, and `near` new ones at every fit."""
    rng = np.random.default_rng(seed)
    points = qmc.Sobol(6, rng=rng).random(n)
    model = kb.Model(points, kb.Matern((0.5,) * 6, nu=2.5), NOISE)
    policy = kb.ExpectedImprovement(model, evaluations, rng=seed)
    bounds = {"noise_variance": (NOISE, NOISE)}
    for t in range(evaluations):
        if t >= FIRST and t % EVERY == 0:
            points = policy.model.points
            best = points[policy.recommend()]
            lengths = 0.1 * rng.choice([1.0, 0.3, 0.1], (near, 1))
            steps = lengths * rng.standard_normal((near, 6))
            points = np.vstack([points, np.clip(best + steps, 0.0, 1.0)])
            wider = replace(policy.model, points=points)
            policy = policy.with_model(wider.fit(*policy.history[:2], bounds=bounds))
        arm = policy.ask()
        value = hartmann(policy.model.points[arm])
        policy.tell(arm, value)
        yield value


def optuna_gp(evaluations: int, seed: int) -> Iterator[float]:
    """Yield the values found by Optuna's GPSampler."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    sampler = optuna.samplers.GPSampler(seed=seed)
    study = optuna.create_study(direction="maximize", sampler=sampler)
    for _ in range(evaluations):
        trial = study.ask()
        x = [trial.suggest_float(f"x{i}", 0.0, 1.0) for i in range(6)]
        value = hartmann(np.array(x))
        study.tell(trial, value)
        yield value


SEARCHES = {
    "EI on 8192 Sobol points": partial(sobol, 8192),
    "EI on 1024 Sobol points, 256 new ones around the best at every fit": partial(
        sobol, 1024, near=256
    ),
    "Optuna's GPSampler": optuna_gp,
}


def main(evaluations: int = 100, seeds: int = 4) -> dict[str, Any]:
    """Return for each job the simple regret and the processor seconds of every seed, by regret."""
    jobs = [
        Job(name, partial(search, evaluations), range(seeds), 1, math.inf, clock=time.process_time)
        for name, search in SEARCHES.items()
    ]
    table = measured(jobs).rename(columns={"median_s": "seconds"})
    table["simple_regret"] = [TOP - max(values, default=np.nan) for values in table["items"]]
    table = table.sort_values("simple_regret")
    by_job = table[table["repeats"] > 0].groupby("job")[["simple_regret", "seconds"]].agg(list)
    missing = table[table["repeats"] == 0].set_index("job")["note"]
    return {"evaluations": evaluations, "jobs": by_job.to_dict("index") | missing.to_dict()}


if __name__ == "__main__":
    keep("box.json", main)
