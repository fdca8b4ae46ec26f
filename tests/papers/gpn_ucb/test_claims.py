"""The claims of paper 5: numbers that were kept from edition 0.3.0, and the tables on trials small enough to count."""

import dataclasses

import numpy as np
import pytest
from traces import curve_of

from kbrepro import paths
from kbrepro.claims import judge, replication_probabilities
from kbrepro.claims.tables import SECONDS, TOTAL, Kept, View, Whole
from kbrepro.papers.gpn_ucb import claims


@pytest.fixture(scope="module")
def kept():
    return Kept(paths.project_root() / "results" / "paper" / "05_gpn_ucb_chains" / "played")


def effect(each, kept):
    """The effect of a claim on all kept trials."""
    trials = [table.under(kept, {}) for table in each.tables(each.effect)]
    return float(np.ravel(each.effect(*(View(t, Whole(t.table, np.random.default_rng(0), False)) for t in trials)))[0])


#: Claim -> the part of edition 0.3.0 that is the same quantity, and its value there.
SAME = {
    "nonada_is_best_where_one_is_obvious": ("5-AB mean", 0.125788044416),
    "gpn_ucb_equals_cei_where_one_is_obvious": ("5-N mean", 0.172122706318),
    "cei_is_slightly_ahead": ("5-O nonada_mean", 0.112293914336),
    "loose_bounds_cost_regret": ("5-R regret", 0.565401713380),
    "envelope_saves_regret": ("5-I draws", 1.07616385053521),
    "distant_points_have_no_impact": ("5-Y regret", 0.000930080098920),
    "gpn_ucb_beats_exact_cei": ("5-C noise", 1.74612304983),
    "the_point_itself_helps": ("5-Z itself", 0.00758703847964),
    "ratios_are_as_printed": ("5-L digits", 0.000430258682919),
}


@pytest.mark.parametrize("name", SAME)
def test_the_same_quantity_is_the_same_number(name, kept):
    _, value = SAME[name]
    assert effect(getattr(claims, name), kept) == pytest.approx(value, abs=1e-9)


@pytest.mark.parametrize(
    "name, room",
    [
        ("theorem_1", 0.229688900682),  # 5-K step
        ("theorem_4", 0.477496650674),  # 5-P chain
        ("theorem_7", 0.342442216167),  # 5-P multi
        ("theorem_8", 0.285591041826),  # 5-P feed
        ("theorem_4_rate", 1.5 / 2.36618145689),  # 5-AA rate
        ("theorem_5", 1 / 1.47284409568),  # 5-M nu_1
        ("theorem_6", 1 / 1.84805893813),  # 5-S nu_15
        ("theorem_9", 0.774598058058),  # 5-T norm
    ],
)
def test_the_room_of_a_theorem_is_the_old_number(name, room, kept):
    checked = getattr(claims, name).check(kept)
    assert checked.room == pytest.approx(room, abs=1e-9) and not checked.violations and checked.runs


def test_a_rerun_draws_one_chain_of_a_kind(kept):
    similar = np.abs(claims.obvious(kept)["GPN-UCB", claims.MEAN] - claims.obvious(kept)["cEI", claims.MEAN]) <= 0.02
    each = claims.gpn_ucb_equals_cei_where_one_is_obvious
    main, *_ = judge(each, kept).readings
    assert (main.drawn, main.kept) == (1, 40)
    assert main.probability.value == pytest.approx(similar.mean(), abs=0.03)
    table = dataclasses.replace(claims.g2, size=3)
    (three,) = replication_probabilities(each.predicate, [[table.under(kept, {})]], np.random.default_rng(0))
    assert abs(three.value - similar.mean()) > 0.05  # of another size it is another number


def test_several_and_obvious_chains_are_kept_apart(kept):
    one, other = claims.several(kept), claims.obvious(kept)
    assert {len(v) for (rule, _), v in one.items() if "enveloped" not in rule} == {35}
    assert {len(v) for (rule, _), v in other.items() if "enveloped" not in rule} == {40}
    assert len(one["cEI, enveloped", TOTAL]) == 13 and len(other["cEI, enveloped", TOTAL]) == 15
    assert not np.allclose(other["GPN-UCB, enveloped", TOTAL], other["GPN-UCB", TOTAL][:15])
    assert np.array_equal(other["EI, enveloped", TOTAL], other["EI", TOTAL][:15])


def test_statistics_of_two_chains_by_hand():
    arms, gaps = np.ones((4, 200), dtype=np.int32), np.array([[2.0, 0.0], [4.0, 0.0], [3.0, 3.0], [3.0, 3.0]])
    arms[0, :4] = arms[1, :9] = 0  # chain 0: trials that find the best after 4 and 9 pulls
    trace = curve_of(arms, gaps, np.ones((4, 100)))
    found = claims.statistics({"rule": trace}, np.array([2.0, 3.0]), times=2)
    assert found["rule", TOTAL].tolist() == [(8 + 36) / 2 / 2, 200.0]
    assert found["rule", claims.AT_50].tolist() == [0.0, 1.0] and found["rule", SECONDS].tolist() == [100.0, 100.0]
    assert found["rule", claims.MEAN] == pytest.approx([(1 / 13 + 2 * 2 / 13) / 2, 1.0])  # of T = 4, and of 4 and 9
    assert found["rule", claims.CURVE] == pytest.approx([(4 / 200 + 2 * 9 / 200) / 2, 1.0])


def test_early_in_vain_by_hand():
    own = np.array([[0.9, 0.2, 0.05, 0.0]] * 3)  # near after 2 rounds, near-optimal after 3
    curve = np.array([[0.2, 0.2, 0.2, 0.05], [0.2, 0.05, 0.0, 0.0], [0.9, 0.9, 0.9, 0.9]])
    assert claims.early(curve, own).tolist() == [1.0, 0.0, 0.0]  # in vain; helped; not early


def test_nonada_reports_after_49_pulls():
    found = claims.nonadaptive([np.arange(13.0)], np.array([2.0]))
    assert found["NonAda", claims.AT_50].tolist() == [2.5] and found["NonAda", claims.MEAN].tolist() == [3.0]
