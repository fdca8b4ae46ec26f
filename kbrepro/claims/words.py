"""The words of the papers as predicates: functions of numbers, one per drawn experiment, the same
for all papers.

Smaller is better: a, b are regrets, or other numbers of which less is meant. A word returns an
array of bool, (experiments,); `cases` and `compared` list a word over figures and rules, `largest`
and `smallest` make one effect of several figures. `LIMITS` has the number behind each word: it is
ours, fixed before results, and published with what halving and doubling it does to the verdicts.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import product

import numpy as np

from kbrepro.claims.tables import TOTAL, View
from kbrepro.typing import Array, Bools

LIMITS = {
    "tie": 1e-9,  # of the axis: a smaller gap is no difference
    "similar": 0.2,  # one is at most 1.2 times the other
    "similar on an axis": 0.05,  # of the axis: simple regrets, whose ratios say nothing near 0
    "on par": 0.2,  # at most 1.2 times the other
    "competitive": 1.0,  # at most 1 + 1 times the best other
    "indistinguishable": 0.02,  # of the axis
    "much": 3.0,  # times
    "drastically": 10.0,  # times
    "printed": 1 / 3,  # of a ratio that is printed beside the word
    "near-optimal": 0.05,  # of the range of the function
    "barely": 0.15,  # from 1 - 0.15 times the other to the other
    "near-linear": 0.2,  # exponent of cumulated seconds, above 1
    "several maximisers": 0.05,  # of the range: at most so far below the best is another peak
    "obvious maximiser": 0.25,  # of the range: at least so far below are all other peaks
    "good point": 0.2,  # of the range: at most so far below the best
}


def better(a: Array, b: Array, axis: Array | None = None) -> Bools:
    """Less, by more than a tie: better, outperforms, lower, improved. `axis` by default the larger
    of the two.
    """
    return a < b - LIMITS["tie"] * (np.maximum(np.abs(a), np.abs(b)) if axis is None else axis)


def best(figure: View, rule: str, rivals: Iterable[str] = ()) -> Bools:
    """Better than X and Y: than every rival, by default than all others of the pool."""
    others = [name for name in (tuple(rivals) or figure.pool) if name != rule]
    return np.all([better(figure[rule], figure[name]) for name in others], axis=0)


def similar(a: Array, b: Array, axis: Array | None = None) -> Bools:
    """Similar, the same, no significant difference: their ratio is between 1/1.2 and 1.2.

    Simple regrets are compared on an `axis`, the range of the function: a gap of at most 5 % of it.
    """
    if axis is not None:
        return np.abs(a - b) <= LIMITS["similar on an axis"] * axis
    most = 1 + LIMITS["similar"]
    return (a <= most * b) & (b <= most * a)


def clearly_better(a: Array, b: Array, axis: Array | None = None) -> Bools:
    """Clearly, significantly, markedly better; high, loose, wasteful: better, and not similar."""
    return better(a, b, axis) & ~similar(a, b, axis)


def slightly_better(a: Array, b: Array, axis: Array | None = None) -> Bools:
    """Slightly or somewhat better: better, and similar."""
    return better(a, b, axis) & similar(a, b, axis)


def on_par(a: Array, b: Array) -> Bools:
    """On par, as well as: a is at most 1.2 times b (one side)."""
    return a <= (1 + LIMITS["on par"]) * b


def competitive(figure: View, rule: str, others: Iterable[str] = ()) -> Bools:
    """Competitive, reasonably well: at most twice the best other, by default of the pool (one
    side).
    """
    rivals = [figure[name] for name in (tuple(others) or figure.pool) if name != rule]
    return figure[rule] <= (1 + LIMITS["competitive"]) * np.min(rivals, axis=0)


def indistinguishable(a: Array, b: Array, axis: Array) -> Bools:
    """Very similar, cannot be told apart, no impact: a gap of at most 2 % of the axis."""
    return np.abs(a - b) <= LIMITS["indistinguishable"] * axis


def much_better(a: Array, b: Array, printed: float | None = None, word: str = "much") -> Bools:
    """Much, many times (3 times), drastically (10 times), or at least a third of the ratio that is
    `printed`.
    """
    return b >= (LIMITS[word] if printed is None else LIMITS["printed"] * printed) * a


def near_optimal(simple_regret: Array, function_range: float | Array = 1.0) -> Bools:
    """Within 5 % of the range of the function."""
    return simple_regret <= LIMITS["near-optimal"] * function_range


def barely_better(a: Array, b: Array) -> Bools:
    """Better, and at least 0.85 of the other; strong, in contrast: better by more."""
    return (a >= (1 - LIMITS["barely"]) * b) & better(a, b)


def near_linear(exponent: Array) -> Bools:
    """The exponent of the cumulated seconds over the last decade of rounds is at most 1.2."""
    return exponent <= 1 + LIMITS["near-linear"]


def cases(
    word: Callable[..., Array],
    figures: Iterable[View],
    rules: Iterable[str],
    rivals: Iterable[str] = (),
) -> list[Array]:
    """List what a word, or a number, says of a rule among rivals, (experiments,): a case for each
    figure and rule.
    """
    return [word(figure, rule, rivals) for figure, rule in product(figures, rules)]


def compared(
    word: Callable[..., Array],
    figures: Iterable[View],
    rules: Iterable[str],
    others: Iterable[str],
    statistic: str = TOTAL,
) -> list[Array]:
    """List what a word, or a number, says of the means of two rules, (experiments,): a case for
    each figure, rule and other rule.
    """
    triples = product(figures, rules, others)
    return [word(fig(rule, statistic), fig(other, statistic)) for fig, rule, other in triples]


def largest(number: Callable[[View], Array]) -> Callable[..., Array]:
    """Return the effect on several figures that is the largest of a number of each."""
    return lambda *figures: np.maximum.reduce([*map(number, figures)])


def smallest(number: Callable[[View], Array]) -> Callable[..., Array]:
    """Return the effect on several figures that is the smallest of a number of each."""
    return lambda *figures: np.minimum.reduce([*map(number, figures)])


def sometimes(*cases: Bools) -> Bools:
    """Sometimes, can, may: in at least one of the experiment's cases."""
    return np.any(cases, axis=0)


def always(*cases: Bools) -> Bools:
    """Always, never, all, only: in all of the experiment's cases."""
    return np.all(cases, axis=0)


def typically(*cases: Bools) -> Bools:
    """Typically, tends to, usually, likely, in many cases: in more than half of the experiment's
    cases.
    """
    return np.mean(cases, axis=0) > 0.5


def at_each(*places: Sequence[Bools]) -> Bools:
    """On synthetic and on real data, or of a whole paper: in at least half of each place's cases.

    A case of which the paper says the contrary is none.
    """
    return np.all([np.mean(cases, axis=0) >= 0.5 for cases in places], axis=0)


def same_order(figure: View, other: View, pairs: Iterable[tuple[str, str]]) -> Bools:
    """No pair of rules changes order from one figure to another, unless it is similar in one of
    them.
    """
    kept = []
    for a, b in pairs:
        turned = better(figure[a], figure[b]) & better(other[b], other[a])
        turned |= better(figure[b], figure[a]) & better(other[a], other[b])
        kept.append(~turned | similar(figure[a], figure[b]) | similar(other[a], other[b]))
    return np.all(kept, axis=0)
