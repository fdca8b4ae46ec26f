"""The loads behind the claims on π-GP-UCB by hand, and the reading that Table 1 rules out."""

from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from kept_trials import kept_of

from kbrepro import paths
from kbrepro.claims.tables import Draw, View, all_kept
from kbrepro.claims.words import always, best
from kbrepro.papers.pi_gp_ucb import claims
from kbrepro.papers.pi_gp_ucb.paper import PAPER

IGP, PI = claims.RULES


@pytest.fixture(scope="module")
def kept():
    return kept_of(paths.project_root() / "results" / "paper" / PAPER.notebook / "played")


@pytest.fixture(scope="module")
def view(kept):
    """What a table shows over all kept trials under a reading."""
    return lambda table, **reading: View(table.under(kept, reading), Draw(all_kept))


def test_four_printed_levels_are_inside_and_the_column_of_igp_ucb_rules_the_literal_lengthscale_out(
    view, kept
):
    rows = [view(row) for row in claims.rows]
    (inside,) = claims.printed_inside(kept).values()
    assert inside.tolist() == [1, 1, 0, 1, 0, 1]
    assert (
        claims.performs_better.predicate(*rows).all()
        and not always(*(best(row, IGP) for row in rows)).any()
    )

    def chi_square(**reading):
        rows = [
            (view(row, **reading), claims.PRINTED[d, claims.RIVAL])
            for d, row in ((1, claims.row1), (2, claims.row2))
        ]
        spreads = [
            row(IGP, of=partial(np.std, ddof=1))[0] * np.sqrt(1 / 100 + 1 / 12) for row, _ in rows
        ]
        return sum(
            ((row[IGP][0] - printed) / sd) ** 2
            for (row, printed), sd in zip(rows, spreads, strict=True)
        )

    assert [round(chi_square(lengthscale=name)) for name in ("usual", "eq. 2")] == [11, 72]


def test_shares_divide_by_what_uniform_play_is_expected_to_lose():
    lost = {
        "Table 1, d = 3": [1.0, 3.0],
        "tighter width, d = 3": [2.0, 2.0],
        "both, d = 3": [4.0, 4.0],
    }
    experiment = SimpleNamespace(
        horizon=10,
        problem=lambda trial: SimpleNamespace(
            expected_reward=np.array([0.0, 2.0]) * (trial.number + 1) / 10
        ),
    )
    planned = SimpleNamespace(experiment=experiment, trials=2, seed=3)
    few = SimpleNamespace(
        planned=lambda label: planned, column=lambda label, rule, _: np.array(lost[label])
    )
    shares = {name: column.tolist() for (name, _), column in claims.shares(few, 3).items()}
    expected = {IGP: [1, 1.5], PI: [1, 1.5], f"{PI}, tighter": [2, 1], f"{IGP}, both": [4, 2]}
    pairs = [[1, 1], [3, 2]]  # the ratio of their means is 4 / 3
    expected |= {f"{rule}, ratio of means": pairs for rule in (IGP, PI)}
    assert shares.keys() == expected.keys()
    assert all(np.allclose(shares[name], values) for name, values in expected.items())
