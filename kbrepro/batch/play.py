"""Play what is missing of a notebook's plan, label by label, without the notebook."""

import sys
import time
from collections.abc import Sequence

from kbrepro import checks, store
from kbrepro.batch.run import Run
from kbrepro.plans import plan_of


def play(r: Run, labels: Sequence[str] = (), fresh: Sequence[str] = (), minutes: float = 0) -> bool:
    """Play what its store lacks of a run's plan, or of these labels; return whether all is there.

    Labels in `fresh` (`*`: all) are played anew. With `minutes` no label is begun that is not
    expected to end in time. Each label is kept as it ends, and one that is interrupted goes on where
    it stopped. ValueError on an unknown label.
    """
    kept_in = store.Store(r.played, fresh)
    plan = plan_of(r.notebook, r.parameters, kept_in)
    checks.one_of(("*", *plan), **{"label": each for each in (*labels, *fresh)})
    wanted = {label: plan[label] for label in labels or plan}
    missing = [label for label in wanted if not kept_in.has(wanted[label].job(label))]
    start = time.monotonic()
    seconds = {label: _seconds(r, label) for label in missing}
    for place, label in enumerate(missing):
        spent = time.monotonic() - start
        left = sum(seconds[each] for each in missing[place:])
        if minutes and spent + seconds[label] > 60 * minutes:
            print(f"{r.notebook}: {len(missing) - place} labels left", file=sys.stderr, flush=True)
            return False
        told = f"{place + 1} of {len(missing)}, about {left / 60:.0f} minutes left"
        print(f"{r.notebook}: {label} ({told})", file=sys.stderr, flush=True)
        wanted[label].play(label, kept_in)
    return True
