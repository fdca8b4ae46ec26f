"""What the notebook on GP-UCB plays, as data."""

import math
from dataclasses import replace
from functools import partial

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
from kbrepro.data import sets
from kbrepro.papers import Plan, Rules
from kbrepro.papers.gp_ucb import gain, widths
from kbrepro.papers.gp_ucb.measures import (
    HALF_HOURS,
    HALF_HOURS_OF_ALL,
    PARTS,
    TEMPERATURE,
    SensorRows,
)
from kbrepro.papers.gp_ucb.policy import MeanOnlyVaried, MPIVaried, in_prior_sds
from kbrepro.papers.gp_ucb.since import GPEIMS, IRGPUCB
from kbrepro.trials.simulation import Experiment, Planned, regrets_at
from kbrepro.typing import Array, Kernel

NOISE_VARIANCE = 0.025
#: Of the variance of functions, which is 1 in Fig. 5a, or of readings: "or 5 %".
NOISE_SHARE = 0.05
KERNELS: dict[str, Kernel] = {
    "linear": Linear(),
    "squared exponential": SquaredExponential(0.5),
    "matern": Matern(0.5, nu=2.5),
}
#: Margins of MPI in prior standard deviations, beside 0.1.
MARGINS = (0.03, 0.01, 0.0)
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


def rules(delta: float) -> Rules:
    """Return the rules of Fig. 5, the incumbent the largest posterior mean; margins are in prior
    standard deviations.
    """
    MPI = partial(in_prior_sds, rule=ProbabilityOfImprovement)
    return {
        "GP-UCB": partial(UCB, width=Srinivas2010(delta)),
        "GP-UCB/5": partial(UCB, width=Srinivas2010(delta, beta_scale=0.2)),
        "EI": ExpectedImprovement,
        "MPI": partial(MPI, margin=0.1),
        "mean only": MeanOnly,
        "variance only": VarianceOnly,
        **{f"MPI, margin {m:g}": partial(MPI, margin=m) for m in MARGINS},
    }


def noisy_rules() -> Rules:
    """Return EI and MPI, the incumbent the largest noisy reward."""
    MPI = partial(in_prior_sds, rule=ProbabilityOfImprovement, incumbent="noisy_reward")
    return {
        "EI, noisy incumbent": partial(ExpectedImprovement, incumbent="noisy_reward"),
        "MPI, noisy incumbent": partial(MPI, margin=0.1),
        **{f"MPI, noisy incumbent, margin {m:g}": partial(MPI, margin=m) for m in MARGINS},
    }


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
    policies, noisy = rules(delta), noisy_rules()
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
    plays: int, window_plays: int, every: int, other_every: int, delta: float, seed: int
) -> Plan:
    """Return the labels of Fig. 5b: minutes of the lab, and half-hour means of other days.

    Of minutes one row in `every` is tested, under other choices one in `other_every`.
    """
    policies, noisy, varied = rules(delta), noisy_rules(), varied_first()
    main, shown = only(MAIN, policies), only(SHOWN, policies)
    two = only(("EI, noisy incumbent", "MPI, noisy incumbent"), noisy)
    single_choices = policies | two | only(("mean only, largest variance first",), varied)
    plan: Plan = {}

    def add(label: str, source: SensorRows, players: Rules, curves: bool = False) -> None:
        # as many rounds as the paper has sensors, also where half hours of fewer can be had
        horizon = len(TEMPERATURE.motes)
        played = Experiment(source, players, horizon, measured=source.checksum)
        what = played if curves else partial(regrets_at, played, [horizon])
        plan[label] = Planned(what, source.trials, seed, block=10)

    *others, last = (replace(TEMPERATURE, part=part, every=other_every) for part in PARTS)
    for source in others:
        add(f"Fig. 5b, {source.part}", source, shown, curves=True)
    label = f"Fig. 5b, {last.part}"
    add(label, replace(last, every=every, plays=plays), policies | noisy | varied)
    add(f"{label}, curves", last, shown | later_rules(), curves=True)
    share = replace(last, plays=2, noise_share=NOISE_SHARE)
    add(f"{label}, noise 5 %", share, single_choices)
    add(f"{label}, mean not removed", replace(last, centred=False), main)

    for i, window in enumerate(WINDOWS):
        days = tuple(sets.CALENDAR[5 * i : 5 * i + 5])
        label = f"Fig. 5b, half hours, {window}"
        covered = replace(HALF_HOURS, within=days, plays=window_plays)
        add(label, covered, single_choices)
        add(f"{label}, noise 5 %", replace(covered, noise_share=NOISE_SHARE), main)
        add(f"{label}, 41 motes", replace(HALF_HOURS_OF_ALL, within=days, plays=window_plays), main)
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
) -> Plan:
    """Return what is played, by label, from the notebook's parameters."""
    plan = on_functions(n_arms, horizon, trials, few_trials, delta, seed)
    plan |= on_sensors(plays, window_plays, every, other_every, delta, seed)

    theorems = widths.theorems(delta, NOISE_VARIANCE, n_arms, horizon)
    for theorem, asked in theorems.items():
        rule = {"GP-UCB": partial(UCB, width=asked.width)}
        banded = Experiment(asked.source, rule, horizon, record_band=True)
        plan[theorem] = Planned(banded, theorem_runs, seed)

    cases = [*growing(seed, growth_points, growth_horizon).values()]
    job = partial(gain.gain_of_case, cases)
    plan["growth of the gain"] = Planned(job, len(cases), seed)
    usual = only(("GP-UCB",), rules(delta))
    for name, kernel in KERNELS.items():
        for d in (1, 2, 3):
            source = GPDraw(kernel, points_for(name, d, n_arms, seed), NOISE_VARIANCE)
            grown = Experiment(source, usual, horizon)
            plan[f"growth, {name}, d = {d}"] = Planned(grown, theorem_runs, seed, block=5)
    return plan
