"""Policies meet problems, in independent parallel trials that are played or read from a store.

Each trial builds its own random streams from two integers, root seed and trial number. So results
depend neither on the number of workers nor on the order of trials, and all policies of a trial see
the same function, the same noise in the same round, and the same order of ties. A policy's arms are
all that must be kept: its observations are found by drawing the noise again.
"""

from __future__ import annotations

import hashlib
import math
import multiprocessing
import os
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, is_dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import Generator
from threadpoolctl import threadpool_limits
from tqdm import tqdm

from kbrepro import checks, paths
from kbrepro.bandits.policies.base import Policy, takes_rng
from kbrepro.bandits.problems import Trial
from kbrepro.trials import store, together
from kbrepro.trials.curve import Curve, edges, kept_rounds, log_spaced
from kbrepro.trials.store import Played
from kbrepro.trials.store.flat import Leaves, flat, nested, stacked
from kbrepro.trials.store.settings import settings
from kbrepro.typing import Array, Playable, Player

if TYPE_CHECKING:
    import joblib
    import pandas as pd


#: What plays one trial.
Play = Callable[[Trial], object]
#: What a run calls of a problem; if an observation has several numbers, the reward is the last.
PROBLEM, PLAYABLE = (
    "a problem, such as Problem(model, expected_reward)",
    ("pull", "regret", "model"),
)


@dataclass(frozen=True)
class Experiment(checks.Checked):
    """Policies that meet the same problems.

    `problem(trial)` builds the problem of one `Trial` (`problems` has such sources),
    `policies[name](model, horizon, rng=generator)` a policy: a class of `policies`, or a
    `functools.partial` of it with its settings. With `record_band` every policy must have a
    `band_ratio`. `measured` is the checksum of the data whose readings are the expected rewards:
    then neither arms nor gaps are kept, since the readings could be computed from them.
    """

    problem: Callable[[Trial], Playable]
    policies: Mapping[str, Callable[..., Player]]
    horizon: int
    record_band: bool = False
    measured: str = ""
    checked = {
        "problem": checks.source,
        "policies": checks.policies,
        "horizon": checks.positive_int,
    }


@dataclass(frozen=True, repr=False)
class Planned(checks.Checked):
    """What one label plays: an experiment, or a job of a `Trial`, in trials first .. first + trials
    - 1 of a seed.

    Without `arms` R_t is kept at some rounds alone; `block` trials go to a worker together; where
    arms are not kept, rules that `together` knows play them side by side: the same arms in less
    time.
    """

    what: Experiment | Play
    trials: int
    seed: int
    first: int = 0
    block: int = 1
    arms: bool = True
    checked = {
        "trials": checks.positive_int,
        "seed": checks.non_negative_int,
        "first": checks.non_negative_int,
        "block": checks.positive_int,
    }

    @property
    def function(self) -> Play:
        """What plays one trial."""
        if not isinstance(self.what, Experiment):
            return self.what
        job = partial(play_trial, self.what)
        return job if self.arms else partial(job, arms=False)

    @property
    def experiment(self) -> Experiment:
        """The experiment, or that inside the job; ValueError if it plays none."""
        if experiment := _experiment_of(self.function):
            return experiment
        raise ValueError(f"{self.what} plays no experiment")

    def __repr__(self) -> str:
        return f"Planned({self.trials} trials of seed {self.seed})"

    def _repr_markdown_(self) -> str:
        """What an experiment plays, for a notebook: its problem, horizon and trials, and a line a
        rule.
        """
        experiment = self.experiment
        fields = getattr(experiment.problem, "__dict__", {})
        plain = {
            name: value for name, value in fields.items() if isinstance(value, int | float | str)
        }
        facts = [_called(type(experiment.problem).__name__, plain)]
        if not experiment.measured:  # of readings that are not here no problem can be made
            model = experiment.problem(Trial(self.seed, self.first)).model
            facts.append(f"{model.n_arms:,} arms")
            if hasattr(model, "kernel"):
                facts.append(f"kernel {_named(model.kernel)}")
                facts.append(f"noise variance {model.noise_variance:g}")
        facts += [f"$T$ = {experiment.horizon:,}", f"{self.trials:,} trials"]
        rows = [f"| {name} | `{_named(rule)}` |" for name, rule in experiment.policies.items()]
        line = f"*Played:* {'; '.join(facts)}."
        return "\n".join([line, "", "| rule | made by |", "| --- | --- |", *rows])

    def play(self, label: str, kept_in: store.Store | None = None) -> Any:
        """Return what `run_trials` returns of an experiment, or `map_trials` of a job."""
        kept = self.trials_of(label, kept_in)
        return curves(kept.columns) or kept.results

    def trials_of(self, label: str, kept_in: store.Store | None) -> Played:
        """Return the trials, read from a store or played, and kept there."""
        if kept_in is None:
            return _played(store.Job(label, self.function, None, **self._which), self.block, None)
        checks.having("a store, such as Store(Path('played'))", "read_or_play", kept_in=kept_in)
        job = self.job(label)
        return kept_in.read_or_play(job, partial(_played, job, self.block, kept_in))

    def job(self, label: str) -> store.Job:
        """Return the job of a store; ValueError on what has no settings that can be kept."""
        description = {"job": settings(self.function)} | self._which
        return store.Job(label, self.function, description, **self._which)

    @property
    def _which(self) -> dict[str, int]:
        return {"seed": self.seed, "first": self.first, "trials": self.trials}


