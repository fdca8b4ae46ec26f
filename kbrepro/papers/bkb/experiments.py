"""What the notebook on BKB plays, as data."""

from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from kbrepro.bandits.confidence import AbbasiYadkori2011, Constant, Flynn2024
from kbrepro.bandits.kernels import SquaredExponential, grid
from kbrepro.bandits.policies import UCB
from kbrepro.bandits.problems import GPDraw, Trial
from kbrepro.papers import Plan, Rules
from kbrepro.papers.bkb import measures
from kbrepro.papers.bkb.measures import Design, shrinking_window, uniform_pulls
from kbrepro.papers.bkb.policy import BKB, ArmwiseBKB, Authors, Budgeted, FourierUCB
from kbrepro.papers.bkb.problems import GaussianRKHSFunction
from kbrepro.papers.bkb.since import MiniUCB
from kbrepro.papers.bkb.sketch import ArmwisePosterior, BudgetedPosterior
from kbrepro.trials.simulation import Experiment, Planned

#: Norm of the functions of the regret.
F = 2.0
#: Rounds of Fig. 1, and how its features are set.
SHOWN_AT = [6, 63, 215]
FEATURES = {"RFF": [100, 300], "QFF": [26, 50, 100]}
#: qbar of the curve of accuracy; SoR and random features follow the dictionary of the first.
QBARS = [2.0, 1.0, 1.25, 1.5, 2.5, 3.0, 4.0, 5.0, 6.0]
#: The same under another kernel: the first, and those that Fig. 1 is judged at.
JUDGED_QBARS = [2.0, 1.5, 3.0, 5.0]
#: qbar that BKB is tuned by.
TUNED_QBARS = [2, 3, 4, 5, 6]
LEFT_HALF = partial(uniform_pulls, upto=0.5)
#: qbar of the dictionaries behind Theorem 1.
SMALL_QBARS = [1.0, 2.0, 3.0, 4.0, 8.0]
#: Dimensions of the sizes by dimension.
DIMENSIONS = [1, 2, 3, 4, 5, 6]
BANDWIDTH = "exp(-r^2/200)"
SMALL_NOISE = "noise variance 0.0001"
DISTINCT = "distinct arms"


def line(n_arms: int, noise_variance: float) -> GPDraw:
    """Return the draws of Fig. 1: arms on [0, 1], k(x, x') = exp(-100 (x - x')^2)."""
    return GPDraw(SquaredExponential(np.sqrt(1 / 200)), grid(n_arms), noise_variance)


def smooth(
    n: int, d: int, noise_variance: float, seed: int, lengthscale: float = 0.2
) -> GaussianRKHSFunction:
    """Return functions of norm F on n random arms in [0, 1]^d with Gaussian noise."""
    points = np.random.default_rng([seed, n, d]).uniform(size=(n, d))
    return GaussianRKHSFunction(SquaredExponential(lengthscale), points, noise_variance, norm=F)


def designs(n_arms: int, noise_variance: float) -> dict[str, tuple[GPDraw, Design]]:
    """Return source and pulls of the sequences behind Theorem 1."""
    on_line = line(n_arms, noise_variance)
    square = grid(int(np.sqrt(n_arms)), 2)
    plane = GPDraw(SquaredExponential(0.2), square, noise_variance)
    return {
        "uniform": (on_line, uniform_pulls),
        "window": (on_line, shrinking_window),
        "plane": (plane, uniform_pulls),
    }


def readings(n_arms: int, noise_variance: float) -> dict[str, GPDraw]:
    """Return other readings of Fig. 1: a smaller lambda, another meaning of "bandwidth 100"."""
    return {
        SMALL_NOISE: line(n_arms, 0.0001),
        BANDWIDTH: GPDraw(SquaredExponential(10.0), grid(n_arms), noise_variance),
    }


def rules(delta: float, qbar: float) -> Rules:
    """Return the rules whose regret is compared, BKB at one qbar."""
    logdet = AbbasiYadkori2011(delta)
    three = Constant(3.0)
    return {
        "exact": partial(UCB, width=logdet),
        "BKB": partial(BKB, width=logdet, qbar=qbar),
        "exact, 3 sd": partial(UCB, width=three),
        "BKB, 3 sd": partial(BKB, width=three, qbar=qbar),
        "BKB, Theorem 2's radius": partial(BKB, width=Budgeted(delta), qbar=qbar),
        "BKB, authors' radius": partial(BKB, width=Authors(delta), qbar=qbar),
        "exact, tighter width": partial(UCB, width=Flynn2024(delta)),
        "mini-GP-UCB": partial(MiniUCB, width=logdet, squared_c=2.0),
    }


def tuned(make: type[BKB], delta: float) -> Rules:
    """Return BKB of a class at every qbar that it is tuned by, with two radii."""
    widths = {"": AbbasiYadkori2011(delta), ", 3 sd": Constant(3.0)}
    return {
        f"BKB, qbar={q}{radius}": partial(make, width=width, qbar=float(q))
        for radius, width in widths.items()
        for q in TUNED_QBARS
    }


