"""Kept trials are played again with today's code and compared."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_info, threadpool_limits

from kbrepro.problems import Trial
from kbrepro.simulation import play_trial
from kbrepro.store import Job, Kept
from kbrepro.store.flat import Leaves, differences, flat
from kbrepro.store.settings import unknown

#: A notebook replays the cheapest trial of a label if it took less than so many seconds, and so many in all: another
#: processor takes up to twice as long.
CHEAP, BUDGET = 1.0, 5.0


class Differs(RuntimeError):
    """A kept trial, played again, is another one."""


class Replays:
    """Plays the cheapest trial of every label again, as it is read, and writes what came out to .cache/replays/log.txt.

    What was equal is remembered there, by label, settings, code and BLAS kernel, and is not played twice. On kernels
    other than `played_on` a difference is only logged. Labels whose trials are long are listed in `long`.
    """

    def __init__(self, root: Path, notebook: str, played_on: Sequence[str] = ()) -> None:
        self.folder, self.notebook, self.long = root / ".cache" / "replays", notebook, list[str]()
        self.is_exact, self.left = not played_on or blas_kernel() in played_on, BUDGET

    def __call__(self, job: Job, kept: Kept) -> None:
        """Replay one trial of a job; Differs names label, trial and round."""
        place = int(np.argmin(kept.seconds))
        seconds, number, differ = float(kept.seconds[place]), job.first + place, list[str]()
        if seconds >= min(CHEAP, self.left):
            self.long.append(job.label)
            return
        self.left -= seconds
        played = json.dumps([job.label, job.settings, place, code(), blas_kernel()], default=str)
        equal = self.folder / hashlib.sha256(played.encode()).hexdigest()[:20]
        if equal.is_file():
            return
        if unknown(job.settings):
            outcome = "not played again, its data is not here"
        else:
            differ = replayed(job, number, kept.trial(place))
            outcome = "; ".join(differ) or "equal"
        text = f"{self.notebook}: {job.label}, trial {number}: {outcome}"
        self.folder.mkdir(parents=True, exist_ok=True)
        if outcome == "equal":
            equal.touch()
        with (self.folder / "log.txt").open("a", encoding="utf-8") as file:
            file.write(f"{text}\n")
        if differ and self.is_exact:
            raise Differs(f'{text}. To play it again: kbrepro reproduce ... --fresh "{job.label}"')


@cache
def code() -> str:
    """Return a digest of the package's code, without claims and words."""
    here = Path(__file__).parent
    files = sorted(path for path in here.rglob("*.py") if "claims" not in path.relative_to(here).as_posix())
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in files)).hexdigest()


@cache
def blas_kernel() -> str:
    """Return the kernel that BLAS chose for this processor, such as SkylakeX: another one rounds in another way."""
    import scipy.linalg  # noqa: F401  (loads the BLAS of numpy and of scipy)

    kernels = {info.get("architecture", "") for info in threadpool_info() if info["user_api"] == "blas"}
    return " ".join(sorted(kernels - {""}))


def replayed(job: Job, number: int, before: Leaves, policy: Any = None) -> list[str]:
    """Play a trial again, of an experiment one `policy` or all, and return what differs from what was kept.

    Of arms that are kept this is the first alone. Code that fails today differs, too.
    """
    try:
        with threadpool_limits(1, user_api="blas"):
            now = flat(_alone(job, policy)(Trial(job.seed, number)))
    except Exception as error:
        return [f"{type(error).__name__}: {error}"]
    if policy is not None:
        before = {path: leaf for path, leaf in before.items() if len(path) == 1 or path[1] == policy}
        if ("gaps",) in now:  # they are known of arms that were pulled
            pulled = ~np.isnan(now["gaps",])
            before, now = ({**leaves, ("gaps",): leaves["gaps",][pulled]} for leaves in (before, now))
    for path in [path for path in before if path[::2] == ("policies", "arms") and path in now]:
        for t in np.flatnonzero(before[path] != now[path])[:1]:
            return [f"arm {now[path][t]} of {path[1]} in round {t + 1}, where it was {before[path][t]}"]
    shares = differences(before, now)
    if 0 < (largest := max(shares.values(), default=0.0)) < np.inf:  # where no arms are kept their digest is, a text
        same = "the same arms, numbers alone" if experiment_of(job) else "no arms are kept to compare; numbers"
        return [*shares, f"{same}, by at most {largest:.1e} of their size"]
    return [*shares]


def experiment_of(job: Job) -> Any:
    """Return the experiment that a job plays, None if it measures something else."""
    function = job.function
    return function.args[0] if isinstance(function, partial) and function.func is play_trial else None


def _alone(job: Job, policy: Any) -> Any:
    """What plays a trial of a job, of an experiment with one policy, if it is named."""
    if policy is None:
        return job.function
    experiment = experiment_of(job)
    one = replace(experiment, policies={policy: experiment.policies[policy]})
    return partial(play_trial, one, **job.function.keywords)  # type: ignore[attr-defined]
