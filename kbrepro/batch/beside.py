"""A reader's policy on trials that a notebook played, compared with its policies, whose traces are read."""

import runpy
import sys
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from kbrepro import figures, paths, store
from kbrepro.batch import audit, run
from kbrepro.problems import Trial
from kbrepro.record import FULL_SCALE
from kbrepro.regret import Curve, block_mean, paired_difference
from kbrepro.replay import experiment_of
from kbrepro.simulation import Experiment, played, run_trials
from kbrepro.store.settings import unknown

#: Trials that are played by default; with blocks of neighbours, all.
USUAL = 20
YOURS = "yours"
#: Labels that are named where there is none of the name that was given.
NEAREST = 5


class Compared(NamedTuple):
    """Traces of your policy and its rivals on the same trials, the table of differences, and the figure.

    On `measured` data neighbouring trials may be alike, and rivals have R_t only at the rounds that were kept.
    """

    traces: dict[str, Curve]
    table: pd.DataFrame
    figure: Figure
    measured: bool


def listed(notebook: str = "", profile: str = FULL_SCALE, label: str = "") -> list[str]:
    """Return notebook, label, rounds, trials and policies of all labels with traces, in one notebook or in all.

    Raises FileNotFoundError, which lists the labels, if there are none or none is called `label`.
    """
    lines = {}
    for folder in sorted((paths.project_root() / "results" / profile).glob(f"{notebook}*/{store.PLAYED}")):
        for name, about in store.labels(folder).items():
            match about["settings"]:
                case {"job": {"play_trial": {"positional": [{"Experiment": its}]}}}:
                    scale = f"{its['horizon']} rounds, {about['trials']} trials of {'; '.join(its['policies'])}"
                    lines[folder.parent.name, name] = f'{folder.parent.name} "{name}": {scale}'
    if not lines or (label and (notebook, label) not in lines):
        names = [name for _, name in lines]
        near = "".join(f"\n  {name}" for name in get_close_matches(label, names, n=NEAREST, cutoff=0.0)) or " none"
        todo = f"`kbrepro reproduce --profile {profile} {notebook}".rstrip() + "` keeps what it plays"
        raise FileNotFoundError(f"no traces {f'of {label!r} ' * bool(label)}are kept; {todo}; the nearest kept:{near}")
    return list(lines.values())


def play(
    policy: Callable[..., Any], notebook: str, label: str, profile: str = FULL_SCALE, trials: int = 0, block: int = 1
) -> Compared:
    """Play the first trials of a label with `policy(model, horizon)`, and compare it with the policies kept there.

    Every policy meets the same function, noise and order of ties. By default 20 trials are played, or all if `block`,
    the number of neighbours per block, is above 1. The notebook's cells are run up to the label, from its store. Raises
    FileNotFoundError if no traces of the label are kept; ValueError if its data is not here, or `trials` is more than
    are kept or fewer than two blocks.
    """
    (r,) = run.plan([notebook], profile, {}, paths.project_root())
    listed(r.notebook, profile, label)
    kept = played(r.notebook, label, profile)
    most = len(next(iter(kept.values())).seconds)
    trials = trials or (most if block > 1 else min(USUAL, most))
    if not 2 * block <= trials <= most:
        allowed = f"from {2 * block} (two blocks) to {most} (all that are kept)"
        raise ValueError(f"trials = {trials!r} is not allowed: trials must be an integer {allowed}")
    jobs, missing = audit.asked(r, label)
    if label not in jobs or unknown(jobs[label][0].settings):
        why = "its data is missing (see data/README.md, or set KBREPRO_DATA)" if label in jobs else missing
        raise ValueError(f"label {label!r} cannot be played: {why or 'the notebook no longer has it'}")
    job = jobs[label][0]
    theirs = experiment_of(job)
    _made(policy, theirs, job)
    yours = Experiment(theirs.problem, {YOURS: policy}, theirs.horizon)
    with store.using(None):  # whatever the environment names
        ours = run_trials(yours, trials, job.seed, first=job.first, block=min(block, 10), label=label)
    traces = ours | {rival: curve.first(trials) for rival, curve in kept.items()}
    table = _differences(traces, job.seed, block)
    return Compared(traces, table, _panel(traces, table, label), bool(theirs.measured))


def _made(policy: Callable[..., Any], experiment: Experiment, job: Any) -> None:
    """Make the policy once, as every trial will; a ValueError says what it must be made from."""
    model = experiment.problem(Trial(job.seed, job.first)).model
    try:
        policy(model, experiment.horizon)
    except TypeError as error:
        raise ValueError(f"a policy is made from (model, horizon), a kbrepro.Model and an integer: {error}") from error


def _differences(traces: Mapping[str, Curve], seed: int, block: int) -> pd.DataFrame:
    """Mean R_T of every policy, and that of yours less it, paired, with its 95 % interval."""
    yours, *rivals = ((name, trace.cumulative_regret[:, -1]) for name, trace in traces.items())
    rows = {YOURS: (yours[1].mean(), np.nan, np.nan, np.nan, "")}
    for name, its in rivals:
        found = paired_difference(yours[1], its, seed) if block == 1 else block_mean(yours[1] - its, block)
        rows[name] = its.mean(), *found, "lower" if found.high < 0 else "higher" if found.low > 0 else "open"
    columns = ["mean R_T", "difference", "low", "high", f"{YOURS} is"]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns).rename_axis("policy")


def _panel(traces: Mapping[str, Curve], table: pd.DataFrame, label: str) -> Figure:
    """Yours, thick, on top of those rivals that have a look of their own."""
    n = table[f"{YOURS} is"].value_counts().reindex(["lower", "higher", "open"], fill_value=0)
    told = f"lower than for {n['lower']} rivals, higher than for {n['higher']}, open for {n['open']}"
    with plt.rc_context():
        figures.use_style()
        figure, ax = plt.subplots(figsize=(figures.WIDTH, 3.6))
        shown = {rival: trace for rival, trace in traces.items() if rival in figures.LOOK or rival == YOURS}
        figures.regret_quartiles(ax, shown, hero=YOURS)
        return figures.labelled(figure, f"{label}, final regret of {YOURS}: {told}")


def save(compared: Compared, notebook: str, label: str, stem: str) -> str:
    """Write `<stem>.png` and `<stem>.csv`; return their folder, which is below results/custom/beside/."""
    folder = store.path_of(Path("results/custom/beside", notebook), label).with_suffix("")
    paths.write_text(paths.project_root() / folder / f"{stem}.csv", compared.table.to_csv(float_format="%.6g"))
    compared.figure.savefig(paths.project_root() / folder / f"{stem}.png", dpi=200, facecolor="white")
    return folder.as_posix()


def policy_of(where: str) -> Callable[..., Any]:
    """Return the class or function that `FILE.py:NAME` names; ValueError if there is none."""
    place, _, name = where.rpartition(":")
    if not place.endswith(".py") or not Path(place).is_file():
        raise ValueError(f"policy {where!r} is not allowed: it must be FILE.py:NAME of an existing file")
    sys.path.insert(0, str(Path(place).resolve().parent))  # for what the file imports; workers get the same path
    names = runpy.run_path(place)
    if not callable(names.get(name)):
        own = [word for word, its in names.items() if getattr(its, "__module__", "") == names["__name__"]]
        raise ValueError(f"policy {where!r}: there is no class or function {name}; allowed: {', '.join(own) or 'none'}")
    return names[name]
