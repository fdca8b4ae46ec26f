"""What the notebook on π-GP-UCB plays, as data."""

from collections.abc import Callable
from functools import partial
from itertools import product

import numpy as np

from kbrepro.bandits.confidence import AbbasiYadkori2011, Chowdhury2017, Flynn2024
from kbrepro.bandits.kernels import Matern
from kbrepro.bandits.policies import UCB
from kbrepro.bandits.posterior import LatticePosterior
from kbrepro.papers import Plan, Rules
from kbrepro.papers.pi_gp_ucb import measures
from kbrepro.papers.pi_gp_ucb.partition import UNIONS, PartitionedUCB
from kbrepro.papers.pi_gp_ucb.problems import SURFACES, Bumps, Surface
from kbrepro.trials.simulation import Experiment, Planned

NU = 1.5
#: A kind of width, made with delta.
Width = Callable[[float], Chowdhury2017 | AbbasiYadkori2011]
DIMENSIONS = (1, 2, 3)
#: The usual convention of the lengthscale, and eq. 2 read literally.
KERNELS = {"usual": Matern(0.2, nu=NU), "eq. 2": Matern(0.2 * np.sqrt(3), nu=NU)}
#: Numbers of pulls of the counterexample to Lemma 10.
NUMBERS = [50, 100, 200, 500, 1000]


def functions(d: int, kernel: str = "usual", alpha: float = 1.0) -> Bumps:
    """Return the functions of Table 1 in d dimensions, on a grid of 30 points a side."""
    return Bumps(KERNELS[kernel], d, 30, noise_variance=alpha, noise_bound=1.0, noise_scale=1.0)


def rules(proved: Width, delta: float, **settings: Width) -> Rules:
    """Return IGP-UCB with a proved width, and π-GP-UCB; their band fails with probability delta."""
    return {
        "IGP-UCB": partial(UCB, width=proved(delta), form=LatticePosterior),
        "π-GP-UCB": partial(PartitionedUCB, delta=delta, nu=NU, **settings),
    }


def experiments(
    seed: int,
    horizon: int,
    trials: int,
    trials_d3: int,
    trials_more: int,
    coverage_trials: int,
    delta: float,
) -> Plan:
    """Return what is played, by label, from the notebook's parameters."""
    n_of = {1: trials, 2: trials, 3: trials_d3}
    published = rules(Chowdhury2017, delta)
    plan = {}

    def play(
        label: str,
        source: Bumps | Surface,
        policies: Rules,
        n: int,
        block: int = 1,
        arms: bool = False,
    ) -> None:
        experiment = Experiment(source, policies, horizon)
        plan[label] = Planned(experiment, n, seed, block=block, arms=arms)

    for d in DIMENSIONS:
        play(f"Table 1, d = {d}", functions(d), published, n_of[d], arms=True)
    for d in (1, 2):
        play(f"Table 1, eq. 2, d = {d}", functions(d, "eq. 2"), published, trials)

    for name in SURFACES:
        surface = Surface(name, KERNELS["usual"], 30, 1.0, 0.1, 1.0)
        play(f"Fig. 2, usual, {name}", surface, published, trials_more, block=3)

    grown = {d: measures.growing_variance(horizon, d, NU) for d in DIMENSIONS}
    ones = dict.fromkeys(DIMENSIONS, 1.0)
    changes: dict[str, tuple[Width, dict[int, float]]] = {
        "tighter width": (Flynn2024, ones),
        "lambda grows": (AbbasiYadkori2011, grown),
        "both": (Flynn2024, grown),
    }
    for change, (width, alpha) in changes.items():
        policies = rules(width, delta, width=width)
        for d in DIMENSIONS:
            play(f"{change}, d = {d}", functions(d, alpha=alpha[d]), policies, n_of[d])

    thesis = partial(PartitionedUCB, delta=delta, nu=NU, variant="thesis")
    play("thesis", functions(2), {"π-GP-UCB, thesis": thesis}, trials)

    for d, union in product((1, 2), UNIONS):
        rule = {"π-GP-UCB": partial(PartitionedUCB, delta=delta, nu=NU, union=union)}
        watched = Experiment(functions(d, alpha=1 + 2 / horizon), rule, horizon)
        job = partial(measures.band_run, watched)
        plan[f"Lemma 5, d = {d}, {union}"] = Planned(job, coverage_trials, seed, block=10)
    lemma_10 = partial(measures.counterexample, KERNELS["usual"], NUMBERS, delta)
    plan["Lemma 10"] = Planned(lemma_10, coverage_trials, seed)
    return plan
