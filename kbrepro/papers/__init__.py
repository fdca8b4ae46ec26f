"""One folder per paper, which imports the core and no other paper; `paper.py` says what it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kbrepro import checks
from kbrepro.bandits.problems import Problem, Trial
from kbrepro.data import SensorData
from kbrepro.trials.curve import Curve
from kbrepro.trials.simulation import Planned, run, start_policy
from kbrepro.typing import Playable, Player

if TYPE_CHECKING:  # a worker that plays draws nothing
    from kbrepro.figures import Look
    from kbrepro.figures.style import Style

#: What makes a policy from a model and a horizon.
Make = Callable[..., Player]
Rules = dict[str, Make]
#: What makes the problem of a trial.
Source = Callable[[Trial], Problem]
#: What is played, by label.
Plan = dict[str, Planned]
#: The curves of rules, by name.
Curves = Mapping[str, Curve]
#: What loads sensor data, by name.
Load = Callable[..., SensorData]


@dataclass(frozen=True)
class Paper:
    """What a folder registers as `PAPER` in its `paper.py`.

    `notebook`; `families`: colour -> name -> line style of the algorithms that no earlier paper has
    (one without gets the next colour of a cycle). A `synthesis` is not a paper: it plays algorithms
    of others, may import their folders, and its families are kinds of rules. `title` names the
    paper on pages and in pictures; without one they show the notebook.
    """

    notebook: str
    families: Mapping[str, Mapping[str, Style]] = field(default_factory=dict)
    synthesis: bool = False
    title: str = ""


@cache
def found() -> dict[str, Paper]:
    """Return every paper whose folder has a `paper.py`, by name, in the order of the notebooks."""
    papers: dict[str, Paper] = {}
    for here in __path__:
        for path in Path(here).glob("*/paper.py"):
            name = path.parent.name
            papers[name] = import_module(f"{__name__}.{name}.paper").PAPER
    return dict(sorted(papers.items(), key=lambda item: item[1].notebook))


def folder_of(notebook: str) -> str:
    """Return the folder of the paper of a notebook; ValueError if no paper names it."""
    by_notebook = {paper.notebook: folder for folder, paper in found().items()}
    checks.one_of(by_notebook, notebook=notebook)
    return by_notebook[notebook]


def same_arms(
    short: Callable[..., list[int]], rule: Make, problem: Playable, horizon: int, trial: Trial
) -> str:
    """Say that a short algorithm pulls the arms of a rule of the package; ValueError if not.

    `short(pull, rng)` returns its arms. Both play the problem of a trial with the same noise, and
    draw ties, and all else, from the same stream.
    """
    policy = start_policy(rule, problem.model, horizon, trial)
    arms = run(policy, problem, horizon, trial.rng("noise")).arms.tolist()
    noise = trial.rng("noise")
    own = short(lambda arm: problem.pull(arm, noise), trial.rng("policy"))
    if own != arms:
        raise ValueError(f"the short algorithm pulls {own}, the package {arms}")
    return f"{horizon} of {horizon} pulls agree; the first five: {own[:5]}"


def looks() -> dict[str, Look]:
    """Return the look of every algorithm: that of the first paper that has it."""
    look_of: dict[str, Look] = {}
    for paper in reversed(found().values()):
        for colour, styles in paper.families.items():
            for name, style in styles.items():
                look_of[name] = colour, style
    return look_of
