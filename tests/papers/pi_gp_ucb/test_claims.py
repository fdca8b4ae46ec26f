"""The reading of the claims on π-GP-UCB that Table 1 rules out, and what inverses cost."""

from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from kept_trials import kept_in, view

from kbrepro.claims import judging
from kbrepro.claims.tables import TOTAL, Kept
from kbrepro.papers.pi_gp_ucb import claims

sd = partial(np.std, ddof=1)


def chi_square(lengthscale):
    """How far the column of IGP-UCB is from what Table 1 prints, for d = 1 and 2."""
    squares = []
    for d, table in ((1, claims.row1), (2, claims.row2)):
        row = view(table, kept_in("03"), lengthscale=lengthscale)
        spread = row(claims.RIVAL, of=sd) * np.sqrt(1 / 100 + 1 / 12)
        squares.append(((row[claims.RIVAL] - claims.PRINTED[d, claims.RIVAL]) / spread) ** 2)
    return np.sum(squares)


def test_the_column_of_igp_ucb_rules_the_literal_lengthscale_out():
    far, near = round(chi_square("eq. 2")), round(chi_square("usual"))
    said = f"printed regret of IGP-UCB, d = 1, 2: chi-square {far}, against {near} for *usual*"
    assert {"eq. 2": said} == claims.far_from_print(kept_in("03"))


@pytest.mark.parametrize(
    ("usual", "literal", "excluded"),
    [(0, 3.17, {"eq. 2"}), (0, -3.17, {"eq. 2"}), (3.17, 0, {"usual"}), (0, 3.15, set())],
)
def test_a_lengthscale_goes_if_the_other_is_ten_units_nearer(monkeypatch, usual, literal, excluded):
    """So many standard errors from the printed mean of d = 1 or 2, none from that of the other."""
    spread = np.tile([-1.0, 1.0], 50)
    error = np.sqrt(1 / 100 + 1 / 12) * sd(spread)
    for far in ("row1", "row2"):
        for d, table in enumerate(("row1", "row2"), 1):
            near = claims.PRINTED[d, claims.RIVAL] + spread
            away = error * (table == far)
            columns = {
                (claims.RIVAL, TOTAL): near + usual * away,
                (f"{claims.RIVAL}, eq. 2", TOTAL): near + literal * away,
            }
            row = replace(claims.row1, load=lambda kept, columns=columns: columns)
            monkeypatch.setattr(claims, table, row)
        assert {*claims.far_from_print(Kept(Path()))} == excluded


def test_seconds_of_a_posterior_over_the_arms_judge_no_sentence_of_the_paper():
    """The paper's posterior grows with the pulls; questions of our own may ask of ours."""
    asked = [one for one in judging.sentences_of("pi_gp_ucb") if isinstance(one, judging.Claim)]
    for d, claim in product((1, 2, 3), asked):
        timed = [table for table in claim.tables() if table.label == f"Table 1, d = {d}"]
        like = [table for table in timed if not table.unlike]
        assert not like or claim.kind == "own question"
