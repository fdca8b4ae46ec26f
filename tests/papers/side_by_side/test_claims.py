"""Numbers of the questions by hand, and those of 0.3.0 that need no rule that was dropped since, on all kept trials."""

from functools import cache

import numpy as np
import pytest
from tiny import Columns

from kbrepro import paths
from kbrepro.claims.tables import TOTAL, Draw, Kept, Table, View
from kbrepro.papers.side_by_side import claims

PAPER = paths.project_root() / "results" / "paper"


@cache
def kept(notebook="06"):
    (folder,) = PAPER.glob(f"{notebook}_*/played")
    return Kept(folder)


def view(table, of=None):
    return View(table.under(of or kept(), {}), Draw(table, np.random.default_rng(0), None, False))


@cache
def views(name):
    return [view(table) for table in getattr(claims, name)]


def test_the_pool_of_a_problem_is_what_was_played_and_has_at_most_20_rules():
    for table in claims.bench:
        assert {*table.pool} == {*kept().traces(table.label)} and len(table.pool) <= 20, table.what


def test_a_rule_is_within_twice_of_the_least_by_hand():
    """EI is on all problems but the first, PIMS on the first two."""
    means = [(30.0, 10.0), (10.0, 20.0), *[(10.0, 21.0)] * 14]
    rows = {name: {"EI": [a], "PIMS": [b], "uniform play": [50.0]}
            for name, (a, b) in zip(claims.SETTINGS, means, strict=True)}  # fmt: skip
    found = [view(Table(name, name, pool=(*row,)), Columns(**rows)) for name, row in rows.items()]
    assert claims.within_twice(*found) == 2 and claims.within_twice(*found[:1]) == 0


def test_a_guarantee_costs_what_the_best_rule_with_a_proof_loses_more_than_the_best():
    drawn, bounded = (claims.prices(views("bench"), kind) for kind in (claims.DRAWN, claims.BOUNDED))
    assert (len(drawn), len(bounded)) == (2, 5) and (bounded >= 1).all()
    first = claims.over_best(views("bench")[0])  # draws from the prior: the Bayesian rules have a proof
    assert drawn[0] == min(first["PIMS"], first["GP-UCB"])


def test_over_best_by_hand():
    """Least mean 1 of 4, but nothing counts as less than a hundredth of uniform play's 200."""
    table = Table("x", "x", pool=("a", "b", "uniform play"))
    numbers = Columns(x={"a": [0.5, 1.5], "b": [4.0, 4.0], "uniform play": [100.0, 300.0]})
    ratios = claims.over_best(view(table, numbers))
    assert {rule: ratio.item() for rule, ratio in ratios.items()} == {"a": 1.0, "b": 2.0, "uniform play": 100.0}


@pytest.mark.parametrize(
    ("problem", "notebook", "label", "rules"),
    [("Table 1, d = 1", "03", "Table 1, d = 1", ("IGP-UCB", "π-GP-UCB")), ("BKB's problem", "04", "regret", ("BKB",))],
)
def test_trials_are_those_of_the_papers_own_notebooks(problem, notebook, label, rules):
    for rule in rules:
        ours, theirs = kept().column(problem, rule, TOTAL), kept(notebook).column(label, rule, TOTAL)
        n = min(len(ours), len(theirs))
        np.testing.assert_allclose(ours[:n], theirs[:n], rtol=2**-23)  # without arms R_t is kept as float32


def test_bands_with_a_proof_hold_in_every_run():
    for problem in ("SE, norm given", "Matérn, norm given", "Table 1, d = 1"):
        held = {r: c.band_ratio.max(axis=1) <= 1 for r, c in kept().traces(f"coverage, {problem}").items()}
        assert all(band.all() for rule, band in held.items() if "IGP" in rule or "π" in rule)
        assert not held["GP-UCB/5"].all()
