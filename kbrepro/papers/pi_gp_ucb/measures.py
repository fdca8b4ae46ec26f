"""What the notebook on π-GP-UCB measures: shares of uniform regret, cells, bands."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from kbrepro.bandits.problems import Trial
from kbrepro.papers import Curves
from kbrepro.papers.pi_gp_ucb.partition import (
    PartitionedUCB,
    cover_exponent,
    initial_side,
    must_split,
    split_exponent,
)
from kbrepro.trials.curve import Curve, final_average_regret
from kbrepro.trials.simulation import Experiment, Planned, rounds, start_policy
from kbrepro.typing import Array, Integers, Kernel, Playable

#: Runs of which the paper prints the mean.
PRINTED_RUNS = 12


# Regret as a share of that of uniform play


@cache
def uniform_regret(source: Callable[[Trial], Playable], trials: int, seed: int) -> Array:
    """Return the expected regret of a round of uniform play in the first trials, (trials,)."""
    regret = np.empty(trials)
    for number in range(trials):
        f = source(Trial(seed, number)).expected_reward
        regret[number] = f.max() - f.mean()
    return regret


def shares_of_uniform(
    plan: Mapping[str, Planned],
    labels: Mapping[tuple[object, ...], str],
    played: Mapping[tuple[object, ...], Curves],
) -> dict[tuple[object, ...], Array]:
    """Return the regret of every run over that of uniform play, (n,), by case and rule.

    `labels` in the plan, and their curves, by case.
    """
    shares: dict[tuple[object, ...], Array] = {}
    for case, label in labels.items():
        planned = plan[label]
        uniform = uniform_regret(planned.experiment.problem, planned.trials, planned.seed)
        for rule, average in final_average_regret(played[case]).items():
            shares[*case, rule] = average / uniform
    return shares


def seconds(curves: Curves) -> dict[str, float]:
    """Return the mean seconds of a run, by rule."""
    return {rule: float(curve.seconds.sum(axis=1).mean()) for rule, curve in curves.items()}


def late_over_early(curve: Curve) -> float:
    """Return mean seconds of a round in the last tenth of runs over those in the first tenth."""
    a_round = curve.seconds_a_round.mean(axis=0)
    return float(a_round[-10:].mean() / a_round[:10].mean())


def ahead_from(own: Curve, other: Curve) -> int:
    """Return the round from which on `own` has less mean cumulative regret than `other`.

    It is the horizon + 1 if it has not.
    """
    lead = (other.cumulative_regret - own.cumulative_regret).mean(axis=0)
    return int(np.flatnonzero(lead <= 0).max(initial=-1)) + 2


def half_width(values: Array, intervals: int = 1) -> float:
    """Return the half-width of the 95 % prediction interval of a mean of PRINTED_RUNS values.

    The interval is round the mean of `values` (n,). It is one of `intervals`, all of which hold in
    95 % of cases.
    """
    return error_of_mean(values) * stdtrit(len(values) - 1, 1 - 0.025 / intervals)


def error_of_mean(values: Array) -> float:
    """Return the standard error of the mean of `values` (n,) beside that of PRINTED_RUNS others."""
    return float(values.std(ddof=1)) * math.sqrt(1 / len(values) + 1 / PRINTED_RUNS)


# Theory


def regret_exponents(d: int, nu: float) -> dict[str, float]:
    """Return exponents of T in the regret: the paper's (eq. 1), IGP-UCB's, and the lower bound.

    IGP-UCB in 2020: (3 d^2 + 2 nu) / (2 d^2 + 4 nu) as the paper states it (by its eq. 4 it has d
    (d + 1) instead of d^2); with the gain of Vakili et al. (2021): (2 nu + 3 d) / (4 nu + 2 d);
    with lambda that grows (Whitehouse et al. 2023): (nu + 2 d) / (2 nu + 2 d). At most 1 each.
    Lower bound: Scarlett et al. (2017).
    """
    return {
        "IGP-UCB, 2020": min(1.0, (3 * d**2 + 2 * nu) / (2 * d**2 + 4 * nu)),
        "IGP-UCB, gain of 2021": min(1.0, (2 * nu + 3 * d) / (4 * nu + 2 * d)),
        "IGP-UCB, lambda grows": (nu + 2 * d) / (2 * nu + 2 * d),
        "π-GP-UCB": (d * (2 * d + 3) + 2 * nu) / (d * (2 * d + 4) + 4 * nu),
        "lower bound": (d + nu) / (d + 2 * nu),
    }


def growing_variance(horizon: int, d: int, nu: float) -> float:
    """Return lambda = T^(d / (2 nu + 2 d)) (Whitehouse, Wu & Ramdas 2023)."""
    return horizon ** (d / (2 * nu + 2 * d))


def cover_too_large_until(horizon: int, d: int, nu: float) -> int:
    """Return the last round in which Lemma 6 counts fewer cells than the first cover has, or 0."""
    cells = initial_side(horizon, d, nu) ** d
    t = np.arange(1, horizon + 1)
    counted = 4 * (t + 1) ** (split_exponent(d, nu) * d)
    return int(np.count_nonzero(counted < cells))


# Cells


class CellPulls(NamedTuple):
    """A cell of π-GP-UCB, and the rounds (m,) from 0 of the pulls that it has taken in when it
    splits, or at the end.

    It covers [corner / side, (corner + 1) / side]. Pulls up to the round `born`, in which its
    parent split, are inherited; it is -1 in the first cover.
    """

    corner: Integers
    side: int
    rounds: Integers
    born: int
    has_split: bool


def cells_of(arms: Integers, n: int, d: int, nu: float) -> Iterator[CellPulls]:
    """Yield every cell that the pulls `arms` (T,) create, a parent before its children.

    Rewards do not matter: a cell splits by its number of pulls. The arms are a grid of n points a
    side.
    """
    seen, which = np.unique(arms, return_inverse=True)
    places = np.stack(np.unravel_index(seen, (n,) * d), 1)
    side = initial_side(len(arms), d, nu)
    everything = np.arange(len(arms))
    # corner, side, rounds in which the parent was pulled, and that of its last pull
    cells = [(np.array(corner), side, everything, -1) for corner in np.ndindex(*(side,) * d)]
    while cells:
        corner, side, within, born = cells.pop()
        from_low = places * side - corner * (n - 1)
        inside = np.asarray(((from_low >= 0) & (from_low < n)).all(axis=1))
        pulled = within[inside[which[within]]]
        splits = must_split(side, np.arange(len(pulled)) + 1, d, nu, "paper")
        full = pulled[(pulled > born) & splits]
        last = full[0] if full.size else len(arms)
        yield CellPulls(corner, side, pulled[pulled <= last], born, bool(full.size))
        if full.size:
            for half in np.ndindex(*(2,) * d):
                cells.append((2 * corner + half, 2 * side, pulled, last))


def cover_of(arms: Integers, n: int, d: int, nu: float) -> tuple[list[Integers], list[Integers]]:
    """Return for each cell that the pulls `arms` (T,) make on a grid of n points a side the rounds
    from 0 in which it was pulled: of cells that split, up to that; and of the last cover.
    """
    split: list[Integers] = []
    last: list[Integers] = []
    for cell in cells_of(arms, n, d, nu):
        (split if cell.has_split else last).append(cell.rounds)
    return split, last


def count_cells(runs: Integers, d: int, nu: float) -> dict[str, float]:
    """Return how many cells the paper's bound allows for, and how many runs (n, T) make, on the
    grid of 30 points a side.
    """
    horizon = runs.shape[1]
    created = [sum(map(len, cover_of(arms, 30, d, nu))) for arms in runs]
    return {
        "cells of the first cover": initial_side(horizon, d, nu) ** d,
        "T^q": horizon ** cover_exponent(d, nu),
        "cells ever created (mean of runs)": float(np.mean(created)),
    }


def inverses(runs: Integers, d: int, nu: float) -> Array:
    """Return what the inverses of all cells cost in runs (n, T), over one inverse of all pulls,
    (n, 2): operations, where each cell that is made inverts anew, and numbers held at the end.
    """
    costs = []
    for arms in runs:
        split, last = cover_of(arms, 30, d, nu)
        of_split, of_last = (np.array([*map(len, some)]) / len(arms) for some in (split, last))
        costs.append((np.sum(of_split**3) + np.sum(of_last**3), np.sum(of_last**2)))
    return np.array(costs)


# Bounds


def band_run(experiment: Experiment, trial: Trial) -> dict[str, float]:
    """Play π-GP-UCB, the policy of that name, and look at its band in every round.

    `band`: whether the band held throughout; `ratio`: the largest |f - mean| / (width sd); `bound`:
    the sum of twice width times sd at the pulls, which Theorem 3 uses; `regret`: R_T.
    """
    problem = experiment.problem(trial)
    T = experiment.horizon
    policy = start_policy(experiment.policies["π-GP-UCB"], problem.model, T, trial)
    assert isinstance(policy, PartitionedUCB)
    ratio = bound = regret = 0.0
    for _, arm, _ in rounds(policy, problem, T, trial.rng("noise")):
        ratio = max(ratio, policy.band_ratio(problem.expected_reward))
        bound += 2 * policy.half_width(arm)
        regret += float(problem.regret(np.array([arm]))[0])
    return {"band": ratio <= 1, "ratio": ratio, "bound": bound, "regret": regret}


def counterexample(kernel: Kernel, at: Sequence[int], delta: float, trial: Trial) -> Array:
    """Return both sides of Lemma 10 (m, 2) after each of m numbers of pulls `at`.

    Left: noise' (I + S^-1)^-1 noise, S = K + 1e-6 I; right: 2 log(2 det(S + I)^(1/2) / delta) (Janz
    et al., appendix A, with the square that the theorem of Chowdhury & Gopalan has, on which the
    lemma rests). Distinct arms on a line in a random order, noise uniform on [-1, 1]; the set is
    that of the pulls whose noise was positive, chosen before the last pull, and is the only one
    (N_t = 2). Why the lemma fails for it, and what holds instead, says docs/adaptive_covers.md.
    """
    rng = trial.rng("run")
    n = max(at)
    arms = rng.permutation(n)[:, None] / n
    noises = rng.uniform(-1, 1, n)
    sides = np.empty((len(at), 2))
    for row, t in enumerate(at):
        chosen = np.flatnonzero(noises[: t - 1] > 0)
        points = arms[chosen]
        noise = noises[chosen]
        root = np.linalg.cholesky(kernel(points, points) + (1 + 1e-6) * np.eye(len(points)))
        white = np.linalg.solve(root, noise)  # (I + S^-1)^-1 = I - (S + I)^-1
        half_log_det = np.log(np.diag(root)).sum()
        sides[row] = noise @ noise - white @ white, 2 * (half_log_det + math.log(2 / delta))
    return sides
