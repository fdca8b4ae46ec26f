"""Editions: the root seed follows from what decides and from nothing else; rules that change afterwards are marked."""

import json
import subprocess
from pathlib import Path

import pytest
import yaml

from kbrepro import papers
from kbrepro.batch import editions
from kbrepro.regret import Estimate
from kbrepro.verdicts import claims, scorecard

ROOT = Path(__file__).parents[2]
ROWS = editions.history(ROOT)
LAST = {row["notebook"]: row for row in ROWS}  # of the committed history
#: Notebooks that play trials of others, under their seeds.
SYNTHESES = {paper.notebook for paper in papers.found().values() if paper.synthesis}
RULES = """interpretations:
  margin: [0, 0.1]
claims:
- id: 1-A
  where: Section 1
  kind: experiment
  quote: It grows.
  says: It grows.
  parts:
    slope: {is: the slope, rule: "> 0", scale: 1}
    level: {is: the level, rule: "< 2", control: true}
  finds: "It grows by {slope}."
  needs: {horizon: 100}
- id: 1-B
  where: Section 2
  kind: own question
  says: It is small.
  parts:
    size: {is: the size, rule: "<= 1"}
  finds: "Its size is {size}."
"""
CHANGE = "{seen: 0.1, was: low > 1, then: partly, why: too hard, direction: easier, on_old_numbers: partly}"
SETTINGS = {"seed": 1, "trials": 30}


@pytest.fixture
def project(tmp_path):
    for name, text in {
        "notebooks/claims/01_toy.yaml": RULES,
        "notebooks/profiles/paper/01_toy.yaml": "# Full scale.\nseed: 1  # of the edition\ntrials: 30\n",
        "results/paper/01_toy/played/Fig._1.npz": "",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def seed_of(tmp_path, text=RULES, settings=SETTINGS):
    path = tmp_path / "01_other.yaml"
    path.write_text(text)
    return editions.seed_of(claims.load(path), settings)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("It grows by {slope}.", "It grows, by {slope}."),
        ("quote: It grows.", "quote: It grows fast."),
        ("is: the slope", "is: the slope of the curve"),
        ("Section 1", "Section 2"),
        ("  kind: own question", "  sanity_check: it could hardly fail\n  kind: own question"),
        ("  kind: own question", f"  changes: [{CHANGE}]\n  kind: own question"),
        ('    slope: {is: the slope, rule: "> 0", scale: 1}\n', ""),  # the order of parts: see below
    ],
)
def test_sentences_order_and_history_are_not_what_seeds_follow_from(tmp_path, old, new):
    changed = RULES.replace(old, new)
    if not new:
        changed = changed.replace("control: true}\n", "control: true}\n" + old)
    assert changed != RULES and seed_of(tmp_path, changed) == seed_of(tmp_path)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('rule: "> 0"', 'rule: "> 0.1"'),
        ("scale: 1", "scale: 2"),
        (", control: true", ""),
        ("horizon: 100", "horizon: 200"),
        ("margin: [0, 0.1]", "margin: [0, 0.2]"),
        ("    size: {", "    mass: {"),
    ],
)
def test_rules_scales_flags_needs_interpretations_and_trial_counts_are(tmp_path, old, new):
    changed = RULES.replace(old, new).replace("{size}", "{mass}" if "mass" in new else "{size}")
    assert seed_of(tmp_path, changed) != seed_of(tmp_path)
    assert seed_of(tmp_path, settings=SETTINGS | {"trials": 31}) != seed_of(tmp_path)
    assert seed_of(tmp_path, settings=SETTINGS | {"seed": 2}) == seed_of(tmp_path)


def test_an_edition_writes_what_it_freezes_the_seed_and_a_line_and_empties_the_store(project):
    seed = editions.open_new(project, "01_toy", "0.3.0", "rules that a referee accepts")
    rules = claims.load(project / "notebooks/claims/01_toy.yaml")
    assert rules.edition == claims.Edition("0.3.0", seed, rules.deciding["claims"])
    profile = (project / "notebooks/profiles/paper/01_toy.yaml").read_text()
    assert yaml.safe_load(profile) == {"seed": seed, "trials": 30} and profile.startswith("# Full scale.\n")
    (line,) = editions.history(project)
    assert (line["notebook"], line["edition"], line["seed"], line["reproduced"]) == ("01_toy", "0.3.0", str(seed), "")
    assert not (project / "results/paper/01_toy/played").exists()
    with pytest.raises(ValueError, match=r"nothing that decides has changed since edition 0\.3\.0"):
        editions.open_new(project, "01_toy", "0.4.0", "again")


