"""Plans: what the notebook of a paper plays, label by label, from its parameters."""

import json
from collections.abc import Mapping
from functools import cache, partial
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any

from kbrepro import store
from kbrepro.claims.tables import Kept
from kbrepro.data import SensorData
from kbrepro.data.store import load
from kbrepro.papers import folder_of
from kbrepro.simulation import Planned


def plan_of(notebook: str, parameters: Mapping[str, Any], folder: Path) -> dict[str, Planned]:
    """Return what a notebook plays with these parameters, by label.

    Sensor data that is not here is what the store in `folder` remembers of it. ValueError names a
    parameter that is missing.
    """
    module = import_module(f"kbrepro.papers.{folder_of(notebook)}.experiments")
    wanted = signature(module.experiments).parameters
    given = {name: parameters[name] for name in wanted if name in parameters}
    if "load" in wanted:
        given["load"] = partial(remembered, folder)
    if missing := [name for name in wanted if name not in given]:
        raise ValueError(f"{notebook} must have the parameters {', '.join(missing)}")
    return module.experiments(**given)


def remembered(folder: Path, name: str, *how: Any) -> SensorData:
    """Return sensor data by name, or what a store remembers of it."""
    with store.using(store.Store(folder, read_only=True)):
        return store.remembered(name, load(name, *how))


def kept(folder: Path) -> Kept:
    """Return the kept trials of `results/<profile>/<notebook>/played`, with the plan that they are of."""
    run = folder.with_name("run.json")
    parameters = json.loads(run.read_text(encoding="utf-8"))["parameters"]
    return Kept(folder, parameters, cache(partial(plan_of, folder.parent.name, parameters, folder)))
