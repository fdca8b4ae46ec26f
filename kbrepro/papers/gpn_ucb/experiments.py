"""What the notebook on GPN-UCB plays besides runs of policies: jobs on one network each (for `map_trials`)."""

from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kbrepro import checks
from kbrepro.kernels import Array
from kbrepro.papers.gpn_ucb.network import NetworkProblem
from kbrepro.papers.gpn_ucb.policies import GPNUCB, CascadeUCB, composite_path, uniform_design
from kbrepro.papers.gpn_ucb.posterior import LayerPosterior, OperatorPosterior
from kbrepro.papers.gpn_ucb.problems import RandomNetwork, maximum_gap
from kbrepro.papers.gpn_ucb.sets import MODES
from kbrepro.policies.base import best_arm
from kbrepro.problems import Trial
from kbrepro.regret import Curve
from kbrepro.simulation import rounds

Source = Callable[[Trial], NetworkProblem]

#: Gap (see `maximum_gap`) up to which a chain has several maximisers, and from which on an obvious one.
SEVERAL, OBVIOUS = 0.05, 0.25


# Chains


def chain_facts(source: Source, trial: Trial) -> tuple[float, float]:
    """Return the gap of a chain's maximum (see `maximum_gap`) and the range of its reward."""
    problem = source(trial)
    return maximum_gap(problem), problem.reward_range


def find_chains(source: Source, wanted: int, obvious: bool, trial: Trial, most: int = 2000) -> NDArray[np.int64]:
    """Return the numbers of the first `wanted` chains with an obvious maximiser, or several.

    Fewer if the first `most` chains hold fewer. One job, whatever the trial's number: it looks at chain 0, 1, 2, ... of
    the trial's seed.
    """
    checks.positive_int(wanted=wanted, most=most)
    gaps = (chain_facts(source, Trial(trial.seed, number))[0] for number in range(most))
    found = (number for number, gap in enumerate(gaps) if (gap >= OBVIOUS if obvious else gap <= SEVERAL))
    return np.array([*islice(found, wanted)])


def scaled(traces: Mapping[str, Curve], ranges: Array) -> dict[str, Curve]:
    """Return traces with every regret as share of the range of its chain, `ranges` (n_trials,)."""
    return {name: trace.scaled(ranges) for name, trace in traces.items()}


# Sets and bounds, one network each


def coverage(network: RandomNetwork, n_grid: int, horizon: int, trial: Trial) -> dict[str, Array]:
    """Return for the modes `paper` and `outward`, after each pull, missed arms and median width, (2, horizon) a mode.

    Both see the pulls of GPN-UCB on `paper` sets. A miss is an arm with a layer's output outside its set or a reward
    outside [LCB, UCB]; the width is UCB - LCB, median over the arms, as a share of the range of the reward. `band`
    (horizon,) counts the arms with |f - mean| > B sd at the true input of any layer (Lemma 1).
    """
    problem = network(trial)
    settings: dict[str, Any] = {"n_grid": n_grid, "half_width": 1.5 * network.norm}
    sets = {mode: problem.model.structure.sets(problem.model, mode=mode, **settings) for mode in MODES}
    found: dict[str, Array] = {mode: np.empty((2, horizon)) for mode in MODES} | {"band": np.empty(horizon)}
    policy = GPNUCB(problem.model, horizon, **settings)
    for t, arm, observation in rounds(policy, problem, horizon, trial.rng("run")):
        for mode, its in sets.items():
            its.update(arm, observation)
            lower, upper = its.bounds()
            missed, width = np.sum(~its.covers(problem.outputs)), np.median(upper - lower) / problem.reward_range
            found[mode][:, t - 1] = missed, width
        found["band"][t - 1] = outside_band(its.posteriors, problem)
    return found


