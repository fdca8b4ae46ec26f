"""What a notebook shows and leaves: at full scale verdicts of kept trials, in a short run nothing
it cannot know.
"""

import json

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from fake_project import contents

from kbrepro import paths
from kbrepro.batch import record as module
from kbrepro.batch.record import Record
from kbrepro.trials import store

FULL = {"seed": 1, "trials": 12, "horizon": 30, "results_dir": "written"}


@pytest.fixture
def shown(monkeypatch):
    """The Markdown and the pictures that are displayed."""
    texts = []
    monkeypatch.setattr(module, "display", lambda it: texts.append(it.data))
    return texts


@pytest.fixture
def opened(toy, shown, styled):
    """Open the toy's record as its notebook does, with these parameters."""

    def record(**changed):
        return Record("09_toy", FULL | changed)

    return record


def test_at_full_scale_claims_and_theorems_are_judged_by_kept_trials(toy, opened, shown):
    record = opened()
    assert not record.short and record.play("Fig. 1")["Optimist"].horizon == 30
    record.verdicts("9-A", "9-T")
    assert "“Optimist has less regret than the greedy rule.” (Fig. 1)" in shown[0]
    assert "again** *(uncertain)*, depends on width: 1 of 2 agree" in shown[0]
    for words in ("12 trials stored, 10 a rerun", "no violation in 12 runs", "share of the bound"):
        assert words in shown[0]
    with pytest.raises(ValueError, match="claim of 09_toy = '9-Z' is not allowed"):
        record.verdicts("9-Z")
    record.finish()
    run = json.loads((toy.root / "written/claims.json").read_text(encoding="utf-8"))
    assert [each["id"] for each in run["claims"] + run["theorems"]] == ["9-A", "9-B", "9-T"]
    assert len(shown) == 1


TEXT = """# %% [markdown] tags=["checked"]
# ## What came out
#
# - **Less regret:** Optimist has 0.5 times
#   the regret in Fig. 1 (2026, [more](a/12)).
#
# It is fast. It takes 1,200 rounds.

# %% [markdown]
# It takes 7 rounds.

# %%
# It takes 8 rounds.
"""


@pytest.fixture
def stating(toy, opened):
    """Open the toy's record with these checked sentences."""

    def record(text=TEXT, **changed):
        (toy.root / "notebooks/09_toy.py").write_text(text, encoding="utf-8")
        return opened(**changed)

    return record


def test_numbers_of_the_text_are_those_of_the_results(stating, shown):
    record = stating()
    record.check(f"Less regret: Optimist has {1 / 2} times")
    record.check(f"has {0.5} times the regret")
    record.check("It is fast", True)
    record.check(f"It takes {1200:,} rounds")
    assert shown == []
    record.finish()


@pytest.mark.parametrize(
    ("words", "holds", "message"),
    [
        ("has 0.6 times", True, "the results say “has 0.6 times”; the text says “Optimist has 0.5"),
        ("It takes 7 rounds", True, "say “It takes 7 rounds”; the text says “It takes 1,200 ro"),
        ("It takes ever", True, "say “It takes ever”; no checked text says it"),
        ("It is fast", False, "“It is fast” does not hold; the text says “It is fast.”"),
    ],
)
def test_what_is_not_so_is_named_at_once_and_stops_at_the_end(
    stating, shown, words, holds, message
):
    record = stating()
    record.check(words, holds)
    assert "**Not so:**" in shown[0] and message in shown[0]
    record.check("Optimist has 0.5 times the regret")
    record.check("It takes 1,200 rounds")
    with pytest.raises(ValueError, match=r"09_toy: the text differs from the results\n.*; "):
        record.finish()


def test_a_number_that_nothing_checks_stops_the_end(stating):
    record = stating()
    record.check("Optimist has 0.5 times the regret")
    message = r"results\nno record\.check covers 1,200 in 'It takes 1,200 rounds\.'$"
    with pytest.raises(ValueError, match=message):
        record.finish()


