"""How often would an experiment of a given size show again what it showed?

Rows that are kept (trials, runs, patients) stand for the population that an experiment draws from.
Experiments of the size in question are drawn from them, and the share in which a predicate holds is
the **replication probability**. Where at least twice the rows are kept, an experiment draws each of
them at most once: the share is then right on average, for every predicate. With fewer rows they are
drawn anew first, and experiments from each redraw; the mean over redraws pays for few rows, but is
pulled: towards one half where a predicate is one-sided, towards 0 where it asks for a small
difference. The interval is that of redraws, expanded so that it covers. Experiments of one row a
table are enumerated. The claims of the papers are judged by the same code
(`kbrepro.claims.judging`).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, stdtrit

from kbrepro import checks
from kbrepro.claims.estimates import LEVEL, share
from kbrepro.typing import Array, Bools, Integers

#: The kept rows are drawn anew so often, and so many experiments are drawn from each redraw.
REDRAWS, EXPERIMENTS = 400, 250
#: Redraws at once; the Monte Carlo error at which they are enough.
BLOCK, ERROR = 20, 0.01
#: Of so many rows a block is drawn at once, of more rows less.
FEW_ROWS = 5000
#: Numbers that a processor keeps at hand: rows are put in random order so many at a time.
AT_A_TIME = 100_000
#: How many times its rows are kept where an experiment draws each row at most once.
TWICE = 2
#: Experiments of one row a table are enumerated up to so many.
MOST_ENUMERATED = 250_000
#: Redraws of fewer rows say nothing of the population; of fewer redraws no interval can be read.
FEWEST_ROWS, FEWEST_REDRAWS = 8, 100
#: Most experiments drawn of a finite population with one play: the Monte Carlo error is then at
#: most 0.01.
ONCE = 2500
#: How a number came about.
DRAWN, REDRAWN = "drawn without replacement", "redrawn"
ENUMERATED, ONE_PLAY = "enumerated", "nothing redrawn"
#: What the public function says of it.
METHODS = {
    DRAWN: f"{BLOCK * EXPERIMENTS:,} experiments without replacement, {{redraws}} redraws",
    REDRAWN: f"{EXPERIMENTS} experiments from each of {{redraws}} redraws",
    ENUMERATED: "every experiment of one row a method",
}
Predicate = Callable[[Mapping[Any, Array]], ArrayLike]
#: n kept rows -> the rows of every experiment among them, (experiments, size).
Rows = Callable[[int], Integers]
#: The rows of every experiment of each table, and the number of experiments -> for each reading
#: whether they fulfil a predicate, (..., experiments).
Holds = Callable[[Sequence[Rows], int], Sequence[Bools]]


class Probability(NamedTuple):
    """A replication probability: its 95 % interval, its Monte Carlo error, and how it came about.

    `how`: drawn without replacement, or the mean over redraws of the kept trials, both with the
    `interval` of redraws; enumerated, with the exact interval of a share (Clopper and Pearson), or
    that of redraws for several tables; or all plays of a finite population, of which nothing is
    redrawn.
    """

    value: float
    low: float
    high: float
    error: float = 0.0
    how: str = REDRAWN


class Sampled(Protocol):
    """What experiments draw `size` rows from, all that are kept if it is 0: a population; or, if
    `rows` is not 0, a finite one of so many rows, with all plays of a row after each other.
    """

    @property
    def size(self) -> int: ...
    @property
    def rows(self) -> int: ...


def redrawn(n: int, sampled: Sampled, rng: np.random.Generator, redraws: int) -> Integers:
    """Return which of n kept rows experiments draw, `EXPERIMENTS` from each redraw of the rows,
    (experiments, size); of a finite population plays are redrawn within a row.
    """
    size = sampled.size or n
    if not sampled.rows:
        kept = rng.integers(n, size=(redraws, n))
        picks = rng.integers(n, size=(redraws, EXPERIMENTS * size))
        begins = n * np.arange(redraws)[:, None]
        return kept.take(picks + begins).reshape(-1, size)
    which, plays = _finite(n, sampled, rng, redraws * EXPERIMENTS)
    if plays == 1:
        return which
    # small numbers, since there are many
    kept = rng.integers(plays, size=(redraws, sampled.rows * plays), dtype=np.int8)
    picks = rng.integers(plays, size=which.shape, dtype=np.int8)
    which *= plays
    picks_of = np.split(picks, redraws)
    for of_rows, of_plays, some in zip(kept, picks_of, np.split(which, redraws), strict=True):
        some += of_rows[some + of_plays]
    return which


def drawn_once(n: int, sampled: Sampled, rng: np.random.Generator, redraws: int) -> Integers:
    """Return which of n kept rows experiments draw, each at most once, as many as of so many
    redraws, (experiments, size); of a finite population one play a row.
    """
    experiments = redraws * EXPERIMENTS
    if not sampled.rows:
        return _some(n, sampled.size or n, rng, experiments)
    which, plays = _finite(n, sampled, rng, experiments)
    return which * plays + rng.integers(plays, size=which.shape, dtype=np.int8)


def _some(n: int, size: int, rng: np.random.Generator, experiments: int) -> Integers:
    """Some of n rows, each at most once, (experiments, size)."""
    some = np.empty((experiments, size), np.int32)
    for part in np.array_split(some, 1 + experiments * n // AT_A_TIME):
        every = np.tile(np.arange(n), (len(part), 1))
        part[:] = rng.permuted(every, axis=1, out=every)[:, :size]
    return some


def _finite(
    n: int, sampled: Sampled, rng: np.random.Generator, experiments: int
) -> tuple[Integers, int]:
    """Which rows of a finite population experiments draw, and how many plays each has; with one
    play all rows are one experiment, and few are enough of some. Fewer than an experiment draws are
    all drawn.
    """
    rows = min(n, sampled.rows)
    plays = n // rows
    whole = not 0 < sampled.size < rows
    if plays == 1:
        experiments = 1 if whole else min(ONCE, experiments)
    if whole:
        return np.tile(np.arange(rows, dtype=np.int32), (experiments, 1)), plays
    return _some(rows, sampled.size, rng, experiments), plays


def held_in_draws(
    holds: Holds,
    tables: Sequence[Sampled],
    rng: np.random.Generator,
    redraws: int,
    *,
    sample: Callable[..., Integers] = redrawn,
    at_once: int = BLOCK,
) -> list[Bools]:
    """Return for each reading whether a predicate holds in every experiment drawn from every
    redraw, (..., redraws, experiments); each block of redraws and table has a stream of its own.
    """
    blocks = []
    for start in range(0, redraws, at_once):
        some = min(at_once, redraws - start)
        rows: list[Rows] = []
        for table, stream in zip(tables, rng.spawn(len(tables)), strict=True):
            rows.append(partial(sample, sampled=table, rng=stream, redraws=some))
        held = holds(rows, some * EXPERIMENTS)
        blocks.append([one.reshape(*one.shape[:-1], some, EXPERIMENTS) for one in held])
    return [np.concatenate(parts, axis=-2) for parts in zip(*blocks, strict=True)]


def probabilities(
    holds: Holds,
    tables: Sequence[Sampled],
    counts: Sequence[Sequence[tuple[int, int]]],
    rng: np.random.Generator,
    *,
    level: float = LEVEL,
    redraws: int = REDRAWS,
    at_once: int = BLOCK,
    error: float = ERROR,
) -> list[Probability]:
    """Return the replication probability of each reading, all on the same draws.

    `counts`: for each reading, of every table in which chance has a part, how many rows are kept
    and how many an experiment draws. Redraws go on until the Monte Carlo error of their means is at
    most `error`, where these are the number; an error of 1 is always reached at once.
    """
    plenty = np.array([*map(enough, counts)])
    shares, missed = np.empty((len(counts), 0)), np.inf
    while missed > error:
        held = held_in_draws(holds, tables, rng, redraws, at_once=at_once)
        shares = np.concatenate([shares, [one.mean(axis=-1) for one in held]], axis=1)
        errors = shares.std(axis=1) / np.sqrt(shares.shape[1])
        missed = errors[~plenty].max(initial=0.0)
    numbers = np.array([shares.mean(axis=1), errors])
    if plenty.any():
        held = held_in_draws(holds, tables, rng, BLOCK, sample=drawn_once, at_once=at_once)
        drawn = np.array([one.mean() for one in held])
        numbers = np.where(plenty, (drawn, np.sqrt(drawn * (1 - drawn) / held[0].size)), numbers)
    found = []
    for reading, redrawn_to, is_plenty, (value, uncertainty) in zip(
        counts, shares, plenty, numbers.T.tolist(), strict=True
    ):
        if not reading:
            found.append(Probability(value, value, value, uncertainty, ONE_PLAY))
            continue
        ends = interval(redrawn_to, level, *zip(*reading, strict=True))
        low, high = min(value, float(ends[0])), max(value, float(ends[1]))
        how = DRAWN if is_plenty else REDRAWN
        found.append(Probability(value, low, high, uncertainty, how))
    return found


def enough(counts: Sequence[tuple[int, int]]) -> bool:
    """Return whether so many rows are kept of every table, beside how many an experiment draws,
    that experiments draw each at most once.
    """
    return all(n >= TWICE * size for n, size in counts)


def enumerated(
    held: Bools, rng: np.random.Generator, level: float = LEVEL, redraws: int = REDRAWS
) -> Probability:
    """Return the share of all experiments of one kept row of each table that fulfil a predicate;
    `held` (rows of each table).
    """
    if held.ndim == 1:
        return Probability(*share(held, level), how=ENUMERATED)
    low, high = interval(redrawn_shares(held, redraws, rng), level, held.shape, [1] * held.ndim)
    return Probability(float(held.mean()), float(low), float(high), how=ENUMERATED)


class ReplicationProbability(NamedTuple):
    """How often an experiment of `size` rows would fulfil a predicate, from `kept` rows.

    `probability`: the share of experiments that draw each kept row at most once, unbiased, where
    `kept` is at least twice `size`; else the mean over redraws, which is pulled towards one half if
    a predicate is one-sided ("a below b"), towards 0 if it asks for a small difference ("similar").
    `confidence_interval` is for the frequency in the population that the rows are drawn from: it
    knows nothing of what was selected, or of a rerun that is not exact. `monte_carlo_error`: the
    standard error of `probability` that more draws would remove; with 400 resamples the interval's
    ends vary by 0.02. `kept` counts rows, or groups: one number if methods are paired, else one a
    method; `size` is what was asked for. `method` says what was done.
    """

    probability: float
    confidence_interval: tuple[float, float]
    monte_carlo_error: float
    kept: int | dict[Hashable, int]
    size: int | Mapping[Any, int]
    method: str


#: The rows of each unit: an array (n, m) if all have m rows, else a list of n arrays.
Units = np.ndarray | list[np.ndarray]


class Deck(NamedTuple):
    """Columns that are drawn together, the rows of each unit that is drawn whole, and how many
    units an experiment draws; of no finite population.
    """

    columns: Mapping[Hashable, Array]
    units: Units
    size: int
    rows: int = 0

    def statistics(
        self, picked: Integers, statistic: Callable[..., Array]
    ) -> dict[Hashable, Array]:
        """Return the statistic of each column in experiments that draw the units `picked`
        (experiments, size), by name.
        """
        if isinstance(self.units, np.ndarray):
            rows = self.units[picked].reshape(len(picked), -1)
            return {name: statistic(column[rows], axis=-1) for name, column in self.columns.items()}
        ragged = [np.concatenate([*map(self.units.__getitem__, one)]) for one in picked]
        return {
            name: np.array([*map(lambda rows: statistic(column[rows], axis=-1), ragged)])
            for name, column in self.columns.items()
        }


def replication_probability(
    data: Any,
    predicate: Predicate,
    *,
    size: int | Mapping[Any, int],
    statistic: Callable[..., Array] = np.mean,
    paired: bool = True,
    groups: object = None,
    confidence_level: float = LEVEL,
    n_resamples: int = 400,
    rng: np.random.Generator | int | None = None,
) -> ReplicationProbability:
    """Return how often an experiment of `size` rows, drawn from the population of the rows in
    `data`, fulfils a predicate.

    `data`: a table (one row a trial, one column a method) or arrays (n,) by name; with
    `paired=False` methods have trials of their own, of any number, and `size` may be one a method.
    `predicate(stats)` returns True or False for each experiment, (experiments,), from
    `stats[name]`, the statistic of a method in each, (experiments,); `statistic(values, axis=-1)`
    reduces (experiments, size). `groups`: a label a row, (n,), or by name if not paired: rows of
    one label are drawn together, and `kept` and `size` count groups.

    Where at least twice `size` rows are kept, the number is the share of 5,000 experiments that
    draw each row at most once; with fewer, the mean of 250 experiments from each of `n_resamples`
    redraws. The interval is that of redraws, expanded (`interval`); from fewer than eight rows it
    is (0, 1), too few. Experiments of one row are enumerated: if all methods are drawn
    together, the number is the plain share, with its Clopper-Pearson interval. How often intervals
    cover stands in docs/replication.md. Raises ValueError on NaN, in `data` or of a statistic, on
    columns, groups and sizes that do not fit, on fewer than 100 resamples, and on a predicate or
    statistic that does not return one value an experiment. Sources: Goodman 1992; Miller 2009;
    Buzbas and Devezer 2024.
    """
    checks.function(predicate=predicate, statistic=statistic)
    checks.probability(confidence_level=confidence_level)
    checks.at_least(FEWEST_REDRAWS, n_resamples=n_resamples)
    stream = checks.seeded(rng=rng)
    decks = decks_of(data, size, paired, groups)
    counts = [(len(deck.units), deck.size) for deck in decks]
    kept, sizes = zip(*counts, strict=True)

    def holds(rows: Sequence[Rows], experiments: int) -> list[Bools]:
        picks = [draw(n) for draw, n in zip(rows, kept, strict=True)]
        return [fulfilled(decks, picks, predicate, statistic)]

    if max(sizes) == 1 and np.prod(kept, dtype=float) <= MOST_ENUMERATED:
        every = np.indices(kept).reshape(len(kept), -1, 1)
        held = fulfilled(decks, [*every], predicate, statistic).reshape(kept)
        found = enumerated(held, stream, confidence_level, n_resamples)
    else:
        (found,) = probabilities(
            holds,
            decks,
            [counts],
            stream,
            level=confidence_level,
            redraws=n_resamples,
            at_once=min(BLOCK, 1 + FEW_ROWS // max(kept)),
            error=1,
        )
    method = METHODS[found.how].format(redraws=n_resamples)
    if min(kept) < FEWEST_ROWS and not (len(kept) == 1 and found.how == ENUMERATED):
        method = f"too few: {min(kept)} kept, {FEWEST_ROWS} are needed"
    return ReplicationProbability(
        found.value,
        (found.low, found.high),
        found.error,
        kept[0] if paired else dict(zip(data, kept, strict=True)),
        size,
        method,
    )


def decks_of(data: Any, size: Any, paired: bool, groups: Any) -> list[Deck]:
    """Return what is drawn together: one deck of all columns if they are paired, else one each.

    Raises ValueError on columns, groups and sizes that do not fit.
    """
    checks.having("a table, or arrays by name", "items", data=data)
    columns = {
        name: checks.array(f"data[{name!r}]", column, 1, least=1) for name, column in data.items()
    }
    lengths = sorted({len(column) for column in columns.values()})
    if not columns or (paired and len(lengths) > 1):
        raise ValueError(
            f"data has columns of {lengths} rows: paired columns must have the same number of rows,"
            " at least 1 (paired=False: each method has other trials)"
        )
    if paired:
        checks.positive_int(size=size)
        return [Deck(columns, _units(groups, lengths[0]), size)]
    sizes = size if isinstance(size, Mapping) else dict.fromkeys(columns, size)
    labels = dict.fromkeys(columns) if groups is None else groups
    for argument, by_name in (("size", sizes), ("groups", labels)):
        if not isinstance(by_name, Mapping) or {*by_name} != {*columns}:
            raise checks.refused(
                argument, by_name, f"a mapping with one value for each of {[*columns]}"
            )
    checks.positive_int(**{f"size[{name!r}]": number for name, number in sizes.items()})
    return [
        Deck({name: column}, _units(labels[name], len(column)), sizes[name])
        for name, column in columns.items()
    ]


def _units(labels: object, n: int) -> Units:
    """The rows of each group, or of each row."""
    if labels is None:
        return np.arange(n)[:, None]
    with suppress(TypeError, ValueError):  # no array, or labels that cannot be told apart
        found = np.asarray(labels)
        _, which, counts = np.unique(found, return_inverse=True, return_counts=True)
        if found.shape == (n,) and (found == found).all():  # NaN and NaT would be one group
            units = np.split(np.argsort(which, kind="stable"), counts.cumsum()[:-1])
            return np.array(units) if len({*counts.tolist()}) == 1 else units
    raise checks.refused("groups", labels, f"{n} labels, one for each row, none of them missing")


def fulfilled(
    decks: Sequence[Deck],
    picks: Sequence[Integers],
    predicate: Predicate,
    statistic: Callable[..., Array],
) -> Bools:
    """Return whether experiments that draw the units `picks`, one (experiments, size) for each
    deck, fulfil a predicate, (experiments,).
    """
    stats: dict[Hashable, Array] = {}
    for deck, picked in zip(decks, picks, strict=True):
        stats |= deck.statistics(picked, statistic)
    n = len(picks[0])
    for name, values in stats.items():
        if np.shape(values) != (n,) or np.isnan(values).any():
            raise ValueError(
                f"statistic returned {checks.shown(values)} for {name!r}: it must return one number"
                f" for each experiment, shape ({n},), and no NaN"
            )
    held = np.asarray(predicate(stats))
    if held.dtype != bool or held.shape != (n,):
        raise ValueError(
            f"predicate returned {checks.shown(held)}: it must return True or False for each"
            f" experiment, shape ({n},)"
        )
    return held


def interval(
    shares: Array, level: float, kept: Sequence[int], size: Sequence[int]
) -> tuple[Any, Any]:
    """Return low and high of shares over redraws (redraws, ...), from so many kept rows of each
    deck for experiments of so many.

    Percentiles, expanded as a t interval is (Hesterberg 2015, The American Statistician 69:371). An
    end at 0 or 1 says that rows which would change the outcome were hardly seen, not that there are
    none: at a share of 1 - (1 - level)**(1 / kept) they are missed that often, and then size rows
    have none with probability (1 - level)**(size / kept). From fewer than eight rows: 0 and 1.
    """
    fewest = min(kept)
    if fewest < FEWEST_ROWS:
        return np.zeros(np.shape(shares)[1:]), np.ones(np.shape(shares)[1:])
    tail = ndtr(np.sqrt(fewest / (fewest - 1)) * stdtrit(fewest - 1, (1 - level) / 2))
    low, high = np.quantile(shares, (tail, 1 - tail), axis=0)
    unseen = (1 - level) ** np.max(np.divide(size, kept))
    lower = np.where(high == 1, np.minimum(low, unseen), low)
    higher = np.where(low == 0, np.maximum(high, 1 - unseen), high)
    return lower, higher


def redrawn_shares(held: Bools, number: int, rng: np.random.Generator) -> Array:
    """Return in `number` redraws of the rows of every deck the share of all their combinations
    that fulfil it, (number,); `held` (rows of each deck).
    """
    shares = np.empty(number)
    for i in range(number):
        rows = [rng.integers(n, size=n) for n in held.shape]
        shares[i] = held[np.ix_(*rows)].mean()
    return shares
