"""What was played is read, not played again; whatever happens while it is written, nothing is damaged or lost."""

import errno
import json
import time
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import kbrepro as kb
from kbrepro import store
from kbrepro.data import SensorData
from kbrepro.simulation import KeptOfData, map_trials, run_trials, total_regrets

SOURCE = kb.GPDraw(kb.Matern(0.2, nu=2.5), kb.grid(20), 0.025)
EXPERIMENT = kb.Experiment(SOURCE, {"EI": kb.ExpectedImprovement, "mean only": kb.MeanOnly}, 25)


@pytest.fixture(autouse=True)
def one_worker(monkeypatch):
    monkeypatch.setenv("KBREPRO_JOBS", "1")
    monkeypatch.setenv("TQDM_DISABLE", "1")
    monkeypatch.delenv("KBREPRO_STORE", raising=False)


@pytest.fixture
def folder(tmp_path):
    """A store in use; every test asks for a new one where it plays a second process."""
    return tmp_path / "played"


def counted(log, factor, trial):
    """A job that leaves a line for every trial that is played."""
    with open(log, "a") as file:
        file.write(f"{trial.number}\n")
    return {"value": factor * float(trial.rng("run").standard_normal()), "seconds": time.perf_counter()}


def play(folder, log, *, factor=1.0, trials=4, label="Fig. 1", seed=3, **how):
    with store.using(store.Store(folder, **how)):
        return map_trials(partial(counted, str(log), factor), trials, seed, label=label)


def played(log):
    return sorted(map(int, log.read_text().split())) if log.exists() else []


def test_a_second_process_reads_and_plays_nothing(folder, tmp_path):
    log = tmp_path / "log"
    first, again = play(folder, log), play(folder, log)
    assert first == again and played(log) == [0, 1, 2, 3]
    assert play(folder, log, read_only=True) == first and played(log) == [0, 1, 2, 3]


def test_policies_are_not_asked_again_and_traces_are_those_that_were_played(folder, monkeypatch):
    with store.using(store.Store(folder)):
        one = run_trials(EXPERIMENT, 3, 5, label="a")
    alone = run_trials(EXPERIMENT, 3, 5, label="a")
    monkeypatch.setattr(kb.Policy, "ask", None)  # whoever asks fails
    with store.using(store.Store(folder)):
        two = run_trials(EXPERIMENT, 3, 5, label="a")
    for name in one:
        for part in ("arms", "gaps", "seconds", "band_ratio"):
            np.testing.assert_array_equal(getattr(one[name], part), getattr(two[name], part))
            assert getattr(one[name], part).dtype == getattr(alone[name], part).dtype
        np.testing.assert_array_equal(one[name].regret, alone[name].regret)


def test_other_settings_are_an_error_that_names_both_and_fresh_plays_anew(folder, tmp_path):
    log = tmp_path / "log"
    before = play(folder, log)
    with pytest.raises(store.OtherSettings) as error:
        play(folder, log, factor=2.0)
    assert "'Fig. 1' was played with other settings: job, counted, positional, number 1: 1.0 before, 2.0 now" in str(
        error.value
    )
    assert '--fresh "Fig. 1"' in str(error.value) and play(folder, log) == before
    with pytest.raises(store.OtherSettings, match="seed: 3 before, 4 now"):
        play(folder, log, seed=4)
    with pytest.raises(store.OtherSettings, match="trials: 4 before, 5 now"):
        play(folder, log, trials=5)
    doubled = play(folder, log, factor=2.0, fresh=["Fig. 1"])
    assert [its["value"] for its in doubled] == [2 * its["value"] for its in before]
    assert play(folder, log, factor=2.0, fresh=["Fig. 2"]) == doubled and played(log) == sorted([0, 1, 2, 3] * 2)
    play(folder, log, factor=2.0, fresh=["*"])
    assert played(log) == sorted([0, 1, 2, 3] * 3)


def test_a_label_stands_once_in_a_notebook(folder, tmp_path):
    log = tmp_path / "log"
    with store.using(store.Store(folder, fresh=["*"])):
        first = map_trials(partial(counted, str(log), 1.0), 2, 3, label="chains")
        assert map_trials(partial(counted, str(log), 1.0), 2, 3, label="chains") == first  # a cell run twice
        with pytest.raises(store.OtherSettings, match="label 'chains' is used twice in this notebook: trials: 2"):
            map_trials(partial(counted, str(log), 1.0), 3, 3, label="chains")
        with pytest.raises(store.OtherSettings, match="would replace 'chains'"):
            map_trials(partial(counted, str(log), 1.0), 2, 3, label="chains?")
    assert played(log) == [0, 1]


