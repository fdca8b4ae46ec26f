"""What a paper plays is one function, whose labels have the settings of the kept trials."""

import sys
from pathlib import Path

import pytest
from kept_trials import kept_of

from kbrepro.batch import profiles
from kbrepro.batch.check import _of_plan
from kbrepro.trials import store

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("notebook", profiles.named_notebooks(ROOT, []))
def test_every_kept_label_is_one_of_the_plan(notebook):
    """And has its settings: `test_nothing_is_odd_in_what_is_committed`."""
    (r,) = profiles.plan([notebook], "paper", ROOT)
    kept = store.labels(r.played)
    assert r.plan.keys() == {label for label in kept if not label.startswith("data, ")}


def test_check_names_a_horizon_in_a_claims_words_that_no_label_has(toy):
    path = toy.root / "kbrepro/papers/toy/claims.py"
    text = path.read_text(encoding="utf-8")
    for said, lines in (("T = 30, up to T = 31", 0), ("T = 1,031", 1)):
        path.write_text(
            text.replace("runs of Optimist", f"{said}, runs of Optimist"), encoding="utf-8"
        )
        sys.modules.pop("kbrepro.papers.toy.claims", None)
        found = [line for line in _of_plan(toy.root, "09_toy") if "says T" in line]
        assert found == ["claim 9-T says T = 1,031, which no label of its plan has"] * lines


def test_check_names_a_label_that_was_played_with_other_settings_or_is_not_kept(toy):
    path = toy.root / "kbrepro/papers/toy/experiments.py"
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

    played = tmp_path / "09_toy/played"
    toy.play(played, horizon=10)
    checked = mean_of_rounds.check(kept_of(played, {"seed": 1, "trials": 12, "horizon": 10}))
    assert (checked.violations, checked.runs) == (0, 12)
