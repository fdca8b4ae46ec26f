"""The cost of a step of BKB and of its opponents, which are all exact, in counted operations.

Operations are the printed leading terms of an algorithm, with constant 1 for all: n arms, t pulls, D distinct arms
pulled, m features (the rank of the dictionary; Calandriello et al., Section 3.2, footnote 3: at most t).
"""

from collections.abc import Callable
from typing import Any

import pandas as pd

from kbrepro.papers.bkb.policy import BKB
from kbrepro.problems import Model, Problem, Trial
from kbrepro.simulation import rounds

Source = Callable[[Trial], Problem]
SIZES = ["members", "features", "distinct", "d_eff"]


def cost_of_steps(
    source: Source, bkb: Callable[[Model, int], BKB], horizon: int, at: list[int], trial: Trial
) -> dict[str, pd.DataFrame]:
    """Return the `sizes` of one run. Edition 0.3.0 also timed exact posteriors after `at` pulls: so its labels say."""
    return {"sizes": sizes_of_steps(source, bkb, horizon, trial)}


def sizes_of_steps(source: Source, bkb: Callable[[Model, int], BKB], horizon: int, trial: Trial) -> pd.DataFrame:
    """Return the sizes of the dictionary of `bkb` after every pull, a row for t = 1 .. horizon.

    `members`, `features`, `distinct` arms pulled, and BKB's estimate of `d_eff`.
    """
    problem = source(trial)
    policy = bkb(problem.model, horizon)
    rows = [_sizes(policy) for _ in rounds(policy, problem, horizon, trial.rng("run"))]
    rows = [*rows[1:], _sizes(policy)]  # round t + 1 begins with what is known after t pulls
    return pd.DataFrame(rows, pd.RangeIndex(1, horizon + 1, name="t"), columns=SIZES)


def _sizes(policy: BKB) -> tuple[int, int, int, float]:
    sketch = policy.posterior
    return len(sketch.dictionary), sketch.n_features, int((sketch.counts > 0).sum()), sketch.summed_variance


def by_step(kept: Any) -> pd.DataFrame:
    """Return a kept table with a row for every step t."""
    return pd.DataFrame(kept).set_index("t")


def operations(sizes: pd.DataFrame, n_arms: int) -> pd.DataFrame:
    """Return the operations of every step of BKB and its opponents, one row per step, from the `sizes` of one run.

    BKB (n + D) m^2 (Section 3.2); refit t^3 + n t^2 (the paper's opponent, Section 3.2); counts D^3 + n D^2, a refit on
    distinct arms; rows n t, the factor updated by one row per pull; covariance n^2, that of all arms kept.
    """
    t, m, D = sizes.index.to_numpy(float), sizes["features"], sizes["distinct"]
    columns = {"BKB": (n_arms + D) * m**2, "exact, rows": n_arms * t, "exact, covariance": float(n_arms**2)}
    columns |= {"exact, refit": t**3 + n_arms * t**2, "exact, counts": D**3 + n_arms * D**2}
    return pd.DataFrame(columns, sizes.index, dtype=float)