def test_a_short_run_checks_nothing_and_says_what_the_text_describes(stating, shown):
    record = stating(trials=3)
    assert shown == ["*The text describes the full scale, which this run is not (trials is 3).*"]
    record.check("It takes 9 rounds", False)
    record.finish()
    assert len(shown) == 2 and "Not so" not in shown[1]


@pytest.mark.parametrize("results_dir", ["written", ""])
def test_a_number_that_moved_is_told(toy, opened, capsys, results_dir):
    opened().finish()
    before = paths.read_json(toy.root / "written/claims.json")
    probability = before["claims"][0]["readings"][0]["probability"]
    was, probability["value"] = probability["value"], 0.125
    (toy.folder / "claims.json").write_text(json.dumps(before), encoding="utf-8")
    record = opened(results_dir=results_dir)
    record.verdicts("9-A", "9-B")
    record.finish()
    said = capsys.readouterr().err
    assert said.startswith("9-A: 0.125 (effect ") and f" to {was:.4g} (effect" in said
    assert "9-B" not in said


def test_a_changed_parameter_plays_what_it_changes_and_says_why_nothing_is_judged(
    toy, opened, shown
):
    kept = contents(toy.folder / "played")
    record = opened(trials=3)
    assert record.short and record.play("Fig. 1")["Optimist"].arms.shape == (3, 30)
    assert contents(toy.folder / "played") == kept
    names = {"played/Fig._1.npz", "played/Fig._1.json", "played/SHA256SUMS"}
    record.verdicts("9-A", "9-T")
    record.finish()
    why = "is not judged: `Fig. 1` differs from the full scale (trials is 3, at full scale 12)."
    full = "[full-scale notebook](../notebooks/09_toy.ipynb)"
    texts = [
        "*The text describes the full scale, which this run is not (trials is 3).*",
        f"9-A {why}\n\n9-T {why}",
        f"Not all of the full scale was judged here; see the {full}.",
    ]
    assert shown == texts and contents(toy.root / "written").keys() == names


def test_without_a_folder_nothing_is_kept(toy, opened):
    record = opened(trials=3, results_dir="")
    assert len(record.play("Fig. 1")["greedy"].arms) == 3 and not (toy.root / "written").exists()


def test_a_label_of_the_full_scale_is_judged_whatever_else_is_changed(toy, opened, shown):
    """The toy has one label: that its notebook was played with another value of something else
    changes nothing.
    """
    facts = json.loads((toy.folder / "run.json").read_text(encoding="utf-8"))
    facts["parameters"]["more"] = 1
    (toy.folder / "run.json").write_text(json.dumps(facts), encoding="utf-8")
    record = opened(more=2)
    record.verdicts("9-A")
    assert (
        record.short and "12 trials stored, 10 a rerun" in shown[1] and "not judged" not in shown[1]
    )


def test_an_unknown_label_is_refused_and_a_missing_one_at_full_scale_stops(toy, opened):
    record = opened()
    with pytest.raises(
        ValueError, match=r"label = 'Fig\. 2' is not allowed: label must be one of 'Fig\. 1'"
    ):
        record.play("Fig. 2")
    for path in (toy.folder / "played").iterdir():
        path.unlink()
    with pytest.raises(
        store.NotKept,
        match=r"label 'Fig\. 1' is not stored\. To play the label: `kbrepro play 09 --prof",
    ):
        record.play("Fig. 1")


def test_what_the_batch_played_is_read_and_only_the_full_scale_is_judged(toy, opened):
    """The batch writes beside the folder that it replaces."""
    for profile, changed in (("quick", {"trials": 3}), ("paper", {})):
        folder = toy.root / "results" / profile / "09_toy"
        toy.play(folder / "played", **changed)
        kept = contents(folder / "played")
        where = paths.partial_of(folder).relative_to(toy.root).as_posix()
        record = opened(results_dir=where, **changed)
        assert record.short == bool(changed)
        assert record.play("Fig. 1") and contents(folder / "played") == kept


