"""The kept trials of a notebook with the plan that they are of, as its `Record` has them."""

from functools import cache, partial

from kbrepro import paths
from kbrepro.batch.plans import plan_of, remembering
from kbrepro.claims.tables import Kept
from kbrepro.trials.store import Store


def kept_of(folder, parameters=None):
    """Return the trials of `results/<profile>/<notebook>/played`; `parameters` are those of its
    run.json, unless they are given.
    """
    if parameters is None:
        parameters = paths.read_json(folder.with_name("run.json"))["parameters"]
    loads = remembering(Store(folder, read_only=True))
    return Kept(folder, parameters, cache(partial(plan_of, folder.parent.name, parameters, loads)))
