"""What the notebook on GP-UCB plays, as data."""

import math
from collections.abc import Callable
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
from kbrepro.bandits.problems import GPDraw, Rows
from kbrepro.data import SensorData, sets
from kbrepro.data.store import on_days
from kbrepro.papers import Load, Plan, Rules
from kbrepro.papers.gp_ucb import gain, widths
from kbrepro.papers.gp_ucb.measures import sensor_problems
from kbrepro.papers.gp_ucb.policy import MeanOnlyVaried, MPIVaried
from kbrepro.papers.gp_ucb.since import GPEIMS, IRGPUCB
from kbrepro.trials.simulation import Experiment, Planned, regrets_at
from kbrepro.typing import Array, Kernel

NOISE_VARIANCE = 0.025
#: Fig. 5a: 5 % of the prior variance, which is 1.
NOISE_SHARE = 0.05
#: Of temperature; 5 % of its variance is the other reading.
SENSOR_NOISE = 0.5
KERNELS: dict[str, Kernel] = {
    "linear": Linear(),
    "squared exponential": SquaredExponential(0.5),
    "matern": Matern(0.5, nu=2.5),
}
#: Margins of MPI in prior standard deviations, beside 0.1.
MARGINS = (0.03, 0.01, 0.0)
THIRDS = ("first third", "second third", "last third")
#: Five days each, from the first day of the deployment on.
WINDOWS = (
    "28 February to 3 March",
    "4 to 8 March",
    "9 to 13 March",
    "14 to 18 March",
    "19 to 23 March",
    "24 to 28 March",
)
#: Of Fig. 5, with every choice at its main value, and GP-UCB as in Theorem 1.
SHOWN = ("GP-UCB", "GP-UCB/5", "EI", "MPI", "mean only", "variance only")
#: Those of them that all interpretations share.
MAIN = SHOWN[1:]


def rules(delta: float, prior_sd: float) -> Rules:
    """Return the rules of Fig. 5, the incumbent the largest posterior mean; margins are shares of
    `prior_sd`.
    """
    MPI = partial(ProbabilityOfImprovement, margin=0.1 * prior_sd)
    margins = {f"MPI, margin {m:g}": partial(MPI, margin=m * prior_sd) for m in MARGINS}
    return {
        "GP-UCB": partial(UCB, width=Srinivas2010(delta)),
        "GP-UCB/5": partial(UCB, width=Srinivas2010(delta, beta_scale=0.2)),
        "EI": ExpectedImprovement,
        "MPI": MPI,
        "mean only": MeanOnly,
        "variance only": VarianceOnly,
        **margins,
    }


def noisy_rules(prior_sd: float) -> Rules:
    """Return EI and MPI, the incumbent the largest noisy reward."""
    noisy: Rules = {"EI, noisy incumbent": partial(ExpectedImprovement, incumbent="noisy_reward")}
    MPI = partial(ProbabilityOfImprovement, incumbent="noisy_reward")
    noisy["MPI, noisy incumbent"] = partial(MPI, margin=0.1 * prior_sd)
    for m in MARGINS:
        noisy[f"MPI, noisy incumbent, margin {m:g}"] = partial(MPI, margin=m * prior_sd)
    return noisy


def varied_first() -> Rules:
    """Return the rules whose first index ties, from the arm of the largest prior variance on."""
    return {
        "mean only, largest variance first": MeanOnlyVaried,
        "MPI, margin 0, largest variance first": partial(MPIVaried, margin=0.0),
    }


def later_rules() -> Rules:
    """Return three rules since the paper."""
    return {"IRGP-UCB": IRGPUCB, "PIMS": PIMS, "GP-EIMS": GPEIMS}


def only(names: tuple[str, ...], policies: Rules) -> Rules:
    """Return the policies of these names."""
    return {name: policies[name] for name in names}


def on_functions(
    n_arms: int, horizon: int, trials: int, few_trials: int, delta: float, seed: int
) -> Plan:
    """Return the labels of Fig. 5a: its rules, and on `few_trials` functions what else is asked; on
    twice as many the kernel as printed.
    """
    usual = GPDraw(SquaredExponential(0.2), grid(n_arms), NOISE_VARIANCE)
    # as printed in Section 5.2: exp(-r^2 / 2 l)
    printed = GPDraw(SquaredExponential(math.sqrt(0.2)), grid(n_arms), NOISE_VARIANCE)
    noisier = GPDraw(SquaredExponential(0.2), grid(n_arms), NOISE_SHARE)
    policies, noisy = rules(delta, prior_sd=1.0), noisy_rules(prior_sd=1.0)
    theorem_2 = widths.theorems(delta, NOISE_VARIANCE, n_arms, horizon)["Theorem 2"]
    more: Rules = {
        "GP-UCB/10": partial(UCB, width=Srinivas2010(delta, beta_scale=0.1)),
        "GP-UCB, Theorem 2": partial(UCB, width=theorem_2.width),
        **later_rules(),
    }
    two = ("EI, noisy incumbent", "MPI, noisy incumbent")
    asked: dict[str, tuple[GPDraw, Rules, int]] = {
        "Fig. 5a": (usual, policies, trials),
        "Fig. 5a, noisy incumbent": (usual, noisy, few_trials),
        "Fig. 5a, other rules": (usual, only(("GP-UCB/5", "EI"), policies) | more, few_trials),
        "Fig. 5a, noise 5 %": (noisier, policies, few_trials),
        "Fig. 5a, noise 5 %, noisy incumbent": (noisier, only(two, noisy), few_trials),
        "Fig. 5a, kernel as printed": (printed, only(SHOWN, policies), 2 * few_trials),
    }
    plan = {}
    for label, (source, players, n) in asked.items():
        played = Experiment(source, players, horizon)
        arms = label in ("Fig. 5a", "Fig. 5a, other rules")
        plan[label] = Planned(played, n, seed, arms=arms)
    return plan


