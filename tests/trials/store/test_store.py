"""What was played is read, not played again; whatever happens while it is written, nothing is
damaged or lost.
"""

import json
import os
import time
import unicodedata
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import kbrepro as kb
from kbrepro.data import SensorData
from kbrepro.trials import store, sums
from kbrepro.trials.simulation import Planned, map_trials, regrets_at, run_trials

SOURCE = kb.GPDraw(kb.Matern(0.2, nu=2.5), kb.grid(20), 0.025)
EXPERIMENT = kb.Experiment(SOURCE, {"EI": kb.ExpectedImprovement, "mean only": kb.MeanOnly}, 25)
#: What is in the folder of one label that was kept.
FILES = ["Fig._1.json", "Fig._1.npz", "SHA256SUMS"]


@pytest.fixture
def folder(tmp_path):
    """A store in use; every test asks for a new one where it plays a second process."""
    return tmp_path / "paper" / "03_pi" / "played"


@pytest.fixture
def log(tmp_path):
    return tmp_path / "log"


def counted(log, factor, trial):
    """A job that leaves a line for every trial that is played, and fails in trial 3 where it is
    told to.
    """
    log = Path(log)
    if trial.number == 3 and log.with_name("fail").exists():
        raise RuntimeError("cut short")
    with log.open("a") as file:
        file.write(f"{trial.number}\n")
    return {
        "value": factor * float(trial.rng("run").standard_normal()),
        "seconds": time.perf_counter(),
    }


def planned(log, factor=1.0, trials=4, seed=3):
    return Planned(partial(counted, str(log), factor), trials, seed)


def play(folder, log, *, label="Fig. 1", fresh=(), read_only=False, on_read=None, **changed):
    return planned(log, **changed).play(label, store.Store(folder, fresh, read_only, on_read))


def cut_short(folder, log, **how):
    """Play until trial 3 fails."""
    log.with_name("fail").touch()
    with pytest.raises(RuntimeError, match="cut short"):
        play(folder, log, **how)
    log.with_name("fail").unlink()


def played(log):
    return sorted(map(int, log.read_text().split())) if log.exists() else []


def values(results):
    return [result["value"] for result in results]


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_second_process_reads_what_was_played_and_whoever_listens_meets_it(folder, log):
    met = []
    listening = {"on_read": lambda job, kept: met.append(kept.results)}
    first = play(folder, log, **listening)
    assert met == [] and names(folder) == FILES
    about = json.loads((folder / "Fig._1.json").read_text())
    listed = store.labels(folder)["Fig. 1"]
    assert listed == about | {"seconds": listed["seconds"], "columns": listed["columns"]}
    assert (about["first"], about["trials"], about["version"]) == (0, 4, 1)
    assert about["seconds"] == pytest.approx(listed["seconds"], abs=2e-3)
    (folder / "Fig._1.json").write_bytes(b"\xff{")  # it is for readers alone
    for how in ({}, {"read_only": True}, {"seed": np.int64(3), "trials": np.int64(4)}):
        assert play(folder, log, **listening, **how) == first
    assert met == [first] * 3 and played(log) == [0, 1, 2, 3]


def test_curves_are_those_that_were_played_in_the_order_asked_for(folder):
    turned = kb.Experiment(SOURCE, dict(reversed(EXPERIMENT.policies.items())), EXPERIMENT.horizon)
    one = run_trials(EXPERIMENT, 3, 5, label="a", kept_in=store.Store(folder))
    two = run_trials(turned, 3, 5, label="a", kept_in=store.Store(folder, read_only=True))
    assert (list(one), list(two)) == (list(EXPERIMENT.policies), list(turned.policies))
    for name, curve in one.items():
        np.testing.assert_equal(vars(two[name]), vars(curve))


def test_one_question_has_three_answers_what_is_kept_nothing_or_what_differs(folder, log):
    play(folder, log)
    job = planned(log).job("Fig. 1")
    for settings_alone, columns in ((False, {("value",), ("seconds",)}), (True, set())):
        assert store.Store(folder).find(job, settings_alone).columns.keys() == columns
    others = store.Store(folder).find(planned(log, factor=2.0, trials=5).job("Fig. 1"))
    assert [place.rpartition(": ")[2] for place in others.places] == [
        "1.0 before, 2.0 now",
        "4 before, 5 now",
    ]
    assert store.Store(folder, ["Fig. 1"]).find(job) is None