def test_what_needs_data_that_is_not_here_is_read_and_never_played(folder):
    def rows(level):
        return kb.Experiment(
            kb.Rows(np.eye(4), np.full((3, 4), level), 0.1), {"EI": kb.ExpectedImprovement}, 6, measured="x"
        )

    with store.using(store.Store(folder)):
        here = run_trials(rows(1.0), 3, 1, label="light")
    with store.using(store.Store(folder)):
        gone = run_trials(rows(np.nan), 3, 1, label="light")
        np.testing.assert_array_equal(here["EI"].totals, gone["EI"].totals)
        with pytest.raises(store.NotKept, match=r"'dark' is not kept, and its data is not here: see data/README\.md"):
            run_trials(rows(np.nan), 3, 1, label="dark")


def fails_once(flag, trial):
    if trial.number == 3 and Path(flag).exists():
        raise RuntimeError("cut short")
    return counted(f"{flag}.log", 1.0, trial)


def test_a_label_that_was_cut_short_goes_on_with_the_missing_trials(folder, tmp_path):
    flag = tmp_path / "flag"
    flag.touch()
    job = partial(fails_once, str(flag))
    with store.using(store.Store(folder)), pytest.raises(RuntimeError, match="cut short"):
        map_trials(job, 6, 3, label="Fig. 1")
    assert len(list(folder.glob("Fig._1.part/*.npz"))) == 3 and not list(folder.glob("*.npz"))
    (damaged,) = folder.glob("Fig._1.part/1.npz")
    damaged.write_bytes(damaged.read_bytes()[:40])
    flag.unlink()
    with store.using(store.Store(folder)):
        found = map_trials(job, 6, 3, label="Fig. 1")
    assert played(Path(f"{flag}.log")) == [0, 1, 1, 2, 3, 4, 5]  # the damaged one twice
    assert [its["value"] for its in found] == [
        its["value"] for its in play(tmp_path / "other", tmp_path / "l", trials=6)
    ]
    assert [path.name for path in sorted(folder.iterdir())] == ["Fig._1.json", "Fig._1.npz"]


