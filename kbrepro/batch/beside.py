"""A reader's policy on the trials of a full-scale run, beside the policies that played them: their regrets are kept."""

from __future__ import annotations

import importlib
import io
import json
import sys
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray

from kbrepro import checks, figures, paths
from kbrepro.batch import provenance
from kbrepro.data import SensorData, store
from kbrepro.kernels import Array
from kbrepro.papers.bkb import named as bkb
from kbrepro.papers.gp_ucb import named as gp_ucb
from kbrepro.papers.igp_ucb import named as igp_ucb
from kbrepro.papers.pi_gp_ucb import named as pi_gp_ucb
from kbrepro.problems import Problem, Trial
from kbrepro.regret import Trace, block_mean, paired_difference
from kbrepro.scorecard import FULL_SCALE
from kbrepro.simulation import Experiment, run_trials

ROOMS = {name: room for room in (gp_ucb, igp_ucb, pi_gp_ucb, bkb) for name in room.EXPERIMENTS}
#: Trials that are played unless told otherwise; of those that resemble their neighbours, all.
USUAL = 20
YOURS = "yours"


class Named(NamedTuple):
    """An experiment of a paper: source of problems, root seed, horizon, and what of it the full-scale run kept.

    `regrets` holds R_t of every policy, (trials, m), at `rounds` (m,). `block` consecutive trials resemble each other.
    """

    notebook: str
    source: Callable[[Trial], Problem]
    seed: int
    horizon: int
    trials: int
    block: int
    rounds: NDArray[np.int64]
    regrets: Mapping[str, Array]


class Compared(NamedTuple):
    """Traces of yours and of the rivals on the same trials, the table of differences, and the panel.

    A rival's trace has its regret only, and is right at the rounds that were kept: panels show no others.
    """

    traces: dict[str, Trace]
    table: pd.DataFrame
    figure: Figure


def named(name: str, load: Callable[..., SensorData] | None = None) -> Named:
    """Return an experiment by name; `load` loads its sensor data, by default real data only.

    Raises ValueError on an unknown name or where data is missing, FileNotFoundError where no regrets are kept.
    """
    checks.one_of(tuple(ROOMS), experiment=name)
    room = ROOMS[name]
    folder = paths.project_root() / "results" / FULL_SCALE / room.NOTEBOOK
    path = folder / "regret" / f"{name}.npz"
    if not path.is_file():
        raise FileNotFoundError(
            f"there are no committed regrets of {name}: no {path.name} in results/{FULL_SCALE}/{room.NOTEBOOK}/regret"
        )
    run = json.loads((folder / "run.json").read_text(encoding="utf-8"))["parameters"]
    with np.load(path) as kept:
        regrets = {policy: kept[policy] for policy in kept.files if policy != "rounds"}
        rounds = kept["rounds"]
    source = room.EXPERIMENTS[name](run, load or _real)
    trials = len(next(iter(regrets.values())))
    block = room.BLOCKS.get(name, 1)
    return Named(room.NOTEBOOK, source, run["seed"], int(rounds[-1]), trials, block, rounds, regrets)


def _real(name: str, *choice: Any) -> SensorData:
    data = store.load(name, *choice)
    if not data.is_real:
        raise ValueError(f"the {name} data is missing: see data/README.md, or set KBREPRO_DATA to a folder that has it")
    return data


def listed() -> pd.DataFrame:
    """Return notebook, horizon, trials, arms and the sensor data needed, one row an experiment."""
    rows = {}
    for name in ROOMS:
        needed: list[str] = []

        def load(data: str, *choice: Any, needed: list[str] = needed) -> SensorData:
            needed.append(data)
            return store.load(data, *choice)

        its = named(name, load)
        arms = its.source(Trial(its.seed, 0)).told.n_arms
        rows[name] = its.notebook, its.horizon, its.trials, arms, "".join(needed)
    return pd.DataFrame(rows, ["notebook", "horizon", "trials", "arms", "data"]).T


