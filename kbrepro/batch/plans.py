"""Plans: what the notebook of a paper plays, label by label, from its parameters."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache, partial
from importlib import import_module
from inspect import signature
from typing import Any

from kbrepro.data.store import load
from kbrepro.papers import Load, Plan, found
from kbrepro.trials import store
from kbrepro.trials.simulation import Planned
from kbrepro.trials.store import Played, Store

#: Of a notebook, by name.
Parameters = Mapping[str, object]


def plan_of(notebook: str, parameters: Parameters, load: Load, edition: str = "") -> Plan:
    """Return what a notebook plays with these parameters, by label; nothing if no paper names it.

    With `edition` NEXT it is what is played next. ValueError names a missing parameter.
    """
    folders = [folder for folder, paper in found().items() if paper.notebook == notebook]
    if not folders:
        return {}
    parts = ["kbrepro.papers", *folders, edition, "experiments"]
    module = import_module(".".join(filter(None, parts)))
    wanted, values = signature(module.experiments).parameters, {**parameters, "load": load}
    if missing := [name for name in wanted if name not in values]:
        raise ValueError(f"{notebook} lacks the parameters {', '.join(missing)}")
    return module.experiments(**{name: values[name] for name in wanted})


def remembering(kept_in: Store) -> Load:
    """Return what loads sensor data or, if it is not here, what a store remembers of it."""

    remembered = cache(lambda name, *how: store.remembered(kept_in, name, load(name, *how)))
    return lambda name, *how: remembered(name, *map(tuple, how))


def with_data(
    notebook: str, parameters: Parameters, full: Store, short: bool, edition: str = ""
) -> tuple[Plan, Load]:
    """Return a plan (see `plan_of`) and what loaded its sensor data.

    Data that is not here is what the full scale remembers of it; in a `short` run that must play on
    it, a simulated substitute.
    """
    loads = remembering(full)
    plan = plan_of(notebook, parameters, loads, edition)
    if short:
        for label, planned in plan.items():
            job = planned.job(label)
            if job.without_data and not isinstance(full.find(job, settings_alone=True), Played):
                plan = plan_of(notebook, parameters, load)
                return {name: on_substitute(plan[name]) for name in plan}, load
    return plan, loads


def on_substitute(planned: Planned) -> Planned:
    """Return the same on simulated readings, if it is an experiment, or a job of one, whose source
    names its data by a checksum.
    """
    what: Any = planned.what
    if isinstance(what, partial):
        parts = [_on_substitute(part) for part in what.args]
        return replace(planned, what=partial(what.func, *parts, **what.keywords))
    return replace(planned, what=_on_substitute(what))


def _on_substitute(part: Any) -> Any:
    source: Any = getattr(part, "problem", None)
    if not getattr(source, "checksum", ""):
        return part
    return replace(part, problem=replace(source, checksum=""), measured="")