def outside_band(posteriors: Sequence[LayerPosterior | OperatorPosterior], problem: NetworkProblem) -> int:
    """Return how many arms have |f - mean| > B sd, up to rounding, at the true input of any layer (Lemma 1).

    With a scalar kernel each output is compared, of a vector-valued layer the Euclidean norm.
    """
    model, outside = problem.model, np.zeros(problem.model.n_arms, dtype=bool)
    z: Array = np.empty((model.n_arms, 0))
    order = 2 if hasattr(model.structure, "kernel_of") else np.inf
    for i, (posterior, output) in enumerate(zip(posteriors, problem.outputs, strict=True)):
        mean, sd = posterior.at(np.column_stack([z, model.own_inputs(i)]))
        outside |= np.linalg.norm(output - mean, order, axis=1) > model.norm_bound * sd + 1e-8
        z = output
    return int(outside.sum())


def bound_ratios(network: RandomNetwork, n_grid: int, horizon: int, trial: Trial, *, mode: str) -> dict[str, float]:
    """Return the largest r_t over its bound (`step`: eqs. 49, 67, 94) and R_t over that of Theorems 1-3 (`total`).

    For GPN-UCB. The sds are those of all layers at the true inputs of the arm pulled, before the pull; Sigma_t is the
    largest of their sums so far over the layers, so more is asked of the theorems than they state. In mode `outward`
    the bounds contain what rounding adds, `slack` as a share of the range of the reward, and envelopes reach over the
    whole grid, as in the proofs.
    """
    problem = network(trial)
    model, outward = problem.model, mode == "outward"
    reach: dict[str, Any] = {"half_width": network.norm, "radius": 10.0 if outward else 1.0}
    policy = GPNUCB(model, horizon, n_grid=n_grid, mode=mode, **reach)
    arms, sds = [], []
    for _, arm, observation in rounds(policy, problem, horizon, trial.rng("run")):
        arms.append(arm)
        layers = zip(policy.posterior.posteriors, model.steps(arm, observation), strict=True)
        sds.append([posterior.at(z[None, :])[1][0] for posterior, (z, _) in layers])
    regret, structure = problem.regret(np.array(arms)), model.structure
    added = structure.rounding_term(model.widths, model.lipschitz, policy.posterior.half_diagonals) if outward else 0.0
    known = model.widths, model.norm_bound, model.lipschitz
    step = regret / (np.array(sds) @ structure.step_weights(*known) + added)
    sums = structure.cumulative_factor(*known) * np.cumsum(sds, axis=0).max(axis=1)
    total = np.cumsum(regret) / (sums + added * np.arange(1, horizon + 1))
    return {"step": float(step.max()), "total": float(total.max()), "slack": added / problem.reward_range}


def design_errors(network: Source, sides: Sequence[int], trial: Trial) -> Array:
    """Return the largest |g - composite mean| over all arms after per_side^d pulls, (len(sides),)."""
    problem = network(trial)
    return np.array([np.abs(problem.expected_reward - designed(problem, its)[0]).max() for its in sides])


def composed_errors(network: RandomNetwork, sides: Sequence[int], trial: Trial) -> dict[str, float]:
    """Return how far non-adaptive sampling with per_side^d pulls comes to its bounds, largest over `sides`.

    `error`: |g - composite mean| over B sum_i L^(m-i) sd_i at the composed means, all arms (eqs. 131, 132; for several
    outputs G.3, G.4); `regret`: simple regret over twice the largest such sum (eq. 136); `projected`: the same with
    means moved into the layers' known ranges, over four times the sum (eq. 165; its sds, the largest on the ranges, are
    at least these).
    """
    problem, found = network(trial), []
    ranges = [(output.min(axis=0), output.max(axis=0)) for output in problem.outputs]
    for per_side in sides:
        (mean, sds), (projected, their_sds) = (designed(problem, per_side, known) for known in (None, ranges))
        bound, wider = composed_bound(problem, sds), composed_bound(problem, their_sds)
        error = (np.abs(problem.expected_reward - mean) / bound).max()
        regret = problem.regret(best_arm(mean)) / (2 * bound.max())
        found.append((error, regret, problem.regret(best_arm(projected)) / (4 * wider.max())))
    return dict(zip(("error", "regret", "projected"), map(float, np.max(found, axis=0)), strict=True))


