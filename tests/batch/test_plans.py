"""What a paper plays is one function, whose labels have the settings of the kept trials."""

import json
import sys
from pathlib import Path

import pytest
from kept_trials import kept_of

from kbrepro import papers
from kbrepro.batch import plans, profiles
from kbrepro.batch.check import _of_plan
from kbrepro.trials import store
from kbrepro.trials.store.settings import differences

ROOT = Path(__file__).parents[2]
FOLDERS = [
    name for name in papers.found() if (ROOT / "kbrepro/papers" / name / "experiments.py").is_file()
]


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_kept_label_has_the_settings_of_the_plan(folder):
    notebook = papers.found()[folder].notebook
    parameters = profiles.parameters(ROOT, notebook, "paper")
    folder_of_trials = ROOT / "results" / "paper" / notebook / store.PLAYED
    kept_in = store.Store(folder_of_trials, read_only=True)
    plan = plans.plan_of(notebook, parameters, plans.remembering(kept_in))
    kept = store.labels(folder_of_trials)
    played = {label: about for label, about in kept.items() if not label.startswith("data, ")}
    asked = {
        label: json.loads(json.dumps(each.job(label).settings)) for label, each in plan.items()
    }
    apart = {
        label: differences(played[label]["settings"], asked[label])
        for label in plan
        if label in played
    }
    assert {label: lines for label, lines in apart.items() if lines} == {}
    assert {*plan} == {*played}


def test_check_names_a_horizon_in_a_claims_words_that_no_label_has(toy):
    path = toy.root / "kbrepro" / "papers" / "toy" / "claims.py"
    text = path.read_text(encoding="utf-8")
    for said, lines in (("T = 30, up to T = 31", 0), ("T = 1,031", 1)):
        path.write_text(
            text.replace("runs of Optimist", f"{said}, runs of Optimist"), encoding="utf-8"
        )
        sys.modules.pop("kbrepro.papers.toy.claims", None)
        found = [line for line in _of_plan(toy.root, "09_toy") if "says T" in line]
        assert found == ["claim 9-T says T = 1,031, which no label of its plan has"] * lines


def test_check_names_a_label_that_was_played_with_other_settings_or_is_not_kept(toy):
    path = toy.root / "kbrepro" / "papers" / "toy" / "experiments.py"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("horizon), trials", "horizon), trials + 1"), encoding="utf-8")
    sys.modules.pop("kbrepro.papers.toy.experiments", None)
    other = "label 'Fig. 1' was played with other settings: trials: 12 before, 13 now"
    assert [*_of_plan(toy.root, "09_toy")] == [other]
    for kept in (toy.folder / "played").iterdir():
        kept.unlink()
    assert [*_of_plan(toy.root, "09_toy")] == ["label 'Fig. 1' is not kept: `kbrepro play 09`"]


def test_the_templates_lemma_is_true_at_any_horizon(toy, tmp_path):
    """Its bound has the horizon that was played: no number of the notebook is written again."""
    from kbrepro.papers.toy.claims import mean_of_rounds

    played = tmp_path / "09_toy" / "played"
    toy.play(played, horizon=10)
    checked = mean_of_rounds.check(kept_of(played, {"seed": 1, "trials": 12, "horizon": 10}))
    assert (checked.violations, checked.runs) == (0, 12)
