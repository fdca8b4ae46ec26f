"""How often the interval of a replication probability covers: `python -m benchmarks.coverage`.

An experiment is simulated many times, its replication probability estimated from what it kept, and
the interval compared with the true probability, that of a million experiments. Writes
results/coverage.csv and docs/coverage.md, which has every number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.random import Generator
from numpy.typing import NDArray

from kbrepro import paths
from kbrepro.claims import replication, scorecard
from kbrepro.claims.estimates import LEVEL, share
from kbrepro.typing import Array

#: Simulated experiments a cell, redraws of each, experiments behind a true probability.
FULL = {"simulated": 300, "n_resamples": 200, "behind": 1_000_000}
TARGETS = (0.02, 0.1, 0.5, 0.9, 0.98)
SIZES = (1, 10, 25)
TIMES = (1, 2, 8)


Shape = tuple[int, ...]


class Population(NamedTuple):
    """`draw(rng, shape)` returns three methods in rows of so many groups, (3, *shape, rows)."""

    name: str
    draw: Callable[[Generator, Shape], Array]
    rows: int = 1
    told: bool = True


def _normal(rng: Generator, shape: Shape) -> Array:
    return 5 + rng.normal(size=(3, *shape, 1))


def _lognormal(rng: Generator, shape: Shape) -> Array:
    return np.exp(rng.normal(size=(3, *shape, 1)))


def _stuck(rng: Generator, shape: Shape) -> Array:
    """Each method is stuck in 5 % of its trials."""
    stuck = rng.random((3, *shape, 1)) < 0.05
    return 1 + 0.2 * rng.normal(size=stuck.shape) + 10 * stuck


def _bernoulli(rng: Generator, shape: Shape) -> Array:
    return (rng.random((3, *shape, 1)) < 0.5).astype(float)


def _clustered(rng: Generator, shape: Shape) -> Array:
    """Three rows a group; a method's rows in a group have a correlation of one half."""
    return 5 + rng.normal(size=(3, *shape, 1)) + rng.normal(size=(3, *shape, 3))


POPULATIONS = (
    Population("normal", _normal),
    Population("lognormal", _lognormal),
    Population("5 % stuck", _stuck),
    Population("Bernoulli", _bernoulli),
    Population("clustered", _clustered, 3),
    Population("clustered, groups not told", _clustered, 3, told=False),
)


def distances(a: Array, b: Array, c: Array) -> Array:
    """Return what is compared with a limit, (3, ...): sign a < b, ratio of a to b, a < b and a < c.

    With a limit other than 0 or 1 it is the same sentence on a method shifted or scaled by it.
    """
    ratio = np.divide(a, b, out=np.where(a > 0, np.inf, 0.0), where=b > 0)
    return np.array([a - b, ratio, np.maximum(a - b, a - c)])


PREDICATES = ("sign", "ratio", "conjunction")


def limits(found: Array, targets: tuple[float, ...]) -> tuple[Array, Array]:
    """Return limits (targets,) that a share of `found` nearest to each target does not exceed, and
    these shares, neither 0 nor 1 if there are others.
    """
    atoms, counts = np.unique(found, return_counts=True)
    shares = counts.cumsum() / len(found)
    shares[-1] = np.inf
    nearest = [int(np.abs(shares - target).argmin()) for target in targets]
    return atoms[nearest] + 1e-9, shares[nearest]  # rounding: sums in another order


