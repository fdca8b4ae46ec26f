"""`kbrepro play` plays what is missing of a plan, label by label, and no cell of the notebook."""

import json
import unicodedata
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from fake_project import NAME, contents, make_project, notebook_of, write_paper
from registering import registered

from kbrepro import paths
from kbrepro.__main__ import main
from kbrepro.batch import plans, play, run
from kbrepro.data import SensorData
from kbrepro.trials import store

PLAN = """from functools import partial
from pathlib import Path

import numpy as np
from kbrepro.trials.simulation import Planned


def job(label, trial, scale=1.0):
    if label == Path("stops").read_text() and trial.number == 2:
        raise RuntimeError("it stops")
    with Path("log").open("a") as log:
        log.write(f"{label}{trial.number} ")
    return scale * trial.rng("run").random()


def experiments(seed, trials, known, load):
    total = load("minutes").readings.sum() if known else 2.0
    plan = {
        "Matérn": Planned(partial(job, "m"), trials, seed),
        "B": Planned(partial(job, "b"), 4, seed),
        "C": Planned(partial(job, "c", scale=total), 3, seed),
    }
    return plan
"""
PARAMETERS = 'seed: int = 3\ntrials: int = 3\nknown: bool = False\nresults_dir: str = ""'
READINGS = np.ones((2, 2))
ALL = "m0 m1 m2 b0 b1 b2 b3 c0 c1 c2"


@pytest.fixture
def root(tmp_path, monkeypatch):
    notebook = notebook_of(PARAMETERS, "raise RuntimeError('no cell is run')")
    make_project(tmp_path, notebook=notebook, quick="trials: 2\n")
    write_paper(tmp_path, NAME, PLAN)
    (tmp_path / "stops").touch()
    monkeypatch.chdir(tmp_path)
    with registered(tmp_path):
        yield tmp_path


def called(*arguments):
    """Exit code and output of `kbrepro play 01`, and which trials it played."""
    log = Path("log")
    log.unlink(missing_ok=True)
    result = CliRunner().invoke(main, ["play", "01", *arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.output, log.read_text().strip() if log.is_file() else ""


def refused(message, *arguments):
    """Assert that `kbrepro play 01` says this and plays nothing; return all that it says."""
    code, output, log = called(*arguments)
    assert (code, log) == (1, "") and f"Error: {message}" in output
    return output


def kept(root, profile="paper"):
    return sorted(path.stem for path in root.glob(f"results/{profile}/{NAME}/played/*.npz"))


def test_what_is_missing_is_played_once_and_each_label_is_told(root):
    code, output, log = called()
    assert (code, log) == (0, ALL), output
    assert kept(root) == ["B", "C", "Matérn"]
    assert output.splitlines() == [
        f"{NAME}: playing {label} ({n} of 3)" for n, label in enumerate(("Matérn", "B", "C"), 1)
    ]
    before = contents(root / "results")
    assert called() == (0, "", "") and contents(root / "results") == before


def test_only_the_labels_that_are_named_are_played_in_any_form_of_their_letters(root):
    decomposed = unicodedata.normalize("NFD", "Matérn")
    assert called("--label", decomposed, "--label", "C")[2] == "m0 m1 m2 c0 c1 c2"
    assert called("--label", "B")[2] == "b0 b1 b2 b3" and called()[2] == ""


def test_a_label_that_ended_is_kept_and_one_that_was_interrupted_goes_on(root):
    (root / "stops").write_text("b")
    code, output, log = called()
    assert (code, log) == (1, "m0 m1 m2 b0 b1") and "Error: it stops" in output
    assert kept(root) == ["Matérn"]
    (root / "stops").write_text("")
    assert called()[2] == "b2 b3 c0 c1 c2" and kept(root) == ["B", "C", "Matérn"]


def test_fresh_labels_are_played_anew_and_an_interrupted_one_begins_anew(root):
    called()
    assert called("--fresh", "B")[2] == "b0 b1 b2 b3" and called("--fresh")[2] == ALL
    assert called("--label", "C", "--fresh")[2] == "c0 c1 c2"
    (root / "stops").write_text("b")
    assert called("--fresh", "B")[2] == "b0 b1"
    (root / "stops").write_text("")
    assert called("--fresh", "B")[2] == "b0 b1 b2 b3"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--label", "D"], "label = 'D' is not allowed: label must be one of 'Matérn', 'B', 'C'"),
        (["--fresh", "C"], "--fresh = 'C' is not allowed: --fresh must be one of '*', 'B'"),
    ],
)
def test_mistakes_are_refused_before_anything_is_played(root, arguments, message):
    called("--label", "B")
    refused(message, *arguments)


def test_a_label_is_of_one_notebook(root):
    (root / "notebooks/02_more.py").write_text((root / f"notebooks/{NAME}.py").read_text())
    code, output, log = called("02", "--label", "B")
    assert (code, log) == (2, "") and "--label needs one notebook" in output


