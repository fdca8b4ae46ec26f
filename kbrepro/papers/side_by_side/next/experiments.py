"""What the notebook with all rules side by side plays, as data."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from kbrepro.bandits.kernels import Independent, Linear, Matern, SquaredExponential, grid
from kbrepro.bandits.problems import GPDraw, RKHSFunction, Rows
from kbrepro.data import SensorData
from kbrepro.data.store import train_test
from kbrepro.papers import Load, Plan, Rules, Source
from kbrepro.papers.gp_ucb.measures import sensor_problems
from kbrepro.papers.igp_ucb.problems import rkhs_norm, sensor_rows
from kbrepro.papers.pi_gp_ucb.problems import Bumps
from kbrepro.papers.side_by_side import bench, measures
from kbrepro.papers.side_by_side.field import field
from kbrepro.trials.simulation import Experiment, Planned, regrets_at

#: Rules whose regret is followed over horizons.
GROWING = (*measures.NEAR, measures.BEST_PROVED, "IGP-UCB", "π-GP-UCB, tighter")
#: Problems behind coverage, and the rules whose bands are looked at.
COVERED = ("SE, norm given", "Matérn, norm given", "Table 1, d = 1")
BANDED = ("IGP-UCB, tighter", "IGP-UCB, both", "GP-UCB", "GP-UCB/5", "π-GP-UCB, tighter")
#: Rules that play under wrong assumptions, and these.
PLAYERS = ("GP-UCB", "GP-UCB/5", "IGP-UCB, tighter", "BPE, tighter", "GP-TS", "EI", "MPI", "PIMS")
WRONG_BY: Mapping[str, Mapping[str, float]] = {
    "as it is": {},
    "lengthscale half": {"lengthscale": 0.5},
    "lengthscale double": {"lengthscale": 2.0},
    "noise a third": {"noise": 1 / 3},
    "noise three times": {"noise": 3.0},
    "B a third": {"norm": 1 / 3},
}


def growth_horizons(longest: int) -> list[int]:
    """Return the five horizons of growth, up to the longest."""
    return np.geomspace(longest / 100, longest, 5).round().astype(int).tolist()


def tenfold(longest: int) -> tuple[int, int]:
    """Return a tenth of the longest horizon and this one: by how much does regret grow?"""
    return round(longest / 10), longest


def shown_rounds(horizon: int) -> list[int]:
    """Return four rounds, a power of ten apart, up to a horizon: how many arms are left in them?"""
    return [max(horizon // part, 1) for part in (1000, 100, 10, 1)]


def growing(nu: float, d: int) -> Bumps:
    """Return the functions behind the growth of regret."""
    return Bumps(Matern(0.2, nu=nu), d, 30, 1.0, 1.0)


def simple_problems() -> dict[str, RKHSFunction]:
    """Return three simple problems, by name."""
    angles = np.linspace(0, 2 * np.pi, 20, endpoint=False)
    on_circle = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return {
        "independent arms": RKHSFunction(Independent(), grid(10), 0.01, norm=1.0, n_centres=10),
        "linear, d = 2": RKHSFunction(Linear(), on_circle, 0.01, norm=1.0, n_centres=20),
        "SE, d = 1": RKHSFunction(SquaredExponential(0.2), grid(20), 0.01, norm=1.0),
    }


def settings(
    seed: int, other_trials: int, horizon: int, n_arms: int, long_horizon: int, load: Load
) -> dict[str, bench.Setting]:
    """Return the problems of the bench, by name; simulated readings say so.

    `seed`: of the random arms of BKB's problem; `other_trials`: rows of sensors that play.
    """
    seeds = dict.fromkeys(("Table 1", "BKB"), seed)
    problems = bench.synthetic(n_arms, horizon, seeds, long_horizon)
    lab, light, road = (load(name) for name in ("temperature", "light", "traffic_usc"))
    minutes = lab.readings
    temperature, of_lab = sensor_problems(minutes[: 2 * len(minutes) // 3], minutes[-2000:], 0.5)
    learned, tested = train_test(road)
    speeds, of_road = sensor_problems(-learned, -tested, road.readings.var(axis=0).mean() / 20)
    lux = sensor_rows(*train_test(light, 601 / 793), "smoothed")
    of_light = float(np.sqrt(lux.covariance.diagonal().mean()))

    def add(name: str, data: SensorData, source: Rows, unit: float, T: int) -> None:
        title = name if data.is_real else f"SIMULATED SUBSTITUTE for {name}"
        chosen = np.linspace(0, len(source.rewards) - 1, other_trials).astype(int)
        norm_of = partial(rkhs_norm, kind="smoothed", ridge=source.noise_variance)
        rows = replace(source, rewards=source.rewards[chosen], norm_of=norm_of)
        problems[title] = bench.Setting(rows, T, bench.NEITHER, unit=unit, measured=data.checksum)

    add("temperature", lab, temperature, of_lab, len(lab.sensors))
    add("light", light, lux, of_light, horizon)
    add("traffic", road, speeds, of_road, len(road.sensors))
    return problems


def experiments(
    seed: int,
    trials: int,
    other_trials: int,
    horizon: int,
    n_arms: int,
    long_horizon: int,
    growth_trials: int,
    growth_horizon: int,
    wrong_trials: int,
    wrong_horizon: int,
    simple_trials: int,
    qbar: float,
    delta: float,
    load: Load,
) -> Plan:
    """Return what is played, by label, from the notebook's parameters."""
    plan = {}
    bench_of = settings(seed, other_trials, horizon, n_arms, long_horizon, load)
    entries = field(delta, qbar=qbar)

    def at(T: int, label: str, source: Source, rules: Rules, n: int) -> None:
        job = partial(regrets_at, Experiment(source, rules, T), [T])
        plan[f"{label}, T = {T}"] = Planned(job, n, seed)

    for nu in (1.5, 2.5):
        there = field(delta, nu=nu, qbar=qbar)
        for d in (1, 2):
            rules = {name: there[name].make for name in GROWING}
            for T in growth_horizons(growth_horizon):
                at(T, f"growth, ν = {nu}, d = {d}", growing(nu, d), rules, growth_trials)
    rules = {name: entries[name].make for name in ("SupKernelUCB", "SupKernelUCB, tuned")}
    for name, source in simple_problems().items():
        for T in tenfold(growth_horizon):
            at(T, f"simple, {name}", source, rules, simple_trials)

    for d in (1, 2):
        rules = {name: entries[name].make for name in measures.NEAR}
        raced = Experiment(bench_of[f"Table 1, d = {d}"].source, rules, long_horizon)
        job = partial(measures.arms_left_at, raced, shown_rounds(long_horizon))
        plan[f"arms left, d = {d}"] = Planned(job, 1, seed)

    for name, setting in bench_of.items():
        # those of which a question asks what a guarantee costs
        n = other_trials if setting.holds == bench.NEITHER else trials
        rules = {rule: entry.make for rule, entry in setting.rules(delta, qbar).items()}
        played = Experiment(setting.source, rules, setting.horizon, measured=setting.measured)
        plan[name] = Planned(played, n, seed, arms=False)

    for name in COVERED:
        setting = bench_of[name]
        defined = setting.rules(delta)
        rules = {rule: defined[rule].make for rule in BANDED if rule in defined}
        banded = Experiment(setting.source, rules, wrong_horizon, record_band=True)
        plan[f"coverage, {name}"] = Planned(banded, wrong_trials, seed, arms=False)

    drawn = bench.with_norm(GPDraw(SquaredExponential(0.2), grid(100), 0.025))
    sources = {"SE draws": drawn, "SE, norm given": bench_of["SE, norm given"].source}
    players = {rule: entries[rule].make for rule in PLAYERS}
    for name, source in sources.items():
        for case, how in WRONG_BY.items():
            misled = Experiment(bench.Misled(source, **how), players, wrong_horizon)
            plan[f"wrong, {name}, {case}"] = Planned(misled, wrong_trials, seed, arms=False)
    return plan
