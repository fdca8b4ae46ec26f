"""Two runs beside each other: a small run, committed, and copies of it in which one thing was changed."""

import json
import os
import re
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner
from fake_project import NAME, commit_all, make_project

from kbrepro.__main__ import main
from kbrepro.batch import compare
from kbrepro.batch.compare import DIFFERS, SAME, WITHIN
from kbrepro.verdicts import scorecard

ROOT = Path(__file__).parents[2]
RULES = """
claims:
- {id: 0-A, where: Fig. 0, kind: experiment, says: It is larger., finds: "{a}", quote: It is.,
   parts: {a: {is: d, rule: "> 1"}}}
- {id: 0-T, where: Fig. 0, kind: experiment, says: It is faster., finds: "{a}", needs: {timings: true},
   quote: It is., parts: {a: {is: s, rule: "> 1"}}}
"""
TABLES = {
    "regret.csv": "round,policy,regret,low\n1,a,0.5,\n2,b,nan,1e-13\n3,c,12.3456,-3\n",
    "seconds.csv": "d,seconds a run,slope in t\n1,10,0.01\n2,3,-0.2\n",
    "cost_cheaper_from.csv": "cheaper_than,case\nrefit,200\n",
    "two_heads.csv": ",(a) SE,(a) SE\n,mean,median\nrule,,\nEI,1.5,2.5\n",
    "interpretations_0-A.csv": ",margin,norm,value,state\n0,0,one,-0.99,holds\n1,0.1,one,-0.98,holds\n",
}


def claim(name, value):
    part = {"is": "d", "rule": "> 1", "value": value, "low": value - 1, "high": value + 1}
    about = {"id": name, "verdict": "reproduced", "counts_as": "experiment", "finds": "", "note": "", "deciding": ""}
    return about | {"parts": {"a": part}}


def written(*claims):
    return json.dumps({"rules": "ab", "expected": [], "claims": claims})


@pytest.fixture
def root(tmp_path, monkeypatch):
    """A project with the results of one full-scale run."""
    root = make_project(tmp_path)
    monkeypatch.chdir(root)
    (root / "notebooks" / "claims").mkdir()
    (root / "notebooks" / "claims" / f"{NAME}.yaml").write_text(RULES)
    folder = root / "results" / "paper" / NAME
    for sub in ("tables", "figures"):
        (folder / sub).mkdir(parents=True)
    (folder / "figures" / "a.svg").write_text("<svg/>")
    record = {"notebook": NAME, "parameters": {"trials": 50, "seed": 1}, "rules": "ab", "data": {"x.csv": "01"}}
    (folder / "run.json").write_text(json.dumps(record | {"versions": {"numpy": "2.4"}}))
    (folder / "claims.json").write_text(written(claim("0-A", 5.0), claim("0-T", 5.0)))
    kinds = {name: {"kind": "seconds"} for name in ("seconds", "cost_cheaper_from")}
    (folder / "manifest.json").write_text(json.dumps({"figures": {}, "tables": kinds}))
    for name, text in TABLES.items():
        (folder / "tables" / name).write_text(text)
    return root


@pytest.fixture
def committed(root):
    commit_all(root)
    return root


@pytest.fixture
def own(root):
    """A copy of the run."""
    return Path(shutil.copytree(root / "results" / "paper", root / "results" / "again")) / NAME


