"""Experiments whose regrets of the full-scale run are kept, by name: each makes the source of their problems.

It takes the parameters of that run, and `load(name, days, motes)`, which loads sensor data (`kbrepro.data.store.load`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from kbrepro.kernels import Array, Matern, SquaredExponential
from kbrepro.papers.igp_ucb.problems import (
    OnRandomArms,
    PosteriorMean,
    PriorDraw,
    Retold,
    hartmann3,
    rkhs_norm,
    rosenbrock,
    sensor_rows,
)
from kbrepro.problems import Problem, Rows, Trial

NOTEBOOK = "02_igp_ucb_gp_ts_sensors"
KERNELS = {"a": SquaredExponential(0.2), "b": Matern(0.2, nu=2.5)}
MOTES = [mote for mote in range(1, 55) if mote not in {5, 15, 18}]  # of temperature: all that work on these days


def on_100_arms(
    source: Callable[..., Any], panel: str, run: Mapping[str, Any], load: Callable[..., Any]
) -> Callable[[Trial], Problem]:
    """Return functions of the kernel of a panel, a or b, on 100 random arms (Figs. 1 and 2)."""
    return source(KERNELS[panel], n_arms=100)


def fig3(
    function: Callable[[Array], Array], d: int, run: Mapping[str, Any], load: Callable[..., Any]
) -> Callable[[Trial], Problem]:
    """Return a test function in d dimensions on 100 d random arms."""
    source = OnRandomArms(KERNELS["a"], 100 * d, d, function=function)
    return Retold(source, norm_of=partial(rkhs_norm, kind="smoothed"))


def fig4_temperature(run: Mapping[str, Any], load: Callable[..., Any]) -> Rows:
    """Return temperatures from 8 to 9 am."""
    lab = load("temperature", [*run["train_days"], *run["test_days"]], MOTES)
    morning, day = lab.times.hour == 8, lab.times.strftime("%Y-%m-%d")
    train, test = (lab.readings[morning & day.isin(run[days])] for days in ("train_days", "test_days"))
    return sensor_rows(train, test[: run["rows"]])


def fig4_light(run: Mapping[str, Any], load: Callable[..., Any]) -> Rows:
    """Return light: 601 rows are learned from."""
    readings = load("light").readings
    return sensor_rows(readings[:601], readings[601:][: run["rows"]])


EXPERIMENTS = {
    "fig1_a": partial(on_100_arms, PosteriorMean, "a"),
    "fig1_b": partial(on_100_arms, PosteriorMean, "b"),
    "fig2_a": partial(on_100_arms, PriorDraw, "a"),
    "fig2_b": partial(on_100_arms, PriorDraw, "b"),
    "fig3_a": partial(fig3, rosenbrock, 2),
    "fig3_b": partial(fig3, hartmann3, 3),
    "fig4_temperature": fig4_temperature,
    "fig4_light": fig4_light,
}
#: How many consecutive trials resemble each other, where any do.
BLOCKS = {"fig4_temperature": 20, "fig4_light": 16}