def _experiment_of(job: Play) -> Experiment | None:
    """The experiment that a job plays, if it is one of its arguments."""
    parts = getattr(job, "args", ())
    return next((part for part in parts if isinstance(part, Experiment)), None)


def _named(thing: object) -> str:
    """A setting in words: a rule, a width or a kernel with its arguments, or a value."""
    if isinstance(thing, partial):
        name, arguments = thing.func.__name__, thing.keywords
    elif is_dataclass(thing) and not isinstance(thing, type):
        name, arguments = type(thing).__name__, vars(thing)
    elif isinstance(thing, float):
        return "(of the readings)" if math.isnan(thing) else f"{thing:g}"
    else:
        return getattr(thing, "__name__", repr(thing))
    return _called(name, arguments)


def _called(name: str, arguments: Mapping[str, object]) -> str:
    words = [f"{key}={_named(value)}" for key, value in arguments.items() if value is not None]
    return f"{name}({', '.join(words)})"


def start_policy(make: Callable[..., Any], model: object, horizon: int, trial: Trial) -> Any:
    """Return a policy of `make(model, horizon, rng=generator)`, born with its generator of a trial.

    A `Policy` is made without its warning of rewards that do not fit the prior: in trials rewards
    are made, some so on purpose. A `make(model, horizon)` that takes no `rng` makes a policy whose
    `rng` is set afterwards.
    """
    generator = trial.rng("policy")
    if takes_rng(make):
        policy = make(model, horizon, rng=generator)
    else:
        policy = make(model, horizon)
        policy.rng = generator
    if isinstance(policy, Policy):
        policy.warn = False
    return policy


def rounds(
    policy: Player, problem: Playable, horizon: int, rng: Generator | int | None
) -> Iterator[tuple[int, int, Any]]:
    """Play `horizon` rounds; yield (t, arm, observation), t = 1, 2, ..., before the policy's
    `tell`.

    `rng` draws the noise alone; a policy draws from the generator that it was made with.
    """
    checks.positive_int(horizon=horizon)
    checks.having("a policy, with ask() and tell(arm, observation)", "ask", "tell", policy=policy)
    checks.having(PROBLEM, *PLAYABLE, problem=problem)
    rng = checks.seeded(rng=rng)

    def played_rounds() -> Iterator[tuple[int, int, Any]]:
        for t in range(1, horizon + 1):
            arm = policy.ask()
            observation = problem.pull(arm, rng)
            yield t, arm, observation
            policy.tell(arm, observation)

    return played_rounds()


def run(
    policy: Player, problem: Playable, horizon: int, rng: Generator, record_band: bool = False
) -> Curve:
    """Return the curve of `horizon` rounds (see `rounds`).

    Its seconds are CPU time of this thread: other jobs do not change them, nor other trials in
    threads of this process. What a policy computes in further threads does not count; `map_trials`
    gives BLAS one thread.
    """
    played_rounds = rounds(policy, problem, horizon, rng)
    checks.memory(16.0 * horizon, f"horizon = {horizon}: the curve of a run")
    arms, band_ratio = np.empty(horizon, dtype=np.int32), np.full(horizon, np.nan)
    timed, clock = {*edges(horizon).tolist()}, [time.thread_time()]
    for t, arm, _ in played_rounds:
        if t in timed:
            clock.append(time.thread_time())
        arms[t - 1] = arm
        if record_band:
            band_ratio[t - 1] = policy.band_ratio(problem.expected_reward)  # type: ignore[attr-defined]
    seconds = np.diff(clock).astype(np.float32)
    starts = np.append(0, log_spaced(horizon)[:-1])
    worst = np.maximum.reduceat(band_ratio, starts) if record_band else np.full(1, np.nan)
    return Curve(np.arange(1, horizon + 1), seconds, worst, arms, _gaps(problem))


