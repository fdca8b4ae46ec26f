"""The reading of the claims on π-GP-UCB that Table 1 rules out."""

from functools import partial

import numpy as np
from kept_trials import kept_in, view

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
    said = f"Table 1, IGP-UCB, d = 1, 2: chi-square {far}, with the usual lengthscale {near}"
    assert {"eq. 2": said} == claims.REFUTED
