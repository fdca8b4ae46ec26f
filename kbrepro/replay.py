"""Kept trials are played again with today's code and compared."""

import hashlib
import zlib
from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_info, threadpool_limits

from kbrepro import paths
from kbrepro.problems import Trial
from kbrepro.simulation import play_trial
from kbrepro.store import Job, Kept
from kbrepro.store.flat import Leaves, differences, flat
from kbrepro.store.settings import digest, unknown

#: A notebook replays the cheapest trial of a label if it took less than so many seconds, and so many in all: another
#: processor takes up to twice as long.
CHEAP, BUDGET = 1.0, 10.0


class Differs(RuntimeError):
    """A kept trial, played again, is another one."""


class Replays:
    """Plays the cheapest trial of every label again, as it is read; if that takes long, the cheapest policy of it.

    What was equal is remembered in `.cache/replays/`, by label, settings, code and the kernels of BLAS, so that nothing
    unchanged is played twice; what was done stands in `.cache/replays/log.txt`. On kernels other than `played_on` a
    difference is only logged. Labels without a cheap trial are listed in `without`.
    """

    def __init__(self, root: Path, notebook: str, played_on: Sequence[str] = ()) -> None:
        self.folder = root / ".cache" / "replays"
        self.notebook, self.played_on, self.left = notebook, played_on, BUDGET
        self.without: list[str] = []

    def __call__(self, job: Job, kept: Kept) -> None:
        """Replay one trial of a job; Differs names label, trial and round."""
        place, policies = int(np.argmin(kept.seconds)), policies_of(kept)
        if (seconds := float(kept.seconds[place])) >= CHEAP and policies != [None]:
            each = _seconds_of_policies(kept, place)
            policies = [min(policies, key=lambda policy: (each[policy], zlib.crc32(f"{job.label} {policy}".encode())))]
            seconds = each[policies[0]]
        if seconds >= min(CHEAP, self.left):
            self.without.append(job.label)
            return
        self.left -= seconds
        if unknown(job.settings):
            self._log(f"{job.label}: its data is not here")
            return
        equal = self.folder / digest([job.label, job.settings, place, code(), blas_kernel()])[:20]
        if equal.is_file():
            return
        number, outcome = job.first + place, "equal"
        for policy in policies:
            if differ := replayed(job, number, kept.trial(place), policy):
                outcome = "; ".join(differ)
                break
        text = f"{job.label}, trial {number}: {outcome}"
        self._log(text)
        if outcome == "equal":
            paths.write_text(equal, "")
        elif not self.played_on or blas_kernel() in self.played_on:
            raise Differs(f'{self.notebook}: {text}. To play it again: kbrepro reproduce ... --fresh "{job.label}"')

    def _log(self, text: str) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / "log.txt").open("a", encoding="utf-8") as file:
            file.write(f"{self.notebook}: {text}\n")


def _seconds_of_policies(kept: Kept, place: int) -> dict[Any, float]:
    """The seconds that each policy of a kept trial took; equal shares where policies were not timed apart."""
    policies = policies_of(kept)
    timed = {policy: kept.columns.get(("policies", policy, "seconds")) for policy in policies}
    share = float(kept.seconds[place]) / len(policies)
    return {policy: share if each is None else float(each[place].sum()) for policy, each in timed.items()}


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
    """Play a trial again, in an experiment one `policy` of it, and return what differs from what was kept.

    Of arms that are kept this is the first alone. Code that fails today differs, too.
    """
    try:
        with threadpool_limits(1, user_api="blas"):
            before, now = _both(job, Trial(job.seed, number), before, policy)
    except Exception as error:
        return [f"{type(error).__name__}: {error}"]
    arms = "policies", policy, "arms"
    if arms in before:
        for t in np.flatnonzero(before[arms] != now[arms])[:1]:
            return [f"arm {now[arms][t]} in round {t + 1}, where it was {before[arms][t]}"]
    shares = differences(before, now)
    if 0 < (largest := max(shares.values(), default=0.0)) < np.inf:  # where no arms are kept their digest is, a text
        same = "no arms are kept to compare; numbers" if policy is None else "the same arms, numbers alone"
        return [*shares, f"{same}, by at most {largest:.1e} of their size"]
    return [*shares]


def experiment_of(job: Job) -> Any:
    """Return the experiment that a job plays, None if it measures something else."""
    function = job.function
    return function.args[0] if isinstance(function, partial) and function.func is play_trial else None


def policies_of(kept: Kept) -> list[Any]:
    """Return the policies that an experiment's label has; [None] if its job measures something else."""
    return list(dict.fromkeys(path[1] for path in kept.columns if path[:1] == ("policies",))) or [None]


def _both(job: Job, trial: Trial, before: Leaves, policy: Any) -> tuple[Leaves, Leaves]:
    """What was kept of a trial, and the same played now; gaps are known of arms that were pulled."""
    if (experiment := experiment_of(job)) is None:
        return before, flat(job.function(trial))
    alone = replace(experiment, policies={policy: experiment.policies[policy]})
    now = flat(play_trial(alone, trial, **job.function.keywords))  # type: ignore[attr-defined]
    before = {path: leaf for path, leaf in before.items() if len(path) == 1 or path[1] == policy}
    if ("gaps",) in now:
        pulled = ~np.isnan(now["gaps",])
        before, now = ({**leaves, ("gaps",): leaves["gaps",][pulled]} for leaves in (before, now))
    return before, now
