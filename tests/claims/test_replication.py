"""`kb.replication_probability` against enumeration, exact intervals and the probability of
improvement; its page, and the table of how often its interval covers.
"""

import contextlib
import io
import re
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import kbrepro as kb
from benchmarks import coverage
from kbrepro.claims import replication

MISSING_TIMES = np.array(["2020-01-01", "NaT", "NaT"], dtype="M8[D]")
ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "replication.md").read_text(encoding="utf-8")
A, B = [0.0, 3.0, 9.0], [1.0, 4.0, 4.5]


def a_is_less(stats):
    return stats["a"] < stats["b"]


def found(data, size, predicate=a_is_less, rng=0, n_resamples=2000, **options):
    return kb.replication_probability(
        data, predicate, size=size, rng=rng, n_resamples=n_resamples, **options
    )


def samples(rows, size):
    """All experiments of so many units."""
    return product(rows, repeat=size)


def enumerated(units, size, statistic=np.mean):
    """The mean over all redraws of paired units (lists of (a, b)) of the share of experiments with
    a less than b.
    """
    held = []
    for redraw in samples(units, len(units)):
        for drawn in samples(redraw, size):
            a, b = np.concatenate(drawn).T
            held.append(statistic(a) < statistic(b))
    return np.mean(held)


ROWS = [[pair] for pair in zip(A, B, strict=True)]


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("statistic", [np.mean, np.median])
def test_paired_rows_are_what_enumeration_gives(size, statistic):
    number = found({"a": A, "b": B}, size, statistic=statistic)
    assert number.probability == pytest.approx(enumerated(ROWS, size, statistic), abs=0.03)


@pytest.mark.parametrize("labels", [["x", "y", "x", "z"], ["x", "y", "y", "x"]])
def test_groups_are_drawn_whole(labels):
    """Of unequal and of equal lengths; `size` counts groups."""
    a, b = [0.0, 3.0, 9.0, 4.0], [1.0, 4.0, 2.0, 5.0]
    units = [
        [pair for pair, label in zip(zip(a, b, strict=True), labels, strict=True) if label == name]
        for name in sorted({*labels})
    ]
    number = found({"a": a, "b": b}, 2, groups=labels, n_resamples=300)
    assert number.kept == len(units)
    assert number.probability == pytest.approx(enumerated(units, 2), abs=0.05)


def test_with_twice_the_rows_each_is_drawn_at_most_once():
    a, b = [0.0, 3, 9, 4, 2, 7, 8, 1], [1.0, 4, 4.5, 3, 5, 6, 2, 2]
    held = [sum(x) < sum(y) for x, y in zip(combinations(a, 2), combinations(b, 2), strict=True)]
    number = found({"a": a, "b": b}, 2)
    assert number.probability == pytest.approx(np.mean(held), abs=0.03)
    assert "without replacement" in number.method
    few = found({"a": a, "b": b}, {"a": 2, "b": 5}, paired=False)
    assert "from each of 2000 redraws" in few.method


def test_it_is_right_on_average_for_one_sided_and_two_sided_sentences(monkeypatch):
    """Ten rows of 20, normal with sd 1; at a true .95 the mean over redraws says less."""
    rng, size = np.random.default_rng(0), 10
    studies = rng.normal(size=(120, 20))
    shift, limit = stats.norm.ppf([0.95, 0.975]) / np.sqrt(size)
    sentences = [
        (lambda mean: mean["a"] <= shift, 0.88),
        (lambda mean: np.abs(mean["a"]) <= limit, 0.84),
    ]
    for (predicate, pulled), twice in product(sentences, (2, 3)):
        monkeypatch.setattr(replication, "TWICE", twice)
        numbers = [found({"a": rows}, size, predicate, n_resamples=100) for rows in studies]
        mean = np.mean([number.probability for number in numbers])
        assert mean == pytest.approx(0.95 if twice == 2 else pulled, abs=0.02)


def test_methods_with_trials_of_their_own_are_what_enumeration_gives():
    """Two of a and three of b, in experiments of two and one; each is redrawn alone."""
    a, b = A[:2], B
    held = []
    for of_a, of_b in product(samples(a, 2), samples(b, 3)):
        for one, two in product(samples(of_a, 2), of_b):
            held.append(np.mean(one) < two)
    number = found({"a": a, "b": b}, {"a": 2, "b": 1}, paired=False)
    assert number.probability == pytest.approx(np.mean(held), abs=0.03)
    assert number.kept == {"a": 2, "b": 3} and number.size == {"a": 2, "b": 1}