def test_a_label_of_other_settings_is_refused_before_others_are_played(root):
    called("--label", "C")
    write_paper(root, NAME, PLAN.replace("else 2.0", "else 2.0 + 1"))
    said = refused("label 'C' was played with other settings: ")
    assert f'`kbrepro reproduce {NAME[:2]} --fresh "C"`' in said


def test_where_numbers_of_the_full_scale_were_changed_the_way_back_is_the_advice(root):
    called("--label", "B")
    facts = {"parameters": {"seed": 3, "trials": 3, "known": False}}
    (root / "results/paper" / NAME / "run.json").write_text(json.dumps(facts))
    path = root / f"notebooks/{NAME}.py"
    path.write_text(path.read_text().replace("seed: int = 3", "seed: int = 4"))
    wrong = "the notebook differs from the full scale in 1 of its parameters (seed)"
    assert "--fresh" not in refused(f"{wrong}: `git checkout notebooks/01*` restores them")
    assert called("--fresh", "B", "--label", "B")[2] == "b0 b1 b2 b3"  # a new full scale


def test_no_label_is_begun_that_is_not_expected_to_end_within_the_minutes(root, monkeypatch):
    """What the same job took is scaled to the trials; of another job nothing is known."""
    called()
    labels = store.labels

    def long(folder):
        kept_labels = labels(folder)
        kept_labels["B"]["seconds"] = 40.0
        kept_labels["C"] |= {"seconds": 1e6, "settings": {"job": "another"}}
        return kept_labels

    monkeypatch.setattr(store, "labels", long)
    code, output, log = called("--fresh", "--minutes", "0.5")
    assert (code, log) == (1, ALL.replace("b0 b1 b2 b3 ", ""))
    assert output.endswith(f"{NAME}: --minutes is too short for 1 of 3 labels\n")
    code, output, log = called("--fresh", "--minutes", "1")
    assert (code, log) == (0, ALL) and f"{NAME}: playing B (2 of 3)\n" in output
    assert f"{NAME}: playing B (1 of 1, about 1 min left)\n" in called("--fresh", "--label", "B")[1]


def test_what_a_profile_has_in_common_with_the_full_scale_is_not_played_again(root):
    called()
    for fresh in ([], ["--fresh"]):
        assert called("--profile", "quick", *fresh)[2] == "m0 m1"
        assert kept(root, "quick") == ["Matérn"]


def test_a_run_and_this_do_not_play_at_once(root):
    (r,) = run.plan(["01"], "paper", root)
    with play.locked(r):
        refused(f"another run is writing results/paper/{NAME}")
        assert called("--profile", "quick")[0] == 0
        with pytest.raises(run.RunFailed):
            run.run_notebooks(["01"], "paper", root)
    assert called()[0] == 0


@pytest.fixture
def data(root, monkeypatch):
    """Readings that can be there or not; the plan plays them."""
    path = root / f"notebooks/{NAME}.py"
    path.write_text(path.read_text().replace("known: bool = False", "known: bool = True"))
    times = pd.date_range("2004-03-04", periods=2)
    found = {"here": SensorData(READINGS, times, [1, 2], "C", "a sum")}
    monkeypatch.setattr(plans, "load", lambda name: found["here"])
    return found


def test_without_its_data_a_label_is_refused_at_full_scale_before_others_are_played(root, data):
    here = data["here"]
    called("--label", "Matérn")  # the data is remembered
    data["here"] = replace(here, checksum="")
    refused("label 'C' is not stored and cannot be played: its sensor data is missing (see data")
    assert called("--label", "B")[0] == 0
    assert called("--profile", "quick")[2] == "m0 m1 c0 c1 c2"  # of a substitute
    data["here"] = here
    assert called()[2] == "c0 c1 c2"
    data["here"] = replace(here, checksum="")
    assert called() == (0, "", "")


def test_other_data_than_is_remembered_is_told_with_the_command_that_takes_it(root, data):
    called()
    data["here"] = replace(data["here"], times=data["here"].times.shift(1, "D"))
    assert called("--profile", "quick")[0] == 0
    output = refused("label 'data, minutes' was played with other settings")
    assert '--fresh "data, minutes"' in output
    assert called("--fresh", "data, minutes")[0] == 0 and called() == (0, "", "")


def test_the_next_edition_plays_all_anew_and_remembers_its_data(root, data):
    called()
    paper = root / "kbrepro/papers/toy"
    paths.write_text(paper / "next/__init__.py", "")
    paths.write_text(paper / "next/experiments.py", PLAN)
    (r,) = run.plan(["01"], "paper", root)
    following = replace(r, folder=root / f"results/next/{NAME}")
    assert play.play_missing(following)
    assert kept(root, "next") == kept(root) == ["B", "C", "Matérn", "data,_minutes"]
    data["here"] = replace(data["here"], checksum="")
    assert isinstance(following.kept_in.find(following.plan["C"].job("C")), store.Played)
