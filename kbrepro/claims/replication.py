"""How often would an experiment of a given size show again what it showed?

Rows that are kept (trials, runs, patients) stand for the population that an experiment draws from.
They are drawn anew, and experiments of the size in question are drawn from each redraw: the share
in which a predicate holds, averaged over redraws, is the **replication probability**. The claims of
the papers are judged by the same redraws (`kbrepro.claims`).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, stdtrit

from kbrepro import checks
from kbrepro.claims.estimates import LEVEL, share
from kbrepro.typing import Array, Bools, Integers

#: Experiments that are drawn from each redraw; how often as many are drawn from the kept rows.
EXPERIMENTS, PLUGGED_IN = 250, 40
#: Experiments of one row a method are enumerated up to so many.
ENUMERATED = 250_000
#: Redraws of fewer rows say nothing of the population; of fewer redraws no interval can be read.
FEWEST_ROWS, FEWEST_REDRAWS = 8, 100
Predicate = Callable[[Mapping[Any, Array]], ArrayLike]


class ReplicationProbability(NamedTuple):
    """How often an experiment of `size` rows would fulfil a predicate, from `kept` rows.

    `probability`: the mean over redraws, which where rows are few is pulled towards one half if a
    predicate is one-sided ("a below b"), towards 0 if it asks for a small difference ("similar");
    `plug_in`: the share if the kept rows were the whole population. `confidence_interval` is for
    the frequency in the population that the rows are drawn from: it knows nothing of what was
    selected, or of a rerun that is not exact. `monte_carlo_error`: the standard error of
    `probability` that more resamples would remove; with 400 of them the interval's ends vary by
    0.02. `kept` counts rows, or groups: one number if
    methods are paired, else one a method; `size` is what was asked for. `method` says what was
    done.
    """

    probability: float
    plug_in: float
    confidence_interval: tuple[float, float]
    monte_carlo_error: float
    kept: int | dict[Hashable, int]
    size: int | Mapping[Any, int]
    method: str


#: The rows of each unit: an array (n, m) if all have m rows, else a list of n arrays.
Units = np.ndarray | list[np.ndarray]


class Deck(NamedTuple):
    """Columns that are drawn together, the rows of each unit that is drawn whole, and units
    drawn.
    """

    columns: Mapping[Hashable, Array]
    units: Units
    size: int

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

    Experiments of one row are enumerated: if paired, the number is the plain share, with its
    Clopper-Pearson interval. All others are 250 experiments from each of `n_resamples` redraws,
    with an `interval` over redraws; from fewer than eight rows it is (0, 1), too few to say. How
    often it covers stands in docs/coverage.md. Raises ValueError on NaN, in `data` or of a
    statistic, on columns, groups and sizes that do not fit, on fewer than 100 resamples, and on a
    predicate or statistic that does not return one value an experiment. Sources: Goodman 1992;
    Miller 2009; Buzbas and Devezer 2024.
    """
    checks.function(predicate=predicate, statistic=statistic)
    checks.probability(confidence_level=confidence_level)
    checks.at_least(FEWEST_REDRAWS, n_resamples=n_resamples)
    stream = checks.seeded(rng=rng)
    decks = decks_of(data, size, paired, groups)
    kept, sizes = [len(deck.units) for deck in decks], [deck.size for deck in decks]
    one_row = max(sizes) == 1 and np.prod(kept, dtype=float) <= ENUMERATED
    if one_row:
        every = np.indices(kept).reshape(len(kept), -1, 1)
        held = fulfilled(decks, [*every], predicate, statistic)
        shares = redrawn_shares(held.reshape(kept), n_resamples, stream)
        probability = plug_in = float(held.mean())
        error, method = 0.0, "every experiment of one row a method"
    else:
        as_kept = redraws(decks, predicate, statistic, PLUGGED_IN, stream, _as_kept)
        shares = redraws(decks, predicate, statistic, n_resamples, stream)
        plug_in, probability = float(as_kept.mean()), float(shares.mean())
        error = shares.std() / np.sqrt(n_resamples)
        method = f"{EXPERIMENTS} experiments from each of {n_resamples} redraws"
    low, high = interval(shares, confidence_level, kept, sizes)
    if one_row and paired:
        _, low, high = share(held, confidence_level)
    elif min(kept) < FEWEST_ROWS:
        method = f"too few to say: {min(kept)} kept, {FEWEST_ROWS} are needed"
    return ReplicationProbability(
        probability,
        plug_in,
        (float(low), float(high)),
        float(error),
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
            f"data has columns of {lengths} rows: paired methods must have the same, at least one"
            " (paired=False: each has trials of its own)"
        )
    if paired:
        checks.positive_int(size=size)
        return [Deck(columns, _units(groups, lengths[0]), size)]
    sizes = size if isinstance(size, Mapping) else dict.fromkeys(columns, size)
    labels = dict.fromkeys(columns) if groups is None else groups
    for what, given in (("size", sizes), ("groups", labels)):
        if not isinstance(given, Mapping) or {*given} != {*columns}:
            raise checks.refused(what, given, f"by name, one for each of {[*columns]}")
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
    raise checks.refused("groups", labels, f"{n} labels, one a row, none of them missing")


def experiments_of(
    rng: np.random.Generator, n: int, size: int, each: int = EXPERIMENTS, redraws: int = 1
) -> Integers:
    """Return which of n rows experiments draw, `each` from every redraw, (redraws * each, size)."""
    kept = rng.integers(n, size=(redraws, n))
    picks = rng.integers(n, size=(redraws, each * size))
    begins = n * np.arange(redraws)[:, None]
    return kept.take(picks + begins).reshape(-1, size)


def _as_kept(rng: np.random.Generator, n: int, size: int) -> Integers:
    """Which of n rows each experiment draws, (experiments, size), if they are the population."""
    return rng.integers(n, size=(EXPERIMENTS, size))


def redraws(
    decks: Sequence[Deck],
    predicate: Predicate,
    statistic: Callable[..., Array],
    number: int,
    rng: np.random.Generator,
    draw: Callable[[np.random.Generator, int, int], Integers] = experiments_of,
) -> Array:
    """Return the share of experiments that fulfil a predicate, in each redraw, (number,)."""
    shares = []
    for _ in range(number):
        picks = [draw(rng, len(deck.units), deck.size) for deck in decks]
        shares.append(fulfilled(decks, picks, predicate, statistic).mean())
    return np.array(shares)


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
                f" for each experiment, ({n},), and no NaN"
            )
    held = np.asarray(predicate(stats))
    if held.dtype != bool or held.shape != (n,):
        raise ValueError(
            f"predicate returned {checks.shown(held)}: it must return True or False for each"
            f" experiment, ({n},)"
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