def test_one_row_each_is_the_probability_of_improvement():
    """Agarwal et al. 2021, as rliable has it: the Mann-Whitney statistic over the number of
    pairs.
    """
    rng = np.random.default_rng(0)
    x, y = rng.normal(0.4, 1, 23), rng.normal(0, 2, 31)
    number = found({"x": x, "y": y}, 1, lambda its: its["x"] > its["y"], paired=False)
    improvement = stats.mannwhitneyu(x, y).statistic / (23 * 31)
    assert number.probability == pytest.approx(improvement, abs=1e-12)
    pairs = [
        np.mean(rng.choice(x, 23)[:, None] > rng.choice(y, 31)) for _ in range(4000)
    ]  # what rliable bootstraps
    low, high = np.quantile(pairs, (0.025, 0.975))
    assert number.confidence_interval == pytest.approx((low, high), abs=0.03)
    assert number.monte_carlo_error == 0


def test_the_interval_of_one_paired_row_is_exact():
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=20), rng.normal(0.5, 1, 20)
    k = int((a < b).sum())
    number = found({"a": a, "b": b}, 1, confidence_level=0.9)
    exact = stats.binomtest(k, 20).proportion_ci(0.9, method="exact")
    assert (number.probability, number.confidence_interval) == (k / 20, pytest.approx(exact))


def test_unanimous_redraws_leave_room_for_rows_that_were_not_seen():
    """A row of share q is missed by 20 rows with probability (1 - q)**20; at 0.05 an experiment of
    ten has none with probability 0.05**(10 / 20).
    """
    number = found({"a": np.zeros(20), "b": np.ones(20)}, 10)
    assert number.probability == 1
    assert number.confidence_interval == pytest.approx((0.05**0.5, 1))
    never = found({"a": np.ones(20), "b": np.zeros(20)}, 10)
    assert never.confidence_interval == pytest.approx((0, 1 - 0.05**0.5))


def test_fewer_than_eight_rows_say_nothing():
    rng = np.random.default_rng(0)
    for paired in (True, False):
        data = {"a": rng.normal(size=5), "b": rng.normal(9, 1, 5)}
        five = found(data, 5, paired=paired, n_resamples=100)
        assert five.confidence_interval == (0, 1) and five.method.startswith("too few")
    eight = found({"a": rng.normal(size=8), "b": rng.normal(9, 1, 8)}, 5, n_resamples=100)
    assert eight.confidence_interval[0] > 0


def test_what_is_reported_of_the_draws():
    rng = np.random.default_rng(0)
    data = {"a": rng.normal(size=30), "b": rng.normal(0.3, 1, 30)}
    few = found(data, 20, n_resamples=100)
    assert few == found(data, 20, n_resamples=100) != found(data, 20, n_resamples=100, rng=1)
    assert few == found(pd.DataFrame(data), 20, n_resamples=100)
    assert few == found(data, 20, n_resamples=100, rng=np.random.default_rng(0))
    for size in (10, 20):  # without replacement, and over redraws
        again = [found(data, size, n_resamples=100, rng=seed) for seed in range(1, 40)]
        numbers = [number.probability for number in again]
        assert np.std(numbers) == pytest.approx(again[0].monte_carlo_error, rel=0.4)
    wide, narrow = (found(data, 20, confidence_level=a, n_resamples=100) for a in (0.99, 0.5))
    assert wide.confidence_interval[0] < narrow.confidence_interval[0] < narrow.probability


@pytest.mark.parametrize("level", [0.5, 0.95])
@pytest.mark.parametrize("n", [8, 30])
def test_of_means_of_normal_numbers_the_interval_is_that_of_student(level, n):
    numbers = np.random.default_rng(n).normal(0.5, 0.05, n)
    redrawn = stats.norm(numbers.mean(), numbers.std() / np.sqrt(n))
    shares = redrawn.ppf(np.linspace(0, 1, 200_001)[1:-1])
    exact = stats.t.interval(level, n - 1, numbers.mean(), stats.sem(numbers))
    assert replication.interval(shares, level, [n, 40], [5, 5]) == pytest.approx(exact, abs=1e-5)


GOOD = {"a": A, "b": B}
REFUSED = [
    (dict(data=[A, B]), "data"),
    (dict(data={}), "data"),
    (dict(data={"a": A, "b": B[:2]}), "data"),
    (dict(data={"a": A, "b": [1.0, np.nan, 2.0]}), r"data\['b'\]\[1\] = nan"),
    (dict(size=0), "size"),
    (dict(size={"a": 1, "b": 2}), "size"),
    (dict(size={"a": 1}, paired=False), "size"),
    (dict(size={"a": 1, "b": 0}, paired=False), r"size\['b'\] = 0"),
    (dict(groups=["x", "y"]), "groups"),
    *[(dict(groups=labels), "groups") for labels in ([1.0, np.nan, np.nan], MISSING_TIMES)],
    (dict(groups=["x", "y", "y"], paired=False), "groups"),
    (dict(confidence_level=95), "confidence_level"),
    (dict(n_resamples=99), "n_resamples"),
    (dict(statistic=lambda values, axis: values.sum(axis=axis) * np.nan), "statistic returned"),
    (dict(rng="0"), "rng"),
    (dict(predicate=lambda its: True), "predicate"),
    (dict(predicate=lambda its: its["a"] - its["b"]), "predicate"),
    (dict(predicate=lambda its: np.array([its["a"] < 1, its["b"] < 1])), "predicate"),
    (dict(statistic=lambda values, axis: values), "statistic returned"),
]


