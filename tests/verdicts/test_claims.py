"""Verdicts follow from rules and intervals; what cannot be is refused by name; runs agree with their rules."""

import itertools
import json
import re
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from kbrepro.batch import editions, profiles
from kbrepro.regret import Estimate, exact
from kbrepro.verdicts import claims, scorecard
from kbrepro.verdicts.claims import BadRules, Claim, Part, load, read_rule

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "notebooks" / "claims").glob("*.yaml"))
RUNS = sorted(p.parent for p in (ROOT / "results" / "paper").glob("[0-9][0-9]_*/run.json"))
every_run = pytest.mark.parametrize(
    "run",
    RUNS or [pytest.param(None, marks=pytest.mark.skip(reason="results/paper holds no run"))],
    ids=lambda run: run.name if run else "none",
)


# Rules


@pytest.mark.parametrize(
    ("rule", "low", "high", "state"),
    [
        ("> 0", 1e-300, 3, "holds"),
        ("> 0", 0, 3, "undecided"),
        (">= 0", 0, 3, "holds"),
        ("> 0", -1, 0, "fails"),
        (">= 0", -1, 0, "undecided"),
        (">= 0", -1, -1e-9, "fails"),
        ("< 0.6", 0.5, 0.59, "holds"),
        ("< 0.6", 0.5, 0.6, "undecided"),
        ("< 0.6", 0.6, 0.7, "fails"),
        (">= -0.2, <= 0.2", -0.2, 0.2, "holds"),
        (">= -0.2, <= 0.2", -0.3, 0.3, "undecided"),
    ],
)
def test_the_whole_interval_decides(rule, low, high, state):
    assert read_rule(rule).state(Estimate((low + high) / 2, low, high)) == state


@given(
    limits=st.tuples(st.floats(-5, 5), st.floats(-5, 5)).filter(lambda pair: pair[0] < pair[1]),
    ends=st.lists(st.floats(-9, 9), min_size=2, max_size=2).map(sorted),
)
def test_a_state_is_what_a_dense_look_at_the_interval_says(limits, ends):
    rule = read_rule(f">= {limits[0]!r}, <= {limits[1]!r}")
    points = [ends[0] + (ends[1] - ends[0]) * i / 64 for i in range(65)] + list(ends)
    points += [x for x in limits if ends[0] <= x <= ends[1]]
    inside = [rule.allows(min(max(x, ends[0]), ends[1])) for x in points]
    expected = "holds" if all(inside) else "undecided" if any(inside) else "fails"
    assert rule.state(Estimate(ends[0], *ends)) == expected


@pytest.mark.parametrize("text", ["positive", "> zero", "== 0", "", "> 0,", "0", None, "> 1, > 2", "> 2, < 1", ">> 1"])
def test_a_rule_that_cannot_be_read_is_refused(text):
    with pytest.raises(ValueError, match="is not allowed"):
        read_rule(text)


@pytest.mark.parametrize("numbers", [*itertools.permutations([float("nan"), 0, 1])])
def test_nan_is_refused(numbers):
    with pytest.raises(ValueError, match="must hold no NaN"):
        read_rule("> 0").state(Estimate(*numbers))


def test_distance_is_signed_and_measured_to_the_nearest_limit():
    rule = read_rule(">= -0.2, <= 0.2")
    assert rule.nearest_scale == 0.2
    assert [round(rule.distance(x, 0.2), 9) for x in (0, 0.1, 0.2, 0.4, -0.3)] == [1, 0.5, 0, -1, -0.5]
    assert read_rule("> 2").distance(3, 2) == 0.5


# Verdicts


def claim(**parts):
    """A claim with parts of rule "> 0", each given by its flags."""
    made = {name: Part(name, name, read_rule("> 0"), scale=1.0, **flags) for name, flags in parts.items()}
    return Claim("0-A", "Fig. 0", "experiment", "says", made, "finds {a}")


