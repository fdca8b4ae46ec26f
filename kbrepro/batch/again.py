"""Find stale results: judge and show full-scale runs again from their stores, and compare with what is committed."""

from collections.abc import Iterator
from pathlib import Path

from kbrepro import store
from kbrepro.batch import audit, compare
from kbrepro.batch.compare import DIFFERS, SAME, Item
from kbrepro.batch.run import PAPER, Run, RunFailed, judged_again, plan
from kbrepro.verdicts import scorecard


def told(root: Path, notebooks: list[str]) -> Iterator[str]:
    """Yield one line per notebook (all if none is named): its verdicts from the store today, and its last audit."""
    for r in plan(notebooks, PAPER, {}, root):
        last = audit.last(root, r.notebook, PAPER)
        audited = f"last audit {last['date']}: {last['equal']} of {last['replayed']} equal" if last else "never audited"
        yield f"{r.notebook}: {_verdicts(r)}; {audited}"


def differing(r: Run) -> list[Item]:
    """Return the claims and tables that change when a run is judged and shown from its store alone.

    Seconds, and what follows from them, are those of the stored run. Raises RunFailed if the store lacks a label.
    """
    with judged_again(r) as folder:
        return [item for item in compare.items(r.root, r.notebook, r.folder, folder) if item.state != SAME]


def _verdicts(r: Run) -> str:
    if not scorecard.read_run(r.folder)["claims"]:
        return "no full-scale run is here"
    if not (kept := store.labels(r.folder / store.PLAYED)):
        return "no played trials are kept"
    try:
        names = [item.name for item in differing(r) if item.state == DIFFERS]  # another processor rounds otherwise
    except RunFailed as error:
        return f"its store is incomplete ({len(kept)} labels): {str(error).splitlines()[0]}"
    return f"its store gives other results: {', '.join(names)}" if names else "same verdicts and tables from its store"