def test_a_damaged_file_is_named(folder, tmp_path):
    play(folder, tmp_path / "log")
    path = folder / "Fig._1.npz"
    data = path.read_bytes()
    for damaged in (data[: len(data) // 2], b"", data[:60] + bytes([data[60] ^ 0xFF]) + data[61:]):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match=r"played/Fig._1.npz cannot be read .*: restore it, or delete it"):
            play(folder, tmp_path / "log")


def test_the_same_content_has_the_same_bytes_and_no_pickle(folder, tmp_path):
    kept = store.Kept([{"arms": np.arange(5), "name": "x"}] * 2, np.ones(2))
    job = store.Job("a", counted, {"seed": 1}, 1, 0, 2)
    for name in ("one", "two"):
        store.Store(tmp_path / name).keep(job, kept)
    assert (tmp_path / "one" / "a.npz").read_bytes() == (tmp_path / "two" / "a.npz").read_bytes()
    with np.load(tmp_path / "one" / "a.npz", allow_pickle=False) as file:
        assert {name: file[name].dtype.kind for name in file.files}["arms"] == "i"
    assert json.loads((tmp_path / "one" / "a.json").read_text())["settings"] == {"seed": 1}


def test_a_full_disk_leaves_the_old_file_whole(folder, tmp_path, monkeypatch):
    log = tmp_path / "log"
    before = play(folder, log)
    real = Path.write_bytes

    def full(path, data):
        if path.name.startswith("Fig._1.npz"):
            real(path, data[: len(data) // 2])
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(path, data)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", full)
        with pytest.raises(OSError, match="No space left"):
            play(folder, log, factor=2.0, fresh=["*"])
    assert play(folder, log) == before and len(played(log)) == 8
    doubled = play(folder, log, factor=2.0, fresh=["Fig. 1"])  # fresh is fresh: its pieces of before do not count
    assert [its["value"] for its in doubled] == [2 * its["value"] for its in before]


def test_read_only_says_what_playing_would_cost_and_who_keeps_nothing_plays_what_changed(folder, tmp_path):
    log, folder = tmp_path / "log", tmp_path / "paper" / "03_pi" / "played"
    first = play(folder, log)
    (folder.parent / "trials.csv").write_text("label,trials,seconds,played\nFig. 2,4,360.0,4\n")
    cost = r"'Fig. 2' is not kept; to play it \(it took 6.0 minutes of one core\): kbrepro reproduce 03 --profile paper"
    with pytest.raises(store.NotKept, match=cost):
        play(folder, log, label="Fig. 2", read_only=True)
    with pytest.raises(store.OtherSettings, match="trials: 4 before, 5 now"):
        play(folder, log, trials=5, read_only=True)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert play(folder, log, keeps=False) == first and len(played(log)) == 4
    changed = play(folder, log, factor=2.0, keeps=False)
    assert [its["value"] for its in changed] == [2 * its["value"] for its in first]
    play(folder, log, label="Fig. 3", keeps=False)
    assert len(played(log)) == 12 and {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_whoever_listens_meets_every_job_that_is_read_and_none_that_is_played(folder, tmp_path):
    met = []
    first = play(folder, tmp_path / "log", on_read=lambda job, kept: met.append((job.label, kept.results)))
    assert met == []
    play(folder, tmp_path / "log", read_only=True, on_read=lambda job, kept: met.append((job.label, kept.results)))
    assert met == [("Fig. 1", first)]


# Measured data, and reading it all


def measured(seed=4):
    rewards = np.random.default_rng(seed).normal(20, 5, size=(6, 12))
    experiment = kb.Experiment(kb.Rows(np.eye(12) * 25, rewards, 0.5), EXPERIMENT.policies, 12, measured="0a1b")
    return experiment, rewards


def test_of_measured_data_neither_arms_nor_gaps_are_kept(folder):
    experiment, rewards = measured()
    with store.using(store.Store(folder)):
        kept = run_trials(experiment, 6, 1, label="lab")
    plain = run_trials(kb.Experiment(experiment.problem, experiment.policies, 12), 6, 1)
    for name, trace in plain.items():
        np.testing.assert_allclose(kept[name].cumulative_regret[:, -1], trace.cumulative_regret[:, -1], rtol=1e-7)
    gaps = rewards.max(axis=1, keepdims=True) - rewards
    with np.load(folder / "lab.npz") as file:
        names = [name for name in file.files if name.startswith(("rounds", "policies"))]
        assert {name.rpartition("/")[2] for name in names} == {"rounds", "totals", "arms_digest"}
        for name in (name for name in names if name.endswith("totals")):
            shown = file[name]  # R_t at kept rounds; of its own a first regret is a gap, of an arm that nobody knows
            assert not any(np.isclose(shown[n][:, None], rewards[n][None]).any() for n in range(6))
            assert sum(np.isclose(shown[n][1:, None], gaps[n][None]).sum() for n in range(6)) < 12
    assert KeptOfData._fields == ("totals", "arms_digest")


def sensors(n=5, checksum="0a1b"):
    times = pd.date_range("2004-03-04", periods=n, freq="min")
    readings = np.random.default_rng(1).normal(20, 5, size=(n, 3))
    return SensorData(readings, times, [1, 2, 4], "°C", "file", bool(checksum), np.eye(3, 2), checksum)


def test_of_sensor_data_all_but_the_readings_is_remembered(folder):
    substitute_data = sensors(checksum="")
    with store.using(store.Store(folder)):
        assert store.remembered("light", substitute_data) is substitute_data  # nothing was played on real data
        real = sensors()
        assert store.remembered("light", real) is real
        (path,) = folder.glob("*.npz")
        store.remembered("light", sensors())
        gone = store.remembered("light", substitute_data)
        with pytest.raises(store.OtherSettings, match="data: 0a1b before, 2c3d now"):
            store.remembered("light", sensors(checksum="2c3d"))
        with pytest.raises(store.OtherSettings, match="times"):
            store.remembered("light", sensors(7))
    assert gone.is_real and np.isnan(gone.readings).all() and gone.readings.shape == (5, 3)
    assert gone.times.equals(real.times) and (gone.sensors, gone.unit, gone.checksum) == ([1, 2, 4], "°C", "0a1b")
    np.testing.assert_array_equal(gone.locations, real.locations)
    with np.load(path) as file:
        assert not any(np.isin(real.readings, file[name]).any() for name in file.files if file[name].dtype.kind == "f")
    assert store.remembered("light", substitute_data) is substitute_data  # no store in use


def test_what_is_kept_is_read_by_notebook_and_label(tmp_path, monkeypatch):
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "kbrepro").mkdir()
    monkeypatch.chdir(tmp_path)
    with store.using(store.Store(tmp_path / "results" / "paper" / "03_pi" / "played")):
        traces = run_trials(EXPERIMENT, 3, 5, first=2, label="Table 1, d = 2")
        lab = run_trials(measured()[0], 4, 5, label="lab")
        totals = total_regrets(EXPERIMENT, [25], 2, 5, label="readings")
    found = kb.played("03", "Table 1, d = 2")
    frame = found.frame()
    assert list(frame) == ["algorithm", "trial", "round", "arm", "regret"] and len(frame) == 2 * 3 * 25
    row = frame[(frame["algorithm"] == "EI") & (frame["trial"] == 1)]
    assert row["arm"].tolist() == traces["EI"].arms[1].tolist() and row["round"].tolist() == list(range(1, 26))
    np.testing.assert_array_equal(row["regret"], traces["EI"].regret[1])
    tidy = kb.played("03_pi", "lab").frame()
    assert list(tidy) == ["algorithm", "trial", "round", "R_t"]
    np.testing.assert_array_equal(tidy["R_t"].to_numpy().reshape(2, 4, -1)[0], lab["EI"].totals)
    readings = kb.played("03", "readings")
    assert readings.traces == {} and readings.results[1]["EI"][0] == totals[25]["EI"][1]
    with pytest.raises(ValueError, match="this label kept no traces"):
        readings.frame()
    with pytest.raises(FileNotFoundError, match="'Table 2' is not kept; kept are: Table 1, d = 2, lab, readings"):
        kb.played("03", "Table 2")
    with pytest.raises(FileNotFoundError, match="no played trials of notebook '04' are kept in results/paper"):
        kb.played("04", "Table 1")


def test_a_job_without_settings_runs_where_nothing_is_kept_and_is_refused_where_it_is(folder):
    assert map_trials(lambda trial: trial.number, 2, 1) == [0, 1]
    with store.using(store.Store(folder)), pytest.raises(ValueError, match="has no settings that can be kept"):
        map_trials(lambda trial: trial.number, 2, 1)


def test_neither_workers_nor_blocks_change_what_is_kept(tmp_path, monkeypatch):
    for name, jobs, block in (("one", "1", 1), ("two", "2", 3)):
        monkeypatch.setenv("KBREPRO_JOBS", jobs)
        with store.using(store.Store(tmp_path / name)):
            run_trials(EXPERIMENT, 5, 5, block=block, label="a")
    with np.load(tmp_path / "one" / "a.npz") as one, np.load(tmp_path / "two" / "a.npz") as two:
        assert one.files == two.files
        for name in (name for name in one.files if "seconds" not in name):
            assert (one[name].dtype, one[name].tobytes()) == (two[name].dtype, two[name].tobytes()), name


def test_the_environment_names_the_store_and_times_are_told_also_of_what_was_read(tmp_path, monkeypatch):
    log, times = tmp_path / "log", tmp_path / "times.csv"
    monkeypatch.setenv("KBREPRO_STORE", str(tmp_path / "played"))
    monkeypatch.setenv("KBREPRO_TIMES", str(times))
    job = partial(counted, str(log), 1.0)
    for _ in range(2):
        map_trials(job, 4, 3, block=2, label="a, b")
    monkeypatch.setenv("KBREPRO_FRESH", "c\na, b")
    map_trials(job, 4, 3, label="a, b")
    played_now = [line.rpartition(",") for line in times.read_text().splitlines()]
    assert [its[2] for its in played_now] == ["4", "0", "4"]
    assert played_now[0][0] == played_now[1][0] and played_now[0][0].startswith('"a, b",4,')


@pytest.mark.parametrize("label", ["a b", "a_b", "a/b", "a?b", " a  b "])
def test_labels_that_would_share_a_file_do_not(folder, tmp_path, label):
    before = play(folder, tmp_path / "log", label="a  b")
    for fresh in ([], [label]):
        with pytest.raises(store.OtherSettings):
            play(folder, tmp_path / "log", label=label, seed=4, fresh=fresh)
    assert play(folder, tmp_path / "log", label="a  b", read_only=True) == before


def test_a_label_cut_short_after_its_file_was_written_is_put_right(folder, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(store.paths, "write_text", None)
        with pytest.raises(TypeError):
            play(folder, tmp_path / "log")
    play(folder, tmp_path / "log")
    assert [path.name for path in sorted(folder.iterdir())] == ["Fig._1.json", "Fig._1.npz"]


def test_whole_numbers_of_numpy_may_say_what_is_played(folder, tmp_path):
    log = tmp_path / "log"
    assert play(folder, log, seed=np.int64(3), trials=np.int64(4)) == play(folder, log)


def test_policies_come_in_the_order_asked_for(folder):
    turned = kb.Experiment(SOURCE, dict(reversed(EXPERIMENT.policies.items())), EXPERIMENT.horizon)
    for experiment in (EXPERIMENT, turned):
        with store.using(store.Store(folder)):
            assert list(run_trials(experiment, 2, 5, label="a")) == list(experiment.policies)


@pytest.mark.parametrize("label", ["", "?", "ä" * 101])
def test_a_label_that_cannot_be_the_name_of_a_file_is_refused(folder, tmp_path, label):
    with pytest.raises(ValueError, match=r"is not allowed: as a file's name it must have 1 to 200 bytes"):
        play(folder, tmp_path / "log", label=label)


def test_a_file_that_may_not_be_read_is_not_called_damaged(folder, tmp_path, monkeypatch):
    play(folder, tmp_path / "log")

    def refuse(*_, **__):
        raise PermissionError("not yours")

    monkeypatch.setattr(np, "load", refuse)
    with pytest.raises(PermissionError, match="not yours"):
        play(folder, tmp_path / "log")