def _gaps(problem: Playable) -> Array:
    return problem.regret(np.arange(problem.model.n_arms))


def run_trials(
    experiment: Experiment,
    trials: int,
    seed: int,
    *,
    first: int = 0,
    block: int = 1,
    label: str = "trials",
    arms: bool = True,
    kept_in: store.Store | None = None,
) -> dict[str, Curve]:
    """Return the curves of every policy over trials first .. first + trials - 1, in that order.

    Without `arms`, and on measured data, R_t is kept at some rounds alone: that takes a hundredth
    of the space. Jobs, workers and what is kept: as for `map_trials`.
    """
    checks.having("an Experiment", "problem", "policies", "horizon", experiment=experiment)
    kept = Planned(experiment, trials, seed, first, block, arms).play(label, kept_in)
    return {name: kept[name] for name in experiment.policies}


def curves(columns: Leaves) -> dict[str, Curve]:
    """Return the curves by policy of the columns that a store has of `play_trial`; empty if they
    are of another job.
    """
    parts = nested({path[1:]: leaf for path, leaf in columns.items() if path[:1] == ("policies",)})
    made = {}
    for name in parts:
        part = parts[name]
        if "arms" in part:
            at, seconds = np.arange(1, part.arms.shape[1] + 1), part.seconds.astype(float)
            made[name] = Curve(at, seconds, part.band_ratio, part.arms, columns["gaps",])
        else:
            totals = part.totals.astype(float)
            none = np.full((len(totals), 1), np.nan)  # measured data has neither seconds nor band
            seconds = part.get("seconds", none).reshape(-1, 1)
            band = part.get("band_ratio", none)
            made[name] = Curve(columns["rounds",][0], seconds, band, totals=totals)
    return made


def played(notebook: str, label: str, profile: str = paths.FULL_SCALE) -> Any:
    """Return the stored trials of a label, such as `Table 1, d = 2`, of a notebook, given by name
    or number, such as 03.

    These are the curves by policy, or what the job of `map_trials` returned. Raises
    FileNotFoundError, which lists the kept labels, if there is no such label.
    """
    folders = sorted((paths.checkout() / "results" / profile).glob(f"{notebook}*/{store.PLAYED}"))
    if not folders:
        raise FileNotFoundError(
            f"no trials of notebook {notebook!r} are stored in results/{profile}"
        )
    _, kept = store.opened(folders[0], label)
    return curves(kept.columns) or kept.results


def frame(folder: str | Path) -> pd.DataFrame:
    """Return R_t of all trials of experiments that are stored below a folder, a row a number.

    Columns: `run` (the folder of its results), `label`, `rule`, `trial`, `round` (some of 1 .. T)
    and `R_t`. FileNotFoundError if nothing is kept there.
    """
    import pandas as pd  # here: `import kbrepro` loads numerics only

    parts = []
    for played in sorted(Path(folder).rglob(store.PLAYED)):
        run = played.parent.relative_to(folder).as_posix()
        for label, about in store.labels(played).items():
            _, kept = store.opened(played, label)
            for rule, curve in curves(kept.columns).items():
                at = kept_rounds(curve.horizon)
                total = curve.cumulative_regret[:, at - 1]
                n, m = total.shape
                columns = {
                    "run": run,
                    "label": label,
                    "rule": str(rule),
                    "trial": np.repeat(np.arange(n) + about["first"], m),
                    "round": np.tile(at, n),
                    "R_t": total.ravel(),
                }
                parts.append(pd.DataFrame(columns))
    if not parts:
        raise FileNotFoundError(f"no trials are stored below {folder}")
    return pd.concat(parts, ignore_index=True)


def map_trials(
    function: Play,
    trials: int,
    seed: int,
    *,
    first: int = 0,
    block: int = 1,
    label: str = "trials",
    kept_in: store.Store | None = None,
) -> list[Any]:
    """Return [function(Trial(seed, n))] for n = first .. first + trials - 1, in that order.

    `function` builds its random streams by `trial.rng(purpose)` and returns what `store.flat` can
    take apart, with the same names in every trial; it comes back as numbers, texts and arrays in
    mappings and lists. `block` trials make one job. The number of workers is that of the
    environment variable KBREPRO_JOBS, else of processors; an enclosing `joblib.parallel_config`
    gives them, on a cluster, too. With a store in `kept_in`, such as `Store(Path("played"))`, a
    label with the same settings is read from it, and any other is played and kept there, trial by
    trial.
    """
    checks.function(function=function)
    return Planned(function, trials, seed, first, block).trials_of(label, kept_in).results


