"""Verdicts follow from rules and numbers; the committed rules and the committed verdicts agree."""

import ast
import json
from pathlib import Path

import pytest
import yaml

from kbrepro import claims
from kbrepro.claims import Claim, holds
from kbrepro.record import Ledger
from kbrepro.regret import Estimate, exact

ROOT = Path(__file__).parents[1]
RULES = sorted((ROOT / "notebooks" / "claims").glob("*.yaml"))
RUNS = [
    path.parent
    for path in sorted((ROOT / "results" / "paper").glob("[0-9][0-9]_*/claims.json"))
    if not path.parent.name.endswith(".partial")
]
SIGNS = {"<", "<=", ">", ">="}
NAN = float("nan")

every_run = pytest.mark.parametrize(
    "run",
    RUNS or [pytest.param(None, marks=pytest.mark.skip(reason="results/paper holds no claims.json"))],
    ids=lambda run: run.name if run else "none",
)


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
    assert list(claims.load(path)) == ["0-B", "0-A"]
    assert claims.load(path)["0-A"] == Claim("0-A", "w", "c", "s", {"low": "> 0"})
    path.write_text(yaml.safe_dump([entry, entry]), encoding="utf-8")
    with pytest.raises(ValueError, match=r"rules\.yaml: claim 0-A stands twice"):
        claims.load(path)


# The scorecard


def write_run(folder, notebook, records):
    path = folder / notebook / "claims.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(records), encoding="utf-8")


@pytest.fixture
def project(tmp_path):
    """A project with a full-scale run, a quick run, and leftovers."""
    paper, quick = ledger(claim(), claim(id="0-B")), ledger(claim(), claim(id="0-B"))
    paper.judge("0-A", Estimate(2.0, 1.0, 3.0), "full")
    paper.judge("0-B", Estimate(2.0, -1.0, 3.0))
    quick.judge("0-A", Estimate(2.0, -1.0, 3.0))
    quick.not_evaluated("0-B", "profile too small")
    write_run(tmp_path / "results" / "paper", "01_one", paper.records())
    write_run(tmp_path / "results" / "paper", "02_two.partial", paper.records())
    write_run(tmp_path / "results" / "quick", "01_one", quick.records())
    return tmp_path


def cells(scorecard):
    rows = [line for line in scorecard.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in row.replace("\\|", "/")[1:-1].split("|")] for row in rows]


def test_the_scorecard_of_the_full_scale_run(project):
    text = claims.scorecard(project)
    head, rule, *rows = cells(text)
    assert head == ["id", "in the paper", "claim", "statistic", "value [95 % interval]", "verdict", "note"]
    assert set(rule) == {"---"}
    assert rows[0] == ["0-A", "Fig. 0", "a / b", "difference", "2 [1, 3]", "**reproduced**", "full"]
    assert rows[1][5] == "**partly**" and len(rows) == 2
    assert "## 01_one" in text and "1 reproduced, 1 partly." in text and "02_two" not in text
    assert cells(claims.scorecard(project, project / "results" / "paper")) == cells(text)


def test_the_scorecard_of_another_run_shows_the_full_scale_verdict_beside_its_own(project):
    head, _, *rows = cells(claims.scorecard(project, project / "results" / "quick"))
    assert head[5:7] == ["verdict", "full scale"]
    assert [row[4:7] for row in rows] == [
        ["2 [-1, 3]", "**partly**", "reproduced"],
        ["–", "**not evaluated**", "partly"],
    ]
    assert len({len(row) for row in [head, *rows]}) == 1


def test_summary_counts_what_occurs_in_a_fixed_order():
    verdicts = ["stand-in", "partly", "reproduced", "reproduced", "not evaluated", "not reproduced"]
    text = claims.summary([{"verdict": v} for v in verdicts])
    assert text == "2 reproduced, 1 partly, 1 not reproduced, 1 stand-in, 1 not evaluated"


# What is committed


@pytest.mark.parametrize("path", RULES, ids=lambda path: path.stem)
def test_the_committed_rules_can_be_read(path):
    assert (ROOT / "notebooks" / f"{path.stem}.py").is_file()
    loaded = claims.load(path)
    assert loaded and all(key == c.id for key, c in loaded.items())
    for one in loaded.values():
        assert one.where and one.claim and one.statistic and one.reproduced
        for rule in filter(None, (one.reproduced, one.partly)):
            for name, bound in rule.items():
                assert name in ("value", "low", "high")
                for part in bound.split(","):
                    sign, threshold = part.split()
                    assert sign in SIGNS and abs(float(threshold)) < float("inf")
                assert isinstance(holds({name: bound}, exact(0.0)), bool)


def test_there_are_rules():
    assert RULES


def defaults(notebook):
    """The parameters of a notebook by name: the annotated values of the cell tagged `parameters`."""
    text = (ROOT / "notebooks" / f"{notebook}.py").read_text(encoding="utf-8")
    cell = text.split('# %% tags=["parameters"]\n', 1)[1].split("\n# %%", 1)[0]
    nodes = ast.parse(cell).body
    return {node.target.id: ast.literal_eval(node.value) for node in nodes if isinstance(node, ast.AnnAssign)}


@every_run
def test_committed_claims_were_judged_by_the_committed_rules(run):
    rules = claims.load(ROOT / "notebooks" / "claims" / f"{run.name}.yaml")
    records = json.loads((run / "claims.json").read_text(encoding="utf-8"))
    assert [r["id"] for r in records] == list(rules)
    for r in records:
        rule = rules[r["id"]]
        assert r["rule"] == {"reproduced": rule.reproduced, "partly": rule.partly}, r["id"]
        assert (r["where"], r["claim"], r["statistic"]) == (rule.where, rule.claim, rule.statistic), r["id"]


@every_run
def test_every_committed_verdict_follows_from_its_number(run):
    rules = claims.load(ROOT / "notebooks" / "claims" / f"{run.name}.yaml")
    for r in json.loads((run / "claims.json").read_text(encoding="utf-8")):
        if r["value"] is None:
            assert (r["verdict"], r["interval"]) == ("not evaluated", None) and r["note"], r["id"]
            continue
        low, high = r["interval"] or (r["value"], r["value"])
        assert r["verdict"] == rules[r["id"]].verdict(Estimate(r["value"], low, high)), r["id"]


@every_run
def test_the_committed_run_has_the_parameters_of_the_paper_profile(run):
    profile = ROOT / "notebooks" / "profiles" / "paper" / f"{run.name}.yaml"
    expected = defaults(run.name) | yaml.safe_load(profile.read_text(encoding="utf-8"))
    used = dict(json.loads((run / "run.json").read_text(encoding="utf-8"))["parameters"])
    for parameters in (expected, used):
        parameters.pop("results_dir", None)
    assert used == expected
