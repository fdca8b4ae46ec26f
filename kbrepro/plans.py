"""Plans: what the notebook of a paper plays, label by label, from its parameters."""

from collections.abc import Callable, Mapping
from functools import cache, partial
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any

from kbrepro import paths, store
from kbrepro.claims.tables import Kept
from kbrepro.data import SensorData
from kbrepro.data.store import load
from kbrepro.papers import found
from kbrepro.simulation import Planned
from kbrepro.store import Store

#: Returns sensor data by name, as `data.store.load`.
Load = Callable[..., SensorData]


def plan_of(notebook: str, parameters: Mapping[str, object], load: Load) -> dict[str, Planned]:
    """Return what a notebook plays with these parameters, by label; nothing if no paper names it.

    ValueError names a missing parameter.
    """
    folders = [folder for folder, paper in found().items() if paper.notebook == notebook]
    if not folders:
        return {}
    module = import_module(f"kbrepro.papers.{folders[0]}.experiments")
    wanted = signature(module.experiments).parameters
    given = {name: parameters[name] for name in wanted if name in parameters}
    if "load" in wanted:
        given["load"] = load
    if missing := [name for name in wanted if name not in given]:
        raise ValueError(f"{notebook} must have the parameters {', '.join(missing)}")
    return module.experiments(**given)


def remembering(kept_in: Store) -> Load:
    """Return what loads sensor data or, if it is not here, what a store remembers of it."""

    @cache
    def remembered(name: str, *how: Any) -> SensorData:
        return store.remembered(kept_in, name, load(name, *map(list, how)))

    return lambda name, *how: remembered(name, *map(tuple, how))


def with_data(
    notebook: str, parameters: Mapping[str, object], full: Store, short: bool
) -> tuple[dict[str, Planned], Load]:
    """Return a plan and what loaded its sensor data.

    Data that is not here is what the full scale remembers of it; in a `short` run that must play on
    it, a simulated substitute.
    """
    loads = remembering(full)
    plan = plan_of(notebook, parameters, loads)
    if short:
        jobs = [planned.job(label) for label, planned in plan.items()]
        if any(job.without_data and not full.has(job) for job in jobs):
            return plan_of(notebook, parameters, load), load
    return plan, loads


def kept(
    folder: Path,
    parameters: Mapping[str, object] | None = None,
    unlike: Callable[[str], str] = lambda label: "",
    plan: Callable[[], Mapping[str, Planned]] | None = None,
) -> Kept:
    """Return the kept trials of `results/<profile>/<notebook>/played`, with the plan that they are
    of.

    `parameters` are those of its run.json, unless they are given; `unlike(label)` says in what a
    label may not be read. A `plan` that is known is not made again.
    """
    if parameters is None:
        parameters = paths.read_json(folder.with_name("run.json"))["parameters"]
    if plan is None:
        loads = remembering(Store(folder, read_only=True))
        plan = cache(partial(plan_of, folder.parent.name, parameters, loads))
    return Kept(folder, parameters, plan, unlike)
