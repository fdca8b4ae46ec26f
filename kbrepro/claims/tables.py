"""Tables: the kept trials behind a figure or table of a paper, and experiments of the paper's size
drawn from them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from itertools import chain, repeat
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from scipy.sparse import csr_array

from kbrepro import paths
from kbrepro.claims.replication import Rows
from kbrepro.trials import store
from kbrepro.trials.curve import Curve, edges
from kbrepro.trials.simulation import Experiment, Planned, curves
from kbrepro.typing import Array, Integers

#: (rule, statistic) -> one number per kept trial, (N,); or a pair (N, 2): the ratio of two means.
Columns = dict[tuple[str, str], Array]
#: What a reading changes: a rule of the paper -> a rule of the label, or (label, rule) of another
#: one; a statistic -> another one; * -> a label for all rules. In a label that is named, * is the
#: label without this choice, so that two choices are combined in `light, standardised, B one`. The
#: key (rule, name) is for a rule that an earlier choice has given this name.
Names = Mapping[Any, str | tuple[str, str]]
Made = TypeVar("Made")
TOTAL, SIMPLE, CURVE, SECONDS = "total", "simple regret", "mean over rounds", "seconds"
EXPONENT = "exponent of seconds"


class Unlike(LookupError):
    """A label is not as it was kept: what rests on it cannot be judged."""


class Kept:
    """The kept trials of one notebook: a folder of labels, each read once, and the plan that they
    are of.
    """

    def __init__(
        self,
        folder: Path,
        parameters: Mapping[str, Any] | None = None,
        plan: Callable[[], Mapping[str, Planned]] = dict,
        unlike: Callable[[str], str] = lambda label: "",
    ) -> None:
        self.folder = folder
        self.parameters = parameters or {}
        self._plan, self._unlike = plan, cache(unlike)
        self._made: dict[object, Any] = {}

    @cached_property
    def edition(self) -> dict[str, Any]:
        """What was frozen before these trials were played; empty if nothing was."""
        return paths.facts_of(self.folder, paths.EDITION)

    def planned(self, label: str) -> Planned:
        """Return what a label plays, and of which seed; KeyError if the plan has no such label."""
        self._require_like(label)
        return self._plan()[label]

    def experiment(self, label: str) -> Experiment:
        """Return the experiment that a label plays; KeyError if the plan has no such label."""
        return self.planned(label).experiment

    def _require_like(self, label: str) -> None:
        if difference := self._unlike(label):
            raise Unlike(difference)

    def _open(self, label: str) -> tuple[Any, store.Played]:
        self._require_like(label)
        key = store.opened, label
        if key not in self._made:
            try:
                self._made[key] = store.opened(self.folder, label)
            except FileNotFoundError as error:  # it lists the kept labels, which takes time
                self._made[key] = error
        opened: tuple[Any, store.Played] | FileNotFoundError = self._made[key]
        if isinstance(opened, FileNotFoundError):
            raise opened
        return opened

    def results(self, label: str) -> list[Any]:
        """Return what the job of a label returned, trial by trial; FileNotFoundError lists the kept
        labels.
        """
        if label not in self._made:
            self._made[label] = self._open(label)[1].results
        return self._made[label]

    def seed(self, label: str) -> int:
        """Return the root seed of the trials of a label: with it `Trial(seed, n)` makes the problem
        of trial n anew.
        """
        return int(self._open(label)[0]["seed"])

    def traces(self, label: str) -> dict[str, Curve]:
        """Return the curves of a label by rule; none if its job is not an experiment."""
        return curves(self._open(label)[1].columns)

    def loaded(self, load: Callable[[Kept], Made]) -> Made:
        """Return what the `load` of a table makes of the kept trials: called once, for all claims
        and readings.
        """
        if load not in self._made:
            self._made[load] = load(self)
        made: Made = self._made[load]
        return made

    def column(self, label: str, rule: str, statistic: str) -> Array:
        """Return a statistic of a rule, one number per trial (N,); KeyError on an unknown one.

        A label whose job returned R_t by rule, not traces, has the total alone.
        """
        key = label, rule, statistic
        if key not in self._made:
            if traces := self.traces(label):
                self._made[key] = STATISTICS[statistic](traces[rule])
            else:
                self._made[key] = {TOTAL: self._open(label)[1].columns[rule,][:, -1]}[statistic]
        return self._made[key]


def _mean_over_rounds(curve: Curve) -> Array:
    widths = np.diff(curve.at, prepend=0)
    return curve.cumulative_regret[:, curve.at - 1] @ widths / widths.sum()


def _exponent_of_seconds(curve: Curve) -> Array:
    """The slope of log cumulated seconds on log t over the last decade of rounds, by least squares,
    (trials,).
    """
    at = edges(curve.horizon)[1:]
    late = at >= curve.horizon / 10
    x = np.log(at[late]) - np.log(at[late]).mean()
    return np.log(curve.seconds.cumsum(axis=1)[:, late]) @ x / (x @ x)


#: What a figure may plot of a rule's curves: R_T, R_t before its end, the regret of the best arm
#: pulled, the mean of R_t over all rounds, and what they say of time.
STATISTICS: dict[str, Callable[[Curve], Array]] = {
    TOTAL: lambda curve: curve.cumulative_regret[:, -1],
    SIMPLE: lambda curve: curve.regret.min(axis=1),
    CURVE: _mean_over_rounds,
    SECONDS: lambda curve: curve.seconds.sum(axis=1),
    EXPONENT: _exponent_of_seconds,
    # rounds at which curves without arms are kept, too
    "R_t, t = 100": lambda curve: curve.cumulative_regret[:, 99],
    "R_t, t = 305": lambda curve: curve.cumulative_regret[:, 304],
}


@dataclass(frozen=True)
class Table:
    """What a figure or table of a paper shows, by rule, and how the paper drew it.

    `label` names kept trials; or `load(kept)` returns the `Columns`, in which a label that a
    reading names, such as `*, standardised`, follows the rule: `EI, standardised`. `size`: trials
    that the paper drew, of `unit`. `pool`: the rules that the figure shows, by the paper's names.
    `readings`: choice -> value -> `Names`; the first value of a choice is the main one. `sources`
    gives for a value where it comes from, `excluded` the clause that rules it out, `refuted(kept)`
    the clauses that rule out values by what was printed or drawn. All pairs of choices are
    combined, and those of `crossed` all at once. `unlike`: the clause of the paper which the kept
    trials do not obey, so that they say nothing. `apart`: the rules are drawn apart, since trials
    differ by noise or ties alone. `rows`: a finite population of so many rows is enumerated, with
    all plays of a row after each other; `size` of them are drawn without replacement, one play
    each; of a label with fewer trials an experiment takes all.
    """

    what: str
    label: str = ""
    size: int = 0
    unit: str = "function"
    pool: tuple[str, ...] = ()
    readings: Mapping[str, Mapping[str, Names]] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)
    excluded: Mapping[str, str] = field(default_factory=dict)
    refuted: Callable[[Kept], Mapping[str, str]] | None = None
    load: Callable[[Kept], Columns] | None = None
    apart: bool = False
    rows: int = 0
    crossed: tuple[str, ...] = ()
    caveat: str = ""
    unlike: str = ""

    def values(self) -> Iterator[tuple[str, str]]:
        """Yield every choice with each of its values but the main one."""
        for choice, values in self.readings.items():
            yield from zip(repeat(choice), [*values][1:], strict=False)

    def under(self, kept: Kept, reading: Mapping[str, str]) -> Trials:
        """Return the trials under a reading, {choice: value}; a choice that it does not name has
        its main value.

        KeyError if two values that are not the main ones name the same rule, unless the later one
        says how, or if one of two that name a label for all rules says nothing of the other.
        """
        names: dict[Any, str | tuple[str, str]] = {}
        chosen = []
        moved = set[str]()
        for choice, values in self.readings.items():
            main = next(iter(values))
            value = reading[choice] if reading.get(choice) in values else main
            changed = dict(values[value])
            if "*" in changed:
                label = str(changed["*"])
                if "*" in names and "*" not in label:
                    raise KeyError(
                        f"{value} names a label without *, where the label of another choice goes"
                    )
                changed["*"] = label.replace("*", str(names.get("*", "*")))
            again = {
                rule: changed[rule, name] for rule, name in names.items() if (rule, name) in changed
            }
            if value != main:
                rules = {name for name in changed if isinstance(name, str)} - {"*"}
                if moved & rules - again.keys():
                    raise KeyError(f"{value} changes a rule that another choice changes, too")
                moved |= rules
            names |= changed | again
            chosen.append(value)
        return Trials(self, kept, names, chosen)

    def clauses(self, kept: Kept) -> Mapping[str, str]:
        """Return for every value that is ruled out the clause that does it."""
        return {**self.excluded, **(kept.loaded(self.refuted) if self.refuted else {})}


class Trials:
    """The kept trials of a table under one reading: of each choice the `chosen` value."""

    def __init__(self, table: Table, kept: Kept, names: Names, chosen: list[str]) -> None:
        self.table, self.kept, self.names, self.chosen = table, kept, names, chosen
        self.used: Columns = {}

    def column(self, rule: str, statistic: str) -> Array:
        """Return the numbers of a rule, one per kept trial, (N,); KeyError on an unknown one."""
        key = rule, statistic
        if key not in self.used:
            self.used[key] = self._looked_up(rule, statistic)
        return self.used[key]

    def _looked_up(self, rule: str, statistic: str) -> Array:
        where = self.names.get(rule, rule)
        label, name = where if isinstance(where, tuple) else ("*", where)
        for base in (str(self.names.get("*", "*")), self.table.label):
            label = label.replace("*", base)
        shown = str(self.names.get(statistic, statistic))
        if self.table.load is None:
            return self.kept.column(label, name, shown)
        if "*" in self.names:
            name += label
        return self.kept.loaded(self.table.load)[name, shown]

    @property
    def n(self) -> int:
        """Kept trials: those that all columns that were used have in common, the first."""
        return min(map(len, self.used.values()), default=0)

    @property
    def fixed(self) -> bool:
        """Whether these are all rows of a finite population with one play each, or fewer trials:
        nothing is redrawn.
        """
        return 0 < self.n <= self.table.rows

    def differs(self, main: Trials) -> bool:
        """Whether a rule that `main` was asked for is another one here."""
        changed = {
            name
            for name in {*self.names, *main.names}
            if self.names.get(name) != main.names.get(name)
        }
        asked = {"*", *chain.from_iterable(main.used)}
        return bool(main.used) and not asked.isdisjoint(changed)


def all_kept(n: int) -> Integers:
    """All kept trials as one experiment, (1, n)."""
    return np.arange(n)[None]


def resampled(table: Table, rng: np.random.Generator, redraws: int) -> Rows:
    """Redraws of all kept trials, each as one experiment, (redraws, n); rows are not redrawn."""

    def rows(n: int) -> Integers:
        if not table.rows:
            return rng.integers(n, size=(redraws, n))
        plays = max(n // table.rows, 1)
        return np.repeat(np.arange(n // plays), plays) * plays + rng.integers(
            plays, size=(redraws, n)
        )

    return rows


@lru_cache(maxsize=4)  # draws of a claim have few sizes, and new memory takes long
def ones(n: int) -> Array:
    """As many ones."""
    return np.ones(n)


class Draw:
    """Experiments drawn from the stored trials of a table; the same for all interpretations.

    There are `experiments`, however few are drawn: of a finite population they are drawn once and
    repeated.
    """

    def __init__(self, rows: Rows, apart: bool = False, experiments: int = 0) -> None:
        self._make, self._apart, self.experiments = rows, apart, experiments
        self._drawn: dict[object, csr_array] = {}
        # the column with its means: an id is only its own
        self._means: dict[object, tuple[Array, Array]] = {}

    def _of(self, rule: str, n: int) -> csr_array:
        """The trials of every experiment, (experiments, n): a one for each that is drawn."""
        key = (rule, n) if self._apart else n
        if key not in self._drawn:
            rows = self._make(n)
            begins = rows.shape[1] * np.arange(len(rows) + 1, dtype=rows.dtype)
            drawn = ones(rows.size), rows.ravel(), begins
            self._drawn[key] = csr_array(drawn, shape=(len(rows), n))
        return self._drawn[key]

    def repeated(self, numbers: Array) -> Array:
        """Return numbers of the experiments that are drawn for all experiments."""
        if not self.experiments or len(numbers) == self.experiments:
            return numbers
        return np.resize(numbers, self.experiments)

    def values(self, rule: str, column: Array, n: int) -> Array:
        """Return a column (N,) in the trials of every experiment, (experiments, size), all of the
        first n.

        Pairs (N, 2) are linearised round the ratio of their means in each experiment, which is the
        mean.
        """
        drawn = self._of(rule, n)
        values = column[drawn.indices.reshape(drawn.shape[0], -1)]
        if column.ndim == 1:
            return values
        above, below = np.moveaxis(values, -1, 0)
        mean = below.mean(axis=1, keepdims=True)
        ratio = above.mean(axis=1, keepdims=True) / mean
        return ratio + (above - ratio * below) / mean

    def means(self, rule: str, column: Array, n: int) -> Array:
        """Return the mean of a column (N,) over the trials of each experiment, of pairs the ratio
        of two means; computed once for all readings.
        """
        key = (rule if self._apart else "", id(column), n)
        if key not in self._means:
            drawn = self._of(rule, n)
            sums = drawn @ column[:n]
            size = drawn.nnz // drawn.shape[0]
            means = sums / size if column.ndim == 1 else sums[:, 0] / sums[:, 1]
            self._means[key] = column, self.repeated(means)
        return self._means[key][1]


class View:
    """What the paper's figure would show, once per experiment: `view["EI"]`, `view("EI", "simple
    regret")`.

    Rules that are drawn together are compared on the trials that all columns have which the
    trials' `used` names.
    """

    def __init__(self, trials: Trials, draw: Draw) -> None:
        self.pool, self._trials, self._draw = trials.table.pool, trials, draw
        self._n = trials.n

    def __call__(
        self, rule: str, statistic: str = TOTAL, of: Callable[..., Array] | None = None
    ) -> Array:
        """Return the mean of a statistic of a rule over the trials of each experiment, or another
        reduction of them.

        `of(values, axis=1)` reduces values (experiments, size).
        """
        column, n = self._column(rule, statistic)
        if of is None:
            return self._draw.means(rule, column, n)
        values = self._draw.values(rule, column, n)
        return self._draw.repeated(of(values, axis=1))

    def _column(self, rule: str, statistic: str) -> tuple[Array, int]:
        """The numbers of a rule, and how many of them are compared."""
        column = self._trials.column(rule, statistic)
        if self._trials.table.apart:
            return column, len(column)
        return column, min(len(column), self._n or len(column))

    def __getitem__(self, rule: str) -> Array:
        return self(rule)

    def over(self, rule: str, rivals: Iterable[str]) -> Array:
        """Return the mean total of a rule over that of the best of its rivals, itself left out,
        (experiments,).
        """
        return self[rule] / np.min([self[rival] for rival in rivals if rival != rule], axis=0)

    @property
    def axis(self) -> Array:
        """The largest mean of the pool in each experiment, (experiments,)."""
        means: Array = np.array([self[rule] for rule in self.pool])
        return means.max(axis=0)