OTHER = (
    r"'Fig. 1' was played with other settings: job, counted, positional, number 1: 1.0 before,"
    r' 2.0 now\. To play the label .*--fresh "Fig. 1"'
)
IMPOSSIBLE = r"is not allowed: as a file's name it must have 1 to 200 bytes"


@pytest.mark.parametrize(
    ("how", "error", "words"),
    [
        ({"factor": 2.0}, store.OtherSettings, OTHER),
        ({"seed": 4, "read_only": True}, store.OtherSettings, "seed: 3 before, 4 now"),
        ({"label": "Fig./1"}, store.OtherSettings, "would replace label 'Fig. 1': give it another"),
        ({"label": "Fig./1", "fresh": ["*"]}, store.OtherSettings, "replace label 'Fig. 1'"),
        (
            {"label": "Fig. 2", "read_only": True},
            store.NotKept,
            r"'Fig\. 2' is not stored. To play the label: `kbrepro play 03 --profile paper`",
        ),
        ({"label": "?"}, ValueError, IMPOSSIBLE),
        ({"label": "ä" * 101}, ValueError, IMPOSSIBLE),
    ],
)
def test_what_is_refused_changes_nothing(folder, log, how, error, words):
    before = play(folder, log)
    with pytest.raises(error, match=words):
        play(folder, log, **how)
    assert play(folder, log) == before and played(log) == [0, 1, 2, 3] and names(folder) == FILES


@pytest.mark.parametrize("fresh", ["Fig. 1", "*"])
def test_a_fresh_label_is_played_anew_whatever_was_there(folder, log, fresh):
    before = play(folder, log)
    cut_short(folder, log, factor=2.0, fresh=[fresh])
    assert play(folder, log) == before
    doubled = play(folder, log, factor=2.0, fresh=[fresh])
    assert values(doubled) == [2 * value for value in values(before)]
    assert played(log) == sorted([0, 1, 2, 3, 0, 1, 2, 0, 1, 2, 3])
    assert play(folder, log, factor=2.0, fresh=["Fig. 2"]) == doubled and len(played(log)) == 11


def test_a_label_that_was_cut_short_goes_on_with_the_missing_trials(folder, log):
    cut_short(folder, log, trials=6)
    assert names(folder) == ["Fig._1.part"]
    assert names(folder / "Fig._1.part") == ["0.npz", "1.npz", "2.npz"]
    damaged = folder / "Fig._1.part" / "1.npz"
    damaged.write_bytes(damaged.read_bytes()[:40])
    found = play(folder, log, trials=6)
    assert played(log) == [0, 1, 1, 2, 3, 4, 5]  # the damaged one twice
    assert values(found) == values(play(folder.with_name("other"), log, trials=6))
    assert names(folder) == FILES


@pytest.mark.parametrize("other", [{"factor": 2.0}, {"seed": 4}])
def test_trials_of_an_interrupted_run_with_other_settings_are_not_mixed_in(folder, log, other):
    cut_short(folder, log)
    found = play(folder, log, **other)
    assert played(log) == [0, 0, 1, 1, 2, 2, 3]
    assert values(found) == values(play(folder.with_name("other"), log, **other))
    assert names(folder) == FILES


@pytest.mark.parametrize("n_replaced", range(3))
def test_a_kill_between_the_files_of_a_label_costs_no_trial_and_no_checksum(
    folder, log, monkeypatch, n_replaced
):
    cut_short(folder, log)
    done, replace = [], os.replace

    def killed(partial_file, path):
        if path.suffix != ".npz" or path.parent == folder:  # not a piece
            if len(done) == n_replaced:
                raise KeyboardInterrupt
            done.append(path)
        replace(partial_file, path)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(os, "replace", killed)
        play(folder, log)
    assert len(play(folder, log)) == 4 and played(log) == [0, 1, 2, 3]
    assert sums.wrong(folder) == []


def cut(path):
    path.write_bytes(path.read_bytes()[:-80])


