"""What the notebook on IGP-UCB and GP-TS plays, as data."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from kbrepro.bandits.confidence import AbbasiYadkori2011, Chowdhury2017, Flynn2024, Srinivas2010
from kbrepro.bandits.information import GainByFormula
from kbrepro.bandits.kernels import Linear, Matern, SquaredExponential, grid
from kbrepro.bandits.policies import UCB, MeanOnly, ThompsonSampling, VarianceOnly
from kbrepro.bandits.policies.base import Policy
from kbrepro.bandits.problems import Model, Rows
from kbrepro.data import SensorData, sets
from kbrepro.data.store import on_days, train_test
from kbrepro.papers import Load, Plan, Rules, Source
from kbrepro.papers.igp_ucb import measures
from kbrepro.papers.igp_ucb.measures import GIVEN, OURS, POOLS
from kbrepro.papers.igp_ucb.noise import RandomArms, noise_runs
from kbrepro.papers.igp_ucb.problems import (
    NORMS,
    OnRandomArms,
    OtherModel,
    PosteriorMean,
    PriorDraw,
    hartmann3,
    rkhs_norm,
    rosenbrock,
    sensor_rows,
)
from kbrepro.papers.igp_ucb.widths import Original
from kbrepro.trials.simulation import Experiment, Planned, regrets_at
from kbrepro.typing import Array, Kernel

SE = SquaredExponential(0.2)
MATERN = Matern(0.2, nu=2.5)
#: The rate of the largest gain of each kernel, without its constant; 1 on sensors.
GAINS = {SE: GainByFormula("squared exponential"), MATERN: GainByFormula("matern")}
CONSTANT = GainByFormula("constant")
#: Rules that play with wrong kernels.
PLAYERS = (*POOLS[", noisy incumbent"], *POOLS[", margin 0.1"][3:])
#: Dimensions in which GP-TS is compared with IGP-UCB under one kernel.
DIMENSIONS = (1, 2, 3, 4)
#: Trials that are played together.
BLOCK = 25
#: Rounds after which R_t is kept on sensors, beside the last; there Fig. 4 might end, too.
SENSOR_ROUNDS = (100, 305)
#: Labels whose curves Fig. 4 shows.
FIG_4 = ("temperature", "light")
#: Rules that play where days and scaling of temperature are both others, and so the incumbent not.
ONE_INCUMBENT = (*POOLS[", noisy incumbent"], "IGP-UCB, gain of the pulls")


def paper_rules(delta: float, gain: GainByFormula) -> Rules:
    """Return GP-UCB and the paper's own two; the first arm of a trial is random."""
    thompson = Chowdhury2017(delta / 2, gain)
    return {
        "GP-UCB": partial(UCB, width=Original(delta, gain), random_opening=True),
        "IGP-UCB": partial(UCB, width=Chowdhury2017(delta, gain), random_opening=True),
        "GP-TS": partial(ThompsonSampling, width=thompson, random_opening=True),
    }


def rules(delta: float, gain: GainByFormula, prior_sd: float = 1.0) -> Rules:
    """Return the paper's rules, EI and PI in each variant, and IGP-UCB with two widths since."""
    pulls = AbbasiYadkori2011(delta)
    since: Rules = {
        "IGP-UCB, gain of the pulls": partial(UCB, width=pulls, random_opening=True),
        "IGP-UCB, tighter": partial(UCB, width=Flynn2024(delta), random_opening=True),
    }
    return paper_rules(delta, gain) | measures.improvement_rules(prior_sd) | since


def panels() -> dict[str, tuple[Source, GainByFormula]]:
    """Return the source and the formula of the gain of each panel of Figs. 1 to 3."""
    by_label: dict[str, tuple[Source, GainByFormula]] = {}
    for title, kernel in (("(a) SE", SE), ("(b) Matérn", MATERN)):
        by_label[f"Fig. 1 {title}"] = PosteriorMean(kernel, n_arms=100), GAINS[kernel]
        by_label[f"Fig. 2 {title}"] = PriorDraw(kernel, n_arms=100), GAINS[kernel]
    for title, function, d in (("(a) Rosenbrock", rosenbrock, 2), ("(b) Hartmann-3", hartmann3, 3)):
        arms = OnRandomArms(SE, 100 * d, d, function=function)
        source = OtherModel(arms, norm_of=partial(rkhs_norm, kind="smoothed"))
        by_label[f"Fig. 3 {title}"] = source, replace(GAINS[SE], d=d)
    return by_label


def on_sensors(
    name: str,
    train: Array,
    test: Array,
    delta: float,
    kinds: Sequence[str] = NORMS[1:],
    standardised: bool = False,
) -> dict[str, tuple[Rows, Rules]]:
    """Return source and rules of each label on the rows of `test` (n, A), as in `sensor_rows`.

    All rules under the smoothed norm, and the paper's own under other `kinds` of norm. For several
    plays of a row repeat it: every play is a trial, with noise and ties of its own.
    """
    label = f"{name}, standardised" if standardised else name
    source = sensor_rows(train, test, standardised=standardised)
    prior_sd = np.sqrt(source.covariance.diagonal().mean())
    by_label = {label: (source, rules(delta, CONSTANT, prior_sd))}
    for kind in kinds:
        other = sensor_rows(train, test, kind, standardised=standardised)
        by_label[f"{label}, B {kind}"] = other, paper_rules(delta, CONSTANT)
    return by_label


