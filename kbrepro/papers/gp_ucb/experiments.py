"""What the notebook on GP-UCB plays, as data."""

from functools import partial

import numpy as np

from kbrepro.bandits.confidence import Srinivas2010
from kbrepro.bandits.kernels import Linear, Matern, SquaredExponential, grid
from kbrepro.bandits.policies import (
    PIMS,
    UCB,
    ExpectedImprovement,
    MeanOnly,
    ProbabilityOfImprovement,
    VarianceOnly,
)
from kbrepro.bandits.problems import GPDraw
from kbrepro.papers import Load, Plan, Rules
from kbrepro.papers.gp_ucb import gain, widths
from kbrepro.papers.gp_ucb.measures import sensor_problems
from kbrepro.papers.gp_ucb.since import GPEIMS, IRGPUCB
from kbrepro.trials.simulation import Experiment, Planned
from kbrepro.typing import Array, Kernel

NOISE_VARIANCE = 0.025
KERNELS: dict[str, Kernel] = {
    "linear": Linear(),
    "squared exponential": SquaredExponential(0.5),
    "matern": Matern(0.5, nu=2.5),
}


def rules(delta: float, prior_sd: float) -> Rules:
    """Return the rules of Fig. 5 and three since the paper; margins are shares of `prior_sd`."""
    MPI = partial(ProbabilityOfImprovement, margin=0.1 * prior_sd)
    margins = {f"MPI, margin {m:g}": partial(MPI, margin=m * prior_sd) for m in (0.0, 0.01, 0.03)}
    return {
        "GP-UCB": partial(UCB, width=Srinivas2010(delta)),
        "GP-UCB/5": partial(UCB, width=Srinivas2010(delta, beta_scale=0.2)),
        "EI": ExpectedImprovement,
        "MPI": MPI,
        "mean only": MeanOnly,
        "variance only": VarianceOnly,
        **margins,
        "EI, noisy incumbent": partial(ExpectedImprovement, incumbent="noisy_reward"),
        "MPI, noisy incumbent": partial(MPI, incumbent="noisy_reward"),
        "IRGP-UCB": IRGPUCB,
        "PIMS": PIMS,
        "GP-EIMS": GPEIMS,
    }


def points_for(kernel: str, d: int, n: int, seed: int) -> Array:
    """Return the arms behind the growth of gain and regret: a grid, or 200 unit vectors."""
    return gain.unit_vectors(200, d, seed) if kernel == "linear" else gain.grid_of(n, d)


def growing(seed: int, points: int, horizon: int) -> dict[tuple[str, int], gain.Case]:
    """Return the cases of the growth of the gain."""
    cases: dict[tuple[str, int], gain.Case] = {}

    def add(name: str, d: int, n: int, pulls: int) -> None:
        cases[name, d] = KERNELS[name], points_for(name, d, n, seed), NOISE_VARIANCE, pulls

    for d in (1, 2, 4, 8):
        add("linear", d, 200, horizon)
    few = min(points, 1000)
    for d, n in ((1, few), (2, points), (3, points)):
        add("squared exponential", d, n, 10 * horizon if d == 1 else horizon)
        add("matern", d, n, horizon)
    return cases


def experiments(
    seed: int,
    trials: int,
    on_par_trials: int,
    horizon: int,
    n_arms: int,
    every: int,
    theorem_runs: int,
    growth_horizon: int,
    growth_points: int,
    delta: float,
    load: Load,
) -> Plan:
    """Return what is played, by label, from the notebook's parameters."""
    plan = {}
    draws = GPDraw(SquaredExponential(0.2), grid(n_arms), noise_variance=NOISE_VARIANCE)
    theorems = widths.theorems(delta, NOISE_VARIANCE, n_arms, horizon)
    by_name = rules(delta, prior_sd=1.0)
    proved = {"GP-UCB, Theorem 2": partial(UCB, width=theorems["Theorem 2"].width)}
    plan["Fig. 5a"] = Planned(Experiment(draws, by_name | proved, horizon), trials, seed)
    three = {name: by_name[name] for name in ("GP-UCB", "GP-UCB/5", "EI")}
    many = Experiment(draws, three, horizon)
    plan["three rules, many"] = Planned(many, on_par_trials, seed, trials, block=5, arms=False)

    lab = load("temperature")
    thirds = np.array_split(lab.readings, 3)
    for i, third in enumerate(("first third", "second third", "last third")):
        train = np.concatenate([*thirds[:i], *thirds[i + 1 :]])
        source, prior_sd = sensor_problems(train, thirds[i][::every], noise_variance=0.5)
        policies = rules(delta, prior_sd)
        sensors = Experiment(source, policies, len(lab.sensors), measured=lab.checksum)
        plan[f"Fig. 5b, {third}"] = Planned(sensors, len(source.rewards), seed, block=10)

    for theorem, asked in theorems.items():
        rule = {"GP-UCB": partial(UCB, width=asked.width)}
        banded = Experiment(asked.source, rule, horizon, record_band=True)
        plan[theorem] = Planned(banded, theorem_runs, seed)

    cases = [*growing(seed, growth_points, growth_horizon).values()]
    job = partial(gain.gain_of_case, cases)
    plan["growth of the gain"] = Planned(job, len(cases), seed)
    usual = {"GP-UCB": by_name["GP-UCB"]}
    for name, kernel in KERNELS.items():
        for d in (1, 2, 3):
            source = GPDraw(kernel, points_for(name, d, n_arms, seed), NOISE_VARIANCE)
            grown = Experiment(source, usual, horizon)
            plan[f"growth, {name}, d = {d}"] = Planned(grown, theorem_runs, seed, block=5)
    return plan
