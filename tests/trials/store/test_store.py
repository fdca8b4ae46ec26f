"""What was played is read, not played again; whatever happens while it is written, nothing is
damaged or lost.
"""

import errno
import json
import time
import unicodedata
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import kbrepro as kb
from kbrepro.data import SensorData
from kbrepro.trials import store, sums
from kbrepro.trials.simulation import Planned, map_trials, regrets_at, run_trials
from kbrepro.trials.store.flat import flat, leaf_differences, stacked

SOURCE = kb.GPDraw(kb.Matern(0.2, nu=2.5), kb.grid(20), 0.025)
EXPERIMENT = kb.Experiment(SOURCE, {"EI": kb.ExpectedImprovement, "mean only": kb.MeanOnly}, 25)
KEPT = Path(__file__).parents[3] / "results" / "paper"


@pytest.fixture(autouse=True)
def one_worker(monkeypatch):
    monkeypatch.setenv("KBREPRO_JOBS", "1")
    monkeypatch.setenv("TQDM_DISABLE", "1")


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


def play(folder, log, *, factor=1.0, trials=4, label="Fig. 1", seed=3, **how):
    kept_in = store.Store(folder, **how)
    return map_trials(
        partial(counted, str(log), factor), trials, seed, label=label, kept_in=kept_in
    )


def played(log):
    return sorted(map(int, log.read_text().split())) if log.exists() else []


def values(results):
    return [result["value"] for result in results]


def test_a_second_process_reads_what_was_played_and_whoever_listens_meets_it(folder, log):
    met = []
    first = play(folder, log, on_read=lambda job, kept: met.append(kept.results))
    assert met == [] and played(log) == [0, 1, 2, 3]
    for how in ({}, {"read_only": True}, {"seed": np.int64(3), "trials": np.int64(4)}):
        assert play(folder, log, on_read=lambda job, kept: met.append(kept.results), **how) == first
    assert met == [first] * 3 and played(log) == [0, 1, 2, 3]
    assert [path.name for path in sorted(folder.iterdir())] == [
        "Fig._1.json",
        "Fig._1.npz",
        "SHA256SUMS",
    ]
    told, known = json.loads((folder / "Fig._1.json").read_text()), store.labels(folder)["Fig. 1"]
    assert known == told | {"seconds": known["seconds"], "columns": known["columns"]}
    assert (told["first"], told["trials"], told["version"]) == (0, 4, 1)
    for seconds in (told["seconds"], known["seconds"]):
        assert seconds == pytest.approx(store.opened(folder, "Fig. 1")[1].seconds.sum(), abs=2e-3)


def test_curves_are_those_that_were_played_in_the_order_asked_for(folder, monkeypatch):
    turned = kb.Experiment(SOURCE, dict(reversed(EXPERIMENT.policies.items())), EXPERIMENT.horizon)
    one = run_trials(EXPERIMENT, 3, 5, label="a", kept_in=store.Store(folder))
    alone = run_trials(EXPERIMENT, 3, 5)
    monkeypatch.setattr(kb.Policy, "ask", None)  # whoever asks fails
    two = run_trials(turned, 3, 5, label="a", kept_in=store.Store(folder))
    assert (list(one), list(two)) == (list(EXPERIMENT.policies), list(turned.policies))
    for name in one:
        for part in ("at", "arms", "gaps", "seconds", "band_ratio", "regret"):
            np.testing.assert_array_equal(
                getattr(one[name], part), getattr(two[name], part), strict=True
            )
            if part != "seconds":
                np.testing.assert_array_equal(
                    getattr(one[name], part), getattr(alone[name], part), strict=True
                )