def temperature_days(
    lab: SensorData, means: SensorData, substitute_days: list[str], test_days: list[str]
) -> dict[str, tuple[Array, Array]]:
    """Return for each label of temperature the readings to learn from and the rows to test on.

    `lab` has minutes of days after the paper's training days and of its test days, `means` half
    hours of its training days. All rows to test on are minutes from 8 to 9 am.
    """
    tested = on_days(lab, test_days, 8).readings
    shared = np.isin(lab.sensors, means.sensors)
    morning = on_days(means, sorted(set(means.times.strftime("%Y-%m-%d"))), 8)
    later = on_days(lab, substitute_days, 8)
    return {
        "temperature": (means.readings, tested[:, shared]),
        "temperature, 8 to 9 am": (morning.readings, tested[:, shared]),
        "temperature, substitute days": (later.readings, tested),
    }


def noise_kernels() -> dict[str, tuple[Kernel, Array]]:
    """Return kernels and arms of the runs on pure noise."""
    return {
        "SE": (SE, grid(50)),
        "Matérn": (MATERN, grid(50)),
        "linear": (Linear(0.5), grid(8, 2, low=-1.0)),
    }


def experiments(
    seed: int,
    trials: int,
    horizon: int,
    rows: int,
    sensor_horizon: int,
    noise_trials: int,
    coverage_trials: int,
    theorem_horizon: int,
    kernel_trials: int,
    kernel_horizon: int,
    delta: float,
    plays: int,
    train_days: list[str],
    substitute_days: list[str],
    test_days: list[str],
    arms_trials: int,
    load: Load,
) -> Plan:
    """Return what is played, by label, from the notebook's parameters."""
    plan = {}
    figures = panels()
    for label, (source, gain) in figures.items():
        panel = Experiment(source, rules(delta, gain), horizon)
        plan[label] = Planned(panel, trials, seed, block=BLOCK, arms=False)
        by_printed = OtherModel(source, norm_of=partial(rkhs_norm, kind="printed"))
        printed = Experiment(by_printed, paper_rules(delta, gain), horizon)
        job = partial(regrets_at, printed, [horizon])
        plan[f"{label}, B printed"] = Planned(job, trials, seed, block=BLOCK)

    formula = {type(kernel): gain for kernel, gain in GAINS.items()}
    for title, kernels in GIVEN.items():
        own, _ = figures[f"Fig. 1 {title}"]
        for kernel in kernels:
            policies = rules(delta, formula[type(kernel)])
            players = {rule: policies[rule] for rule in PLAYERS}
            misled = Experiment(OtherModel(own, kernel=kernel), players, kernel_horizon)
            label = f"Fig. 1 {title} told {kernel}"
            plan[label] = Planned(misled, kernel_trials, seed, block=BLOCK, arms=False)

    own, gain = figures["Fig. 1 (a) SE"]
    both = {rule: rules(delta, gain)[rule] for rule in ("EI", "EI, noisy incumbent")}
    pulls = Experiment(own, both, horizon)
    plan["Fig. 1 (a) SE, arms of EI"] = Planned(pulls, arms_trials, seed)

    for d in DIMENSIONS:
        gain = replace(GAINS[SE], d=d)
        ucb_and_ts = {rule: paper_rules(delta, gain)[rule] for rule in OURS[1:]}
        grown = Experiment(PosteriorMean(SE, 100 * d, d), ucb_and_ts, kernel_horizon)
        job = partial(regrets_at, grown, [kernel_horizon])
        plan[f"SE, d = {d}"] = Planned(job, kernel_trials, seed, block=BLOCK)

    lab = load("temperature", [*substitute_days, *test_days], sets.REPORTING)
    means = load("half hours", train_days, sets.HALF_HOURLY)
    light = load("light")
    both_temperatures = " ".join(filter(None, (means.checksum, lab.checksum)))
    days = temperature_days(lab, means, substitute_days, test_days)
    by_name = {name: (readings, both_temperatures) for name, readings in days.items()}
    by_name["light"] = train_test(light, 601 / 793), light.checksum
    for name, ((train, tested), checksum) in by_name.items():
        test = np.repeat(tested[:rows], plays, axis=0)
        by_label = on_sensors(name, train, test, delta)
        # days are combined with one other choice, not with two
        kinds = NORMS[1:] if name in FIG_4 else ()
        by_label |= on_sensors(name, train, test, delta, kinds, standardised=True)
        for label, (source, policies) in by_label.items():
            if name not in FIG_4 and label.endswith("standardised"):
                policies = {rule: policies[rule] for rule in ONE_INCUMBENT}
            elif label != "temperature":
                policies = {rule: policies[rule] for rule in policies if "tighter" not in rule}
            measured = Experiment(source, policies, sensor_horizon, measured=checksum)
            job = partial(measures.totals_at, measured, [*SENSOR_ROUNDS, sensor_horizon])
            what = measured if label in FIG_4 else job
            plan[label] = Planned(what, len(source.rewards), seed, block=BLOCK)

    choosing: dict[str, Callable[[Model, int], Policy]] = {
        "at random": RandomArms,
        "largest variance": VarianceOnly,
        "upper bound": partial(UCB, width=Srinivas2010(delta)),
        "largest mean": MeanOnly,
    }
    how = partial(noise_runs, noise_scale=1.0, policies=choosing, horizon=theorem_horizon)
    for name, (kernel, points) in noise_kernels().items():
        job = partial(how, kernel, points)
        plan[f"Theorem 1, {name}"] = Planned(job, noise_trials, seed, block=20)
    ucb = {"IGP-UCB": partial(UCB, width=Chowdhury2017(delta), random_opening=True)}
    for name, source in measures.proved(theorem_horizon).items():
        banded = Experiment(source, ucb, theorem_horizon, record_band=True)
        plan[f"{name}, proved: λ = 1 + 2/T"] = Planned(banded, coverage_trials, seed, block=5)
    return plan
