"""What a paper plays is one function, whose labels have the settings of the kept trials."""

import json
from pathlib import Path

import pytest

from kbrepro import papers, plans, store
from kbrepro.batch import profiles
from kbrepro.store.settings import differences

ROOT = Path(__file__).parents[1]
FOLDERS = [name for name in papers.found() if (ROOT / "kbrepro/papers" / name / "experiments.py").is_file()]


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_kept_label_has_the_settings_of_the_plan(folder):
    notebook = papers.found()[folder].notebook
    parameters = profiles.parameters(ROOT, notebook, "paper")
    folder_of_trials = ROOT / "results" / "paper" / notebook / store.PLAYED
    kept_in = store.Store(folder_of_trials, read_only=True)
    plan = plans.plan_of(notebook, parameters, plans.remembering(kept_in))
    kept = store.labels(folder_of_trials)
    played = {label: about for label, about in kept.items() if not label.startswith("data, ")}
    asked = {label: json.loads(json.dumps(each.job(label).settings)) for label, each in plan.items()}
    apart = {label: differences(played[label]["settings"], asked[label]) for label in plan if label in played}
    assert {label: lines for label, lines in apart.items() if lines} == {}
    assert {*plan} == {*played}
