"""An edition is frozen, played with the seed that follows from it, and switched to; each wrong step
is refused, and what was changed after the freeze is marked on every page.
"""

import json
import shutil
import sys

import pytest
from click.testing import CliRunner
from fake_project import commit
from kept_trials import kept_of
from registering import forget, registered

from kbrepro import paths
from kbrepro.__main__ import main
from kbrepro.batch import edition, profiles
from kbrepro.claims import judging, scorecard
from kbrepro.trials import store, sums

NAME, PAPER = "09_toy", "kbrepro/papers/toy"
PLAN, CLAIMS = f"{PAPER}/next/experiments.py", f"{PAPER}/next/claims.py"
DRAFT, PLAYED = f"notebooks/next/{NAME}.py", f"results/next/{NAME}/played"
RULES = "results/edition-1.0.json"
PREDICATE = 'better(fig1["Optimist"], fig1["greedy"])'
#: A sentence on a finite population, and what the notebook plays besides.
ROWS = '''
from kbrepro.papers.toy.next.experiments import experiments

rows = Table("rows", "Fig. 1", size=13, pool=("Optimist", "greedy"), rows=13)


@claim("9-C", "rows")
def on_rows(rows):
    """Optimist is better on rows."""
    return better(rows["Optimist"], rows["greedy"])
'''
MORE = ', "Fig. 2": Planned(kb.Experiment(source, rules, 5), 2, seed)}'


def edit(root, where, old, new):
    path = root / where
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def called(*words):
    """Whether a command succeeds, and what it says, in a process that reads modules again."""
    forget()
    result = CliRunner().invoke(main, words)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code == 0, result.output


@pytest.fixture(scope="module")
def drafted(toy_project, tmp_path_factory):
    """The toy, whose next edition has 13 trials, one more label and one more sentence."""
    root = tmp_path_factory.mktemp("drafted")
    shutil.copytree(toy_project, root, dirs_exist_ok=True)
    (root / PAPER / "next").mkdir()
    (root / PAPER / "next/__init__.py").write_text('"""The next edition."""\n')
    for name in ("claims", "experiments"):
        shutil.copy(root / PAPER / f"{name}.py", root / PAPER / f"next/{name}.py")
    (root / "notebooks/next").mkdir()
    shutil.copy(root / f"notebooks/{NAME}.py", root / DRAFT)
    paths.write_text(root / f"notebooks/profiles/once/{NAME}.yaml", "trials: 13\n")
    edit(root, "CITATION.cff", "  - type", "references:\n  - type")
    edit(root, PLAN, "seed)}", f"seed){MORE}")
    with (root / CLAIMS).open("a") as file:
        file.write(ROWS)
    edit(root, DRAFT, "trials: int = 12", "trials: int = 13")
    (root / ".gitignore").write_text("__pycache__\n.cache\n")
    commit(root)
    return root