@pytest.mark.parametrize(("bad", "named"), REFUSED)
def test_what_does_not_fit_is_refused_by_name(bad, named):
    arguments = {"data": GOOD, "predicate": a_is_less, "size": 2} | bad
    with pytest.raises(ValueError, match=f"^({named})"):
        kb.replication_probability(**arguments)


# The page and the table


def test_the_examples_of_the_page_print_what_it_says(monkeypatch):
    monkeypatch.chdir(ROOT)
    scope = {"__name__": "example"}
    parts = re.findall(r"```python\n(.*?)```\n+```text\n(.*?)```", PAGE, flags=re.S)
    assert len(parts) == 4
    for code, printed in parts:
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(code, scope)
        assert out.getvalue() == printed


COVERED = ROOT / "results" / "coverage.csv"
needs_results = pytest.mark.skipif(not COVERED.is_file(), reason="there is no results folder")


@needs_results
def test_the_table_of_coverage_is_whole():
    table = pd.read_csv(COVERED)
    assert len(table) == len(coverage.POPULATIONS) * 3 * 3 * 4 * 5
    off = np.abs(table["probability"] - table["target"])
    assert off[table["population"] != "Bernoulli"].max() < 0.001


@needs_results
def test_the_page_claims_95_percent_where_it_is_reached_and_nowhere_else():
    table, least = pd.read_csv(COVERED), coverage.least(coverage.FULL["simulated"])
    times, once = table["kept"] // table["size"], table["kept"] == table["size"]
    grouped = table["population"] != "in groups that are not passed"
    telling = table["length"] < coverage.LONG
    short = table[grouped & telling & (table["covered"] < least)]
    assert short[["population", "predicate"]].drop_duplicates().values.tolist() == [
        ["Bernoulli", "similar"]
    ]
    assert once[short.index].all()
    off = (table["printed"] - table["probability"]).abs().groupby([table["population"], ~once])
    said = []
    for name, covered in table[telling].groupby("population", sort=False)["covered"]:
        few, many = off.mean()[name]
        reached = f"{(covered >= least).sum()} of {len(covered)}"
        said.append(f"| {name} | {reached} | {covered.min():.2f} | {few:.3f} | {many:.3f} |")
    length = table["length"][grouped & (table["size"] > 1)].groupby(times).mean()
    number = pd.read_csv(COVERED.with_name("coverage_bias.csv"), index_col=["kept", "sentence"])
    pulled = number.groupby(level=[0, 1])["0.95"].last().map("{:.2f}".format)
    said += [
        f"{(cells := (grouped & telling).sum()) - len(short)} of {cells} cells",
        f"between {short['covered'].min():.2f} and {short['covered'].max():.2f}",
        f"as little as {table['covered'][~grouped].min():.2f}",
        "{:.2f} with as many rows as `size`, {:.2f} with two times and {:.2f}".format(*length),
        'ten rows give {} for "better" and {} for "similar"'.format(*pulled[10]),
    ]
    assert {*pulled[20], *pulled[40]} == {"0.95"}
    text = " ".join(PAGE.split())
    assert [words for words in said if words not in text] == []


def test_the_table_counts_what_the_function_returns():
    """All limits at once, as the table counts them, are one call after the other."""
    rng = np.random.default_rng(0)
    rows = coverage.POPULATIONS[1].draw(rng, (24,)).reshape(3, -1)
    limit = np.array([[0.2], [1.3], [0.4], [0.5]])
    for size, groups in ((1, None), (6, None), (3, np.arange(24) % 8)):
        (deck,) = replication.decks_of(dict(enumerate(rows)), size, True, groups)
        found = coverage.estimates(deck, limit, 400, np.random.default_rng(1))
        for i in range(4):

            def held(means, i=i):
                return coverage.distances(*means.values())[i] <= limit[i]

            one = kb.replication_probability(
                dict(enumerate(rows)), held, size=size, groups=groups, rng=1
            )
            share, *ends = found[:3, i, 0]
            assert share == pytest.approx(one.probability, abs=0.05)
            assert ends == pytest.approx(one.confidence_interval, abs=0.07)


def test_limits_of_a_continuous_and_of_a_discrete_statistic():
    values = np.arange(1000) / 1000
    limit, share = coverage.limits(values, (0.02, 0.5, 0.98))
    assert share.tolist() == [0.02, 0.5, 0.98] and [np.mean(values <= x) for x in limit] == [*share]
    limit, share = coverage.limits(np.array([0, 0, 0, 1.0]), (0.5, 0.98))
    assert share.tolist() == [0.75, 0.75]  # never one that always holds
    limit, share = coverage.limits(np.array([0.1 + 0.2, 0.3, 0.3, 1]), (0.5, 0.98))
    assert share.tolist() == [0.75, 0.75]  # one value, whatever the order of a sum