def test_the_line_of_the_edition_gets_its_verdicts_and_other_notebooks_keep_theirs(project):
    editions.open_new(project, "01_toy", "0.3.0", "first")
    before = editions.history(project)
    editions._write(project, [*before, before[0] | {"notebook": "02_other"}])
    editions.note_verdicts(project, "01_toy", ["reproduced", "reproduced", "undecided"])
    one, other = editions.history(project)
    assert (one["reproduced"], one["undecided"], one["partly"]) == ("2", "1", "0") and other["reproduced"] == ""


def estimates(slope):
    return {"slope": Estimate(slope, slope - 0.05, slope + 0.05), "level": Estimate(1.0, 1.0, 1.0)}


def test_a_rule_that_changed_is_marked_with_the_verdict_by_the_rule_before(project):
    editions.open_new(project, "01_toy", "0.3.0", "first")
    path = project / "notebooks/claims/01_toy.yaml"
    frozen = claims.load(path).edition.claims["1-A"]
    assert claims.revised(claims.load(path).claims["1-A"], frozen, estimates(0.5)) == {}
    path.write_text(RULES.replace('rule: "> 0"', 'rule: "> 1"'))
    claim = claims.load(path).claims["1-A"]
    found = claims.judged(claim, estimates(0.5))
    found["revised"] = claims.revised(claim, frozen, estimates(0.5))
    assert found["verdict"] == "not reproduced" and found["revised"]["verdict"] == "reproduced"
    assert found["revised"]["was"] == "slope: > 0; level: < 2"
    assert "*revised after seeing data*; by the rule before: reproduced" in scorecard.rows([found])[0]["mark"]
    runs = {"01_toy": {"claims": [found]}}
    assert scorecard._revised(runs) == (
        "Rules revised after data of this edition were seen: 1. Verdicts that moved up: 0, down: 1."
    )
    path.write_text(RULES.replace("    slope: {", "    steep: {").replace("{slope}", "{steep}"))
    given = {"steep": Estimate(1, 1, 1), "level": Estimate(1, 1, 1)}
    assert claims.revised(claims.load(path).claims["1-A"], frozen, given)["verdict"] == claims.NOT_COMPUTED


# The committed history


def test_every_notebook_has_its_history_and_the_last_line_is_the_run_that_stands():
    assert sorted(LAST) == sorted(path.stem for path in (ROOT / "notebooks" / "claims").glob("*.yaml"))
    for notebook, last in LAST.items():
        its = scorecard.read_run(ROOT / "results" / "paper" / notebook)
        if not last["reproduced"]:  # frozen, and not played yet: what is committed is of the edition before
            last = [row for row in ROWS if row["notebook"] == notebook][-2]
        found = [claim["verdict"] for claim in its["claims"]]
        assert int(last["seed"]) == its["facts"]["parameters"]["seed"]
        assert all(int(last[verdict]) == found.count(verdict) for verdict in claims.VERDICTS)
    assert all(row["why"] for row in ROWS)
    assert "2134906534" in {row["seed"] for row in ROWS}  # seen, and replaced


def test_what_is_kept_at_full_scale_was_played_under_the_seed_of_the_edition_and_after_it():
    """The commit of the edition is older than the first file of its store, where this history has that commit."""
    for path in sorted((ROOT / "results" / "paper").glob("*/played/*.json")):
        last = LAST[path.parents[1].name]
        told = json.loads(path.read_text(encoding="utf-8"))["settings"]
        shared = {int(its["seed"]) for its in LAST.values()} if path.parents[1].name in SYNTHESES else set()
        assert told.get("seed", int(last["seed"])) in shared | {int(last["seed"])}, path.name
        added = ["git", "log", "--diff-filter=A", "--format=%H", "--", path.relative_to(ROOT).as_posix()]
        commits = subprocess.run(added, cwd=ROOT, capture_output=True, text=True, check=False).stdout.split()
        known = ["git", "cat-file", "-e", f"{last['commit']}^{{commit}}"]
        if commits and subprocess.run(known, cwd=ROOT, capture_output=True, check=False).returncode == 0:
            older = ["git", "merge-base", "--is-ancestor", last["commit"], commits[0]]
            assert subprocess.run(older, cwd=ROOT, capture_output=True, check=False).returncode == 0, path.name
