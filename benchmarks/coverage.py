"""How often the interval of a replication probability covers: `python -m benchmarks.coverage`.

An experiment is simulated many times, its replication probability estimated from what it kept, and
the interval compared with the true probability, that of a million experiments. Writes every number
to results/coverage.csv and results/coverage_bias.csv. docs/replication.md says what they come to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.random import Generator

from kbrepro import paths
from kbrepro.claims import replication
from kbrepro.claims.estimates import LEVEL
from kbrepro.claims.replication import Holds, Rows, drawn_once, redrawn
from kbrepro.typing import Array, Bools

#: Simulated experiments a cell, redraws of each, experiments behind a true probability.
FULL = {"simulated": 300, "n_resamples": 200, "behind": 1_000_000}
TARGETS = (0.02, 0.1, 0.5, 0.9, 0.98)
SIZES = (1, 10, 25)
TIMES = (1, 2, 8)
#: Of which the mean number is printed: true probabilities, the size, and kept rows.
BIASED, BIASED_SIZE, BIASED_TIMES = (0.5, 0.8, 0.95), 10, (1, 2, 4)
NUMBERS = {"over redraws": redrawn, "without replacement": drawn_once}
#: From here on an interval of mean length says little.
LONG = 0.84


Shape = tuple[int, ...]


class Population(NamedTuple):
    """`draw(rng, shape)` returns three methods in rows of so many groups, (3, *shape, rows)."""

    name: str
    draw: Callable[[Generator, Shape], Array]
    rows: int = 1
    grouped: bool = True


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
    Population("in groups that are passed", _clustered, 3),
    Population("in groups that are not passed", _clustered, 3, grouped=False),
)


def distances(a: Array, b: Array, c: Array) -> Array:
    """Return what is compared with a limit, (4, ...): sign a < b, ratio of a to b, a < b and a < c,
    a similar to b.

    With a limit other than 0 or 1 it is the same sentence on a method shifted or scaled by it.
    """
    ratio = np.divide(a, b, out=np.where(a > 0, np.inf, 0.0), where=b > 0)
    return np.array([a - b, ratio, np.maximum(a - b, a - c), np.abs(a - b)])


PREDICATES = ("sign", "ratio", "conjunction", "similar")


def limits(found: Array, targets: tuple[float, ...]) -> tuple[Array, Array]:
    """Return limits (targets,) that a share of `found` nearest to each target does not exceed, and
    these shares, neither 0 nor 1 if there are others.
    """
    most = np.unique(found) + 1e-9  # rounding: sums in another order
    shares = np.searchsorted(np.sort(found), most, side="right") / len(found)
    shares[shares == 1] = np.inf
    nearest = [int(np.abs(shares - target).argmin()) for target in targets]
    return most[nearest], shares[nearest]


def _statistics(population: Population, rng: Generator, size: int, behind: int) -> Array:
    """What `distances` gives of so many experiments, (4, behind)."""
    at_once = 10_000
    means = [
        population.draw(rng, (at_once, size)).mean(axis=(2, 3)) for _ in range(behind // at_once)
    ]
    return distances(*np.concatenate(means, axis=1))


def holds_in(deck: replication.Deck, limit: Array) -> Holds:
    """Return what says whether experiments fulfil every sentence under every limit, one after
    another.
    """

    def holds(rows: Sequence[Rows], experiments: int) -> list[Bools]:
        means = deck.statistics(rows[0](len(deck.units)), np.mean)
        return [*_below(means, limit)]

    return holds


def _below(means: Any, limit: Array) -> Bools:
    """Whether distances of means are at most the limits, (predicates * targets, experiments)."""
    held: Bools = distances(*means.values())[:, None] <= limit[..., None]
    return held.reshape(limit.size, -1)


def estimates(deck: replication.Deck, limit: Array, n_resamples: int, rng: Generator) -> Array:
    """Return what `replication_probability` finds, here for all sentences and limits at once: the
    probability and its interval, (3, predicates, targets).
    """
    n = len(deck.units)
    if deck.size == 1:
        held = _below(deck.statistics(np.arange(n)[:, None], np.mean), limit)
        found = [replication.enumerated(one, rng) for one in held]
    else:
        counts = [[(n, deck.size)]] * limit.size
        found = replication.probabilities(
            holds_in(deck, limit), [deck], counts, rng, redraws=n_resamples, error=1
        )
    return np.transpose([one[:3] for one in found]).reshape(3, *limit.shape)


def kept_of(population: Population, size: int, times: int, rng: Generator) -> replication.Deck:
    """Return the rows that one study keeps, in one deck."""
    data = population.draw(rng, (size * times,)).reshape(3, -1)
    groups = np.repeat(np.arange(size * times), population.rows) if population.grouped else None
    drawn = size if population.grouped else size * population.rows
    (deck,) = replication.decks_of(dict(enumerate(data)), drawn, True, groups)
    return deck


def cell(
    population: Population,
    size: int,
    times: int,
    simulated: int,
    n_resamples: int,
    truth: Array,
    rng: Generator,
) -> dict[str, Array]:
    """Return how often intervals cover, their mean length, and the mean replication probability,
    each (predicates, targets).

    `truth`: limits and true probabilities, (2, predicates, targets).
    """
    limit, probability = truth
    found: list[Array] = []
    for _ in range(simulated):
        found.append(estimates(kept_of(population, size, times, rng), limit, n_resamples, rng))
    printed, low, high = np.moveaxis(np.array(found), 1, 0)
    return {
        "covered": np.mean((low <= probability) & (probability <= high), axis=0),
        "length": np.mean(high - low, axis=0),
        "printed": printed.mean(axis=0),
    }


def truth_of(found: Array, targets: tuple[float, ...]) -> Array:
    """Return limits and true probabilities, (2, predicates, targets), of statistics (predicates,
    behind).
    """
    return np.moveaxis(np.array([limits(values, targets) for values in found]), 1, 0)


def bias(simulated: int, n_resamples: int, behind: int, seed: int = 0) -> Iterator[dict[str, Any]]:
    """Yield a row for each number, over redraws and without replacement, number of kept rows and
    sentence, one-sided and two-sided: the mean number by true probability, of normal methods.
    """
    population, rng = POPULATIONS[0], np.random.default_rng([seed, len(POPULATIONS)])
    truth = truth_of(_statistics(population, rng, BIASED_SIZE, behind), BIASED)
    for times in BIASED_TIMES:
        decks = [kept_of(population, BIASED_SIZE, times, rng) for _ in range(simulated)]
        for name, sample in NUMBERS.items():
            if sample is drawn_once and times < replication.TWICE:
                continue
            shares = []
            for deck in decks:
                held = replication.held_in_draws(
                    holds_in(deck, truth[0]), [deck], rng, n_resamples, sample=sample
                )
                shares.append(np.mean(held, axis=(1, 2)))
            means = np.mean(shares, axis=0).reshape(truth[0].shape)
            for predicate in ("sign", "similar"):
                line = dict(zip(map(str, BIASED), means[PREDICATES.index(predicate)], strict=True))
                yield {"sentence": predicate, "kept": BIASED_SIZE * times, "number": name} | line


def rows(simulated: int, n_resamples: int, behind: int, seed: int = 0) -> Iterator[dict[str, Any]]:
    """Yield a row for each population, size, number of kept rows, predicate and target."""
    for population in POPULATIONS:
        for size in SIZES:
            rng = np.random.default_rng([seed, POPULATIONS.index(population), size])
            truth = truth_of(_statistics(population, rng, size, behind), TARGETS)
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


def least(simulated: int) -> float:
    """Return the smallest share covered that is within two standard errors of 95 %."""
    return LEVEL - 2 * float(np.sqrt(LEVEL * (1 - LEVEL) / simulated))


def main() -> None:
    for name, made in (("coverage", rows), ("coverage_bias", bias)):
        table = pd.DataFrame(made(**FULL)).to_csv(index=False, float_format="%.4f")
        paths.write_text(paths.project_root() / "results" / f"{name}.csv", table)


if __name__ == "__main__":
    main()