@pytest.fixture
def root(drafted, tmp_path, monkeypatch):
    """A copy of it to work in."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # edits are within a second
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(drafted, tmp_path, dirs_exist_ok=True, ignore=ignored)
    monkeypatch.chdir(tmp_path)
    with registered(tmp_path):
        yield tmp_path


@pytest.fixture
def frozen(root):
    """And it is frozen."""
    assert called("freeze", "rules") == (True, f"{RULES}\n")
    assert called("freeze", "09") == (True, f"{PLAYED}/edition.json\n")
    return root


def facts(root, where=f"{PLAYED}/edition.json"):
    return json.loads((root / where).read_text(encoding="utf-8"))


def card(root):
    """What came out of the next edition, as claims.json and the pages have it."""
    forget()
    (r,) = profiles.plan([NAME], paths.NEXT, root)
    kept = kept_of(r.played, r.parameters)
    kept._plan = lambda: r.plan
    return scorecard.of_paper("toy.next", kept)


def test_the_whole_way(frozen, monkeypatch):
    seed = facts(frozen)["seed"]
    assert seed not in (1, edition.PILOT, facts(frozen)["seed of another rerun"])
    core_hours = "labels, at least 0.0 core hours to go\n"
    assert called("check", "09")[1].startswith(f"next, 09: 0 of 2 {core_hours}")
    said = called("play", "09", "--profile", "next", "--label", "Fig. 2")
    assert said == (True, f"{NAME}: playing Fig. 2 (1 of 1)\n")
    assert called("check", "09")[1].startswith(f"next, 09: 1 of 2 {core_hours}")
    lacks = f"Error: {NAME} lacks 1 of 2 labels: Fig. 1\n"
    assert called("switch", "09") == (False, lacks)
    assert called("play", "09", "--profile", "next")[0]
    assert called("switch", "09")[0]

    assert not (frozen / PAPER / "next").exists() and not (frozen / DRAFT).exists()
    assert not (frozen / "results/next" / NAME).exists()
    texts = [path.read_text() for path in (frozen / PAPER).glob("*.py")]
    assert ".next" not in "".join(texts) and "def on_rows" in "".join(texts)
    text = (frozen / f"notebooks/{NAME}.py").read_text()
    assert f"\nseed: int = {seed}  # root" in text and "\ntrials: int = 13" in text
    forget()
    (r,) = profiles.plan([NAME], paths.FULL_SCALE, frozen)
    assert [*r.plan] == ["Fig. 1", "Fig. 2"] and not r.facts
    for label, planned in r.plan.items():
        assert isinstance(r.kept_in.find(planned.job(label)), store.Played)
        assert planned.seed == seed
    assert sums.wrong(r.played) == [] and "edition.json" in sums.listed(r.played)

    seeds, held_once = [], judging.held_once

    def held(claim, kept):
        seeds.append(kept.seed("Fig. 1"))
        return held_once(claim, kept)

    monkeypatch.setattr(judging, "held_once", held)
    assert called("rerun", "09") == (
        True,
        "9-C does not evaluate (ValueError: its rows are those that the paper names)\n"
        "Next: kbrepro reproduce 09\n",
    )
    assert {*seeds} == {facts(r.played, "edition.json")["seed of another rerun"]}
    again = facts(r.played, "rerun.json")
    assert again.keys() == {"9-A"} and sums.wrong(r.played) == []
    found = scorecard.of_paper("toy", kept_of(r.played, r.parameters))
    assert found["rerun"] == [again]
    date = found["edition"][0]["on"]
    before = f"Edition 1.0: criteria were frozen on {date}, before its trials were played."
    assert scorecard.edition_of(found).startswith(f"{before} Changed since: nothing.")


def test_an_edition_that_was_not_frozen_is_not_played_again(root):
    assert called("rerun", "09") == (False, f"Error: {NAME} was not frozen before it was played\n")


@pytest.mark.parametrize(
    ("commands", "message"),
    [
        (["play 09 --profile next"], f"{NAME} is not frozen: `kbrepro freeze 09` does it"),
        (["switch 09"], f"{NAME} is not frozen: `kbrepro freeze 09` does it"),
        (["freeze 09"], "the rules are not frozen: `kbrepro freeze rules` does it"),
        (["freeze rules", "freeze rules"], f"{RULES} is frozen, and nothing differs from it"),
        (["freeze rules", "freeze 09", "freeze 09 --reason x"],
         f"{PLAYED}/edition.json is frozen, and nothing differs from it"),
        (["reproduce 09 --profile next"], "profile = 'next' is not allowed here: `kbrepro play"),
    ],
)  # fmt: skip
def test_steps_in_another_order_are_refused(root, commands, message):
    *before, last = commands
    assert all(called(*command.split())[0] for command in before)
    ok, said = called(*last.split())
    assert not ok and f"Error: {message}" in said and not [*root.rglob("next/**/*.npz")]


def test_what_is_not_committed_is_neither_frozen_nor_played_but_results_are_free(frozen):
    (frozen / "results/note.txt").touch()
    assert called("play", "09", "--profile", "next", "--label", "Fig. 2")[0]
    edit(frozen, DRAFT, "trials: int = 13", "trials: int = 13 ")
    for command in ("play 09 --profile next", "switch 09", "freeze rules", "freeze 09"):
        assert called(*command.split()) == (
            False, "Error: files have changes that are not committed: commit them first\n"
        )  # fmt: skip


def test_nothing_is_frozen_whose_sensor_data_is_not_here(root):
    edit(root, PLAN, "width=20.0", "width=float('nan')")  # as settings have what is missing
    commit(root)
    assert called("freeze", "rules")[0]
    ok, said = called("freeze", "09")
    assert not ok and f"Error: {NAME}: the settings of Fig. 1 lack sensor data" in said
    assert not (root / PLAYED).exists()


@pytest.mark.parametrize(
    ("where", "old", "new"),
    [
        (PLAN, "width=20.0", "width=21.0"),
        (DRAFT, "int = 13", "int = 14"),
        (PLAN, '"Fig. 1"', '"F"'),
    ],
)
def test_other_settings_than_the_frozen_ones_are_not_played(frozen, where, old, new):
    edit(frozen, where, old, new)
    commit(frozen)
    ok, said = called("play", "09", "--profile", "next")
    assert not ok and f"Error: {NAME}: the settings of Fig. 1" in said
    assert "are not the frozen ones" in said and not [*(frozen / PLAYED).glob("*.npz")]


@pytest.mark.parametrize(
    ("where", "old", "new"),
    [
        (CLAIMS, f"return {PREDICATE}", f"return (\n        {PREDICATE}\n    )"),
        (PLAN, '"""Return what is', '"""What is'),
        (DRAFT, "seed: int = 1 ", "seed: int = 5 "),
    ],
)
def test_what_computes_the_same_changes_nothing(frozen, where, old, new):
    edit(frozen, where, old, new)
    commit(frozen)
    ok, said = called("play", "09", "--profile", "next")
    assert ok and "changed" not in said
    kept = store.labels(frozen / PLAYED)["Fig. 1"]
    assert kept["settings"]["seed"] == facts(frozen)["seed"]
    assert card(frozen)["edition"][0]["changed"] == []


@pytest.fixture
def changed(frozen):
    """A predicate, an effect and a lemma are changed after the freeze, and one is left out."""
    assert called("play", "09", "--profile", "next")[0]
    edit(frozen, CLAIMS, PREDICATE, PREDICATE.replace("better", "~better"))
    edit(frozen, CLAIMS, "T * simple / total", "simple / total")
    edit(frozen, CLAIMS, '@claim("9-C"', '@claim("9-D"')
    commit(frozen)
    return frozen


def test_what_is_changed_after_the_freeze_is_marked_on_every_page(changed):
    said = "09: changed since the rules were frozen: 9-A, 9-T, 9-C, 9-D\n"
    assert called("play", "09", "--profile", "next") == (True, said)
    found = card(changed)
    mark = "*(changed after results were seen)*"
    records = [*found["claims"], *found["theorems"]]
    assert {record["id"] for record in records if record["changed"]} == {"9-A", "9-D", "9-T"}
    assert scorecard.tables(records).count(mark) == 3
    pages = scorecard.pages({NAME: found}, {NAME: "Toy"})
    for page in (pages["README.md"], pages[f"claims/{NAME}.md"]):
        assert page.count(mark) == 3 and "Changed since: 9-A, 9-T, 9-D, 9-C." in page
        assert ", 2 changed after results were seen" in page


def test_other_code_that_judges_is_said(frozen, tmp_path, monkeypatch):
    other = tmp_path / "results/judging.py"
    with open(judging.__file__, encoding="utf-8") as file:
        other.write_text(file.read().replace("value >= 0.9", "value >= 0.8"), encoding="utf-8")
    monkeypatch.setattr(judging, "__file__", str(other))
    said = called("play", "09", "--profile", "next", "--label", "Fig. 2")[1]
    assert said.startswith("09: changed since the rules were frozen: kbrepro.claims.judging\n")


def test_what_is_frozen_again_needs_a_reason_and_says_so(frozen):
    before = facts(frozen)
    assert called("play", "09", "--profile", "next")[0]
    edit(frozen, DRAFT, "int = 13", "int = 14")
    commit(frozen)
    needs = f"Error: {PLAYED}/edition.json is frozen: to freeze another one needs a --reason\n"
    assert called("freeze", "09") == (False, needs)
    assert called("freeze", "09", "--reason", "a row more")[0]
    now = facts(frozen)
    assert now["seed"] != before["seed"] and now["sentences"] == before["sentences"]
    assert called("switch", "09") == (False, f"Error: {NAME} lacks 2 of 2 labels: Fig. 1\n")
    assert called("play", "09", "--profile", "next", "--fresh")[0]
    date = now["frozen"][1]["on"]
    assert f" Frozen 2 times ({date}: a row more). " in scorecard.edition_of(card(frozen))


def test_rules_that_were_frozen_twice_are_so_for_a_notebook_that_is_frozen_then(root):
    assert called("freeze", "rules")[0]
    edit(root, CLAIMS, PREDICATE, PREDICATE.replace("better", "~better"))
    commit(root)
    assert called("freeze", "rules", "--reason", "it was wrong")[0] and called("freeze", "09")[0]
    assert [freeze["why"] for freeze in facts(root)["frozen"]] == ["", "it was wrong"]


def test_a_store_that_was_changed_does_not_replace_what_is_shown(frozen):
    assert called("play", "09", "--profile", "next")[0]
    edit(frozen, f"{PLAYED}/Fig._1.json", '"trials"', '"trials "')
    ok, said = called("switch", "09")
    assert not ok and f"Error: {NAME}: Fig._1.json was changed" in said
    assert (frozen / PLAN).is_file() and facts(frozen, f"results/paper/{NAME}/run.json")


def test_a_pilot_names_what_does_not_evaluate_and_no_number(root):
    assert called("pilot", "09") == (True, "every sentence evaluates\n")
    edit(root, CLAIMS, PREDICATE, 'fig1["missing"] > 0')
    failing = "9-A does not evaluate (KeyError: 'missing')\n"
    assert called("pilot", "09") == (False, failing)
    assert not (root / "results/next").exists()