def test_other_settings_are_an_error_that_names_both_and_fresh_plays_anew(folder, log):
    before = play(folder, log)
    where = (
        r"'Fig. 1' was played with other settings: job, counted, positional, number 1: 1.0 before,"
        r" 2.0 now\. To play"
    )
    with pytest.raises(store.OtherSettings, match=where + ' .*--fresh "Fig. 1"'):
        play(folder, log, factor=2.0)
    for read_only in (True, False):
        with pytest.raises(store.OtherSettings, match="seed: 3 before, 4 now"):
            play(folder, log, read_only=read_only, seed=4)
    assert play(folder, log) == before
    doubled = play(folder, log, factor=2.0, fresh=["Fig. 1"])
    assert values(doubled) == [2 * value for value in values(before)]
    assert play(folder, log, factor=2.0, fresh=["Fig. 2"]) == doubled and played(log) == sorted(
        [0, 1, 2, 3] * 2
    )
    assert values(play(folder, log, factor=2.0, fresh=["*"])) == values(doubled)
    assert played(log) == sorted([0, 1, 2, 3] * 3)


def test_a_label_that_was_cut_short_goes_on_with_the_missing_trials(folder, log):
    log.with_name("fail").touch()
    with pytest.raises(RuntimeError, match="cut short"):
        play(folder, log, trials=6)
    assert len(list(folder.glob("Fig._1.part/*.npz"))) == 3 and not list(folder.glob("*.npz"))
    (damaged,) = folder.glob("Fig._1.part/1.npz")
    damaged.write_bytes(damaged.read_bytes()[:40])
    log.with_name("fail").unlink()
    found = play(folder, log, trials=6)
    assert played(log) == [0, 1, 1, 2, 3, 4, 5]  # the damaged one twice
    assert values(found) == values(play(folder.with_name("other"), log, trials=6))
    assert [path.name for path in sorted(folder.iterdir())] == [
        "Fig._1.json",
        "Fig._1.npz",
        "SHA256SUMS",
    ]