def edit(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def items(root, own):
    """What is not the same, by name; everything else was compared too."""
    [beside] = compare.compare(root, root / "results" / "paper", own)
    return {item.name: item for item in beside.items if item.state != SAME}


def told(root, own):
    return compare.text(compare.compare(root, root / "results" / "paper", own))


def call(*arguments):
    return CliRunner().invoke(main, ["compare", *map(str, arguments)])


def test_a_copy_is_the_same_everywhere(root, own):
    result = call("results/paper", own.parent)
    assert result.exit_code == 0
    assert result.output.splitlines()[0] == f"{NAME}: 7 same"
    assert call(root / "results" / "paper" / NAME, own).output == result.output


@pytest.mark.parametrize(
    ("table", "old", "new", "state", "what"),
    [
        ("regret", "12.3456", "12.3457", WITHIN, "most in regret, row 3, 0.00081 %"),
        ("regret", "12.3456", "12.3470", DIFFERS, "most in regret, row 3, 0.011 %"),
        ("regret", "12.3456", "-12.3456", DIFFERS, "most in regret, row 3, 2e+02 %"),
        ("regret", "1e-13", "3e-13", WITHIN, "most in low, row 2, 2e+02 %"),
        ("regret", "1,a,0.5,\n", "1,a,0.5,7\n", DIFFERS, "low, row 1: '7' instead of ''"),
        ("regret", "nan", "0.5", DIFFERS, "regret, row 2: '0.5' instead of 'nan'"),
        ("regret", "2,b", "2,B", DIFFERS, "policy, row 2: 'B' instead of 'b'"),
        ("regret", "3,c,12.3456,-3\n", "", DIFFERS, "round, row 3 is only in the first run"),
        ("regret", "round,policy", "t,policy", DIFFERS, "round, row 1 is only in the first run"),
        ("seconds", "10", "29", WITHIN, "most in seconds a run, row 1, 1.9e+02 %"),
        ("seconds", "10", "31", DIFFERS, "most in seconds a run, row 1, 2.1e+02 %"),
        ("seconds", "10", "3", DIFFERS, "most in seconds a run, row 1, 70 %"),
        ("seconds", "0.01", "-0.2", WITHIN, "most in slope in t, row 1, 2.1e+03 %"),
        ("seconds", "0.01", "0.4", DIFFERS, "most in slope in t, row 1, 3.9e+03 %"),
        ("seconds", "\n1,", "\n2,", DIFFERS, "most in d, row 1, 1e+02 %"),
        ("cost_cheaper_from", "200", "500", WITHIN, "most in case, row 1, 1.5e+02 %"),
        ("two_heads", "2.5", "2.6", DIFFERS, "most in (a) SE.1, row 3, 4 %"),
    ],
)
def test_a_table_is_judged_by_the_tolerance_of_its_kind(root, own, table, old, new, state, what):
    edit(own / "tables" / f"{table}.csv", old, new)
    assert list(items(root, own).values()) == [(f"tables/{table}.csv", state, what)]
    assert call("results/paper", own).exit_code == (state == DIFFERS)


def test_six_digits_are_compared_and_interpretations_by_their_choices_not_by_their_rank(root, own):
    edit(own / "tables" / "regret.csv", "12.3456", "12.34560000000000001")
    table = own / "tables" / "interpretations_0-A.csv"
    table.write_text(",margin,norm,value,state\n0,0.1,one,-0.98,holds\n1,0,one,-0.99,holds\n")
    assert items(root, own) == {}
    edit(table, "-0.98", "-0.97")
    assert items(root, own)["tables/interpretations_0-A.csv"].state == DIFFERS


def test_what_only_one_run_has_differs(root, own):
    (own / "tables" / "regret.csv").rename(own / "tables" / "new.csv")
    assert {name: (item.state, item.what) for name, item in items(root, own).items()} == {
        "tables/regret.csv": (DIFFERS, "only in the first run"),
        "tables/new.csv": (DIFFERS, "only in the second run"),
    }


@pytest.mark.parametrize(
    ("now", "state", "what"),
    [
        (claim("0-A", 5.2), DIFFERS, "most in part a, low, 5 %"),
        (claim("0-A", 5.0001), WITHIN, "most in part a, low, 0.0025 %"),
        (claim("0-T", 5.2), WITHIN, "most in part a, low, 5 %"),  # it needs timings
        (claim("0-T", 50.0), DIFFERS, "most in part a, low, 1.1e+03 %"),
        (claim("0-A", 6.0) | {"verdict": "partly"}, DIFFERS, "verdict: 'partly' instead of 'reproduced'"),
    ],
)
def test_claims_are_compared_by_verdict_and_by_the_values_of_their_parts(root, own, now, state, what):
    (own / "claims.json").write_text(
        written(*({its["id"]: its for its in (claim("0-A", 5.0), claim("0-T", 5.0), now)}).values())
    )
    assert list(items(root, own).values()) == [(f"claim {now['id']}", state, what)]


def test_runs_of_other_settings_are_compared_by_verdict_alone(root, own):
    edit(own / "run.json", '"trials": 50', '"trials": 20')
    edit(own / "claims.json", '"value": 5.0', '"value": 6.0')
    edit(own / "tables" / "regret.csv", "12.3456", "1")
    assert "other settings, so only verdicts are compared: trials 20 instead of 50; 2 same" in told(root, own)
    edit(own / "claims.json", '"verdict": "reproduced"', '"verdict": "partly"')
    result = call("results/paper", own)
    assert result.exit_code == 1 and "  claim 0-A: differs: verdict: 'partly' instead of" in result.output
    assert result.output.endswith("1 of 2 verdicts are the same; others: 0-A.\n")


def test_other_rules_data_and_versions_are_said_first_and_a_notebook_of_one_run_alone_is_no_difference(root, own):
    for old, new in (('"rules": "ab"', '"rules": "cd"'), ('"x.csv": "01"', '"y.csv": "01"'), ("2.4", "2.5")):
        edit(own / "run.json", old, new)
    said = "other rules; other versions: numpy 2.5 instead of 2.4; 7 same"  # it needs no data
    shutil.copytree(own, own.with_name("02_more"))
    edit(own.with_name("02_more") / "run.json", NAME, "02_more")
    result = call("results/paper", own.parent)
    assert result.exit_code == 0
    assert result.output.splitlines()[:2] == [f"{NAME}: {said}", "02_more: only in the second run"]


# What is compared by default


def test_the_default_is_the_last_commit_and_the_newest_of_yours(committed, own):
    older = shutil.copytree(own.parent, committed / "results" / "custom" / "ab")
    os.utime(older / NAME / "run.json", (1, 1))
    edit(own / "tables" / "regret.csv", "12.3456", "13")
    result = call()
    assert result.exit_code == 1
    assert "  tables/regret.csv: differs: most in regret, row 3, 5.3 %\n" in result.output
    assert call("results/custom/ab").exit_code == 0  # one folder: beside the published run

    edit(committed / "results" / "paper" / NAME / "tables" / "seconds.csv", "10", "12")
    result = call()  # a full-scale run of one's own goes before
    assert result.exit_code == 0
    assert "  tables/seconds.csv: within tolerance: most in seconds a run, row 1, 20 %\n" in result.output
    assert "regret.csv" not in result.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "no full-scale results are committed here: name two folders"),
        (["results/none"], "Directory 'results/none' does not exist"),
        (["notebooks", "results/paper"], "notebooks has no results"),
        (["results/paper"] * 3, "3 folders are not allowed: at most two"),
    ],
)
def test_mistakes_are_told_with_exit_code_2(root, arguments, message):
    result = call(*arguments)
    assert result.exit_code == 2
    assert message in result.output