def designed(
    problem: NetworkProblem, per_side: int, ranges: Sequence[tuple[Array, Array]] | None = None
) -> tuple[Array, list[Array]]:
    """Return the composite mean (A,) after non-adaptive sampling with per_side^d pulls, and the sds of all layers.

    `ranges` as for `policies.composite_path`.
    """
    design = uniform_design(problem.model.points, per_side)
    seen = [problem.pull(arm, np.random.default_rng(0)) for arm in design]
    means, sds = composite_path(problem.model, design, seen, ranges)
    return means[-1][:, 0], sds


def composed_bound(problem: NetworkProblem, sds: Sequence[Array]) -> Array:
    """Return B sum_i L^(m-i) sd_i of every arm (A,), from the sds (A,) of all layers; roots of widths as in eq. 184."""
    model, bound = problem.model, np.zeros(problem.model.n_arms)
    for sd, width in zip(sds, model.widths, strict=True):
        of_outputs = 1.0 if hasattr(model.structure, "kernel_of") else np.sqrt(width)
        bound = of_outputs * (model.norm_bound * sd + model.lipschitz * bound)
    return bound


def nonadaptive_regrets(source: Source, sides: Sequence[int], trial: Trial) -> Array:
    """Return the simple regret of non-adaptive sampling with per_side^d pulls, per_side in `sides`, (len(sides),)."""
    problem = source(trial)
    rank = trial.rng("run").spawn(2)[1].permutation(problem.model.n_arms)  # ties fall as for policies of this trial
    arms = [best_arm(designed(problem, per_side)[0], rank) for per_side in sides]
    return problem.regret(np.array(arms))


def relative_widths(source: Source, pulls: int, constants: Sequence[float], trial: Trial) -> Array:
    """Return the width of cUCB's bounds over that of GPN-UCB's after the same pulls of GPN-UCB, median over the arms.

    One number for each Lipschitz constant in eq. 283, (len(constants),); GPN-UCB's sets keep the constant that is
    given.
    """
    problem = source(trial)
    policy, other = GPNUCB(problem.model, pulls), CascadeUCB(problem.model, pulls)
    for _, arm, observation in rounds(policy, problem, pulls, trial.rng("run")):
        other.tell(arm, observation)
    lower, upper = policy.posterior.bounds()
    width = np.maximum(upper - lower, 1e-9)
    return np.array([np.median(2 * problem.model.norm_bound * other.fed_forward(L)[1] / width) for L in constants])


def carried(
    problem: NetworkProblem, arms: Sequence[int], arm: int, n_grid: int = 100
) -> tuple[list[pd.DataFrame], pd.DataFrame]:
    """Return what a picture of one arm's interval needs after pulls of `arms`: layers and intervals.

    Layers 2 to m of a chain: a frame z, low, high (the envelope's bounds), raw_low, raw_high (mean +- B sd) on the
    grid. Intervals: one row per layer and kind (`grid`, `no envelope`, `outward`) with low, high and the true output.
    """
    layers, rows = [], []
    kinds: dict[str, dict[str, Any]] = {"grid": {}, "no envelope": {"envelope": False}, "outward": {"mode": "outward"}}
    for kind, settings in kinds.items():
        sets = problem.model.structure.sets(problem.model, n_grid=n_grid, **settings)
        for pulled in arms:
            sets.update(pulled, problem.pull(pulled, np.random.default_rng(0)))
        for i, ((low, high), output) in enumerate(zip(sets.regions(), problem.outputs, strict=True)):
            its = {"low": low[arm, 0], "high": high[arm, 0], "true": output[arm, 0]}
            rows.append({"layer": i + 1, "kind": kind, **its})
        if kind == "grid":
            layers = [sets.on_grid(i) for i in range(1, problem.model.depth)]
    return layers, pd.DataFrame(rows)
