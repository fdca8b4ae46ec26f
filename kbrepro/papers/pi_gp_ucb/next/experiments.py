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
from kbrepro.papers.pi_gp_ucb import measures, textbook
from kbrepro.papers.pi_gp_ucb.partition import UNIONS, PartitionedUCB
from kbrepro.papers.pi_gp_ucb.problems import SURFACES, Bumps, Surface
from kbrepro.papers.pi_gp_ucb.widths import Srinivas2010Norm
from kbrepro.trials.simulation import Experiment, Planned

NU = 1.5
#: A kind of width, made with delta.
Width = Callable[[float], Chowdhury2017 | AbbasiYadkori2011]
DIMENSIONS = (1, 2, 3)
#: The usual convention of the lengthscale, and eq. 2 read literally.
KERNELS = {"usual": Matern(0.2, nu=NU), "eq. 2": Matern(0.2 * np.sqrt(3), nu=NU)}
#: Numbers of pulls of the counterexample to Lemma 10.
NUMBERS = [50, 100, 200, 500, 1000]
#: Cells that split by their gain: the share of log T that is their limit, half of which is the gain
#: of T pulls of one arm.
GAIN_LIMITS = {0.5: "half of log T", 1.0: "log T", 0.25: "a quarter of log T"}
#: How the labels of Fig. 2 end that play T = 1,000: the paper names no T for it.
SHORT = "T = 1,000"
#: The last round that is replayed of a form of the posterior, by form and d, and then by rule. What
#: takes hours, or gigabytes, to the end ends before it.
REPLAYED = {
    ("grown", 1): {"IGP-UCB": 10_000, "π-GP-UCB": 10_000},
    ("grown", 2): {"IGP-UCB": 10_000, "π-GP-UCB": 10_000},
    ("grown", 3): {"IGP-UCB": 2_000, "π-GP-UCB": 10_000},
    ("refitted", 1): {"IGP-UCB": 1_000, "π-GP-UCB": 3_000},
    ("refitted", 2): {"IGP-UCB": 1_000, "π-GP-UCB": 10_000},
    ("refitted", 3): {"IGP-UCB": 500, "π-GP-UCB": 10_000},
}


def functions(d: int, kernel: str = "usual", alpha: float = 1.0) -> Bumps:
    """Return the functions of Table 1 in d dimensions, on a grid of 30 points a side."""
    return Bumps(KERNELS[kernel], d, 30, noise_variance=alpha, noise_bound=1.0, noise_scale=1.0)


def rules(proved: Width, delta: float, **settings: Width) -> Rules:
    """Return IGP-UCB with a proved width, and π-GP-UCB; their band fails with probability delta.

    IGP-UCB has the exact posterior that takes least time: rows or the covariance of all arms in one
    and two dimensions, their lattice in three.
    """
    return {
        "IGP-UCB": partial(UCB, width=proved(delta)),
        "π-GP-UCB": partial(PartitionedUCB, delta=delta, nu=NU, **settings),
    }


def experiments(
    seed: int,
    horizon: int,
    horizon_d3: int,
    trials: int,
    trials_d3: int,
    trials_more: int,
    trials_timed: int,
    coverage_trials: int,
    replayed_trials: int,
    replayed_rounds: int,
    delta: float,
) -> Plan:
    """Return what is played, by label, from the notebook's parameters."""
    n_of = {1: trials, 2: trials, 3: trials_d3}
    rounds_of = {1: horizon, 2: horizon, 3: horizon_d3}
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
        rounds = rounds_of[source.d if isinstance(source, Bumps) else 2]
        experiment = Experiment(source, policies, rounds)
        plan[label] = Planned(experiment, n, seed, block=block, arms=arms)

    for d in DIMENSIONS:
        play(f"Table 1, d = {d}", functions(d), published, n_of[d], arms=True)
    for d in (1, 2):
        play(f"Table 1, eq. 2, d = {d}", functions(d, "eq. 2"), published, trials)
        classic = {"GP-UCB": partial(UCB, width=Srinivas2010Norm(delta))}
        play(f"GP-UCB, d = {d}", functions(d), classic, trials_more)

    for name in SURFACES:
        surface = Surface(name, KERNELS["usual"], 30, 1.0, 0.1, 1.0)
        label = f"Fig. 2, usual, {name}"
        play(label, surface, published, trials_more, block=3)
        brief = Experiment(surface, published, min(1_000, horizon))
        plan[f"{label}, {SHORT}"] = Planned(brief, trials_more, seed, block=3, arms=False)

    grown = {d: measures.growing_variance(rounds_of[d], d, NU) for d in DIMENSIONS}
    ones = dict.fromkeys(DIMENSIONS, 1.0)
    changes: dict[str, tuple[Width, dict[int, float]]] = {
        "tighter width": (Flynn2024, ones),
        "lambda grows": (AbbasiYadkori2011, grown),
        "both": (Flynn2024, grown),
    }
    for change, (width, alpha) in changes.items():
        policies = rules(width, delta, width=width)
        for d in (1, 2):
            play(f"{change}, d = {d}", functions(d, alpha=alpha[d]), policies, trials)
    # in three dimensions what is asked of: IGP-UCB takes minutes a run
    tighter = rules(Flynn2024, delta, width=Flynn2024)
    partitioned = {"π-GP-UCB": tighter["π-GP-UCB"]}
    play("tighter width, d = 3", functions(3), partitioned, trials_d3)
    play("both, d = 3", functions(3, alpha=grown[3]), tighter, trials_d3)

    thesis = partial(PartitionedUCB, delta=delta, nu=NU, variant="thesis")
    play("thesis", functions(2), {"π-GP-UCB, thesis": thesis}, trials)
    for d in (1, 2):
        by_gain = {}
        for share, name in GAIN_LIMITS.items():
            limit = share * float(np.log(horizon))
            by_gain[name] = partial(PartitionedUCB, delta=delta, nu=NU, split_gain=limit)
        play(f"split by gain, d = {d}", functions(d), by_gain, trials_more)

    for d, union in product((1, 2), UNIONS):
        rule = {"π-GP-UCB": partial(PartitionedUCB, delta=delta, nu=NU, union=union)}
        watched = Experiment(functions(d, alpha=1 + 2 / horizon), rule, horizon)
        job = partial(measures.band_run, watched)
        plan[f"Lemma 5, d = {d}, {union}"] = Planned(job, coverage_trials, seed, block=10)
    lemma_10 = partial(measures.counterexample, KERNELS["usual"], NUMBERS, delta)
    plan["Lemma 10"] = Planned(lemma_10, coverage_trials, seed)

    # seconds: last, and each label in one worker
    for d, form in product(DIMENSIONS, textbook.FORMS):
        table_1 = Experiment(functions(d), published, rounds_of[d])
        until = {}
        for rule, most in REPLAYED[form, d].items():
            until[rule] = min(most, replayed_rounds, rounds_of[d])
        job = partial(textbook.replays, table_1, form, NU, until)
        plan[f"{form}, d = {d}"] = Planned(job, replayed_trials, seed, block=replayed_trials)
    timed = {1: trials_more, 2: trials_more, 3: trials_timed}
    for d, n in timed.items():
        play(f"over the arms, d = {d}", functions(d), published, n, block=n, arms=True)
    lattice = {"IGP-UCB": partial(UCB, width=Chowdhury2017(delta), form=LatticePosterior)}
    for d in (1, 2):
        label = f"over the lattice, d = {d}"
        play(label, functions(d), lattice, trials_timed, block=trials_timed, arms=True)
    return plan
