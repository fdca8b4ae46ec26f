"""Numbers of the questions against those of 0.3.0 (results/paper/06*/claims.json then), on all kept trials."""

from functools import cache

import numpy as np
import pytest
from tiny import Columns

from kbrepro import paths
from kbrepro.claims import claims_of
from kbrepro.claims.tables import Kept, Table, View, Whole
from kbrepro.papers.side_by_side import claims


@cache
def kept():
    (folder,) = (paths.project_root() / "results" / "paper").glob("06*/played")
    return Kept(folder)


@cache
def views(name):
    tables = getattr(claims, name)
    return [View(table.under(kept(), {}), Whole(table, np.random.default_rng(0), False)) for table in tables]


def test_the_pool_of_a_problem_is_what_was_played():
    for table in claims.bench:
        assert {*table.pool} == {*kept().traces(table.label)}, table.what


def test_numbers_of_growth_as_in_0_3_0():
    growth = [*zip(views("growth"), claims.CASES, strict=True)]
    leads = [claims.lead(fig)[0] - 1 for fig, _ in growth]
    assert leads == pytest.approx([4.12329761016, 2.0616931351, 5.76137748055, 2.60107790503], rel=1e-9)
    excess = [claims.excess(fig, case)[0] for fig, case in growth]
    assert excess == pytest.approx([-0.0330839645584, 0.226097827827, -0.0110708869121, 0.234447843696], rel=1e-9)
    pays = [claims.pays_from(fig, case)[0] for fig, case in growth]
    assert pays == pytest.approx([13.9606641959, 10.1695557731, 18.4445941393, 11.5110527812], rel=1e-9)
    easy = max(views("easy"), key=lambda fig: claims.slower_exponent(fig)[0])
    exponents = [claims.exponent(easy, rule)[0] for rule in ("SupKernelUCB", "SupKernelUCB, tuned", "IGP-UCB")]
    assert exponents == pytest.approx([0.435705371432, 0.312047058206, 0.328876386414], rel=1e-9)


def test_numbers_over_problems_as_in_0_3_0():
    bench = views("bench")
    rules = "EI", "PIMS", "GP-UCB/5", "GP-UCB, tuned", "IGP-UCB, both, tuned"
    shares = [number[0] / n for number, n in claims.within_twice(bench, *rules)]
    assert shares == [0.6875, 0.625, 0.625, 0.625, 0.5]
    median = np.median([claims.least(problem, claims.near_optimal)[0] for problem in bench])
    assert median == pytest.approx(19.9801788343, rel=1e-9)
    prices = [np.median(claims.prices(bench, kind)) for kind in (claims.BOUNDED, claims.DRAWN)]
    assert prices == pytest.approx([5.02955705958, 1.08615549173], rel=1e-9)
    assert np.median(claims.savings(bench)) == pytest.approx(0.270570856488, rel=1e-9)
    factors = [claims.factor(views("wrong"), case)[0] for case in claims.ASSUMED]
    assert factors == pytest.approx([1.39557766796, 1.57179029431, 0.757843570929, 2.13490749521], rel=1e-9)


def test_another_rule_or_problem_less_gives_another_number():
    bench = views("bench")
    assert np.median([claims.least(problem, lambda rule: rule == "BPE")[0] for problem in bench]) > 20
    assert claims.within_twice(bench[:-1], "EI")[0][0][0] != claims.within_twice(bench, "EI")[0][0][0]


def test_over_best_by_hand():
    """Least mean 1 of 4, but nothing counts as less than a hundredth of uniform play's 200."""
    table = Table("x", "x", pool=("a", "b", "uniform play"))
    numbers = Columns(x={"a": [0.5, 1.5], "b": [4.0, 4.0], "uniform play": [100.0, 300.0]})
    ratios = claims.over_best(View(table.under(numbers, {}), Whole(table, np.random.default_rng(0), False)))
    assert {rule: ratio.item() for rule, ratio in ratios.items()} == {"a": 1.0, "b": 2.0, "uniform play": 100.0}


def test_ten_questions():
    assert [each.id for each in claims_of("side_by_side")] == [f"6-{letter}" for letter in "EFGHIBCDJK"]