PLAIN = {"a": {}, "b": {}}
INTERPRETATIONS = {"a": {}, "b": {"interpretation": "one"}, "c": {"interpretation": "two"}}


@pytest.mark.parametrize(
    ("parts", "states", "verdict"),
    [
        (PLAIN, "holds holds", "reproduced"),
        (PLAIN, "holds fails", "partly"),
        (PLAIN, "holds undecided", "undecided"),
        (PLAIN, "undecided undecided", "undecided"),
        (PLAIN, "fails undecided", "not reproduced"),
        (PLAIN, "fails fails", "not reproduced"),
        ({"a": {}, "b": {"own": True}}, "holds fails", "reproduced"),
        ({"a": {}, "b": {"control": True}}, "holds fails", "not evaluated"),
        ({"a": {}, "b": {"control": True}}, "fails holds", "not reproduced"),
        ({"a": {}, "b": {"control": True}}, "holds undecided", "undecided"),
        ({"a": {}, "b": {"control": True}}, "holds holds", "reproduced"),
        (INTERPRETATIONS, "holds holds holds", "reproduced"),
        (INTERPRETATIONS, "holds holds fails", "depends"),
        (INTERPRETATIONS, "holds fails fails", "partly"),
        (INTERPRETATIONS, "holds holds undecided", "undecided"),
        (INTERPRETATIONS, "holds fails undecided", "undecided"),
        (INTERPRETATIONS, "fails fails fails", "not reproduced"),
        (INTERPRETATIONS, "holds undecided undecided", "undecided"),
        ({"b": {"interpretation": "one"}, "c": {"interpretation": "two"}}, "holds fails", "depends"),
    ],
)
def test_parts_are_joined(parts, states, verdict):
    assert claim(**parts).verdict(dict(zip(parts, states.split(), strict=True)))[0] == verdict


@pytest.mark.parametrize("verdicts", [*itertools.product(claims.VERDICTS[:5], repeat=3)], ids=" ".join)
def test_interpretations_are_joined(verdicts):
    """All alike: that; any open: open; else they disagree. Order and repetition do not matter."""
    found = claims.over_interpretations(verdicts)
    if len(set(verdicts)) == 1:
        assert found == verdicts[0]
    else:
        assert found == ("undecided" if "undecided" in verdicts else "depends")
    assert found == claims.over_interpretations((*reversed(verdicts), verdicts[1]))


@pytest.mark.parametrize("states", [*itertools.product(["holds", "undecided", "fails"], repeat=3)], ids=" ".join)
def test_parts_of_one_interpretation_are_joined(states):
    holds, fails, is_open = (state in states for state in ("holds", "fails", "undecided"))
    assert (claims.joined(states) == "reproduced") == (not fails and not is_open)
    assert (claims.joined(states) == "partly") == (fails and holds)
    assert (claims.joined(states) == "not reproduced") == (fails and not holds)
    assert (claims.joined(states) == "undecided") == (is_open and not fails)


def test_the_interpretation_that_decides_is_named():
    found = claim(**INTERPRETATIONS).verdict({"a": "holds", "b": "holds", "c": "fails"})
    assert found == ("depends", "reproduced with one; partly with two")


def test_a_record_holds_what_was_found_and_a_note():
    one = claim(a={"show": ".1f °C"})
    record = claims.judged(one, {"a": Estimate(2.04, 1.0, 3.0)}, "a note")
    assert (record["verdict"], record["finds"], record["note"]) == ("reproduced", "finds 2.0 [1.0, 3.0] °C", "a note")
    assert record["parts"]["a"]["state"] == "holds" and record["parts"]["a"]["scale"] == 1.0
    assert claims.judged(one, {"a": exact(-1)})["finds"] == "finds -1.0 °C"
    assert json.loads(json.dumps(record)) == record


