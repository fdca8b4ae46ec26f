"""What footnote 11 excludes."""

import numpy as np
import pytest

from kbrepro import paths
from kbrepro.claims import replication_probabilities
from kbrepro.claims.tables import Kept
from kbrepro.claims.words import indistinguishable
from kbrepro.papers.igp_ucb import claims


@pytest.fixture(scope="module")
def kept():
    (folder,) = (paths.project_root() / "results" / "paper").glob("02*/played")
    return Kept(folder)


@pytest.mark.parametrize("figure", claims.all_figures, ids=lambda figure: figure.what)
def test_footnote_11_excludes_where_ei_and_pi_can_be_told_apart(figure, kept):
    values = [*claims.INCUMBENT["EI and PI"]]
    readings = [[figure.under(kept, {"EI and PI": value})] for value in values]
    numbers = replication_probabilities(
        lambda fig: indistinguishable(fig["EI"], fig["PI"], fig.axis), readings, np.random.default_rng(0), 300, 60
    )
    apart = {value for value, number in zip(values, numbers, strict=True) if number.value <= 0.1}
    assert apart == {*figure.excluded}