def test_labels_without_a_cheap_trial_are_listed(toy, opened, shown, monkeypatch):
    monkeypatch.setattr("kbrepro.trials.replay.CHEAP", 0.0)
    record = opened()
    record.play("Fig. 1")
    record.finish()
    said = "One trial of each label was played again, but for 1 whose trials are long"
    assert shown == [f"<details><summary>{said}</summary>\n\nFig. 1\n\n</details>"]


def test_figures_and_tables_are_written_below_the_folder_or_not_at_all(toy, opened):
    for record in (opened(), opened(results_dir="")):
        figure, ax = plt.subplots()
        ax.plot([1, 2])
        record.figure(figure, "line")
        record.table(pd.DataFrame({"a": [1 / 3]}).rename_axis("trial"), "thirds")
    written = contents(toy.root / "written")
    assert [*written] == ["figures/line.png", "tables/thirds.csv"]
    assert written["tables/thirds.csv"] == b"trial,a\n0,0.333333\n"


@pytest.fixture
def drawn(toy, opened):
    """Draw a line of some grey at full scale; returns the folder of the committed pictures, and the
    picture written.
    """
    folder = toy.folder / "figures"
    folder.mkdir()

    def draw(grey, width=2.0, **changed):
        figure, ax = plt.subplots(figsize=(width, 2))
        ax.plot([1, 2], color=str(grey / 255))
        opened(**changed).figure(figure, "line")
        return (toy.root / "written/figures/line.png").read_bytes()

    return folder / "line.png", draw


@pytest.mark.parametrize("title", ["", "Fig. 1"])
def test_the_title_of_a_short_run_says_so(opened, title, styled, check_readable):
    for changed, note in (
        ({}, ""),
        ({"trials": 3}, "not the full scale (trials is 3)"),
        ({"seed": 2, "trials": 3, "horizon": 10}, "not the full scale (trials is 3, horizon ..."),
    ):
        figure, _ = plt.subplots(figsize=(4, 2))
        figure.suptitle(title)
        opened(**changed).figure(figure, "line")
        assert figure.get_suptitle() == f"{title}\n{note}".strip()
        check_readable(figure)


def test_a_picture_stays_while_no_pixel_differs_by_more_than_ten(drawn):
    committed, draw = drawn
    committed.write_bytes(first := draw(100))
    assert draw(110) == draw(90) == first
    assert draw(111) != first and draw(89) != first and draw(100, width=2.1) != first
    assert draw(110, trials=3) != first  # a short run shows what it played


@pytest.mark.parametrize(
    ("committed", "effect"),
    [
        (0.123456, 0.123456),  # at the edge of rounding it stays
        (0.123455, 0.123457),
        (None, 0.123457),  # damaged: it is replaced
    ],
)
def test_numbers_of_claims_have_six_digits(toy, opened, monkeypatch, committed, effect):
    def card(number):
        return {"claims": [{"effect": number}], "theorems": []}

    found = card(np.float64(0.12345651))
    monkeypatch.setattr(module.scorecard, "of_paper", lambda paper, kept: found)
    text = json.dumps(card(committed)) if committed else '{"claims": ['
    (toy.folder / "claims.json").write_text(text, encoding="utf-8")
    opened().finish()
    assert paths.read_json(toy.root / "written/claims.json") == card(effect)


def test_a_name_that_papermill_injects_and_the_parameters_lack_is_refused(opened):
    cell = "seed: int = 1\ntrials: int = 12\nhorizon: int = 30\nresults_dir: str = ''"
    assert opened(In=["", cell, "%matplotlib inline", "# Parameters\ntrials = 12\n"])
    with pytest.raises(
        ValueError, match="parameter = 'trails' is not allowed: parameter must be one of"
    ):
        opened(In=["", cell, "# Parameters\ntrails = 3\n"])