@pytest.mark.parametrize("names", [[], ["a", "z"]])
def test_every_part_has_one_estimate(names):
    message = f"claim 0-A: parts = {names} is not allowed: parts must be ['a']"
    with pytest.raises(ValueError, match=re.escape(message)):
        claims.judged(claim(a={}), dict.fromkeys(names, exact(1)))


@pytest.mark.parametrize(
    ("needs", "has", "missing"),
    [
        ({}, {}, ""),
        ({"data": "light"}, {"data": ["light", "temperature"]}, ""),
        ({"data": "light"}, {"data": []}, "needs data: light"),
        ({"horizon": 10000}, {"horizon": 500}, "needs horizon: at least 10000, has 500"),
        ({"horizon": 10000}, {"horizon": 10000}, ""),
        ({"timings": True}, {"timings": False}, "needs timings: True"),
        ({"timings": True}, {}, "needs timings: True"),
        ({"timings": True}, {"timings": True}, ""),
        ({"data": ["light", "traffic"]}, {"data": ["light", "traffic"]}, ""),
    ],
)
def test_what_a_claim_needs(needs, has, missing):
    assert Claim("0-A", "", "experiment", "", {}, "", needs=needs).missing(has) == missing


# Files


PARTS = {"a": {"is": "difference", "rule": "> 0", "scale": 1.0}}
ENTRY = {"id": "0-A", "where": "Fig. 0", "kind": "experiment", "says": "It is.", "parts": PARTS, "finds": "By {a}."}
ENTRY |= {"quote": "It is larger."}
CHANGE = {"was": "low > 1", "then": "partly", "why": "too hard", "direction": "easier"}
CHANGE |= {"on_old_numbers": "cannot be computed from what was kept"}


def write(folder, *entries, **more):
    path = folder / "00_small.yaml"
    path.write_text(yaml.safe_dump({"claims": list(entries)} | more), encoding="utf-8")
    return path


def test_load(tmp_path):
    rules = load(write(tmp_path, ENTRY | {"id": "0-B"}, ENTRY, interpretations={"margin": [0.1, 0.0]}))
    assert list(rules.claims) == ["0-B", "0-A"] and rules.interpretations == {"margin": [0.1, 0.0]}
    assert rules.claims["0-A"].parts["a"].rule == read_rule("> 0")


def test_changes_describe_the_past_and_leave_the_dice(tmp_path):
    one = load(write(tmp_path, ENTRY))
    assert load(write(tmp_path, ENTRY | {"changes": [CHANGE]})).digest == one.digest
    other = ENTRY | {"parts": {"a": {"is": "difference", "rule": "> 0.001"}}}
    assert load(write(tmp_path, other)).digest != one.digest


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "guess"}, "kind = 'guess' is not allowed: kind must be one of 'theorem', 'experiment'"),
        ({"finds": "By {b}."}, "part in finds = 'b' is not allowed: part in finds must be one of 'a'"),
        ({"finds": "Nothing."}, "finds names no part"),
        ({"parts": {"a": {"is": "d", "rule": "positive"}}}, "rule 'positive' is not allowed"),
        ({"parts": {"a": {"is": "d", "rule": "> 0"}}}, "`scale` must say"),
        ({"parts": {"a": {"is": "d", "rule": "> 1", "show": "5q"}}}, "Unknown format code"),
        ({"parts": {"a": {"is": "d", "rule": "> 1", "colour": "red"}}}, "colour"),
        ({"parts": {"a": {"rule": "> 1"}}}, "'is'"),
        ({"parts": {"a": {"is": "d", "rule": "> 1", "own": True}}}, "all controls or own questions"),
        ({"verdict": "reproduced"}, "key = 'verdict' is not allowed"),
        ({"changes": [{"was": "x"}]}, "changes = "),
        ({"changes": [CHANGE | {"then": "maybe"}]}, "then = 'maybe' is not allowed"),
        ({"changes": [CHANGE | {"direction": "aside"}]}, "direction = 'aside' is not allowed"),
        ({"changes": [CHANGE | {"on_old_numbers": "better"}]}, "on_old_numbers = 'better' is not allowed"),
    ],
)
def test_what_cannot_be_is_refused_with_file_and_id(tmp_path, change, message):
    with pytest.raises(BadRules, match=r"00_small\.yaml, claim 0-A: .*" + message):
        load(write(tmp_path, ENTRY | change))