def _statistics(population: Population, rng: Generator, size: int, behind: int) -> Array:
    """What `distances` gives of so many experiments, (3, behind)."""
    at_once = 10_000
    means = [
        population.draw(rng, (at_once, size)).mean(axis=(2, 3)) for _ in range(behind // at_once)
    ]
    return distances(*np.concatenate(means, axis=1))


@cache
def _exact(held: int, kept: int) -> tuple[float, float]:
    return share(np.arange(kept) < held)[1:]


def estimates(deck: replication.Deck, limit: Array, n_resamples: int, rng: Generator) -> Array:
    """Return what `replication_probability` finds, here for all sentences and limits at once: the
    probability, its interval, and plain percentiles over redraws, (5, predicates, targets).
    """
    n = len(deck.units)

    def held(picked: NDArray[np.int64]) -> NDArray[np.bool_]:
        means = deck.statistics(picked, np.mean)
        return distances(*means.values())[:, None] <= limit[..., None]

    if deck.size == 1:
        numbers = held(np.arange(n)[:, None]).sum(axis=-1)
        exact = [_exact(int(number), n) for number in numbers.ravel()]
        ends = np.transpose(exact).reshape(2, *limit.shape)
        return np.array([numbers / n, *ends, *ends])
    picks = (replication.experiments_of(rng, n, deck.size) for _ in range(n_resamples))
    shares = np.array([held(picked).mean(axis=-1) for picked in picks])
    percentiles = np.quantile(shares, ((1 - LEVEL) / 2, (1 + LEVEL) / 2), axis=0)
    ends = replication.interval(shares, LEVEL, [n], [deck.size])
    return np.array([shares.mean(axis=0), *ends, *percentiles])


def cell(
    population: Population,
    size: int,
    times: int,
    simulated: int,
    n_resamples: int,
    truth: Array,
    rng: Generator,
) -> dict[str, Array]:
    """Return how often intervals cover, and plain percentiles; the mean length of intervals; the
    mean replication probability; each (predicates, targets).

    `truth`: limits and true probabilities, (2, predicates, targets).
    """
    limit, probability = truth
    groups = np.repeat(np.arange(size * times), population.rows)
    drawn = size if population.told else size * population.rows
    every = []
    for _ in range(simulated):
        rows = population.draw(rng, (size * times,)).reshape(3, -1)
        data = dict(enumerate(rows))
        (deck,) = replication.decks_of(data, drawn, True, groups if population.told else None)
        every.append(estimates(deck, limit, n_resamples, rng))
    printed, low, high, least, most = np.moveaxis(every, 1, 0)
    return {
        "covered": np.mean((low <= probability) & (probability <= high), axis=0),
        "length": np.mean(high - low, axis=0),
        "percentiles": np.mean((least <= probability) & (probability <= most), axis=0),
        "printed": printed.mean(axis=0),
    }


def rows(simulated: int, n_resamples: int, behind: int, seed: int = 0) -> Iterator[dict[str, Any]]:
    """Yield a row for each population, size, number of kept rows, predicate and target."""
    for population in POPULATIONS:
        for size in SIZES:
            rng = np.random.default_rng([seed, POPULATIONS.index(population), size])
            found = _statistics(population, rng, size, behind)
            truth = np.moveaxis([limits(values, TARGETS) for values in found], 1, 0)
            for times in TIMES:
                parts = cell(population, size, times, simulated, n_resamples, truth, rng)
                for i, j in np.ndindex(truth[1].shape):
                    yield {
                        "population": population.name,
                        "size": size,
                        "kept": size * times,
                        "predicate": PREDICATES[i],
                        "target": TARGETS[j],
                        "probability": truth[1][i, j],
                        **{name: part[i, j] for name, part in parts.items()},
                    }


HEAD = """# How often the interval covers

`kb.replication_probability` gives an interval for how often an experiment of the same size would
fulfil a predicate. Here experiments are simulated whose true probability is known, and the share of
{simulated} intervals at 95 % that hold it is counted. Made by `python -m benchmarks.coverage`
(CSV: `results/coverage.csv`).

- **Populations**, three methods each: normal; lognormal; 5 % of trials stuck, with eleven times the
  regret of the others; Bernoulli; clustered, three rows a group with a correlation of one half,
  drawn by groups; the same with groups not told.
- **Sentences**: sign (a less than b), ratio (a at most a limit times b), conjunction (a less than b
  and than c), on means. A shift or limit sets the true probability, which is that of a million
  experiments; Bernoulli means have few values: *at* gives the probability where it is over .01
  off.
- **Size**: rows (groups where they are told) of the experiment; **kept**: rows that are at hand.

{reached}

Plain percentiles over redraws, without what `kb.replication_probability` adds, fall short where
rare rows decide. They are counted for sizes 10 and 25:

{percentiles}

The number itself is pulled towards one half. Mean replication probability, normal, sign, size 10:

{pulled}

A number in **bold** is below 95 % by more than two standard errors (less than {least:.3f}). In
brackets behind each: the mean length of the intervals.
"""


def least(simulated: int) -> float:
    """Return the smallest share covered that is within two standard errors of 95 %."""
    return LEVEL - 2 * float(np.sqrt(LEVEL * (1 - LEVEL) / simulated))


def reached(table: pd.DataFrame, simulated: int, column: str) -> str:
    """Return a line for each population: in how many cells 95 % are reached, and the worst one."""
    lines = []
    for name, cells in table.groupby("population", sort=False):
        fine = int((cells[column] >= least(simulated)).sum())
        worst = cells.loc[cells[column].idxmin()]
        lines.append(
            f"- {name}: 95 % reached in {fine} of {len(cells)} cells; the least is"
            f" {worst[column]:.2f} ({worst['predicate']}, size {worst['size']}, kept"
            f" {worst['kept']}, true probability {worst['probability']:.2f})"
        )
    return "\n".join(lines)


def pulled(table: pd.DataFrame) -> str:
    """Return a table of the mean replication probability by kept rows and true probability."""
    cells = table.query("population == 'normal' and predicate == 'sign' and size == 10")
    lines = [
        [str(kept), *(f"{number:.2f}" for number in line["printed"])]
        for kept, line in cells.groupby("kept")
    ]
    return scorecard.table(["kept", *(f"true {target:g}" for target in TARGETS)], lines)


def _text(its: Any, simulated: int) -> str:
    covered = f"{its.covered:.3f}"
    if its.covered < least(simulated):
        covered = f"**{covered}**"
    off = f" at {its.probability:.2f}" if abs(its.probability - its.target) > 0.01 else ""
    return f"{covered}{off} ({its.length:.2f})"


def page(table: pd.DataFrame, simulated: int) -> str:
    """Return docs/coverage.md, with every cell."""
    parts = [
        HEAD.format(
            simulated=simulated,
            least=least(simulated),
            reached=reached(table, simulated, "covered"),
            percentiles=reached(table[table["size"] > 1], simulated, "percentiles"),
            pulled=pulled(table),
        )
    ]
    first = ["sentence", "size", "kept"]
    for name, cells in table.groupby("population", sort=False):
        lines = []
        for key, line in cells.groupby(["predicate", "size", "kept"], sort=False):
            lines.append([*map(str, key), *(_text(its, simulated) for its in line.itertuples())])
        heads = [f"true {target:g}" for target in TARGETS]
        parts += [f"## {str(name).capitalize()}", scorecard.table([*first, *heads], lines)]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def main() -> None:
    root = paths.project_root()
    path = root / "results" / "coverage.csv"
    paths.write_text(path, pd.DataFrame(rows(**FULL)).to_csv(index=False, float_format="%.4f"))
    paths.write_text(root / "docs" / "coverage.md", page(pd.read_csv(path), FULL["simulated"]))


if __name__ == "__main__":
    main()
