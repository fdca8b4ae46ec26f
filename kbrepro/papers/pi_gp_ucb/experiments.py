"""What the notebook on π-GP-UCB measures: shares of uniform regret and printed means, cells, operations."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import stdtrit

from kbrepro.kernels import Array
from kbrepro.papers.pi_gp_ucb.partition import PartitionedUCB, initial_side, split_exponent
from kbrepro.policies.base import best_arm
from kbrepro.problems import Problem, Trial
from kbrepro.regret import edges
from kbrepro.simulation import Experiment, rounds

#: Runs of which the paper prints the mean.
PRINTED_RUNS = 12


# Regret as a share of that of uniform play


def uniform_regret(source: Callable[[Trial], Problem], trials: int, seed: int) -> Array:
    """Return the expected regret of a round of uniform play in each of the first trials, (trials,)."""
    rewards = (source(Trial(seed, number)).expected_reward for number in range(trials))
    return np.array([f.max() - f.mean() for f in rewards])


def half_width(values: Array, axis: int = -1) -> Array:
    """Return the half-width of the 95 % prediction interval, round the mean of values, of a mean of PRINTED_RUNS."""
    n = values.shape[axis]
    return values.std(axis=axis, ddof=1) * math.sqrt(1 / n + 1 / PRINTED_RUNS) * stdtrit(n - 1, 0.975)


# Theory


def regret_exponents(d: int, nu: float) -> dict[str, float]:
    """Return exponents of T in the regret: those of the paper (eq. 1), of IGP-UCB as known since, and the lower bound.

    IGP-UCB in 2020: (3 d^2 + 2 nu) / (2 d^2 + 4 nu) as the paper states it (by its eq. 4 it has d (d + 1) instead of
    d^2); with the gain of Vakili et al. (2021): (2 nu + 3 d) / (4 nu + 2 d); with lambda that grows (Whitehouse et al.
    2023): (nu + 2 d) / (2 nu + 2 d). At most 1 each. Lower bound: Scarlett et al. (2017).
    """
    return {
        "IGP-UCB, 2020": min(1.0, (3 * d**2 + 2 * nu) / (2 * d**2 + 4 * nu)),
        "IGP-UCB, gain of 2021": min(1.0, (2 * nu + 3 * d) / (4 * nu + 2 * d)),
        "IGP-UCB, lambda grows": (nu + 2 * d) / (2 * nu + 2 * d),
        "π-GP-UCB": (d * (2 * d + 3) + 2 * nu) / (d * (2 * d + 4) + 4 * nu),
        "lower bound": (d + nu) / (d + 2 * nu),
    }


def cover_too_large_until(horizon: int, d: int, nu: float) -> int:
    """Return the last round t in which the first cover alone has more than 4 (t + 1)^(b d) cells (Lemma 6), else 0."""
    cells, t = initial_side(horizon, d, nu) ** d, np.arange(1, horizon + 1)
    return int(np.count_nonzero(4 * (t + 1) ** (split_exponent(d, nu) * d) < cells))


# Cells


def cell_run(experiment: Experiment, look_at_arms: bool, trial: Trial) -> dict[str, Any]:
    """Play π-GP-UCB, the policy of that name in an experiment, and look at its cells; for `map_trials`.

    `created`: cells ever; `gain`: the largest of one (nats); `width` (T,): the largest width of a cell in every round,
    less B, to seven digits; `late_share`: largest share of the last tenth of the pulls that lie in one cell of the last
    cover; `moved`: share of rounds in which the best arm of a cell without new data is another than before;
    `operations`: of a round, mean of each hundredth of the run (`cell_operations`). Where best arms are not looked at
    `moved` is NaN, and no `width` is kept.
    """
    problem, T = experiment.problem(trial), experiment.horizon
    policy = experiment.policies["π-GP-UCB"](problem.model, T)
    assert isinstance(policy, PartitionedUCB)
    width, pulled, moved, operations, known = np.empty(T), np.empty(T, dtype=int), 0, np.empty(T), len(policy.cells)
    before: dict[tuple[int, int], int] = {}
    for t, arm, _ in rounds(policy, problem, T, trial.rng("run")):
        operations[t - 1], known = cell_operations(policy, arm, known), len(policy.cells)
        widths = policy.widths()
        width[t - 1], pulled[t - 1] = widths[policy.slot_cell].max() - problem.model.norm, arm
        if look_at_arms:
            now = _best_arms(policy, widths)
            moved += any(now[cell] != arms for cell, arms in before.items() if cell in now)
            before = now
    cells = [policy.slot_arm[policy.slot_cell == number] for number in np.unique(policy.slot_cell)]
    late = float(max(np.isin(pulled[-max(1, T // 10) :], arms).mean() for arms in cells))
    kept, share = (width.astype(np.float32), moved / T) if look_at_arms else (np.empty(0, np.float32), np.nan)
    cells_made = {"created": len(policy.cells), "gain": float(policy.cell_gain.max()), "width": kept}
    return cells_made | {"late_share": late, "moved": share, "operations": by_hundredths(operations)}


def cell_operations(policy: PartitionedUCB, arm: int, known: int) -> float:
    """Return the multiplications of a round of π-GP-UCB that pulls `arm`; cells after the first `known` are new in it.

    As printed, with one row per data point: a cell with m arms that gets its n-th adds a row to its Cholesky factor
    (n^2) and to the solves for its arms (m n); a new cell with n factors once (n^3 / 3) and solves (m n^2); all indices
    are compared.
    """
    pulled = [policy.cells[number] for number in policy.slot_cell[policy.slot_arm == arm]]
    rows = [(len(cell.history) + 1, len(cell.arms)) for cell in pulled]
    made = [(len(cell.history), len(cell.arms)) for cell in policy.cells[known:]]
    anew = sum(n**3 / 3 + m * n**2 for n, m in made)
    return len(policy.slot_arm) + sum(n**2 + m * n for n, m in rows) + anew


def by_hundredths(values: Array) -> Array:
    """Return the means of values (T,) over each hundredth of a run (`regret.edges`)."""
    ends = edges(len(values))
    return np.add.reduceat(values, ends[:-1]) / np.diff(ends)


def _best_arms(policy: PartitionedUCB, widths: Array) -> dict[tuple[int, int], int]:
    """The best arm of every cell that has data, by (cell, its pulls); ties by the policy's order."""
    assert policy.rank is not None  # it was asked
    best = {}
    for number in np.unique(policy.slot_cell).tolist():
        if (cell := policy.cells[number]).history:
            index = cell.mean + widths[number] * cell.sd
            best[number, len(cell.history)] = int(cell.arms[best_arm(index, policy.rank[cell.arms], policy.prior_sd)])
    return best


# Bounds


def band_run(experiment: Experiment, trial: Trial) -> dict[str, float]:
    """Play π-GP-UCB, the policy of that name, and look at its band in every round; for `map_trials`.

    `band`: whether the band held throughout; `ratio`: the largest |f - mean| / (width sd); `bound`: the sum of twice
    width times sd at the pulls, which Theorem 3 uses; `regret`: R_T.
    """
    problem, T = experiment.problem(trial), experiment.horizon
    policy = experiment.policies["π-GP-UCB"](problem.model, T)
    assert isinstance(policy, PartitionedUCB)
    ratio = bound = regret = 0.0
    for _, arm, _ in rounds(policy, problem, T, trial.rng("run")):
        ratio = max(ratio, policy.band_ratio(problem.expected_reward))
        bound += 2 * policy.half_width(arm)
        regret += float(problem.regret(np.array([arm]))[0])
    return {"band": ratio <= 1, "ratio": ratio, "bound": bound, "regret": regret}
