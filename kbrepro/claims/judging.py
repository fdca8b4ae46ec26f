"""Claims of the papers: how often would the paper's own experiment, run again at its own size,
support a sentence?

A *claim* is a quote and a *predicate* on the tables that the paper shows, in the paper's words
(`words`). Experiments of the paper's size are drawn from the kept trials; the share in which the
predicate holds is the **replication probability** (`kbrepro.claims.replication` has the number and
its interval). A *reading* is a choice that the paper leaves open; each is judged, one choice at a
time, and those that count in pairs.

It is how often our implementation would support the sentence: evidence neither on the authors' code
or draws nor that the sentence is true. Where it comes from: the probability of replicating (Goodman
1992; Miller 2009), the reproducibility rate (Buzbas and Devezer 2024, Entropy 26:842), forecasts of
replications (Patil, Peng and Leek 2016; Pawel and Held 2020); for one comparison it is the
probability of improvement (Agarwal et al. 2021). Yes-or-no verdicts of reruns that are not exact
separate little (Devezer and Buzbas 2026, arXiv 2604.26268): the numbers are the result.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from inspect import signature
from itertools import chain, combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kbrepro import checks
from kbrepro.claims import tables as drawing
from kbrepro.claims.estimates import Estimate, share
from kbrepro.claims.replication import (
    FEWEST_REDRAWS,
    ONE_PLAY,
    REDRAWS,
    Holds,
    Probability,
    Rows,
    drawn_once,
    enough,
    enumerated,
    held_in_draws,
    probabilities,
    redrawn,
)
from kbrepro.claims.tables import Draw, Kept, Table, Trials, View
from kbrepro.typing import Array, Bools, Integers

#: Tables -> whether a claim holds in each drawn experiment, (..., experiments).
Predicate = Callable[..., Bools]
#: Tables -> the number that stands beside the verdict, of each drawn experiment, (experiments,).
Effect = Callable[..., Array]
KINDS = ("observation", "remark", "own question")
AGAIN, NOT, SOMETIMES = "comes out again", "does not", "now and then"
TOO_FEW = "too few"
#: On fewer kept trials nothing is said; on fewer than `SURE` a reading decides nothing alone, since
#: 36 of 36 is the least that shows, by its 95 % interval, a share of at least 0.9.
LEAST, SURE = 8, 36
#: Redraws behind what comes out at once.
AT_ONCE = 40


@dataclass(frozen=True)
class Claim:
    """A sentence of a paper and its predicate on tables, which are the predicate's arguments by
    name.

    An argument `*panels` stands for all tables of the tuple `panels`. `effect` returns the number
    that stands beside the verdict, from the same tables, and `shows` says what it is. Claims with
    the same `finding` are one: parts of a printed sentence, or sentences on the same numbers.
    """

    id: str
    where: str
    quote: str
    kind: str
    predicate: Predicate
    effect: Effect | None = None
    shows: str = ""
    finding: str = ""
    of_parts: tuple[Table, ...] = ()

    def tables(self, function: Callable[..., object] | None = None) -> list[Table]:
        """Return the tables that the predicate takes, or the effect; one that takes `*figures`
        takes the same.
        """
        if self.of_parts:
            return [*self.of_parts]
        names = [*signature(function or self.predicate).parameters]
        there = self.predicate.__globals__
        if missing := [name for name in names if name not in there]:
            if function:
                return self.tables()
            raise ValueError(
                f"claim {self.id} asks for {', '.join(missing)}: its claims.py has no such table"
            )
        tables: list[Table] = []
        for name in names:
            table = there[name]
            tables += table if isinstance(table, tuple) else [table]
        return tables


def claim(
    id: str,
    where: str,
    *,
    kind: str = "observation",
    effect: Effect | None = None,
    shows: str = "",
    finding: str = "",
) -> Callable[[Predicate], Claim]:
    """Return a decorator that makes a `Claim` of a predicate, whose docstring is the quote.

    Raises ValueError on an unknown kind.
    """
    checks.one_of(KINDS, kind=kind)
    return lambda predicate: Claim(
        id, where, _quote(predicate), kind, predicate, effect, shows, finding
    )


#: What a paper argues or cites, and what we ask.
remark, own_question = partial(claim, kind="remark"), partial(claim, kind="own question")


def _quote(function: Callable[..., object]) -> str:
    return " ".join((function.__doc__ or "").split())


class Outcome(NamedTuple):
    """What runs say of a theorem: in how many of how many it is violated, of a share `allowed`, and
    how near to the bound.

    `room`: the largest of what is bounded over its bound, or the median, as `Theorem.checked` says;
    NaN if none.
    """

    violations: int
    runs: int
    allowed: float = 0.0
    room: float = float("nan")

    @classmethod
    def of(cls, shares: Iterable[ArrayLike], allowed: float = 0.0) -> Outcome:
        """Count the runs in which what is bounded, over its bound, exceeds 1 anywhere; shares
        (runs, ...) or ragged.
        """
        worst = np.array([np.asarray(share).max() for share in shares], dtype=float)
        within = worst <= 1 + 1e-9  # NaN is not
        return cls(int((~within).sum()), len(worst), allowed, float(worst.max(initial=-np.inf)))

    @classmethod
    def worst(cls, cases: Iterable[Outcome]) -> Outcome:
        """Return the case with the largest share of violations, then nearest to its bound: a
        theorem promises its probability in each.
        """
        return max(cases, key=lambda case: (case.violations / case.runs, case.room))

    @property
    def outcome(self) -> str:
        """`no violation in n runs`, or `false as printed`.

        With a share that is allowed to fail, the theorem is violated if the whole 95 % interval of
        the share is above.
        """
        low = share(np.arange(self.runs) < self.violations).low
        if low > self.allowed or (not self.allowed and self.violations):
            return "false as printed"
        counted = f"{self.violations or 'no'} violation{'s' * (self.violations > 1)}"
        counted += f" in {self.runs:,} runs"
        if not (self.violations and self.allowed):
            return counted
        return f"{counted}: {self.violations / self.runs:.1%}, {self.allowed:.0%} allowed"


@dataclass(frozen=True)
class Theorem:
    """A theorem or lemma: its statement with the formula, what was checked of it and on what range,
    and `check(kept)` that counts, or the outcome; where it is false, `corrected` says what holds.

    `slopes`: fitted exponents are compared with a rate, which they cannot refute on a finite range.
    """

    id: str
    where: str
    statement: str
    checked: str
    check: Callable[[Kept], Outcome]
    outcome: str = ""
    corrected: str = ""
    slopes: bool = False

    def outcome_of(self, counted: Outcome) -> str:
        """What came out, in words; of slopes `slope below the rate`, or above."""
        if not self.slopes:
            return self.outcome or counted.outcome
        n, above = counted.runs, counted.violations
        return f"slope above the rate in {above} of {n}" if above else "slope below the rate"


def theorem(
    id: str,
    where: str,
    checked: str,
    statement: str = "",
    corrected: str = "",
    slopes: bool = False,
) -> Callable[[Callable[[Kept], Outcome]], Theorem]:
    """Return a decorator that makes a `Theorem` of a function that counts violations in kept
    trials.

    The statement is the function's docstring, unless it is given since one function serves several
    theorems.
    """
    return lambda check: Theorem(
        id, where, statement or _quote(check), checked, check, corrected=corrected, slopes=slopes
    )


def tested(id: str, where: str, what: str, statement: str) -> Theorem:
    """Return a theorem of which a unit test checks `what`."""
    return Theorem(id, where, statement, what, lambda kept: Outcome(0, 0), "by a unit test")


def unchecked(id: str, where: str, why: str, statement: str) -> Theorem:
    """Return a theorem that no run can check: `why` says so."""
    return Theorem(id, where, statement, why, lambda kept: Outcome(0, 0), "not checkable by a run")


def sentences_of(paper: str) -> list[Claim | Theorem]:
    """Return the claims and theorems of a paper's folder, such as `igp_ucb`, in the order of its
    `claims.py`.
    """
    names = vars(import_module(f"kbrepro.papers.{paper}.claims"))
    return [value for value in names.values() if isinstance(value, Claim | Theorem)]


class Reading(NamedTuple):
    """The replication probability under one reading: `choice` has `value`, all other choices their
    main one.

    `drawn`, `kept`: trials of the paper and ours, the fewest of the claim's tables. `source`: where
    each value comes from; one without was found by search. `excluded_by`: the clause that rules the
    reading out. `caveat`: what is not as the paper has it in the kept trials.
    """

    choice: str
    value: str
    probability: Probability
    drawn: int
    kept: int
    source: str
    excluded_by: str = ""
    caveat: str = ""

    def counts(self, main: Reading) -> bool:
        """Whether this decides beside the main one: it has a source, no clause excludes it, and it
        is not on few trials, or on fewer than `SURE` and than the main one.
        """
        few = self.on_fewer(LEAST) or self.on_fewer(min(SURE, main.kept))
        return self is main or bool(self.source and not self.excluded_by and not few)

    def on_fewer(self, trials: int) -> bool:
        """Whether this is on fewer kept trials; all rows of a finite population are never few."""
        return self.kept < trials and self.probability.how != ONE_PLAY


class Verdict(NamedTuple):
    """What the main reading says, and what the others that count say of it.

    `agree` of `counted` readings lie on its side of one half; `depends_on`: the choices that alone
    change the side, or else those that do together. `uncertain`: its interval crosses the limit.
    """

    word: str
    depends_on: list[str]
    agree: int
    counted: int
    uncertain: bool


class Judged(NamedTuple):
    """What came out for a claim: a number for each reading, the main one first, the verdict, the
    effect, and the combinations of readings that were not played.
    """

    readings: list[Reading]
    verdict: Verdict
    effect: Estimate | None
    not_played: list[str]


def judge(claim: Claim, kept: Kept) -> Judged:
    """Judge a claim by kept trials, deterministically; FileNotFoundError or KeyError names what is
    not kept.
    """
    under, not_played = readings_of(claim, kept)
    numbers = replication_probabilities(claim.predicate, [*under.values()], _rng(claim))
    judged = [
        _reading(claim, dict(chosen), trials, number)
        for (chosen, trials), number in zip(under.items(), numbers, strict=True)
    ]
    return Judged(judged, verdict_of(judged), _effect(claim, kept), not_played)


#: The choices of a reading that have not their main value: (choice, value), ...
Chosen = tuple[tuple[str, str], ...]


def readings_of(claim: Claim, kept: Kept) -> tuple[dict[Chosen, list[Trials]], list[str]]:
    """Return the trials of every table of a claim under every reading that it tells from the main
    one, which is first, and which combinations were not played.

    One choice is varied at a time; those values that count are combined in pairs, and in all ways
    in which a table says that choices are `crossed`.
    """
    tables, every = claim.tables(), Draw(drawing.all_kept)

    def under(chosen: Chosen) -> list[Trials]:
        trials = [table.under(kept, dict(chosen)) for table in tables]
        _of_all(claim.predicate, trials, every)  # which columns it asks for
        return trials

    found: dict[Chosen, list[Trials]] = {(): under(())}
    counted = []
    for single in dict.fromkeys(chain.from_iterable(map(Table.values, tables))):
        trials = under((single,))
        if any(map(Trials.differs, trials, found[()])):
            found[single,] = trials
            enough = _fewest(trials).n >= min(SURE, _fewest(found[()]).n)
            if enough and _source(single[1:], trials) and not _clause(trials, claim.quote):
                counted.append(single)
    combined: list[Chosen] = [*combinations(counted, 2)]
    for choices in dict.fromkeys(table.crossed for table in tables):
        values = [single for single in counted if single[0] in choices]
        for n in range(3, len(choices) + 1):
            combined += combinations(values, n)
    not_played = []
    for chosen in combined:
        if len(dict(chosen)) == len(chosen):
            try:
                found[chosen] = under(chosen)
            except (KeyError, FileNotFoundError):
                not_played.append(CROSS.join(dict(chosen).values()))
    return found, not_played


def replication_probabilities(
    predicate: Predicate, readings: Sequence[Sequence[Trials]], rng: np.random.Generator
) -> list[Probability]:
    """Return the replication probability of a predicate under each reading, all on the same draws
    of trials; experiments of one trial a table are enumerated.
    """
    tables, every = [trials.table for trials in readings[0]], Draw(drawing.all_kept)
    for trials in readings:
        _of_all(predicate, trials, every)  # which columns it asks for
    if all(table.size == 1 and not table.rows for table in tables):
        return [enumerated(_every_pair(predicate, trials), rng) for trials in readings]
    # plays of many rows take long to draw anew
    several = any(0 < there.table.rows < there.n for there in chain.from_iterable(readings))
    return probabilities(
        _held(predicate, readings),
        tables,
        [_counts(trials) for trials in readings],
        rng,
        redraws=FEWEST_REDRAWS if several else REDRAWS,
    )


def _of_all(function: Predicate | Effect, trials: Sequence[Trials], every: Draw) -> np.ndarray:
    """What a predicate or an effect says of all kept trials, one draw of every table."""
    return function(*(View(there, every) for there in trials))


def _counts(trials: Sequence[Trials]) -> list[tuple[int, int]]:
    """How many trials are kept of each table in which chance has a part, and how many are drawn."""
    by_chance = [there for there in trials if there.used and not there.fixed]
    return [(there.n, there.table.size or there.n) for there in by_chance]


def _held(predicate: Predicate, readings: Sequence[Sequence[Trials]]) -> Holds:
    """What says for each reading whether a predicate holds in experiments."""
    # of a finite population with one play nothing is redrawn
    once: dict[tuple[int, int], Draw] = {}

    def holds(rows: Sequence[Rows], experiments: int) -> list[Bools]:
        draws = []
        for i, (trials, some) in enumerate(zip(readings[0], rows, strict=True)):
            draw = Draw(some, trials.table.apart, experiments)
            draws.append(once.setdefault((i, experiments), draw) if trials.fixed else draw)
        return [np.asarray(predicate(*map(View, reading, draws))) for reading in readings]

    return holds


def _every_pair(predicate: Predicate, trials: Sequence[Trials]) -> Bools:
    """Whether a predicate holds in every experiment of one kept trial of each table, (trials of
    each table).
    """
    shape = tuple(there.n for there in trials)
    draws = [Draw(partial(_at, place.reshape(-1, 1))) for place in np.indices(shape)]
    return np.asarray(predicate(*map(View, trials, draws))).reshape(shape)


def _at(place: Integers, n: int) -> Integers:
    return place


def held_once(claim: Claim, kept: Kept) -> bool:
    """Return whether a claim holds in one experiment of the paper's size, the first trials of every
    table, under the main interpretation.

    ValueError if a table is a finite population, of which no other experiment can be played.
    """
    tables = claim.tables()
    if any(table.rows for table in tables):
        raise ValueError("its rows are those that the paper names")
    trials = [table.under(kept, {}) for table in tables]
    _of_all(claim.predicate, trials, Draw(drawing.all_kept))  # which columns it asks for
    draws = [Draw(partial(_first, table.size)) for table in tables]
    return bool(np.all(claim.predicate(*map(View, trials, draws))))


def _first(size: int, n: int) -> Integers:
    return drawing.all_kept(min(size or n, n))


def verdict_of(readings: Sequence[Reading]) -> Verdict:
    """Return the verdict on readings, the main one first, which decides the word."""
    main = readings[0]
    if main.excluded_by or main.on_fewer(LEAST):
        return Verdict(TOO_FEW, [], 1, 1, False)
    value, low, high, *_ = main.probability
    word, certain = SOMETIMES, low > 0.1 and high < 0.9
    if value >= 0.9:
        word, certain = AGAIN, low >= 0.9
    elif value <= 0.1:
        word, certain = NOT, high <= 0.1
    counted = [reading for reading in readings if reading.counts(main)]
    side = value > 0.5
    turned = [reading.choice for reading in counted if (reading.probability.value > 0.5) != side]
    alone = [choice for choice in turned if CROSS not in choice]
    n = len(counted)
    return Verdict(word, [*dict.fromkeys(alone or turned)], n - len(turned), n, not certain)


#: Between two choices that are crossed, and between their values.
CROSS = " × "


def conjunction(claims: Sequence[Claim]) -> Claim:
    """Return the claim that all claims hold in the same experiment."""
    which = together(claims)
    return replace(
        which,
        quote=" ".join(claim.quote for claim in claims),
        predicate=lambda *views: np.all(which.predicate(*views), axis=0),
    )


def together(claims: Sequence[Claim]) -> Claim:
    """Return what says which claims hold in every experiment, (claims, experiments), as a claim
    without a quote on all their tables, each once.
    """
    asked = [claim.tables() for claim in claims]
    tables = [*{id(table): table for table in chain.from_iterable(asked)}.values()]

    def hold(*views: View) -> Bools:
        shown = dict(zip(map(id, tables), views, strict=True))
        held = []
        for claim, views_of in zip(claims, asked, strict=True):
            held.append(claim.predicate(*(shown[id(table)] for table in views_of)))
        return np.array(held)

    return replace(
        claims[0],
        id=" + ".join(claim.id for claim in claims),
        quote="",
        predicate=hold,
        effect=None,
        of_parts=tuple(tables),
    )


class AtOnce(NamedTuple):
    """Which observations of a paper hold in the same rerun under one interpretation.

    `holds`: those that all hold at once in at least 0.9 of the experiments, taken in the order of
    their numbers; `fails`: the others; `mean`: how many hold in an experiment, on average.
    """

    choice: str
    value: str
    holds: list[str]
    fails: list[str]
    mean: float
    excluded_by: str = ""


def held_at_once(claims: Sequence[Claim], kept: Kept) -> list[AtOnce]:
    """Return for each interpretation how many claims come out in one rerun, deterministically."""
    which = together(claims)
    under, _ = readings_of(which, kept)
    readings, rng = [*under.values()], np.random.default_rng(0)
    sample = drawn_once if all(map(enough, map(_counts, readings))) else redrawn
    holds_in = _held(which.predicate, readings)
    held = held_in_draws(holds_in, which.tables(), rng, AT_ONCE, sample=sample)
    ids = np.array([claim.id for claim in claims])
    lines = []
    for (chosen, trials), held_here in zip(under.items(), held, strict=True):
        by_claim = held_here.reshape(len(claims), -1)
        order = np.argsort(-by_claim.mean(axis=1), kind="stable")
        shares = np.logical_and.accumulate(by_claim[order]).mean(axis=1)
        holds = np.isin(np.arange(len(claims)), order[shares >= 0.9])
        lines.append(
            AtOnce(
                CROSS.join(dict(chosen)),
                CROSS.join(dict(chosen).values()),
                ids[holds].tolist(),
                ids[~holds].tolist(),
                float(by_claim.sum(axis=0).mean()),
                _clause(trials),
            )
        )
    return lines


def _rng(claim: Claim) -> np.random.Generator:
    """The stream of a claim: the same experiments are drawn under every reading, on any number of
    workers.
    """
    return np.random.default_rng([zlib.crc32(claim.id.encode()), 1])


def _clause(trials: Sequence[Trials], quote: str = "") -> str:
    """The clause that excludes a reading: one that the kept trials do not obey, or that rules out a
    value in every table that has it.

    A clause that quotes the claim itself excludes nothing: the claim would come out by what it
    says.
    """
    clauses: dict[str, list[str]] = {}
    for there in trials:
        if there.used and there.table.unlike:
            return there.table.unlike
        ruled_out = there.table.clauses(there.kept)
        for value in there.chosen:
            clauses.setdefault(value, []).append(ruled_out.get(value, ""))
    for first, *others in clauses.values():
        if first and all(others) and not (quote and quote in first):
            return first
    return ""


def _fewest(trials: Sequence[Trials]) -> Trials:
    """The trials that are fewest beside what the paper drew, of those in which chance has a
    part.
    """
    asked = [there for there in trials if there.used]
    by_chance = [there for there in asked if not there.fixed] or asked
    return min(by_chance, key=lambda there: there.n / (there.table.size or there.n))


def _source(values: Iterable[str], trials: Sequence[Trials]) -> str:
    """Where values come from; empty if one of them has no source."""
    named: dict[str, str] = {}
    for there in trials:
        named |= there.table.sources
    sources = [named.get(value, "") for value in values]
    return "; ".join(dict.fromkeys(sources)) if all(sources) else ""


def _reading(
    claim: Claim, chosen: Mapping[str, str], trials: Sequence[Trials], number: Probability
) -> Reading:
    fewest = _fewest(trials)
    caveats = []
    for there in trials:
        if there.used:
            caveats.append(there.table.caveat)
            if there.fixed and not fewest.fixed:
                caveats.append(f"{there.table.what}: one play")
    return Reading(
        CROSS.join(chosen),
        CROSS.join(chosen.values()),
        number,
        fewest.table.size or fewest.n,
        fewest.n,
        _source(chosen.values(), trials),
        _clause(trials, claim.quote),
        "; ".join(filter(None, dict.fromkeys(caveats))),
    )


def _effect(claim: Claim, kept: Kept) -> Estimate | None:
    """The effect on all kept trials, with a percentile interval over redraws of them."""
    if claim.effect is None:
        return None
    trials = [table.under(kept, {}) for table in claim.tables(claim.effect)]
    every = Draw(drawing.all_kept)
    _of_all(claim.effect, trials, every)  # which columns it asks for
    value = float(np.ravel(_of_all(claim.effect, trials, every))[0])
    streams = _rng(claim).spawn(len(trials))
    draws = [
        Draw(drawing.resampled(there.table, stream, REDRAWS), there.table.apart, REDRAWS)
        for there, stream in zip(trials, streams, strict=True)
    ]
    low, high = np.quantile(claim.effect(*map(View, trials, draws)), (0.025, 0.975))
    return Estimate(value, float(low), float(high))
