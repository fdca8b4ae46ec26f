"""What footnote 11 excludes, and how claims read their tables."""

from functools import cache

import numpy as np
import pytest

from kbrepro import paths
from kbrepro.claims import claims_of, replication_probabilities
from kbrepro.claims.tables import Kept, View, Whole
from kbrepro.claims.words import indistinguishable
from kbrepro.papers.igp_ucb import claims


@cache
def kept():
    (folder,) = (paths.project_root() / "results" / "paper").glob("02*/played")
    return Kept(folder)


CLAIMS = {each.id: each for each in claims_of("igp_ucb")}


def effect(name, **reading):
    """The effect of a claim under a reading, on all kept trials."""
    tables = [table.under(kept(), reading) for table in CLAIMS[name].tables(CLAIMS[name].effect)]
    return CLAIMS[name].effect(*(View(each, Whole(each.table, np.random.default_rng(0), False)) for each in tables))


#: Numbers of 0.3.0 under readings that claims.json does not have: it has the effect under the main one alone. There a
#: difference as a share: 1 more is the ratio.
READINGS = {
    ("2-C", "EI and PI", "no margin"): 1 + 1.26570007773,
    ("2-E", "EI and PI", "margin 0.01"): 1 + 2.83610764833,
    ("2-H", "EI and PI", "margin 0.03"): 1 - 0.593369671588,
    ("2-I", "EI and PI", "margin 0.01"): 81.0587861409,
    ("2-J", "norm", "cut-off 1e-10"): 1 - 0.046768915811,
    ("2-K", "norm", "one"): 1 + 0.201057583673,
    ("2-L", "readings", "standardised"): 1 + 3.45745587467,
    ("2-M", "norm", "printed"): 1 + 2.37140536441,
    ("2-R", "EI and PI", "margin 0.01"): 0.704835741782,
    ("2-AD", "width", "as printed"): 214.624626393,
}


@pytest.mark.parametrize("reading", READINGS, ids=" ".join)
def test_the_same_quantity_is_the_same_number(reading):
    name, choice, value = reading
    assert effect(name, **{choice: value}) == pytest.approx(READINGS[reading], rel=1e-9)


@pytest.mark.parametrize("figure", claims.all_figures, ids=lambda figure: figure.what)
def test_footnote_11_excludes_where_ei_and_pi_can_be_told_apart(figure):
    values = [*claims.INCUMBENT["EI and PI"]]
    readings = [[figure.under(kept(), {"EI and PI": value})] for value in values]
    numbers = replication_probabilities(
        lambda fig: indistinguishable(fig["EI"], fig["PI"], fig.axis), readings, np.random.default_rng(0), 300, 60
    )
    apart = {value for value, number in zip(values, numbers, strict=True) if number.value <= 0.1}
    assert apart == {*figure.excluded}


def test_the_kernels_are_loaded_by_rule_and_label():
    columns = claims.by_kernel(kept())
    assert len(columns) == 8 * 6 and {len(column) for column in columns.values()} == {25}
    label = "Fig. 1 (b) Matérn told SquaredExponential(lengthscale=0.2, variance=1.0)"
    assert columns["GP-TS", label].mean() == kept().traces(label)["GP-TS"].totals[:, -1].mean()
    assert len(claims.MISLED) == len({*claims.MISLED}) == 6