def _played(job: store.Job, block: int, kept_in: store.Store | None) -> Played:
    """Play what is missing of a job in parallel, and keep every trial as its block ends."""
    import joblib  # here: `import kbrepro` loads numerics only

    pieces = kept_in.pieces(job) if kept_in else {}
    missing = [n for n in range(job.first, job.first + job.trials) if n not in pieces]
    blocks = [missing[at : at + block] for at in range(0, len(missing), block)]
    calls = (joblib.delayed(_run_block)(job.function, job.seed, numbers) for numbers in blocks)
    in_notebook = type(sys.stderr).__module__.startswith("ipykernel")
    # a log would have a line for every step
    hidden = {} if in_notebook or sys.stderr.isatty() else {"disable": True}
    unit = "block" if block > 1 else "trial"
    for timed in tqdm(workers()(calls), job.label, len(blocks), unit=unit, **hidden):
        for number, leaves, seconds in timed:
            pieces[number] = leaves, seconds
            if kept_in:
                kept_in.keep_piece(job, number, leaves, seconds)
    leaves_of, seconds_of = zip(*(pieces[number] for number in sorted(pieces)), strict=True)
    return Played(stacked(leaves_of), np.array(seconds_of))


def workers(**how: object) -> joblib.Parallel:
    """Return `n_workers` workers, which end with this process; results come in the order in which
    they end.
    """
    import joblib

    return joblib.Parallel(
        n_workers(),
        return_as="generator_unordered",
        initializer=_end_with,
        initargs=(os.getpid(),),
        **how,
    )


def _end_with(caller: int) -> None:
    """End this worker at most some seconds after the process that called it, also if that was
    killed.

    A thread asks, since the signal that Linux sends for it comes when the parent's *thread* ends.
    Backends that put a process or a machine between the two end their workers themselves.
    """
    parent = multiprocessing.parent_process()
    if parent and parent.pid == caller:
        threading.Thread(target=_watch, args=[caller], daemon=True).start()


def _watch(parent: int) -> None:
    # else another one has adopted this process, maybe before this thread began
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


def n_workers() -> int:
    """Return KBREPRO_JOBS, or -1, all processors; ValueError unless it is an integer of at
    least 1.
    """
    jobs = os.environ.get("KBREPRO_JOBS", "-1")
    if jobs != "-1" and not (jobs.isascii() and jobs.isdigit() and int(jobs)):
        raise checks.refused("KBREPRO_JOBS", jobs, "an integer of at least 1")
    return int(jobs)


def _run_block(
    function: Play, seed: int, numbers: Sequence[int]
) -> list[tuple[int, Leaves, float]]:
    """Run trials of these numbers; return number, leaves of the result and CPU seconds of each in
    this thread.
    """
    done = []
    with threadpool_limits(1, user_api="blas"):
        start = time.thread_time()
        trials = _begun(function, [Trial(seed, number) for number in numbers])
        share = (time.thread_time() - start) / len(trials)
        for trial in trials:
            start = time.thread_time()
            result = function(trial)
            done.append((trial.number, flat(result), share + time.thread_time() - start))
    return done


@dataclass(frozen=True, eq=False, repr=False)
class Begun(Trial):
    """A trial of an experiment: its problem, and the curves of rules that were played, by name."""

    experiment: Experiment
    problem: Playable
    curves: dict[str, Curve] = field(default_factory=dict)

    def policy(self, name: str) -> Any:
        """Return the policy of a rule, at its start."""
        make = self.experiment.policies[name]
        return start_policy(make, self.problem.model, self.experiment.horizon, self)

    def alone(self, name: str) -> Curve:
        """Play a rule."""
        horizon, record_band = self.experiment.horizon, self.experiment.record_band
        return run(self.policy(name), self.problem, horizon, self.rng("noise"), record_band)


def _begin(experiment: Experiment, trial: Trial) -> Begun:
    """Return a trial with its problem; ValueError if the source does not return one."""
    if isinstance(trial, Begun) and trial.experiment is experiment:
        return trial
    problem = experiment.problem(trial)
    checks.having(f"a source, whose call returns {PROBLEM}", *PLAYABLE, problem=problem)
    return Begun(trial.seed, trial.number, experiment, problem)