def on_sensors(
    lab: SensorData,
    means: SensorData,
    plays: int,
    window_plays: int,
    every: int,
    other_every: int,
    delta: float,
    seed: int,
) -> Plan:
    """Return the labels of Fig. 5b: minutes of the lab, and half-hour means of other days.

    Of minutes one row in `every` is tested, under other choices one in `other_every`.
    """
    plan: Plan = {}
    horizon = len(lab.sensors)

    def add(
        label: str,
        made: tuple[Rows, float],
        choose: Callable[[float], Rules],
        data: SensorData,
        curves: bool = False,
    ) -> None:
        source, prior_sd = made
        played = Experiment(source, choose(prior_sd), horizon, measured=data.checksum)
        what = played if curves else partial(regrets_at, played, [horizon])
        plan[label] = Planned(what, len(source.rewards), seed, block=10)

    def main(prior_sd: float) -> Rules:
        return only(MAIN, rules(delta, prior_sd))

    def shown(prior_sd: float) -> Rules:
        return only(SHOWN, rules(delta, prior_sd))

    def all_choices(prior_sd: float) -> Rules:
        return rules(delta, prior_sd) | noisy_rules(prior_sd) | varied_first()

    def single_choices(prior_sd: float) -> Rules:
        noisy = only(("EI, noisy incumbent", "MPI, noisy incumbent"), noisy_rules(prior_sd))
        first = only(("mean only, largest variance first",), varied_first())
        return rules(delta, prior_sd) | noisy | first

    def with_later(prior_sd: float) -> Rules:
        return shown(prior_sd) | later_rules()

    thirds = np.array_split(lab.readings, 3)
    for i, third in enumerate(THIRDS):
        train = np.concatenate([*thirds[:i], *thirds[i + 1 :]])
        label, others = f"Fig. 5b, {third}", thirds[i][::other_every]
        if third != "last third":
            add(label, sensor_problems(train, others, SENSOR_NOISE), shown, lab, curves=True)
            continue
        test = thirds[i][::every]
        add(label, sensor_problems(train, test, SENSOR_NOISE, plays=plays), all_choices, lab)
        once = sensor_problems(train, others, SENSOR_NOISE)
        add(f"{label}, curves", once, with_later, lab, curves=True)
        share = sensor_problems(train, others, None, plays=2)
        add(f"{label}, noise 5 %", share, single_choices, lab)
        uncentred = sensor_problems(train, others, SENSOR_NOISE, centred=False)
        add(f"{label}, mean not removed", uncentred, main, lab)

    covered = np.isin(means.sensors, sets.COVERED)
    for i, window in enumerate(WINDOWS):
        readings = on_days(means, sets.CALENDAR[5 * i : 5 * i + 5]).readings
        cut = round(len(readings) * 2 / 3)
        label = f"Fig. 5b, half hours, {window}"
        for motes, columns in (("", covered), (", 41 motes", np.ones_like(covered))):
            train, test = readings[:cut, columns], readings[cut:, columns]
            made = sensor_problems(train, test, SENSOR_NOISE, plays=window_plays)
            add(label + motes, made, main if motes else single_choices, means)
            if not motes:
                share = sensor_problems(train, test, None, plays=window_plays)
                add(f"{label}, noise 5 %", share, main, means)
    return plan


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
    few_trials: int,
    plays: int,
    window_plays: int,
    every: int,
    other_every: int,
    horizon: int,
    n_arms: int,
    theorem_runs: int,
    growth_horizon: int,
    growth_points: int,
    delta: float,
    load: Load,
) -> Plan:
    """Return what is played, by label, from the notebook's parameters."""
    plan = on_functions(n_arms, horizon, trials, few_trials, delta, seed)
    lab = load("temperature")
    means = load("half hours", sets.CALENDAR[: 5 * len(WINDOWS)], sets.HALF_HOURLY)
    plan |= on_sensors(lab, means, plays, window_plays, every, other_every, delta, seed)

    theorems = widths.theorems(delta, NOISE_VARIANCE, n_arms, horizon)
    for theorem, asked in theorems.items():
        rule = {"GP-UCB": partial(UCB, width=asked.width)}
        banded = Experiment(asked.source, rule, horizon, record_band=True)
        plan[theorem] = Planned(banded, theorem_runs, seed)

    cases = [*growing(seed, growth_points, growth_horizon).values()]
    job = partial(gain.gain_of_case, cases)
    plan["growth of the gain"] = Planned(job, len(cases), seed)
    usual = only(("GP-UCB",), rules(delta, prior_sd=1.0))
    for name, kernel in KERNELS.items():
        for d in (1, 2, 3):
            source = GPDraw(kernel, points_for(name, d, n_arms, seed), NOISE_VARIANCE)
            grown = Experiment(source, usual, horizon)
            plan[f"growth, {name}, d = {d}"] = Planned(grown, theorem_runs, seed, block=5)
    return plan