def play(policy: Callable[..., Any], name: str, trials: int | None = None) -> Compared:
    """Play trials 0 .. trials - 1 of an experiment with `policy(told, horizon)`, and compare it with those kept.

    Every policy meets the same function, noise and order of ties. Without `trials`: 20, or all where neighbours
    resemble each other. Raises what `named` raises, ValueError on more trials than are kept or fewer than two blocks.
    Warns where other code made what was kept.
    """
    its = named(name)
    if late := provenance.outdated(paths.project_root()).get(its.notebook):
        warnings.warn(f"{its.notebook} was {late}: the same seed may have drawn other functions", stacklevel=2)
    trials = trials or (its.trials if its.block > 1 else min(USUAL, its.trials))
    if not 2 * its.block <= trials <= its.trials:
        allowed = f"from {2 * its.block} to {its.trials}, those of the full-scale run"
        raise ValueError(f"trials = {trials!r} is not allowed: trials of {name} must be an integer {allowed}")
    experiment = Experiment(its.source, {YOURS: policy}, its.horizon)
    traces = run_trials(experiment, trials, its.seed, block=min(its.block, 10), label=name)
    traces |= {rival: _trace(its.rounds, curves[:trials]) for rival, curves in its.regrets.items()}
    table = _differences(traces, its)
    return Compared(traces, table, _panel(traces, table, name))


def _trace(rounds: NDArray[np.int64], curves: Array) -> Trace:
    """A trace with these R_t, curves (n, m), at `rounds` (m,): what is lost between two rounds stands at the later."""
    regret, unknown = np.zeros((len(curves), rounds[-1])), np.empty((len(curves), 0))
    regret[:, rounds - 1] = np.diff(curves.astype(float), prepend=0.0)
    return Trace(unknown, unknown, regret, unknown, unknown)


def _differences(traces: Mapping[str, Trace], its: Named) -> pd.DataFrame:
    """Mean R_T of every policy, and that of yours less it, paired, with its 95 % interval."""
    final = {name: trace.cumulative_regret[:, -1] for name, trace in traces.items()}
    rows = {YOURS: (final[YOURS].mean(), np.nan, np.nan, np.nan, "")}
    for rival in its.regrets:
        pair = final[YOURS], final[rival]
        found = paired_difference(*pair, its.seed) if its.block == 1 else block_mean(pair[0] - pair[1], its.block)
        word = "lower" if found.high < 0 else "higher" if found.low > 0 else "open"
        rows[rival] = (final[rival].mean(), *found, word)
    columns = ["mean R_T", "difference", "low", "high", f"{YOURS} is"]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns).rename_axis("policy")


def _panel(traces: Mapping[str, Trace], table: pd.DataFrame, name: str) -> Figure:
    """Yours, thick, on top of those rivals that have a look of their own."""
    words = table[f"{YOURS} is"].value_counts()
    lower, higher, undecided = (words.get(word, 0) for word in ("lower", "higher", "open"))
    title = (
        f"{name}, final regret of {YOURS}: lower than {lower} rivals, higher than {higher}, open against {undecided}"
    )
    with plt.rc_context():
        figures.use_style()
        figure, ax = plt.subplots(figsize=(figures.WIDTH, 3.6))
        shown = {rival: trace for rival, trace in traces.items() if rival in figures.LOOK or rival == YOURS}
        figures.regret_quartiles(ax, shown, hero=YOURS)
        return figures.labelled(figure, title)


def save(compared: Compared, folder: Path, stem: str) -> None:
    """Write `<stem>.png` and `<stem>.csv`, each whole or not at all."""
    picture = io.BytesIO()
    with figures.placed(compared.figure, 200):
        compared.figure.savefig(picture, format="png", dpi=200, facecolor="white")
    paths.write_bytes(folder / f"{stem}.png", picture.getvalue())
    paths.write_text(folder / f"{stem}.csv", compared.table.to_csv(float_format="%.6g"))


def policy_of(where: str) -> Callable[..., Any]:
    """Return the class or function that `file.py:Name` or `module:Name` names; ValueError if there is none."""
    place, colon, name = where.rpartition(":")
    file = Path(place).resolve() if place.endswith(".py") else None
    if not colon or not place or not name.isidentifier():
        raise ValueError(f"policy {where!r} is not allowed: it must be file.py:Name or module:Name")
    if file and not file.is_file():
        raise ValueError(f"policy {where!r}: there is no file {place}")
    sys.path.insert(0, str(file.parent if file else Path.cwd()))  # workers get the same path
    module = _imported(file.stem if file else place, where)
    if file and Path(getattr(module, "__file__", None) or "").resolve() != file:
        raise ValueError(f"policy {where!r}: another module is called {file.stem}; give the file another name")
    if not callable(found := getattr(module, name, None)):
        own = [word for word, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__]
        raise ValueError(f"policy {where!r}: no class or function {name} there; allowed: {', '.join(own) or 'none'}")
    return found


def _imported(module: str, where: str) -> ModuleType:
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != module.partition(".")[0]:
            raise  # something that the reader's module imports
        raise ValueError(f"policy {where!r}: there is no module {module}") from None