def test_without_a_run_of_ones_own_or_a_common_notebook_nothing_is_compared(committed):
    result = call()
    assert result.exit_code == 2 and "results/ has no run of yours" in result.output
    other = shutil.copytree(committed / "results" / "paper" / NAME, committed / "results" / "other" / "02_more")
    edit(other / "run.json", NAME, "02_more")
    result = call("results/other")
    said = r"no notebook in common: \S+ has 01_small; \S+ has 02_more"
    assert result.exit_code == 2 and re.search(said, result.output)


@pytest.mark.skipif(not (ROOT / "results" / "paper").is_dir(), reason="no results here")
def test_a_committed_run_is_the_same_as_itself_and_few_of_its_tables_are_of_seconds():
    timed = set()
    for number, folder in enumerate(sorted((ROOT / "results" / "paper").glob("[0-9][0-9]_*"))):
        tables = scorecard.read_run(folder)["tables"]
        assert set(tables) == {path.stem for path in folder.glob("tables/*.csv")}
        timed |= {name for name, its in tables.items() if its["kind"] == "seconds"}
        if number % 2 == 0:
            [beside] = compare.compare(ROOT, folder, folder)
            assert {item.state for item in beside.items} == {SAME} and len(beside.items) > 30
    assert timed == {"seconds", "since_seconds", "cost_milliseconds_per_step", "cost_cheaper_from", "microseconds"}
