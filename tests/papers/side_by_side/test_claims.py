"""Numbers of the questions by hand and on all kept trials, which are those of the papers' own
notebooks.
"""

from functools import cache

import numpy as np
import pytest
from kept_trials import kept_of
from tiny import Columns

from kbrepro import paths
from kbrepro.claims.tables import TOTAL, Draw, Table, View, all_kept
from kbrepro.papers.side_by_side import claims

PAPER = paths.project_root() / "results" / "paper"


@cache
def kept(notebook="06"):
    (folder,) = PAPER.glob(f"{notebook}_*/played")
    return kept_of(folder)


def view(table, of=None):
    return View(table.under(of or kept(), {}), Draw(all_kept))


def test_a_rule_is_within_twice_of_the_least_by_hand():
    """EI is on all problems but the first, PIMS on the first two; nothing counts as less than a
    hundredth of 50.
    """
    means = [(30.0, 10.0), (0.1, 1.0), *[(10.0, 21.0)] * 14]
    rows = {name: {"EI": [a], "PIMS": [b], "uniform play": [50.0]}
            for name, (a, b) in zip(claims.SETTINGS, means, strict=True)}  # fmt: skip
    problems = [
        view(Table(name, name, pool=(*row,)), Columns(**rows)) for name, row in rows.items()
    ]
    assert claims.within_twice(*problems) == 2 and claims.within_twice(*problems[:1]) == 0


def test_a_guarantee_costs_what_the_best_rule_with_a_proof_loses_more_than_the_best():
    bench = [view(table) for table in claims.bench]
    drawn, bounded = (claims.prices(bench, kind) for kind in (claims.DRAWN, claims.BOUNDED))
    assert (len(drawn), len(bounded)) == (2, 5) and (bounded >= 1).all()
    first = claims.over_best(bench[0])  # draws from the prior: the Bayesian rules have a proof
    assert drawn[0] == min(first["PIMS"], first["GP-UCB"])
    assert all({*table.pool} == {*kept().traces(table.label)} for table in claims.bench)


@pytest.mark.parametrize(
    ("problem", "notebook", "label", "rules"),
    [
        ("Table 1, d = 1", "03", "Table 1, d = 1", ("IGP-UCB", "π-GP-UCB")),
        ("BKB's problem", "04", "regret", ("BKB",)),
    ],
)
def test_trials_are_those_of_the_papers_own_notebooks(problem, notebook, label, rules):
    for rule in rules:
        ours, theirs = (
            kept().column(problem, rule, TOTAL),
            kept(notebook).column(label, rule, TOTAL),
        )
        n = min(len(ours), len(theirs))
        # without arms R_t is kept as float32
        np.testing.assert_allclose(ours[:n], theirs[:n], rtol=2**-23)
