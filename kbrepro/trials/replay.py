"""Kept trials are played again with today's code and compared."""

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy
from threadpoolctl import threadpool_info, threadpool_limits

from kbrepro import paths
from kbrepro.bandits.problems import Trial
from kbrepro.trials import sums
from kbrepro.trials.simulation import play_trial
from kbrepro.trials.store import Job, Played, again
from kbrepro.trials.store.flat import Leaves, flat, leaf_differences

#: A notebook replays the cheapest trial of a label if it took less than so many seconds, and so
#: many in all: another processor takes up to twice as long.
CHEAP, BUDGET = 1.0, 5.0
#: Another numpy or scipy may change numbers by this share of their size, and no arm.
SMALL = 1e-6


class Differs(RuntimeError):
    """A kept trial, played again, is another one."""


class Verified(NamedTuple):
    """A kept trial that was played again: what differs in words, empty if nothing does, and whether
    that is red on this stack (see `allowed`).
    """

    label: str
    number: int
    differ: str
    is_red: bool

    def __str__(self) -> str:
        """Label, trial and what came out."""
        return f"{self.label}, trial {self.number}: {self.differ or 'equal'}"


class Replays:
    """Plays the cheapest trial of every label again, as it is read, and writes what came out to
    .cache/replays/log.txt.

    What was equal is remembered there, by label, settings, code and stack, and is not played twice.
    `results` is the folder of a notebook's results, whose run.json says what is red here and what
    is only logged. Labels whose trials are long are listed in `long`.
    """

    def __init__(self, root: Path, results: Path) -> None:
        self.folder, self.results = root / ".cache/replays", results
        self.facts = paths.facts_of(results)
        self.left, self.long = BUDGET, list[str]()

    def __call__(self, job: Job, kept: Played) -> None:
        """Replay one trial of a job; Differs names label, trial and round."""
        place, seconds = int(np.argmin(kept.seconds)), float(kept.seconds.min())
        if seconds >= min(CHEAP, self.left):
            self.long.append(job.label)
            return
        self.left -= seconds
        identity = json.dumps([job.label, job.settings, place, code(), stack()], default=str)
        equal = self.folder / sums.checksum(identity.encode())[:20]
        if equal.is_file():
            return
        done = verify(job, job.first + place, kept.trial(place), self.facts)
        line = f"{self.results.name}: {done}"
        self.folder.mkdir(parents=True, exist_ok=True)
        if done.differ:
            line = "; ".join([line, *allowed(self.facts)[1]])
        else:
            equal.touch()
        with (self.folder / "log.txt").open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")
        if done.is_red:
            raise Differs(
                f"{line}. The replay differs from the stored trial. To play the label again:"
                f" {again(self.results, job.label)}"
            )


@cache
def code() -> str:
    """Return a digest of the package's code, without claims and words."""
    here = Path(__file__).parents[1]
    files = sorted(
        path for path in here.rglob("*.py") if "claims" not in path.relative_to(here).as_posix()
    )
    return sums.checksum(b"\0".join(path.read_bytes() for path in files))


@cache
def blas_kernel() -> str:
    """Return the kernel that BLAS chose for this processor, such as SkylakeX: another one rounds in
    another way.
    """
    import scipy.linalg  # noqa: F401  (loads the BLAS of numpy and of scipy)

    kernels = {
        info.get("architecture", "") for info in threadpool_info() if info["user_api"] == "blas"
    }
    return " ".join(sorted(kernels - {""}))


def stack() -> dict[str, str]:
    """Return what the last digits of numbers depend on: the BLAS kernel and the versions of numpy
    and scipy.
    """
    return {"BLAS kernel": blas_kernel(), "numpy": np.__version__, "scipy": scipy.__version__}


def allowed(facts: Mapping[str, Any]) -> tuple[float, list[str]]:
    """Return by what share of its size a replay may differ here from trials of a run.json, and what
    is other here.

    On the stack that played, or if none is known, by nothing: 0. With another numpy or scipy by
    SMALL: no arm and no text may differ, for which `_differences` says infinity. On another BLAS
    kernel by infinity: nothing is red.
    """
    played = {name: [version] for name, version in facts.get("versions", {}).items()}
    played["BLAS kernel"] = facts.get("blas_kernels", [])
    others = [
        f"{name} {here} here, {' and '.join(played[name])} when played"
        for name, here in stack().items()
        if played.get(name) and here not in played[name]
    ]
    if others and others[0].startswith("BLAS kernel"):
        return np.inf, others
    return (SMALL if others else 0.0), others


def verify(
    job: Job, number: int, before: Leaves, facts: Mapping[str, Any], policy: object = None
) -> Verified:
    """Play a trial again, of an experiment one `policy` or all, and compare it with what was kept;
    `facts` are those of the run.json of its results.
    """
    if job.without_data:
        return Verified(job.label, number, "not replayed, its sensor data is missing", False)
    differ, share = _differences(job, number, before, policy)
    return Verified(job.label, number, differ, share > allowed(facts)[0])


def _differences(job: Job, number: int, before: Leaves, policy: object) -> tuple[str, float]:
    """What differs in words, and how much.

    Of arms that are kept the first that differs is named alone. How much is the largest difference
    as a share of the number's size: infinite if an arm, a text or a whole number differs, or if the
    code fails today, and 0 if all is equal.
    """
    function, experiment = job.function, experiment_of(job)
    if policy is not None:
        one = replace(experiment, policies={policy: experiment.policies[policy]})
        function = partial(play_trial, one, **function.keywords)  # type: ignore[attr-defined]
        before = {
            path: leaf for path, leaf in before.items() if len(path) == 1 or path[1] == policy
        }
    try:
        with threadpool_limits(1, user_api="blas"):
            now = flat(function(Trial(job.seed, number)))
    except Exception as error:
        return f"{type(error).__name__}: {error}", np.inf
    if policy is not None and ("gaps",) in now:  # they are known of arms that were pulled
        pulled = ~np.isnan(now["gaps",])
        for leaves in (before, now):
            leaves["gaps",] = leaves["gaps",][pulled]
    for path, one in before.items():
        if path[::2] == ("policies", "arms") and path in now:
            for t in np.flatnonzero(one != now[path])[:1]:
                arms = f"arm {now[path][t]} of {path[1]} in round {t + 1}, stored arm {one[t]}"
                return arms, np.inf
    shares = leaf_differences(before, now)
    differ, largest = "; ".join(shares), max(shares.values(), default=0.0)
    if 0 < largest < np.inf:  # where no arms are kept their digest is, a text
        same = "the arms are equal, numbers differ"
        if not experiment:
            same = "no arms are stored to compare, numbers differ"
        differ += f"; {same} by at most {largest:.1e} of their size"
    return differ, largest


def experiment_of(job: Job) -> Any:
    """Return the experiment that a job plays, None if it measures something else."""
    function = job.function
    if isinstance(function, partial) and function.func is play_trial:
        return function.args[0]
    return None
