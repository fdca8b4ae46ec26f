"""A reader's policy on trials that a notebook played, compared with its policies, whose traces are
read.
"""

import re
import runpy
import sys
import tempfile
import traceback
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from kbrepro import checks, figures, paths
from kbrepro.batch import profiles
from kbrepro.claims.estimates import paired_difference
from kbrepro.papers import looks
from kbrepro.trials import store
from kbrepro.trials.curve import Curve
from kbrepro.trials.simulation import Experiment, run_trials
from kbrepro.typing import Player

YOURS = "yours"
#: Below the project: where figures and tables go.
FOLDER = Path("results/custom/beside")


class PolicyFailed(RuntimeError):
    """Your file cannot be imported, or your policy raises."""


class Compared(NamedTuple):
    """Traces of your policy and its rivals on the same trials, the table of differences, and the
    figure.
    """

    traces: dict[str, Curve]
    table: pd.DataFrame
    figure: Figure


def compare(
    policy: Callable[..., Player], notebook: str, label: str, trials: int = 20, file: str = ""
) -> Compared:
    """Play the first trials of a label with your policy, and compare it with the policies kept
    there.

    It is made by `policy(model, horizon, rng=generator)`. Every policy meets the same function,
    noise and order of ties. Raises ValueError, which lists the labels, if this one plays no
    experiment; if its data is not here; and if `trials` is more than are kept; NotKept if none are;
    PolicyFailed, with the line of `file`, if the policy raises.
    """
    checks.function(policy=policy)
    (r,) = profiles.plan([notebook], paths.FULL_SCALE, paths.project_root())
    label, plan = unicodedata.normalize("NFC", label), r.plan
    labels = sorted(name for name in plan if isinstance(plan[name].what, Experiment))
    if label not in labels:
        nearest = get_close_matches(label, labels, 5, 0.4) or labels
        raise checks.refused("label", label, "\n  ".join(["one of", *nearest]))
    planned = plan[label]
    kept = planned.play(label, r.kept_in)
    if trials not in range(2, planned.trials + 1):
        allowed = f"an integer from 2 to {planned.trials} (all stored)"
        raise checks.refused("trials", trials, allowed)
    if planned.job(label).without_data:
        raise ValueError(
            f"label {label!r} cannot be played: its sensor data is missing (see data/README.md)"
        )
    theirs = planned.experiment
    yours = Experiment(theirs.problem, {YOURS: policy}, theirs.horizon)
    with _told(file):
        ours = run_trials(yours, trials, planned.seed, first=planned.first, label=label)
    traces = ours | {rival: curve.first(trials) for rival, curve in kept.items()}
    table = _differences(traces, planned.seed)
    figures.use_style(looks())
    figure, ax = plt.subplots(figsize=(figures.WIDTH, 3.6))
    shown = {name: trace for name, trace in traces.items() if name in figures.LOOK or name == YOURS}
    figures.regret_quartiles(ax, shown, hero=YOURS)
    return Compared(traces, table, figures.labelled(figure, label))


def _differences(traces: dict[str, Curve], seed: int) -> pd.DataFrame:
    """Mean R_T of every policy, and that of yours less it, paired, with its 95 % interval."""
    totals = {name: curve.cumulative_regret[:, -1] for name, curve in traces.items()}
    yours = totals.pop(YOURS)
    rows = [[YOURS, yours.mean(), np.nan, np.nan, np.nan, ""]]
    for name, total in totals.items():
        less = paired_difference(yours, total, seed)
        word = "open"
        if less.high < 0:
            word = "lower"
        if less.low > 0:
            word = "higher"
        rows.append([name, total.mean(), *less, word])
    columns = ["policy", "mean R_T", "difference", "low", "high", f"{YOURS} is"]
    return pd.DataFrame(rows, columns=columns).set_index("policy")


def require_writable() -> None:
    """Raise OSError, which names the folder, unless figures and tables can be saved."""
    folder = paths.project_root() / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    tempfile.TemporaryFile(dir=folder).close()


def save(compared: Compared, notebook: str, label: str, stem: str) -> str:
    """Write `<stem>.png` and `<stem>.csv`; return their folder, which is below
    results/custom/beside/.
    """
    folder = store.path_of(FOLDER / notebook, label).with_suffix("")
    where = paths.project_root() / folder / stem
    paths.write_text(where.with_suffix(".csv"), compared.table.to_csv(float_format="%.6g"))
    compared.figure.savefig(where.with_suffix(".png"), dpi=200, facecolor="white")
    return folder.as_posix()


def policy_of(where: str) -> Callable[..., Player]:
    """Return the class or function that `FILE.py:NAME` names; ValueError if there is none.

    Raises PolicyFailed, with the line, if the file cannot be imported.
    """
    place, _, name = where.rpartition(":")
    if not Path(place).is_file():
        raise ValueError(
            f"policy = {where!r} is not allowed: policy must be FILE.py:NAME of an existing file"
        )
    # for what the file imports; workers get the same path
    sys.path.insert(0, str(Path(place).resolve().parent))
    with _told(place):
        names = runpy.run_path(place)
    if not callable(policy := names.get(name)):
        raise ValueError(
            f"policy = {where!r} is not allowed: {place} has no class or function {name}"
        )
    return policy


@contextmanager
def _told(file: str) -> Iterator[None]:
    """An error of the user's code becomes one line, with the last place in the file."""
    try:
        yield
    except Exception as error:  # from a worker it comes with its traceback as text
        text = "".join(traceback.format_exception(error))
        lines = re.findall(rf'File "{re.escape(file)}", line (\d+)', text)
        where = f"{file}, line {lines[-1]}" if lines else file or "the policy"
        said = " ".join(str(error).split())
        raise PolicyFailed(f"{where}: {type(error).__name__}: {said}") from error
