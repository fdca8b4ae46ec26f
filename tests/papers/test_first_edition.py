"""First-edition rules: bounds on value, low and high decide."""

import json
from pathlib import Path

import pytest
import yaml

from kbrepro.claims import is_first_edition
from kbrepro.papers.first_edition import Claim, Ledger, holds, load
from kbrepro.regret import Estimate, exact

RULES = sorted((Path(__file__).parents[2] / "notebooks" / "claims").glob("*.yaml"))
NAN = float("nan")


def claim(**changes):
    parts = {"id": "0-A", "where": "Fig. 0", "claim": "a | b", "statistic": "difference", "reproduced": {"low": "> 0"}}
    return Claim(**parts | {"partly": {"value": "> 0"}} | changes)


def ledger(*many):
    return Ledger({c.id: c for c in many})


# Verdicts


@pytest.mark.parametrize(
    ("estimate", "verdict"),
    [
        (Estimate(2.0, 1e-300, 3.0), "reproduced"),
        (Estimate(2.0, 0.0, 3.0), "partly"),
        (Estimate(2.0, -1.0, 3.0), "partly"),
        (Estimate(0.0, -1.0, 1.0), "not reproduced"),
        (Estimate(-2.0, -3.0, -1.0), "not reproduced"),
        (exact(1.0), "reproduced"),
        (exact(0.0), "not reproduced"),
    ],
)
def test_the_verdict_at_the_boundaries(estimate, verdict):
    assert claim().verdict(estimate) == verdict


@pytest.mark.parametrize(
    ("bound", "value", "expected"),
    [
        ("< 1", 1.0, False),
        ("< 1", 0.999, True),
        ("<= 1", 1.0, True),
        ("> -0.2", -0.2, False),
        (">= -0.2", -0.2, True),
        (">= -0.2, <= 0.2", 0.2, True),
        (">= -0.2, <= 0.2", 0.21, False),
        (">= -0.2, <= 0.2", -0.21, False),
        ("> 1e-3", 0.002, True),
    ],
)
def test_bounds(bound, value, expected):
    assert holds({"value": bound}, exact(value)) is expected


def test_every_bound_of_a_rule_must_hold():
    rule = {"low": ">= -0.2", "high": "<= 0.2"}
    assert holds(rule, Estimate(0.0, -0.2, 0.2))
    assert not holds(rule, Estimate(0.0, -0.21, 0.2))
    assert not holds(rule, Estimate(0.0, -0.2, 0.21))


def test_a_claim_without_a_rule_for_partly():
    assert claim(partly=None).verdict(Estimate(2.0, -1.0, 3.0)) == "not reproduced"


def test_a_stand_in_has_its_own_verdict():
    assert claim(stand_in=True).verdict(exact(1.0)) == "stand-in" == claim(stand_in=True).verdict(exact(-1.0))


@pytest.mark.parametrize("estimate", [Estimate(NAN, 0, 1), Estimate(1, NAN, 2), Estimate(1, 0, NAN), exact(NAN)])
@pytest.mark.parametrize("stand_in", [False, True])
def test_nan_is_rejected(estimate, stand_in):
    with pytest.raises(ValueError, match=r"claim 0-A: estimate = .*nan.* is not allowed: it must hold no NaN"):
        claim(stand_in=stand_in).verdict(estimate)


BROKEN = [
    {"value": "positive"},
    {"value": ">0"},
    {"value": "> zero"},
    {"value": "== 0"},
    {"value": ""},
    {"value": "> 0,"},
    {"value": 0},
    {"value": None},
    {"middle": "> 0"},
    {"count": "> 0"},
]


@pytest.mark.parametrize("rule", BROKEN, ids=str)
def test_a_broken_rule_is_rejected(rule):
    name, bound = next(iter(rule.items()))
    with pytest.raises(ValueError) as error:
        claim(reproduced=rule).verdict(exact(1.0))
    assert f"rule {name}: {bound!r} is not allowed: it must be" in str(error.value)


@pytest.mark.parametrize("rule", [{"low": "> 0", "high": "high"}, {"value": "> 0, high"}, {"value": "> 0, >> 1"}])
@pytest.mark.parametrize("estimate", [exact(1.0), exact(-1.0)])
def test_a_broken_bound_is_rejected_whatever_the_others_say(rule, estimate):
    with pytest.raises(ValueError, match="is not allowed: it must be"):
        holds(rule, estimate)


def test_a_rule_without_bounds_is_rejected():
    """An empty rule would hold for every estimate."""
    with pytest.raises(ValueError):
        claim(reproduced={}).verdict(exact(-1.0))


# The ledger


def test_records_and_table():
    book = ledger(claim(), claim(id="0-B"), claim(id="0-C"))
    assert book.not_evaluated("0-C", "no data") == "not evaluated"
    assert book.judge("0-B", exact(0.123456)) == "reproduced"
    assert book.judge("0-A", Estimate(0.5, -0.25, 1.0), "a note") == "partly"
    first, second, third = book.records()
    assert [r["id"] for r in (first, second, third)] == ["0-A", "0-B", "0-C"]
    assert first == {
        "id": "0-A",
        "where": "Fig. 0",
        "claim": "a | b",
        "statistic": "difference",
        "value": 0.5,
        "interval": [-0.25, 1.0],
        "rule": {"reproduced": {"low": "> 0"}, "partly": {"value": "> 0"}},
        "verdict": "partly",
        "note": "a note",
    }
    assert (second["value"], second["interval"]) == (0.123456, None)
    assert (third["value"], third["interval"], third["note"]) == (None, None, "no data")
    table = book.table()
    assert table.index.tolist() == ["0-A", "0-B", "0-C"]
    assert table["value [95 % interval]"].tolist() == ["0.5 [-0.25, 1]", "0.12", "–"]
    assert table["verdict"].tolist() == ["partly", "reproduced", "not evaluated"]
    assert json.loads(json.dumps(book.records())) == book.records()


def test_a_missing_claim_is_rejected():
    book = ledger(claim(), claim(id="0-B"))
    book.judge("0-A", exact(1.0))
    with pytest.raises(ValueError, match="claim 0-B was neither judged nor marked as not evaluated"):
        book.records()
    with pytest.raises(ValueError, match="0-B"):
        book.table()


def test_an_unknown_claim_is_rejected():
    with pytest.raises(KeyError, match="0-Z"):
        ledger(claim()).judge("0-Z", exact(1.0))


def test_load(tmp_path):
    entry = {"id": "0-A", "where": "w", "claim": "c", "statistic": "s", "reproduced": {"low": "> 0"}}
    path = tmp_path / "rules.yaml"
    path.write_text(yaml.safe_dump([entry | {"id": "0-B"}, entry]), encoding="utf-8")
    assert list(load(path)) == ["0-B", "0-A"]
    assert load(path)["0-A"] == Claim("0-A", "w", "c", "s", {"low": "> 0"})
    path.write_text(yaml.safe_dump([entry, entry]), encoding="utf-8")
    with pytest.raises(ValueError, match=r"rules\.yaml: claim 0-A stands twice"):
        load(path)


@pytest.mark.parametrize("path", [path for path in RULES if is_first_edition(path)], ids=lambda path: path.stem)
def test_the_committed_rules_can_be_read(path):
    for one in load(path).values():
        assert one.where and one.claim and one.statistic and one.reproduced
        for rule in filter(None, (one.reproduced, one.partly)):
            for name, bound in rule.items():
                assert isinstance(holds({name: bound}, exact(0.0)), bool)