def flipped(path):
    data = bytearray(path.read_bytes())
    data[80] ^= 0xFF
    path.write_bytes(data)


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (cut, r"cannot be read .*: restore it, or play the label again"),
        (flipped, "cannot be read"),
        (
            Path.unlink,
            "is missing, although SHA256SUMS lists it: restore it, or play the label again",
        ),
    ],
)
def test_a_damaged_or_missing_file_is_named_and_replaced_only_if_asked(folder, log, damage, words):
    first, path = play(folder, log), folder / "Fig._1.npz"
    damage(path)
    told = rf'03_pi/played/Fig._1\.npz {words}.*--fresh "Fig\. 1"'
    for read in (play, partial(play, read_only=True), lambda *_: store.opened(folder, "Fig. 1")):
        with pytest.raises((ValueError, FileNotFoundError), match=told):
            read(folder, log)
    assert store.labels(folder) == {} and store.can_replace(folder, "Fig. 1")
    assert not store.can_replace(folder, "Fig. 2") and played(log) == [0, 1, 2, 3]
    assert values(play(folder, log, fresh=["Fig. 1"])) == values(first)
    # it would play nothing
    assert store.can_replace(folder, "Fig. 1") and not store.can_replace(folder, "Fig._1")


def test_a_newer_form_is_named(folder, log, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(store, "VERSION", 2)
        play(folder, log)
    with pytest.raises(store.NewerForm, match=r"03_pi/played/Fig._1.npz has format 2, and this v"):
        play(folder, log)


def test_a_file_that_may_not_be_read_is_not_called_damaged(folder, log, monkeypatch):
    def forbidden(*_, **__):
        raise PermissionError("not yours")

    play(folder, log)
    monkeypatch.setattr(np, "load", forbidden)
    with pytest.raises(PermissionError, match="not yours"):
        play(folder, log)


def test_where_nothing_can_be_kept_nothing_is_played(folder, log):
    folder.parent.mkdir(parents=True)
    folder.touch()
    with pytest.raises(OSError, match=r"played/Fig._1\.part"):
        play(folder, log)
    assert played(log) == []


def test_checksums_are_those_of_the_labels_that_were_kept_last(folder, log):
    play(folder, log, label="a")
    first = sums.listed(folder)
    # one line is none
    (folder / "SHA256SUMS").write_bytes(b"\xff\n" + (folder / "SHA256SUMS").read_bytes())
    (folder / "a.json").write_text("by hand")
    play(folder, log, label="b")
    second = sums.listed(folder)
    assert [*second] == ["a.json", "a.npz", "b.json", "b.npz"] and second | first == second
    assert sums.wrong(folder) == ["a.json was changed: it has another checksum than in SHA256SUMS"]
    play(folder, log, label="a", fresh=["a"], factor=2.0)
    assert sums.wrong(folder) == [] and sums.listed(folder) != second


def test_what_is_kept_of_the_same_trials_has_the_same_bytes_at_any_time(tmp_path, monkeypatch):
    run_trials(EXPERIMENT, 3, 5, label="a", kept_in=store.Store(tmp_path / "one"))
    kept = store.opened(tmp_path / "one", "a")[1]
    files = []
    for now in (1.5e9, 1.6e9):
        monkeypatch.setattr(time, "time", lambda now=now: now)
        store.Store(tmp_path).keep(store.Job("a", counted, {}, 5, 0, 3), kept)
        files.append((tmp_path / "a.npz").read_bytes())
    assert files[0] == files[1]


# Measured data, and what is kept


def measured(level=1.0):
    rewards = level * np.random.default_rng(4).normal(20, 5, size=(6, 12))
    source = kb.Rows(np.eye(12) * 25, rewards, 0.5)
    return kb.Experiment(source, EXPERIMENT.policies, 12, measured="0a1b"), rewards


def test_of_measured_data_neither_arms_nor_gaps_are_kept_and_it_is_read_without_the_data(folder):
    (experiment, rewards), kept_in = measured(), store.Store(folder)
    kept = run_trials(experiment, 6, 1, label="lab", kept_in=kept_in)
    gaps = rewards.max(axis=1, keepdims=True) - rewards
    columns = store.opened(folder, "lab")[1].columns
    assert {path[-1] for path in columns} == {"rounds", "totals", "arms_digest"}
    for path, totals in columns.items():
        # R_t at kept rounds; of its own a first regret is a gap, of an arm that nobody knows
        if path[-1] == "totals":
            assert not np.isclose(totals[:, :, None], rewards[:, None]).any()
            assert np.isclose(totals[:, 1:, None], gaps[:, None]).sum() < 12
    gone, _ = measured(np.nan)
    again = run_trials(gone, 6, 1, label="lab", kept_in=kept_in)
    np.testing.assert_array_equal(again["EI"].totals, kept["EI"].totals)
    words = r"'dark' is not stored and cannot be played: its sensor .*see data/README\.md"
    with pytest.raises(store.NotKept, match=words):
        run_trials(gone, 6, 1, label="dark", kept_in=kept_in)


def sensors(n=5, checksum="0a1b"):
    times = pd.date_range("2004-03-04", periods=n, freq="min")
    readings = np.random.default_rng(1).normal(20, 5, size=(n, 3))
    return SensorData(readings, times, [1, 2, 4], "°C", checksum)


def test_of_sensor_data_all_but_the_readings_is_remembered(folder):
    substitute_data, real = sensors(checksum=""), sensors()
    remembered = partial(store.remembered, store.Store(folder), "light")
    assert remembered(substitute_data) is substitute_data  # nothing was played on real data
    assert remembered(real) is remembered(real) is real
    gone = remembered(substitute_data)
    assert gone.is_real and np.isnan(gone.readings).all() and gone.readings.shape == (5, 3)
    assert gone.times.equals(real.times)
    assert (gone.sensors, gone.unit, gone.checksum) == ([1, 2, 4], "°C", "0a1b")
    for other, words in (
        (sensors(checksum="2c3d"), "data: 0a1b before, 2c3d now"),
        (sensors(7), "times"),
    ):
        with pytest.raises(store.OtherSettings, match=words):
            remembered(other)
    for column in store.opened(folder, "data, light")[1].columns.values():
        assert column.dtype.kind != "f" or not np.isin(real.readings, column).any()


def test_what_is_kept_is_read_by_notebook_and_label(folder, monkeypatch):
    root = folder.parents[2]
    for name in ("notebooks", "kbrepro"):
        (root / name).mkdir()
    (root / "results").symlink_to(root)
    monkeypatch.chdir(root)
    kept_in, job = store.Store(folder), partial(regrets_at, EXPERIMENT, [25])
    curves = run_trials(EXPERIMENT, 3, 5, first=2, label="Table 1, d = 2", kept_in=kept_in)
    totals = map_trials(job, 2, 5, label="readings", kept_in=kept_in)
    found = kb.played("03", "Table 1, d = 2")
    np.testing.assert_array_equal(found["EI"].regret, curves["EI"].regret)
    assert kb.played("03_pi", "readings")[1]["EI"][0] == totals[1]["EI"][0]
    for notebook, words in (
        ("03", "'Table 2' is not stored; stored labels: Table 1, d = 2, readings"),
        ("04", "no trials of notebook '04' are stored in results/paper"),
    ):
        with pytest.raises(FileNotFoundError, match=words):
            kb.played(notebook, "Table 2")


def test_a_file_whose_name_an_archive_brought_in_another_unicode_form_is_found(folder, log):
    first = play(folder, log, label="Matérn")
    for path in list(folder.iterdir()):
        path.rename(path.with_name(unicodedata.normalize("NFD", path.name)))
    assert play(folder, log, label="Matérn", read_only=True) == first
    play(folder, log, label="Matérn", fresh=["*"])
    assert sorted(path.suffix for path in folder.iterdir()) == ["", ".json", ".npz"]


def test_all_runs_below_a_folder_are_one_table(tmp_path):
    """Of the curves: other jobs, label c, have none."""
    for seed in (5, 6):
        kept_in = store.Store(tmp_path / f"{seed}" / "played")
        for label, arms in (("a", True), ("b", False)):
            run_trials(EXPERIMENT, 3, seed, first=2, label=label, arms=arms, kept_in=kept_in)
        map_trials(partial(regrets_at, EXPERIMENT, [25]), 2, seed, label="c", kept_in=kept_in)
    table = kb.frame(tmp_path)
    groups = table.groupby(["run", "label", "rule", "trial"])
    assert [*table] == ["run", "label", "rule", "trial", "round", "R_t"]
    assert len(groups) == 2 * 2 * 2 * 3
    regret = run_trials(EXPERIMENT, 3, 6, first=2)["EI"].cumulative_regret[1]
    for label in "ab":
        rows = groups.get_group(("6", label, "EI", 3))
        np.testing.assert_allclose(rows["R_t"], regret[rows["round"] - 1], rtol=1e-6)
        assert rows["round"].iloc[-1] == 25
    with pytest.raises(FileNotFoundError, match="no trials are stored below"):
        kb.frame(tmp_path / "5" / "played" / "a.part")
