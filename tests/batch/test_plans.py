"""What a paper plays is one function, whose labels have the settings of the kept trials."""

from pathlib import Path

import pytest
from kept_trials import kept_of

from kbrepro.batch import profiles
from kbrepro.trials import store

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("notebook", profiles.named_notebooks(ROOT, []))
def test_every_kept_label_is_one_of_the_plan(notebook):
    """And has its settings: `test_nothing_is_odd_in_what_is_committed`."""
    (r,) = profiles.plan([notebook], "paper", ROOT)
    kept = store.labels(r.played)
    assert r.plan.keys() == {label for label in kept if not label.startswith("data, ")}


def test_the_templates_lemma_is_true_at_any_horizon(toy, tmp_path):
    """Its bound has the horizon that was played: no number of the notebook is written again."""
    from kbrepro.papers.toy.claims import mean_of_rounds

    played = tmp_path / "09_toy/played"
    toy.play(played, horizon=10)
    checked = mean_of_rounds.check(kept_of(played, {"seed": 1, "trials": 12, "horizon": 10}))
    assert (checked.violations, checked.runs) == (0, 12)
