"""What the notebook on GPN-UCB plays besides runs of policies: jobs on one network each."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from kbrepro.bandits.policies.base import best_arm
from kbrepro.bandits.problems import Trial
from kbrepro.claims.words import LIMITS
from kbrepro.papers import Curves
from kbrepro.papers.gpn_ucb.network import NOISE_VARIANCE, NetworkProblem
from kbrepro.papers.gpn_ucb.policies import GPNUCB, CascadeUCB, nonadaptive
from kbrepro.papers.gpn_ucb.problems import RandomNetwork
from kbrepro.papers.gpn_ucb.sets import KERNEL, BoxSets, MultiOutput
from kbrepro.trials.curve import Curve, simple_regret
from kbrepro.trials.simulation import Experiment, play_trial, rounds
from kbrepro.typing import Array, Bools, Integers

Source = Callable[[Trial], NetworkProblem]

#: A chain whose gap (`chain_facts`) is at most this has several maximisers.
SEVERAL = LIMITS["several maximisers"]
#: A chain whose gap is at least this has an obvious one.
OBVIOUS = LIMITS["obvious maximiser"]
#: A best arm whose simple regret is at most this share of the range is found.
NEAR = LIMITS["near-optimal"]


# Chains


def chain_facts(source: Source, trial: Trial) -> tuple[float, float]:
    """Return the gap of a chain's maximum and the range of its reward.

    The gap is by how much the maximum exceeds every value farther than 2 from its place, as a share
    of the range: near 1 a single peak, an obvious maximiser, near 0 several places equally good.
    """
    problem = source(trial)
    g = problem.expected_reward
    points = problem.model.points
    far = np.linalg.norm(points - points[g.argmax()], axis=1) > 2.0
    gap = float((g.max() - g[far].max()) / problem.reward_range)
    return gap, problem.reward_range


def find_chains(
    source: Source, wanted: int, obvious: bool, trial: Trial, most: int = 2000
) -> Integers:
    """Return the numbers of the first `wanted` chains with an obvious maximiser, or several.

    Fewer if the first `most` chains hold fewer. One job, whatever the trial's number: it looks at
    chain 0, 1, 2, ... of the trial's seed.
    """
    numbers: list[int] = []
    for number in range(most):
        gap, _ = chain_facts(source, Trial(trial.seed, number))
        if gap >= OBVIOUS if obvious else gap <= SEVERAL:
            numbers.append(number)
        if len(numbers) == wanted:
            break
    return np.array(numbers)


def play_few(
    experiment: Experiment, few: int, of: int, trial: Trial, *, begin: int = 0
) -> dict[str, object]:
    """Return `play_trial` of the first `few` of every `of` trials: 2 of 10 are 0, 1, 10, 11, ...

    Where the source gives each chain `of` times, a rule that takes long plays so `few` trials of
    each chain, and shares their orders of ties with the rules that play all. The first `begin` of
    every `of` are left out: 2 of 10 are then 3, 4, 13, 14, ... with a `begin` of 3.
    """
    number = trial.number // few * of + begin + trial.number % few
    return play_trial(experiment, Trial(trial.seed, number))


def joined(parts: Sequence[Curves]) -> dict[str, Curve]:
    """Return the curves by rule of trials that were stored in parts, one after the other."""
    first = parts[0]
    whole = {}
    for rule, curve in first.items():
        columns = {
            name: np.concatenate([getattr(part[rule], name) for part in parts])
            for name in ("seconds", "band_ratio", "arms", "gaps")
        }
        whole[rule] = replace(curve, **columns)
    return whole


def picked(traces: Curves, rows: slice) -> dict[str, Curve]:
    """Return the curves by rule of some trials alone."""
    some = {}
    for rule, curve in traces.items():
        columns = {
            name: getattr(curve, name)[rows] for name in ("seconds", "band_ratio", "arms", "gaps")
        }
        some[rule] = replace(curve, **columns)
    return some


def ranges_of(source: Source, numbers: Sequence[int], seed: int) -> Array:
    """Return the ranges of the rewards of some networks, (n,)."""
    return np.array([source(Trial(seed, number)).reward_range for number in numbers])


def simple_regrets(traces: Curves, pulls: Integers, rows: Bools | None = None) -> pd.DataFrame:
    """Return by rule percentages of the range, from simple regrets in ranges, of all trials or of
    those of which `rows` is true.

    `mean` over trials and over the rounds `pulls`; `missed`, of the trials that are not near at T.
    """
    numbers = {}
    for rule, trace in traces.items():
        curve = simple_regret(trace)
        if rows is not None:
            curve = curve[rows]
        mean = 100 * curve[:, pulls - 1].mean()
        numbers[rule] = {"mean": mean, "missed": 100 * (curve[:, -1] > NEAR).mean()}
    return pd.DataFrame(numbers).T


# Sets


def multiplications(n_arms: int, horizon: int, samples: int) -> dict[str, float]:
    """Return the multiplications of a run on three layers, by rule: solves with t rows.

    The first layer at all arms; the others at the 100 points of the grid, which envelopes compare
    with each other and intervals with their ends (GPN-UCB), or at the samples of all arms (cEI).
    """
    t = np.arange(1, horizon + 1)
    first = (n_arms * t + 3 * t**2).sum()
    sets = (100 * t + 100**2 + 200 * n_arms).sum()
    sampled = (samples * n_arms * t).sum()
    return {"GPN-UCB": float(first + 2 * sets), "cEI": float(first + 2 * sampled)}


def excludes_best(chain: NetworkProblem, arms: Integers) -> bool:
    """Return whether the first layer's envelope over all arms, after pulls of `arms`, misses its
    output at the best arm.
    """
    best = int(chain.expected_reward.argmax())
    sets = BoxSets(chain.model, all_arms=True)
    for arm in np.unique(arms):
        sets.update(arm, [output[arm] for output in chain.outputs])
    low, high = (ends[best, 0] for ends in sets.regions()[0])
    return bool(not low <= chain.outputs[0][best, 0] <= high)


def refuted_after(chain: NetworkProblem, arms: Integers) -> float:
    """Return the round after which no first layer of norm B fits all that was seen, or infinity.

    None fits once y' K^-1 y of the outputs seen exceeds B^2.
    """
    # rounds, from 0, of arms not pulled before
    new = np.sort(np.unique(arms, return_index=True)[1])
    Z = chain.model.points[arms[new]]
    root = np.linalg.cholesky(KERNEL(Z, Z) + NOISE_VARIANCE * np.eye(len(new)))
    white = np.linalg.solve(root, chain.outputs[0][arms[new], 0])
    squared_norm = np.cumsum(white**2)
    refuted = new[squared_norm > chain.model.norm_bound**2 + 1e-6] + 1
    return float(refuted[0]) if len(refuted) else np.inf


def what_bounds_did(
    source: Source, numbers: Sequence[int], arms: Integers, ends: Array, seed: int
) -> pd.DataFrame:
    """Return a row per chain of `numbers` on which GPN-UCB pulled `arms` (n, T).

    Columns: `excluded`, whether its bounds lost the best arm (`excludes_best`); `missed`, whether
    its simple regret at T, `ends` (n,) in ranges, is not near; `refuted`, the round after which
    outputs refute B.
    """
    rows = []
    for number, pulled, end in zip(numbers, arms, ends, strict=True):
        chain = source(Trial(seed, number))
        rows.append(
            {
                "excluded": excludes_best(chain, pulled),
                "missed": end > NEAR,
                "refuted": refuted_after(chain, pulled),
            }
        )
    return pd.DataFrame(rows)


# Bounds, one network each


def bound_ratios(
    network: RandomNetwork,
    n_grid: int,
    horizon: int,
    trial: Trial,
    *,
    mode: str,
    all_arms: bool = False,
) -> dict[str, float]:
    """Return the largest r_t over its bound (`step`: eq. 49), and R_t over Theorem 1's (`total`).

    For GPN-UCB on chains. The sds are those of all layers at the true inputs of the arm pulled,
    before the pull; Sigma_t is the largest of their sums so far over the layers, so more is asked
    of the theorem than it states. In mode `outward` envelopes reach over the whole grid, as in the
    proof, and the bounds contain what rounding adds, `slack` as a share of the range of the reward:
    a grid point of a dilated box lies within its diameter + 2 h of the one next to the true input,
    h half a cell's diagonal; moving a bound there costs L h for the mean and L h for B sd, and the
    rounding itself adds L h, on both sides: 10 L h a layer, carried on like 2 B sd. With `all_arms`
    the first layer has its envelope over the arms, which needs no rounding.
    """
    problem = network(trial)
    model = problem.model
    outward = mode == "outward"
    policy = GPNUCB(
        model,
        horizon,
        rng=trial.rng("policy"),
        n_grid=n_grid,
        outward=outward,
        half_width=network.norm,
        radius=10.0 if outward else 1.0,
        all_arms=all_arms,
    )
    m = len(model.widths)
    arms = np.empty(horizon, dtype=int)
    sds = np.empty((horizon, m))
    for t, arm, observation in rounds(policy, problem, horizon, trial.rng("noise")):
        arms[t - 1] = arm
        layers = zip(policy.posterior.posteriors, model.steps(arm, observation), strict=True)
        sds[t - 1] = [posterior.at(z[None, :])[1][0] for posterior, (z, _) in layers]
    regret = problem.regret(arms)
    B = model.norm_bound
    L = model.lipschitz
    weights = (2 * L) ** np.arange(m - 1, -1, -1)
    added = 5 * L * policy.posterior.step * weights[1:].sum() if outward else 0.0
    step = regret / (2 * B * sds @ weights + added)
    sums = 2 ** (m + 1) * B * L ** (m - 1) * np.cumsum(sds, axis=0).max(axis=1)
    total = np.cumsum(regret) / (sums + added * np.arange(1, horizon + 1))
    return {
        "step": float(step.max()),
        "total": float(total.max()),
        "slack": float(added) / problem.reward_range,
    }


def design_errors(network: Source, sides: Sequence[int], trial: Trial) -> Array:
    """Return the largest |g - composite mean| over all arms after side^d pulls, (len(sides),)."""
    problem = network(trial)
    errors = []
    for side in sides:
        mean, _ = nonadaptive(problem, side)
        errors.append(np.abs(problem.expected_reward - mean).max())
    return np.array(errors)


def composed_errors(network: RandomNetwork, sides: Sequence[int], trial: Trial) -> dict[str, float]:
    """Return how near non-adaptive sampling with side^d pulls comes to its bounds, at the most.

    `error`: |g - composite mean| over B sum_i L^(m-i) sd_i at the composed means, all arms (eqs.
    131, 132; for several outputs G.3, G.4); `regret`: simple regret over twice the largest such sum
    (eq. 136). Each is the largest over `sides`.
    """
    problem = network(trial)
    shares = []
    for side in sides:
        mean, sds = nonadaptive(problem, side)
        bound = composed_bound(problem, sds)
        error = np.abs(problem.expected_reward - mean) / bound
        shares.append((error.max(), problem.regret(best_arm(mean)) / (2 * bound.max())))
    error, regret = np.max(shares, axis=0).tolist()
    return {"error": error, "regret": regret}


def composed_bound(problem: NetworkProblem, sds: Sequence[Array]) -> Array:
    """Return B sum_i L^(m-i) sd_i of every arm (A,), from the sds (A,) of all layers (eq. 184)."""
    model = problem.model
    bound = np.zeros(model.n_arms)
    for sd, width in zip(sds, model.widths, strict=True):
        root = 1.0 if isinstance(model.structure, MultiOutput) else np.sqrt(width)
        bound = root * (model.norm_bound * sd + model.lipschitz * bound)
    return bound


def nonadaptive_regrets(source: Source, sides: Sequence[int], trial: Trial) -> Array:
    """Return the simple regret of non-adaptive sampling with side^d pulls, (len(sides),)."""
    problem = source(trial)
    # ties fall as for policies of this trial
    rank = trial.rng("policy").permutation(problem.model.n_arms)
    arms = [best_arm(nonadaptive(problem, side)[0], rank) for side in sides]
    return problem.regret(np.array(arms))


def relative_widths(source: Source, pulls: int, trial: Trial, *, all_arms: bool = False) -> float:
    """Return the width of cUCB's bounds over GPN-UCB's after its pulls, median over the arms.

    With `all_arms` GPN-UCB's first layer has its envelope.
    """
    problem = source(trial)
    policy = GPNUCB(problem.model, pulls, rng=trial.rng("policy"), all_arms=all_arms)
    other = CascadeUCB(problem.model, pulls)
    for _, arm, observation in rounds(policy, problem, pulls, trial.rng("noise")):
        other.tell(arm, observation)
    lower, upper = policy.posterior.bounds()
    _, spread = other.fed_forward()
    ratios = 2 * problem.model.norm_bound * spread / np.maximum(upper - lower, 1e-9)
    return float(np.median(ratios))