def experiments(
    seed: int,
    seeds: int,
    n_arms: int,
    noise_variance: float,
    ratio_runs: int,
    ratio_horizon: int,
    own_runs: int,
    trials: int,
    reading_trials: int,
    regret_arms: int,
    horizon: int,
    qbar: float,
    cost_arms: int,
    cost_horizon: int,
    cost_runs: int,
    size_arms: int,
    size_horizon: int,
    size_runs: int,
    coverage_runs: int,
    coverage_horizon: int,
    reading_runs: int,
    fixed_trials: int,
    fixed_horizon: int,
    delta: float,
) -> Plan:
    """Return what is played, by label, from the notebook's parameters."""
    plan = {}
    by_name = rules(delta, qbar)
    sketched: Any = by_name["BKB"]
    functions = partial(smooth, noise_variance=noise_variance, seed=seed)

    def play(label: str, what: Experiment | Callable[[Trial], object], n: int) -> None:
        plan[label] = Planned(what, n, seed)

    on_line = line(n_arms, noise_variance)
    few_features: dict[str, list[int]] = {"RFF": FEATURES["RFF"][:1], "QFF": []}
    armwise = {"form": ArmwisePosterior}

    def fig_1(
        source: GPDraw, qbars: list[float], features: dict[str, list[int]], **form: Any
    ) -> Callable[[Trial], object]:
        how = SHOWN_AT, qbars, features, 0.5
        return partial(measures.starvation, source, LEFT_HALF, *how, streaming=False, **form)

    play("starvation", fig_1(on_line, QBARS, FEATURES), seeds)
    play(f"starvation, {DISTINCT}", fig_1(on_line, QBARS, few_features, **armwise), seeds)
    play("newest pull", partial(measures.newest_pull, on_line, LEFT_HALF, SHOWN_AT, 3.0), seeds)
    others = readings(n_arms, noise_variance)
    for reading, source in others.items():
        play(f"Fig. 1, {reading}", fig_1(source, JUDGED_QBARS, few_features), reading_runs)
    by_arm = fig_1(others[BANDWIDTH], JUDGED_QBARS, few_features, **armwise)
    play(f"Fig. 1, {BANDWIDTH}, {DISTINCT}", by_arm, reading_runs)
    last = max(SHOWN_AT)
    own = [Budgeted(delta).smallest_qbar(last)]
    for name, source, form in (
        ("", on_line, BudgetedPosterior),
        (f", {DISTINCT}", on_line, ArmwisePosterior),
        (f", {BANDWIDTH}", others[BANDWIDTH], BudgetedPosterior),
    ):
        ratios = partial(measures.variance_ratios, source, LEFT_HALF, last, own, form)
        play(f"Fig. 1, own qbar{name}", ratios, reading_runs)

    own_horizon = ratio_horizon // 2
    own = [Budgeted(delta).smallest_qbar(own_horizon)]
    for name, design in designs(n_arms, noise_variance).items():
        followed = partial(measures.variance_ratios, *design)
        small = partial(followed, ratio_horizon, SMALL_QBARS, BudgetedPosterior)
        play(f"BKB, {name}", small, ratio_runs)
        large = partial(followed, own_horizon, own, BudgetedPosterior)
        play(f"own qbar, {name}", large, own_runs)
        chain = partial(measures.dimension_chain, *design, min(ratio_horizon, 300))
        play(f"Proposition 5, {name}", chain, ratio_runs)
        if name != "plane":
            equal = partial(measures.equal_size, *design, ratio_horizon, 4.0)
            play(f"equal size, {name}", equal, own_runs)

    def regret_of(label: str, compared: Rules, n: int) -> None:
        play(label, Experiment(functions(regret_arms, 2), compared, horizon), n)

    exact = "exact", "exact, 3 sd", "exact, tighter width", "mini-GP-UCB"
    regret_of("regret", {name: by_name[name] for name in exact} | tuned(BKB, delta), trials)
    wide = "BKB, Theorem 2's radius", "BKB, authors' radius"
    regret_of("regret, other radii", {name: by_name[name] for name in wide}, reading_trials)
    theorem_2 = partial(ArmwiseBKB, width=Budgeted(delta), qbar=qbar)
    armwise_rules: Rules = tuned(ArmwiseBKB, delta) | {wide[0]: theorem_2}
    regret_of(f"regret, {DISTINCT}", armwise_rules, reading_trials)

    for d in (1, 2):
        job = partial(measures.sizes_of_steps, functions(cost_arms, d), sketched, cost_horizon)
        play(f"sizes, d = {d}", job, cost_runs)
    makes: dict[str, type[BKB]] = {"": BKB, f", {DISTINCT}": ArmwiseBKB}
    for dictionary, d in product(makes, DIMENSIONS):
        smoother = functions(size_arms, d, lengthscale=1.0)
        at_three = partial(makes[dictionary], width=AbbasiYadkori2011(delta), qbar=3.0)
        job = partial(measures.dictionary_at_end, smoother, at_three, size_horizon)
        play(f"sizes by d, d = {d}{dictionary}", job, size_runs)

    def fixed(*numbers: int) -> Rules:
        rule = partial(FourierUCB, width=Constant(3.0))
        return {f"RFF, {m} features": partial(rule, n_features=m) for m in numbers}

    interval = functions(regret_arms, 1)
    compared = {"BKB, 3 sd": by_name["BKB, 3 sd"]} | fixed(2, 4, 10, 20)
    play("fixed features", Experiment(interval, compared, fixed_horizon), fixed_trials)

    few = GaussianRKHSFunction(SquaredExponential(0.1), grid(100), noise_variance, norm=F)
    radius = Budgeted(delta)
    proved = partial(BKB, width=radius, qbar=radius.smallest_qbar(coverage_horizon))
    banded = Experiment(few, {"BKB": proved}, coverage_horizon, record_band=True)
    play("Theorem 9, own qbar", banded, coverage_runs)
    return plan
