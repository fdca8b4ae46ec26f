"""Claims of the papers: how often would the paper's own experiment, run again at its own size,
print a sentence?

A *claim* is a quote and a *predicate* on the tables that the paper shows, in the paper's words
(`words`). The kept trials are drawn anew, and experiments of the paper's size are drawn from each
redraw; the share of experiments in which the predicate holds, averaged over redraws, is the
**replication probability**. It pays for few trials: a plain count at equal size calls one sentence
in five if the truth is one in two, the mean seven in a hundred. A *reading* is a choice that the
paper leaves open; each is judged, one choice at a time.

It is how often our implementation would print the sentence: evidence neither on the authors' code
or draws nor that the sentence is true. Where it comes from: the probability of replicating (Goodman
1992; Miller 2009), the reproducibility rate (Buzbas and Devezer 2024, Entropy 26:842), forecasts of
replications (Patil, Peng and Leek 2016; Pawel and Held 2020); for one comparison it is the
probability of improvement (Agarwal et al. 2021). Yes-or-no verdicts of reruns that are not exact
separate little (Devezer and Buzbas 2026, arXiv 2604.26268): the numbers are the result.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from inspect import signature
from typing import Any, NamedTuple

import numpy as np

from kbrepro import checks
from kbrepro.claims.tables import Draw, Kept, Table, Trials, View
from kbrepro.estimates import Estimate, share

KINDS = ("observation", "remark", "own question")
AGAIN, NOT, DEPENDS, SOMETIMES = "comes out again", "does not", "depends", "now and then"
EXPERIMENTS, REDRAWS = 1000, 100


@dataclass(frozen=True)
class Claim:
    """A sentence of a paper and its predicate on tables, which are the predicate's arguments by
    name.

    An argument `*panels` stands for all tables of the tuple `panels`. `effect` returns the number
    that stands beside the verdict, from the same tables, and `shows` says what it is.
    """

    id: str
    where: str
    quote: str
    kind: str
    predicate: Callable[..., Any]
    effect: Callable[..., Any] | None = None
    shows: str = ""

    def tables(self, function: Callable[..., Any] | None = None) -> list[Table]:
        """Return the tables that the predicate takes, or the effect; one that takes `*figures`
        takes the same.
        """
        names = [*signature(function or self.predicate).parameters]
        known = self.predicate.__globals__
        if missing := [name for name in names if name not in known]:
            if function:
                return self.tables()
            raise ValueError(
                f"claim {self.id} asks for {', '.join(missing)}: its claims.py has no such table"
            )
        named = [known[name] for name in names]
        return [table for each in named for table in (each if isinstance(each, tuple) else (each,))]


def claim(
    id: str,
    where: str,
    *,
    kind: str = "observation",
    effect: Callable[..., Any] | None = None,
    shows: str = "",
) -> Callable[[Callable[..., Any]], Claim]:
    """Return a decorator that makes a `Claim` of a predicate, whose docstring is the quote.

    Raises ValueError on an unknown kind.
    """
    checks.one_of(KINDS, kind=kind)
    return lambda predicate: Claim(id, where, _quote(predicate), kind, predicate, effect, shows)


#: What a paper argues or cites, and what we ask.
remark, own_question = partial(claim, kind="remark"), partial(claim, kind="own question")


def _quote(function: Callable[..., Any]) -> str:
    return " ".join((function.__doc__ or "").split())


class Outcome(NamedTuple):
    """What runs say of a theorem: in how many of how many it is violated, of a share `allowed`, and
    how much room.

    `room`: the largest of what is bounded over its bound, or the median, as `Theorem.checked` says;
    NaN if none.
    """

    violations: int
    runs: int
    allowed: float = 0.0
    room: float = float("nan")

    @classmethod
    def of(cls, shares: Any, allowed: float = 0.0) -> Outcome:
        """Count the runs in which what is bounded, over its bound, exceeds 1 anywhere; shares
        (runs, ...) or ragged.
        """
        worst = np.array([np.max(share) for share in shares], dtype=float)
        return cls(
            int((worst > 1 + 1e-9).sum()), len(worst), allowed, float(worst.max(initial=-np.inf))
        )

    @property
    def outcome(self) -> str:
        """`no violation in n runs`, or `false as printed`.

        With a share that is allowed to fail, the theorem is violated if the whole 95 % interval of
        the share is above.
        """
        low = share(np.arange(self.runs) < self.violations).low
        if low > self.allowed or (not self.allowed and self.violations):
            return "false as printed"
        return (
            f"{self.violations or 'no'} violation{'s' * (self.violations > 1)} in {self.runs:,}"
            " runs"
        )


@dataclass(frozen=True)
class Theorem:
    """A theorem or lemma, what was checked of it and on what range, and `check(kept)` that counts,
    or the outcome.
    """

    id: str
    where: str
    quote: str
    checked: str
    check: Callable[[Kept], Outcome]
    outcome: str = ""


def theorem(
    id: str, where: str, checked: str, quote: str = ""
) -> Callable[[Callable[[Kept], Outcome]], Theorem]:
    """Return a decorator that makes a `Theorem` of a function that counts violations in kept
    trials.

    The quote is the function's docstring, unless it is given since one function serves several
    theorems.
    """
    return lambda check: Theorem(id, where, quote or _quote(check), checked, check)


def tested(id: str, where: str, what: str, quote: str) -> Theorem:
    """Return a theorem of which a unit test checks `what`."""
    return Theorem(id, where, quote, what, lambda kept: Outcome(0, 0), "by a unit test")


def unchecked(id: str, where: str, why: str, quote: str) -> Theorem:
    """Return a theorem that no run can check: `why` says so."""
    return Theorem(id, where, quote, why, lambda kept: Outcome(0, 0), "not checkable by a run")


def sentences_of(paper: str) -> list[Claim | Theorem]:
    """Return the claims and theorems of a paper's folder, such as `igp_ucb`, in the order of its
    `claims.py`.
    """
    names = vars(import_module(f"kbrepro.papers.{paper}.claims"))
    return [each for each in names.values() if isinstance(each, Claim | Theorem)]


class Reading(NamedTuple):
    """The replication probability under one reading: `choice` has `value`, all other choices their
    main one.

    `excluded_by`: the clause that rules the reading out, so that it does not count; `drawn`,
    `kept`: trials of the paper and ours, the fewest of the claim's tables.
    """

    choice: str
    value: str
    probability: Estimate
    drawn: int
    kept: int
    excluded_by: str = ""


class Judged(NamedTuple):
    """What came out for a claim: a number for each reading, the main one first, the verdict, and
    the effect.
    """

    readings: list[Reading]
    verdict: str
    depends_on: list[str]
    effect: Estimate | None


def judge(
    each: Claim, kept: Kept, experiments: int = EXPERIMENTS, redraws: int = REDRAWS
) -> Judged:
    """Judge a claim by kept trials, deterministically; FileNotFoundError or KeyError names what is
    not kept.
    """
    tables = each.tables()
    main = [table.under(kept, {}) for table in tables]
    under = {("", ""): main}
    # what is asked for
    each.predicate(*(View(trials, Draw(trials.table, _rng(each), None, False)) for trials in main))
    readings = (pair for table in tables for pair in table.readings.items())
    for choice, value in dict.fromkeys(
        (choice, value) for choice, values in readings for value in [*values][1:]
    ):
        trials = [table.under(kept, {choice: value}) for table in tables]
        if any(there.differs(here) for there, here in zip(trials, main, strict=True)):
            under[choice, value] = trials
    numbers = replication_probabilities(
        each.predicate, [*under.values()], _rng(each), experiments, redraws
    )
    judged = [
        _reading(each, *pair, trials, n)
        for (pair, trials), n in zip(under.items(), numbers, strict=True)
    ]
    return Judged(judged, *verdict_of(judged), _effect(each, kept, redraws))


def replication_probabilities(
    predicate: Callable[..., Any],
    readings: Sequence[Sequence[Trials]],
    rng: np.random.Generator,
    experiments: int = EXPERIMENTS,
    redraws: int = REDRAWS,
) -> list[Estimate]:
    """Return for each reading the mean over redraws of the share of experiments in which a
    predicate holds.

    The interval is that of 95 % of the redraws. All readings are judged on the same draws of
    trials.
    """
    tables, shares = [trials.table for trials in readings[0]], []
    once: dict[int, Draw] = {}  # of a finite population nothing is redrawn
    for _ in range(1 if all(table.rows for table in tables) else redraws):
        draws = [
            Draw(table, stream, experiments)
            for table, stream in zip(tables, rng.spawn(len(tables)), strict=True)
        ]
        draws = [
            once.setdefault(i, draw) if draw.table.rows else draw for i, draw in enumerate(draws)
        ]
        held = [predicate(*map(View, trials, draws)) for trials in readings]
        shares.append([np.mean(np.broadcast_to(holds, (experiments,))) for holds in held])
    low, high = np.quantile(shares, (0.025, 0.975), axis=0)
    return [
        Estimate(*map(float, each)) for each in zip(np.mean(shares, axis=0), low, high, strict=True)
    ]


def verdict_of(readings: Sequence[Reading]) -> tuple[str, list[str]]:
    """Return the verdict on readings, the main one first, and the choices on which it depends."""
    counted = [reading for reading in readings if not reading.excluded_by]
    numbers = [reading.probability.value for reading in counted]
    if min(numbers) >= 0.9:
        return AGAIN, []
    if max(numbers) <= 0.1:
        return NOT, []
    if not _apart(numbers):
        return SOMETIMES, []
    spread: dict[str, list[float]] = {}
    for reading in counted[1:]:
        spread.setdefault(reading.choice, [numbers[0]]).append(reading.probability.value)
    alone = [choice for choice, values in spread.items() if _apart(values)]
    return DEPENDS, alone or list(spread)


def _apart(numbers: Sequence[float]) -> bool:
    """Whether numbers are at least 0.5 apart, whatever rounding made of it (0.7 - 0.2)."""
    return max(numbers) - min(numbers) >= 0.5 - 1e-9


def _rng(each: Claim) -> np.random.Generator:
    """The stream of a claim: the same experiments are drawn under every reading, on any number of
    workers.
    """
    return np.random.default_rng([zlib.crc32(each.id.encode()), 1])


def _reading(
    each: Claim, choice: str, value: str, trials: Sequence[Trials], number: Estimate
) -> Reading:
    """A clause that quotes the claim itself excludes nothing: the claim would come out by what it
    says.
    """
    main = [next(iter(values)) for there in trials for values in there.table.readings.values()]
    clauses = [
        there.table.excluded.get(name, "")
        for there in trials
        for name in ([value] if value else main)
    ]
    clause = next((clause for clause in clauses if clause and each.quote not in clause), "")
    asked = [there for there in trials if there.used]
    fewest = min(asked, key=lambda there: there.n / (there.table.size or there.n))
    return Reading(choice, value, number, fewest.table.size or fewest.n, fewest.n, clause)


def _effect(each: Claim, kept: Kept, redraws: int) -> Estimate | None:
    """The effect on all kept trials, with a percentile interval over redraws of them."""
    if each.effect is None:
        return None
    trials = [table.under(kept, {}) for table in each.tables(each.effect)]

    def effect(rng: np.random.Generator, redrawn: bool) -> float:
        streams = rng.spawn(len(trials))
        views = [
            View(there, Draw(there.table, s, None, redrawn))
            for there, s in zip(trials, streams, strict=True)
        ]
        return float(np.ravel(each.effect(*views))[0])  # type: ignore[misc]

    rng = _rng(each)
    low, high = np.quantile([effect(rng, True) for _ in range(redraws)], (0.025, 0.975))
    return Estimate(effect(rng, False), float(low), float(high))