def test_an_id_stands_once_and_a_choice_has_values(tmp_path):
    with pytest.raises(BadRules, match=r"00_small\.yaml: claim 0-A stands twice"):
        load(write(tmp_path, ENTRY, ENTRY))
    with pytest.raises(BadRules, match=r"00_small\.yaml, choice margin: .* at least two different values"):
        load(write(tmp_path, ENTRY, interpretations={"margin": [0.1]}))
    path = tmp_path / "00_small.yaml"
    path.write_text("- 3\n")
    with pytest.raises(BadRules, match=r"00_small\.yaml is not allowed: it must hold `claims`"):
        load(path)


# What is committed


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_committed_rules_can_be_read_and_agree_with_their_edition_the_profile_and_the_history(path):
    rules = load(path)
    profile = yaml.safe_load((ROOT / f"notebooks/profiles/paper/{path.name}").read_text(encoding="utf-8"))
    its = [row for row in editions.history(ROOT) if row["notebook"] == path.stem]
    assert profile["seed"] == rules.edition.seed == int(its[-1]["seed"])
    assert its[-1]["edition"] == rules.edition.name and its[-1]["profile"] == "paper"
    assert any(c.headline for c in rules.claims.values())
    assert all(c.where and c.says for c in rules.claims.values())
    # ids once published stay, and letters run on from A without a gap
    assert set(rules.edition.claims) <= set(rules.claims)
    assert set(rules.claims) == {f"{int(path.stem[:2])}-{chr(ord('A') + i)}" for i in range(len(rules.claims))}


def run_of_these_rules(run):
    """Rules and claims.json of a run, if it was judged by the rules that stand today."""
    path = ROOT / "notebooks" / "claims" / f"{run.name}.yaml"
    content = json.loads((run / "claims.json").read_text(encoding="utf-8"))
    if load(path).digest != content["rules"]:
        pytest.skip("judged by other rules than today's: `kbrepro status` says so")
    return load(path), content


@every_run
def test_every_committed_verdict_follows_from_the_rules_of_its_digest(run, judged_again):
    rules, content = run_of_these_rules(run)
    assert [r["id"] for r in content["claims"]] == list(rules.claims)
    assert json.loads((run / "run.json").read_text())["rules"] == rules.digest
    for record in content["claims"]:
        one = rules.claims[record["id"]]
        if "value" not in next(iter(record["parts"].values())):
            assert record["verdict"] == "not evaluated" and record["note"], record["id"]
            continue
        committed = {key: value for key, value in record.items() if key not in ("interpretations", "halves", "revised")}
        assert judged_again(one, record) == committed, record["id"]


@every_run
def test_every_sentence_about_the_full_scale_run_is_true(run):
    told = run_of_these_rules(run)[1]["expected"]
    assert told and [e["sentence"] for e in told if not e["holds"]] == []


@every_run
def test_a_current_run_has_the_parameters_of_the_full_scale_profile(run):
    run_of_these_rules(run)
    profile = yaml.safe_load((ROOT / f"notebooks/profiles/paper/{run.name}.yaml").read_text(encoding="utf-8"))
    used = json.loads((run / "run.json").read_text(encoding="utf-8"))["parameters"]
    assert used | {"results_dir": ""} == profiles.defaults(ROOT, run.name) | profile | {"results_dir": ""}


@pytest.mark.skipif(not RUNS, reason="results/paper holds no run")
def test_the_scorecard_is_that_of_the_committed_runs():
    assert (ROOT / "results" / "README.md").read_text(encoding="utf-8") == scorecard.scorecard(ROOT)