def _begun(job: Any, trials: Sequence[Trial]) -> Sequence[Trial]:
    """Return the trials of a block, begun by the rules of its experiment that `together` knows.

    Where arms are kept so are seconds of single runs, and nothing is begun.
    """
    experiment = _experiment_of(job)
    if experiment is None or experiment.record_band or len(trials) == 1:
        return trials
    if job.func is play_trial and job.keywords.get("arms", True) and not experiment.measured:
        return trials
    begun = [_begin(experiment, trial) for trial in trials]
    problems = [trial.problem for trial in begun]
    names = [name for name, make in experiment.policies.items() if together.knows(make, problems)]
    noise = together.noise_of(problems, trials, experiment.horizon) if names else None
    for name in names:
        _play_together(name, begun, noise)
    return begun


def _play_together(name: str, begun: Sequence[Begun], noise: Any) -> None:
    """Give trials that are sure their curves of a rule.

    One of them is played alone, too: if its arms are others a warning says so, and none gets one.
    """
    start = time.thread_time()
    policies = [trial.policy(name) for trial in begun]
    rewards = np.stack([trial.problem.expected_reward for trial in begun])
    arms, sure = together.play_together(policies, rewards, noise)
    seconds = np.array([(time.thread_time() - start) / len(begun)])
    if not sure.any():
        return
    n = int(sure.argmax())
    curve = begun[n].alone(name)
    if (curve.arms != arms[n]).any():
        trial = Trial(begun[n].seed, begun[n].number)
        warnings.warn(f"{name}: played alone, other arms in {trial}", stacklevel=2)
        return
    for n in np.flatnonzero(sure).tolist():
        gaps = _gaps(begun[n].problem)
        begun[n].curves[name] = replace(curve, arms=arms[n], seconds=seconds, gaps=gaps)


# What is kept of one trial


def play_trial(experiment: Experiment, trial: Trial, *, arms: bool = True) -> dict[str, object]:
    """Return what is kept of one trial of an experiment: a job for `map_trials`.

    `gaps` (A,): what each arm loses in this trial, NaN for arms that no policy pulled; for each
    policy arms (T,), seconds (to three digits) and band as in `Curve`. Without `arms`, and on
    measured data, `rounds` (m,) and for each policy R_t at these, to seven digits, a digest of its
    arms, salted with the trial, and, unless measured, the seconds of the run and the band.
    """
    runs = _runs(experiment, trial)
    if experiment.measured or not arms:
        kept = {name: _curve(experiment, trial, curve) for name, curve in runs.items()}
        return {"rounds": kept_rounds(experiment.horizon), "policies": kept}
    all_gaps = next(iter(runs.values())).gaps
    pulled = np.concatenate([curve.arms for curve in runs.values()])
    gaps = np.full(len(all_gaps), np.nan)
    gaps[pulled] = all_gaps[pulled]
    kept = {
        name: {
            "arms": curve.arms,
            "seconds": curve.seconds.astype(np.float16),
            "band_ratio": curve.band_ratio,
        }
        for name, curve in runs.items()
    }
    return {"gaps": gaps, "policies": kept}


def _runs(experiment: Experiment, trial: Trial) -> dict[str, Curve]:
    begun = _begin(experiment, trial)
    curves_of = {}
    for name in experiment.policies:
        curves_of[name] = begun.curves.get(name) or begun.alone(name)
    return curves_of


def _curve(experiment: Experiment, trial: Trial, curve: Curve) -> dict[str, object]:
    salt = f"{trial.seed} {trial.number} ".encode()
    digest = hashlib.sha256(salt + curve.arms.tobytes()).hexdigest()[:16]
    totals = curve.cumulative_regret[kept_rounds(experiment.horizon) - 1].astype(np.float32)
    kept = {"totals": totals, "arms_digest": digest}
    if experiment.measured:
        return kept
    return kept | {"seconds": float(curve.seconds.sum()), "band_ratio": curve.band_ratio}


def regrets_at(experiment: Experiment, at: Sequence[int], trial: Trial) -> dict[str, Array]:
    """Return R_t of every policy after the rounds `at`, (len(at),): a job for `map_trials`."""
    runs = _runs(experiment, trial)
    return {name: np.array([curve.regret[:t].sum() for t in at]) for name, curve in runs.items()}
