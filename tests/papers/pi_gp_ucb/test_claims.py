"""The loads behind the claims on π-GP-UCB by hand, and the reading that Table 1 rules out."""

from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

from kbrepro import paths, plans
from kbrepro.claims.tables import Draw, View
from kbrepro.claims.words import always, best
from kbrepro.papers.pi_gp_ucb import claims
from kbrepro.papers.pi_gp_ucb.paper import PAPER

IGP, PI = claims.RULES


@pytest.fixture(scope="module")
def view():
    """What a table shows over all kept trials under a reading."""
    kept = plans.kept(paths.project_root() / "results" / "paper" / PAPER.notebook / "played")
    return lambda table, **reading: View(
        table.under(kept, reading), Draw(table, np.random.default_rng(0), None, False)
    )


def test_four_printed_levels_are_inside_and_the_column_of_igp_ucb_rules_the_literal_lengthscale_out(
    view,
):
    rows = [view(row) for row in claims.rows]
    assert claims.inside(*rows)[:, 0].tolist() == [True, True, False, True, False, True]
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
    ratio = [4 / 3 - 2 / 9, 4 / 3 + 2 / 9]  # their mean is the ratio of means, 4 / 3
    expected |= {f"{rule}, ratio of means": ratio for rule in (IGP, PI)}
    assert shares.keys() == expected.keys()
    assert all(shares[name] == pytest.approx(values) for name, values in expected.items())
