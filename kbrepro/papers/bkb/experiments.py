"""What the notebook on BKB plays, as data."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from kbrepro.bandits.confidence import AbbasiYadkori2011, Constant, Flynn2024
from kbrepro.bandits.kernels import SquaredExponential, grid
from kbrepro.bandits.policies import UCB
from kbrepro.bandits.problems import GPDraw, RKHSFunction, Trial
from kbrepro.papers import Make, Plan, Rules
from kbrepro.papers.bkb import measures
from kbrepro.papers.bkb.measures import Design, shrinking_window, uniform_pulls
from kbrepro.papers.bkb.policy import BKB, Authors, Budgeted, FourierUCB
from kbrepro.papers.bkb.since import MiniUCB
from kbrepro.papers.bkb.sketch import BudgetedPosterior
from kbrepro.trials.simulation import Experiment, Planned, regrets_at

#: Norm of the functions of the regret.
F = 2.0
#: Rounds of Fig. 1, and how its features are set.
SHOWN_AT = [6, 63, 215]
QBARS = [2.0, 3.0, 5.0]
FEATURES = {"RFF": [100, 300], "QFF": [26, 50, 100]}
LEFT_HALF = partial(uniform_pulls, upto=0.5)
#: qbar of the dictionaries behind Theorem 1.
SMALL_QBARS = [1.0, 2.0, 3.0, 4.0, 8.0]


def line(n_arms: int, noise_variance: float) -> GPDraw:
    """Return the draws of Fig. 1: arms on [0, 1], k(x, x') = exp(-100 (x - x')^2)."""
    return GPDraw(SquaredExponential(np.sqrt(1 / 200)), grid(n_arms), noise_variance)


def smooth(
    n: int, d: int, noise_variance: float, seed: int, lengthscale: float = 0.2
) -> RKHSFunction:
    """Return functions of norm F on n random arms in [0, 1]^d, noise uniform within its sd."""
    points = np.random.default_rng([seed, n, d]).uniform(size=(n, d))
    return RKHSFunction(SquaredExponential(lengthscale), points, noise_variance, norm=F)


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


def cases(cost_arms: list[int]) -> dict[str, tuple[int, int]]:
    """Return number of arms and dimension behind the cost of a step."""
    first = cost_arms[0]
    return {f"A = {first}, d = 1": (first, 1)} | {f"A = {n}, d = 2": (n, 2) for n in cost_arms}


def readings(n_arms: int) -> dict[tuple[float, str, str], GPDraw]:
    """Return other readings of Fig. 1: a smaller lambda, another meaning of "bandwidth 100"."""
    arms = grid(min(n_arms, 400))
    narrow = SquaredExponential(np.sqrt(1 / 200))
    return {
        (0.0001, "exp(-100 r^2)", "uniform"): GPDraw(narrow, arms, 0.0001),
        (0.01, "exp(-r^2/200)", "uniform"): GPDraw(SquaredExponential(10.0), arms, 0.01),
    }


def rules(delta: float, qbar: float) -> Rules:
    """Return the rules whose regret is compared."""
    logdet = AbbasiYadkori2011(delta)
    three = Constant(3.0)
    sketched = partial(BKB, width=logdet, qbar=qbar)
    return {
        "exact": partial(UCB, width=logdet),
        "BKB": sketched,
        "BKB, streaming": partial(sketched, streaming=True),
        "BKB, authors' radius": partial(sketched, width=Authors(delta)),
        "BKB, Theorem 2's radius": partial(sketched, width=Budgeted(delta)),
        "exact, 3 sd": partial(UCB, width=three),
        "BKB, 3 sd": partial(sketched, width=three),
        "exact, tighter width": partial(UCB, width=Flynn2024(delta)),
        "mini-GP-UCB": partial(MiniUCB, width=logdet, squared_c=2.0),
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
    regret_arms: int,
    horizon: int,
    large_arms: list[int],
    qbar: float,
    cost_arms: list[int],
    cost_horizon: int,
    cost_rounds: list[int],
    cost_runs: int,
    coverage_runs: int,
    coverage_horizon: int,
    reading_runs: int,
    reading_horizon: int,
    fixed_trials: int,
    fixed_horizon: int,
    delta: float,
) -> Plan:
    """Return what is played, by label, from the notebook's parameters."""
    plan = {}
    by_name = rules(delta, qbar)
    sketched: Any = by_name["BKB"]
    functions = partial(smooth, noise_variance=noise_variance, seed=seed)

    def play(
        label: str, what: Experiment | Callable[[Trial], object], n: int, first: int = 0
    ) -> None:
        plan[label] = Planned(what, n, seed, first)

    at = [t for t in cost_rounds if t <= cost_horizon]
    for case, (n, d) in cases(cost_arms).items():
        run = functions(n, d), sketched, cost_horizon
        play(f"cost, {case}", partial(measures.cost_of_steps, *run, at), 1)
        more = cost_runs if n == cost_arms[0] else min(cost_runs, 3)
        play(f"sizes, {case}", partial(measures.sizes_of_steps, *run), more - 1, first=1)

    on_line = line(n_arms, noise_variance)
    fig_1 = partial(measures.starvation, on_line, LEFT_HALF, SHOWN_AT, QBARS, FEATURES, 0.5)
    play("starvation", fig_1, seeds)
    last = max(SHOWN_AT)
    own = [Budgeted(delta).smallest_qbar(last)]
    ratios = partial(measures.variance_ratios, on_line, LEFT_HALF, last, own, BudgetedPosterior)
    play("Fig. 1, own qbar", ratios, min(seeds, 40))
    how = SHOWN_AT[1:], [2.0, 3.0, 4.0, 5.0], {"RFF": [100, 300], "QFF": []}, 0.5
    for reading, source in readings(n_arms).items():
        job = partial(measures.starvation, source, LEFT_HALF, *how)
        play(f"Fig. 1, {reading}", job, reading_runs)

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

    play("regret", Experiment(functions(regret_arms, 2), by_name, horizon), trials)
    several: dict[object, Make] = {}
    for q in (3, 2, 4, 5):
        several[q, "drawn anew"] = partial(sketched, qbar=float(q), streaming=False)
        several[q, "streaming"] = partial(sketched, qbar=float(q), streaming=True)
    several["exact"] = by_name["exact"]
    few_arms = Experiment(functions(min(regret_arms, 400), 2), several, reading_horizon)
    job = partial(regrets_at, few_arms, [reading_horizon])
    play("regret, (0.01, 0.2)", job, max(2, reading_runs // 2))
    two = {name: by_name[name] for name in ("exact", "BKB")}
    for n in large_arms:
        play(f"A = {n}", Experiment(functions(n, 2), two, horizon), min(trials, 3))

    def fixed(*numbers: int) -> Rules:
        rule = partial(FourierUCB, width=Constant(3.0))
        return {f"RFF, {m} features": partial(rule, n_features=m) for m in numbers}

    interval = functions(regret_arms, 1)
    play("two features", Experiment(interval, fixed(2), fixed_horizon), fixed_trials)
    others = {"BKB, 3 sd": by_name["BKB, 3 sd"]} | fixed(4, 10, 20)
    more_features = Experiment(interval, others, fixed_horizon)
    play("more features", more_features, max(2, fixed_trials // 4))

    few = RKHSFunction(SquaredExponential(0.1), grid(100), noise_variance, norm=F)
    radius = Budgeted(delta)
    proved = partial(BKB, width=radius, qbar=radius.smallest_qbar(coverage_horizon))
    banded = Experiment(few, {"BKB": proved}, coverage_horizon, record_band=True)
    play("Theorem 9, own qbar", banded, coverage_runs)
    return plan