def test_a_damaged_file_is_named_and_one_that_may_not_be_read_is_not_called_so(
    folder, log, monkeypatch
):
    first = play(folder, log)
    path = folder / "Fig._1.npz"
    data = path.read_bytes()
    for damaged in (data[: len(data) // 2], b"", data[:80] + bytes([data[80] ^ 0xFF]) + data[81:]):
        path.write_bytes(damaged)
        with pytest.raises(
            ValueError,
            match=r'played/Fig._1.npz cannot be read .*: restore it, or play .*--fresh "Fig. 1"',
        ):
            play(folder, log)
    assert store.can_replace(folder, "Fig. 1") and not store.can_replace(folder, "Fig. 2")
    assert values(play(folder, log, factor=2.0, fresh=["Fig. 1"])) == [
        2 * value for value in values(first)
    ]
    # it would play nothing
    assert store.can_replace(folder, "Fig. 1") and not store.can_replace(folder, "Fig._1")
    monkeypatch.setattr(
        np, "load", lambda *_, **__: (_ for _ in ()).throw(PermissionError("not yours"))
    )
    with pytest.raises(PermissionError, match="not yours"):
        play(folder, log)


def test_a_full_disk_leaves_the_old_file_whole(folder, log, monkeypatch):
    before, real = play(folder, log), Path.write_bytes
    files = {path.name: path.read_bytes() for path in folder.iterdir()}

    def full(path, data):
        if path.name.startswith("Fig._1.npz"):
            real(path, data[: len(data) // 2])
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(path, data)

    with (
        monkeypatch.context() as patch,
        pytest.raises(OSError, match=r"No space left on device: .*/played/Fig._1.npz"),
    ):
        patch.setattr(Path, "write_bytes", full)
        play(folder, log, factor=2.0, fresh=["*"])
    assert {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()} == files
    assert play(folder, log) == before and len(played(log)) == 8
    # fresh is fresh: its pieces of before do not count
    doubled = play(folder, log, factor=2.0, fresh=["Fig. 1"])
    assert values(doubled) == [2 * value for value in values(before)]


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"\xff\xfe", None])
def test_what_is_beside_a_label_is_for_readers_alone(folder, log, text):
    first = play(folder, log)
    beside = folder / "Fig._1.json"
    beside.unlink() if text is None else beside.write_bytes(text)
    assert play(folder, log) == first and store.labels(folder)["Fig. 1"]["trials"] == 4


@pytest.mark.parametrize("left", ["Fig._1.json", "SHA256SUMS"])
def test_a_label_that_was_kept_and_is_missing_is_not_played_unasked(folder, log, left):
    first = play(folder, log)
    for path in folder.iterdir():
        if path.name != left:
            path.unlink()
    for how in ({}, {"read_only": True}):
        with pytest.raises(
            FileNotFoundError, match=r'03_pi/played/Fig._1.npz is missing, .*--fresh "Fig. 1"'
        ):
            play(folder, log, **how)
    with pytest.raises(FileNotFoundError, match="is missing, although it was kept"):
        store.opened(folder, "Fig. 1")
    assert len(played(log)) == 4 and store.can_replace(folder, "Fig. 1")
    assert values(play(folder, log, fresh=["Fig. 1"])) == values(first)
    (folder / "Fig._1.npz").unlink()  # killed between its files: its pieces are there still
    (folder / "Fig._1.part").mkdir()
    assert values(play(folder, log)) == values(first) and sums.wrong(folder) == []


@pytest.mark.parametrize("name", ["Fig._1.npz", "Fig._1.json", "SHA256SUMS"])
@pytest.mark.parametrize("fresh", [[], ["*"]])
def test_a_folder_in_the_place_of_a_file_is_named_before_anything_is_played(
    folder, log, name, fresh
):
    (folder / name).mkdir(parents=True)
    with pytest.raises(
        IsADirectoryError, match=f"03_pi/played/{name} is a folder, in the place of a file: move it"
    ):
        play(folder, log, fresh=fresh)
    assert played(log) == []


@pytest.mark.parametrize("place", ["Fig._1.part", ""])
def test_where_nothing_can_be_kept_nothing_is_played(folder, log, place):
    folder.parent.mkdir(parents=True)
    path = folder / place
    path.parent.mkdir(exist_ok=True)
    path.touch()
    with pytest.raises(OSError, match=r"played/Fig._1\.part"):
        play(folder, log)
    assert played(log) == []


def test_a_newer_form_is_named_and_replaced_only_if_asked(folder, log, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(store, "VERSION", 2)
        first = play(folder, log)
    for read in (play, lambda *_: store.opened(folder, "Fig. 1")):
        told = (
            r"03_pi/played/Fig._1.npz has form 2, and this version of kbrepro reads forms up to 1:"
            r" update kbrepro"
        )
        with pytest.raises(store.NewerForm, match=told):
            read(folder, log)
    assert store.labels(folder) == {} and store.can_replace(folder, "Fig. 1")
    assert values(play(folder, log, fresh=["Fig. 1"])) == values(first) and [
        *store.labels(folder)
    ] == ["Fig. 1"]


def test_checksums_are_those_of_the_labels_that_were_kept_last(folder, log):
    play(folder, log, label="a")
    first = sums.listed(folder)
    # one line is none
    (folder / "SHA256SUMS").write_bytes(b"\xff\n" + (folder / "SHA256SUMS").read_bytes())
    (folder / "a.json").write_text("by hand")
    play(folder, log, label="b")
    known = sums.listed(folder)
    assert [*known] == ["a.json", "a.npz", "b.json", "b.npz"] and known | first == known
    assert sums.wrong(folder) == ["a.json was changed: it has another checksum than in SHA256SUMS"]
    play(folder, log, label="a", fresh=["a"], factor=2.0)
    assert sums.wrong(folder) == [] and sums.listed(folder) != known


def test_labels_that_end_at_once_are_all_listed(folder):
    kept_in, kept = store.Store(folder), store.Played(stacked([flat({"value": 1.0})]), np.ones(1))
    with ThreadPoolExecutor(8) as pool:
        done = [
            pool.submit(kept_in.keep, store.Job(f"label {n}", None, {}, 0, 0, 1), kept)
            for n in range(40)
        ]
        assert [each.result() for each in done] == [None] * 40
    assert sums.wrong(folder) == [] and len(sums.listed(folder)) == 80


def test_read_only_says_how_to_play(folder, log):
    play(folder, log)
    with pytest.raises(
        store.NotKept, match=r"'Fig\. 2' is not kept; to play it: kbrepro play 03 --profile paper"
    ):
        play(folder, log, label="Fig. 2", read_only=True)


def test_a_store_has_a_label_with_equal_settings_that_is_not_to_be_played_anew(folder, log):
    play(folder, log)
    jobs = [
        Planned(partial(counted, str(log), factor), 4, 3).job(label)
        for factor, label in ((1.0, "Fig. 1"), (2.0, "Fig. 1"), (1.0, "Fig. 2"))
    ]
    assert [store.Store(folder).has(job) for job in jobs] == [True, False, False]
    assert not store.Store(folder).lacks(jobs[0]) and store.Store(folder, fresh=["Fig. 1"]).lacks(
        jobs[0]
    )


def test_labels_that_would_share_a_file_or_cannot_name_one_are_refused(folder, log):
    before = play(folder, log, label="a  b")
    for fresh in ([], ["a/b"]):
        with pytest.raises(store.OtherSettings, match="would replace 'a  b'"):
            play(folder, log, label="a/b", fresh=fresh)
    assert play(folder, log, label="a  b", read_only=True) == before
    for label in ("", "?", "ä" * 101):
        with pytest.raises(
            ValueError, match=r"is not allowed: as a file's name it must have 1 to 200 bytes"
        ):
            play(folder, log, label=label)


def test_what_is_kept_of_the_same_trials_has_the_same_bytes(tmp_path):
    run_trials(EXPERIMENT, 3, 5, label="a", kept_in=store.Store(tmp_path / "one"))
    store.Store(tmp_path / "two").keep(
        store.Job("a", counted, {}, 5, 0, 3), store.opened(tmp_path / "one", "a")[1]
    )
    store.Store(tmp_path / "three").keep(
        store.Job("a", counted, {}, 5, 0, 3), store.opened(tmp_path / "two", "a")[1]
    )
    assert (tmp_path / "two" / "a.npz").read_bytes() == (tmp_path / "three" / "a.npz").read_bytes()


# Measured data, and what is kept


def measured(level=1.0):
    rewards = level * np.random.default_rng(4).normal(20, 5, size=(6, 12))
    return (
        kb.Experiment(
            kb.Rows(np.eye(12) * 25, rewards, 0.5), EXPERIMENT.policies, 12, measured="0a1b"
        ),
        rewards,
    )


def test_of_measured_data_neither_arms_nor_gaps_are_kept_and_it_is_read_without_the_data(folder):
    experiment, rewards = measured()
    kept = run_trials(experiment, 6, 1, label="lab", kept_in=store.Store(folder))
    plain = run_trials(kb.Experiment(experiment.problem, experiment.policies, 12), 6, 1)
    for name, curve in plain.items():
        np.testing.assert_allclose(
            kept[name].cumulative_regret[:, -1], curve.cumulative_regret[:, -1], rtol=1e-7
        )
    gaps, columns = (
        rewards.max(axis=1, keepdims=True) - rewards,
        store.opened(folder, "lab")[1].columns,
    )
    assert {path[-1] for path in columns} == {"rounds", "totals", "arms_digest"}
    for path, shown in columns.items():
        # R_t at kept rounds; of its own a first regret is a gap, of an arm that nobody knows
        if path[-1] == "totals":
            assert not any(np.isclose(shown[n][:, None], rewards[n][None]).any() for n in range(6))
            assert sum(np.isclose(shown[n][1:, None], gaps[n][None]).sum() for n in range(6)) < 12
    gone = run_trials(measured(np.nan)[0], 6, 1, label="lab", kept_in=store.Store(folder))
    np.testing.assert_array_equal(gone["EI"].totals, kept["EI"].totals)
    with pytest.raises(
        store.NotKept, match=r"'dark' is not kept, and its data is not here: see data/README\.md"
    ):
        run_trials(measured(np.nan)[0], 6, 1, label="dark", kept_in=store.Store(folder))


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
    for other, told in (
        (sensors(checksum="2c3d"), "data: 0a1b before, 2c3d now"),
        (sensors(7), "times"),
    ):
        with pytest.raises(store.OtherSettings, match=told):
            remembered(other)
    assert gone.is_real and np.isnan(gone.readings).all() and gone.readings.shape == (5, 3)
    assert gone.times.equals(real.times) and (gone.sensors, gone.unit, gone.checksum) == (
        [1, 2, 4],
        "°C",
        "0a1b",
    )
    for column in store.opened(folder, "data, light")[1].columns.values():
        assert column.dtype.kind != "f" or not np.isin(real.readings, column).any()


def test_what_is_kept_is_read_by_notebook_and_label(folder, monkeypatch):
    root = folder.parents[2]
    for name in ("notebooks", "kbrepro"):
        (root / name).mkdir()
    (root / "results").symlink_to(root)
    monkeypatch.chdir(root)
    kept_in = store.Store(folder)
    curves = run_trials(EXPERIMENT, 3, 5, first=2, label="Table 1, d = 2", kept_in=kept_in)
    totals = map_trials(
        partial(regrets_at, EXPERIMENT, [25]), 2, 5, label="readings", kept_in=kept_in
    )
    np.testing.assert_array_equal(
        kb.played("03", "Table 1, d = 2")["EI"].regret, curves["EI"].regret
    )
    assert kb.played("03_pi", "readings")[1]["EI"][0] == totals[1]["EI"][0]
    with pytest.raises(
        FileNotFoundError, match="'Table 2' is not kept; kept are: Table 1, d = 2, readings"
    ):
        kb.played("03", "Table 2")
    with pytest.raises(
        FileNotFoundError, match="no played trials of notebook '04' are kept in results/paper"
    ):
        kb.played("04", "Table 1")


@pytest.mark.parametrize(
    ("notebook", "label", "job"),
    [
        ("04_bkb_variance_starvation", "BKB, plane", None),
        ("01_gp_ucb_information_gain", "growth of the gain", None),
    ],
)
def test_labels_of_edition_0_3_are_read_and_come_back_from_a_file_of_ours(
    tmp_path, notebook, label, job
):
    settings, kept = store.opened(KEPT / notebook / "played", label)
    store.Store(tmp_path).keep(store.Job(label, job, settings, 0, 0, len(kept.seconds)), kept)
    told, again = store.opened(tmp_path, label)
    assert told == settings and np.allclose(again.seconds, kept.seconds)
    for place in range(len(kept.seconds)):
        assert leaf_differences(kept.trial(place), again.trial(place)) == {}
        assert flat(kept.results[place]).keys() == kept.trial(place).keys()


def test_a_file_whose_name_an_archive_brought_in_another_unicode_form_is_found(folder, log):
    first = play(folder, log, label="Matérn")
    for path in list(folder.iterdir()):
        path.rename(path.with_name(unicodedata.normalize("NFD", path.name)))
    assert play(folder, log, label="Matérn", read_only=True) == first
    for form in ("NFC", "NFD"):
        _, kept = store.opened(folder, unicodedata.normalize(form, "Matérn"))
        assert kept.results == first
    play(folder, log, label="Matérn", fresh=["*"])
    assert sorted(path.suffix for path in folder.iterdir()) == ["", ".json", ".npz"]


def test_all_runs_below_a_folder_are_one_table(tmp_path):
    for seed in (5, 6):
        kept_in = store.Store(tmp_path / f"{seed}" / "played")
        run_trials(EXPERIMENT, 3, seed, first=2, label="a", kept_in=kept_in)
        run_trials(EXPERIMENT, 3, seed, first=2, label="b", arms=False, kept_in=kept_in)
        map_trials(partial(regrets_at, EXPERIMENT, [25]), 2, seed, label="c", kept_in=kept_in)
    table = kb.frame(tmp_path)
    assert [*table] == ["run", "label", "rule", "trial", "round", "R_t"]
    assert (
        {*table["run"]} == {"5", "6"}
        and {*table["label"]} == {"a", "b"}
        and {*table["trial"]} == {2, 3, 4}
    )
    curve = run_trials(EXPERIMENT, 3, 6, first=2)["EI"]
    for label in "ab":
        one = table[(table["run"] == "6") & (table["label"] == label) & (table["trial"] == 3)]
        rows = one[one["rule"] == "EI"].set_index("round")["R_t"]
        np.testing.assert_allclose(rows, curve.cumulative_regret[1, rows.index - 1], rtol=1e-6)
        assert rows.index[-1] == 25
    with pytest.raises(FileNotFoundError, match="no played trials are kept below"):
        kb.frame(tmp_path / "5" / "played" / "a.part")
