"""The kept trials of a notebook with the plan that they are of, as its `Record` has them."""

from functools import cache, partial

from kbrepro import paths
from kbrepro.batch.plans import plan_of, remembering
from kbrepro.claims.tables import Draw, Kept, View, all_kept
from kbrepro.trials.store import Store


def kept_of(folder, parameters=None):
    """Return the trials of `results/<profile>/<notebook>/played`; `parameters` are those of its
    run.json, unless they are given.
    """
    if parameters is None:
        parameters = paths.read_json(folder.with_name("run.json"))["parameters"]
    loads = remembering(Store(folder, read_only=True))
    return Kept(folder, parameters, cache(partial(plan_of, folder.parent.name, parameters, loads)))


@cache
def kept_in(number):
    """Return the committed trials of a notebook, by its number."""
    (folder,) = (paths.project_root() / "results" / "paper").glob(f"{number}_*/played")
    return kept_of(folder)


def view(table, kept, **reading):
    """Return what a table shows over all kept trials."""
    return View(table.under(kept, reading), Draw(all_kept))
