"""The numbers behind the claims on π-GP-UCB are those that edition 0.3.0 had for the same quantities."""

from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from traces import trace_of

from kbrepro import paths
from kbrepro.claims import claims_of, theorems_of
from kbrepro.claims.tables import EXPONENT, STATISTICS, Kept, View, Whole
from kbrepro.claims.words import always, best
from kbrepro.papers.pi_gp_ucb import claims
from kbrepro.papers.pi_gp_ucb.paper import PAPER
from kbrepro.regret import edges

IGP, PI = claims.RULES
BY_ID = {each.id: each for each in claims_of("pi_gp_ucb")}
same = partial(pytest.approx, rel=1e-9, abs=1e-12)


@pytest.fixture(scope="module")
def kept():
    return Kept(paths.project_root() / "results" / "paper" / PAPER.notebook / "played")


@pytest.fixture(scope="module")
def view(kept):
    """What a table shows over all kept trials under a reading."""
    return lambda table, **reading: View(table.under(kept, reading), Whole(table, np.random.default_rng(0), False))


def test_shares_of_uniform_regret_are_what_they_were(view):
    rows = [view(row) for row in claims.rows]
    # 3-G d1, d2, d3, d1_eq2, d2_eq2; 3-H share; 3-W both_d1, both_d2, both_d3, against the tighter width
    assert [(row[PI] - row[IGP])[0] for row in rows] == same([-0.0149793060732, -0.142275407219, -0.143878529653])
    literal = [view(row, lengthscale="eq. 2") for row in claims.rows[:2]]
    assert [(row[PI] - row[IGP])[0] for row in literal] == same([0.0294501726527, 0.00065903233574])
    assert rows[2][IGP][0] == same(0.922453552901)
    best_each = [(row[f"{IGP}, both"] - row[f"{PI}, tighter"])[0] for row in rows]
    assert best_each == same([-0.00438319984042, -0.064718261169, -0.0310851165271])
    assert BY_ID["3-G"].predicate(*rows).all() and not always(*(best(row, IGP) for row in rows)).any()


def test_four_printed_levels_are_inside_and_the_column_of_igp_ucb_rules_the_literal_lengthscale_out(view):
    rows = [view(row) for row in claims.rows]
    assert claims.inside(*rows)[:, 0].tolist() == [True, True, False, True, False, True]

    def chi_square(**reading):
        rows = [(view(row, **reading), claims.PRINTED[d][0]) for d, row in ((1, claims.row1), (2, claims.row2))]
        spreads = [row(IGP, of=partial(np.std, ddof=1))[0] * np.sqrt(1 / 100 + 1 / 12) for row, _ in rows]
        return sum(((row[IGP][0] - printed) / sd) ** 2 for (row, printed), sd in zip(rows, spreads, strict=True))

    assert [round(chi_square(lengthscale=name)) for name in ("usual", "eq. 2")] == [11, 72]


@pytest.mark.parametrize(
    ("name", "reading", "before"),
    [
        ("3-O", {}, 1 - 0.122368489015),
        ("3-O", {"lengthscale": "eq. 2"}, 1.191948807883),
        ("3-O", {"L": "0.1 / sqrt 3"}, 1 - 0.00676791992774),
        ("3-S", {}, 0.504275),
        ("3-V", {}, 0.0011225),
    ],
)
def test_other_effects_are_what_they_were(view, name, reading, before):
    assert BY_ID[name].effect(*(view(table, **reading) for table in BY_ID[name].tables()))[0] == same(before)


def test_shares_divide_by_what_uniform_play_is_expected_to_lose(monkeypatch):
    lost = {"Table 1, d = 3": [1.0, 3.0], "tighter width, d = 3": [2.0, 2.0], "both, d = 3": [4.0, 4.0]}
    few = SimpleNamespace(seed=lambda _: 3, results=lost.get, column=lambda label, rule, _: np.array(lost[label]))
    monkeypatch.setattr(claims, "Bumps", lambda *_: lambda trial: SimpleNamespace(
        expected_reward=np.array([0.0, 2.0]) * (trial.number + 1) / claims.T))  # fmt: skip
    shares = {name: column.tolist() for (name, _), column in claims.shares(few, 3).items()}
    expected = {IGP: [1, 1.5], PI: [1, 1.5], f"{PI}, tighter": [2, 1], f"{IGP}, both": [4, 2]}
    ratio = [4 / 3 - 2 / 9, 4 / 3 + 2 / 9]  # their mean is the ratio of means, 4 / 3
    expected |= {f"{rule}, ratio of means": ratio for rule in (IGP, PI)}
    assert shares.keys() == expected.keys()
    assert all(shares[name] == pytest.approx(values) for name, values in expected.items())


def test_the_exponent_of_seconds_is_that_of_the_cumulated_ones():
    seconds = np.diff(edges(10_000) ** 1.5, prepend=0)[1:]
    trace = trace_of(np.zeros((2, 10_000)), np.stack([seconds, 5 * seconds]))
    assert STATISTICS[EXPONENT](trace) == pytest.approx([1.5, 1.5])


def test_theorems_are_violated_where_they_were(kept):
    outcomes = {each.id: each.check(kept) for each in theorems_of("pi_gp_ucb")}
    assert {name: (checked.outcome, checked.runs) for name, checked in outcomes.items()} == {
        "3-M": ("not checkable by a run", 0),
        "3-P": ("no violation in 400 runs", 400),
        "3-Q": ("false as printed", 3),
        "3-AD": ("false as printed", 205),
    }
