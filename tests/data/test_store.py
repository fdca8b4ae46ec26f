"""Finding, reading, cleaning, fetching; the substitute. Real-data checks need KBREPRO_DATA."""

import contextlib
import gzip
import hashlib
import http.server
import io
import os
import re
import shutil
import threading
import time
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import urlsplit

import numpy as np
import pandas as pd
import pytest
import requests
from scipy.io import savemat

from kbrepro.data import DamagedFile, sets, store

DAY, FEW = ("2004-03-04",), (1, 2, 3, 4)
OTHER_SUM = "0" * 64


@pytest.fixture
def data(tmp_path, monkeypatch):
    """An empty data directory that KBREPRO_DATA points at; what tests put there is recorded."""
    monkeypatch.setenv("KBREPRO_DATA", str(tmp_path))
    monkeypatch.setattr(store, "RECORDED", dict(store.RECORDED))
    return tmp_path


def one_day(motes=FEW, day=DAY[0]):
    """Rows of a made-up day: a reading in two minutes of three (two in the first hour) of every
    mote.
    """
    rng = np.random.default_rng(5)
    minutes = [minute for minute in range(1440) if minute % 3]
    stamps = [
        f"{m // 60:02}:{m % 60:02}:{s}" for m in minutes for s in ("07.5", "41.25")[: 1 + (m < 60)]
    ]
    table = pd.DataFrame({"date": day, "time": stamps * len(motes), "epoch": 7})
    table["moteid"] = np.repeat(motes, len(stamps))
    table["temperature"] = rng.uniform(15, 30, len(table)).round(4)
    return table.assign(humidity=35.5, light=46.92, voltage=2.65)


# rows of the kinds that the owner's file has and the extract has not
ODD_ROWS = """\
2004-03-04 03:38:15.757551 2 1
2004-03-04 03:38:16 2
2004-03-05 08:29:04 6000 65407 294.261 36 41 2.6
2004-03-04 08:29:04 6000 65407 294.261 36 41 2.6
2004-03-04 04:01:02.5 9 1 122.153 -3.9 11.04 2.03
2004-03-04 04:01:03 9 18 62.7 -3.9  2.03
2004-03-04 05:01:03 9 18 62.7 -3.9 1 2.03 trailing words
"""


def put(data, file, content):
    """Write a file, and record its sum."""
    (data / file).parent.mkdir(parents=True, exist_ok=True)
    (data / file).write_bytes(content)
    store.RECORDED[file] = hashlib.sha256(content).hexdigest()


def extract(data, table):
    put(data, f"intel-lab/{sets.EXTRACT}", gzip.compress(table.to_csv(index=False).encode(), 1))


def owners(data, table):
    text = ODD_ROWS + table.to_csv(sep=" ", index=False, header=False) + ODD_ROWS
    put(data, f"intel-lab/{sets.OWNERS}", gzip.compress(text.encode(), 1))


def half_hour_means(motes=FEW):
    """4 and 5 March: the square of the half hour plus 100 times the mote. The first half hour is
    missing, of the first mote another one; mote 18 is there, too.
    """
    times = pd.date_range("2004-03-04", periods=96, freq="30min", name="timestamp")
    table = pd.DataFrame(
        {f"mote_{mote}": 100 * mote + np.arange(96.0) ** 2 for mote in (*motes, 18)}
    )
    table.iloc[50, 0] = np.nan
    return table.set_index(times)[1:]


def means(data, table):
    put(data, f"intel-lab/{sets.MEANS}", gzip.compress(table.to_csv().encode(), 1))


def lux():
    rng = np.random.default_rng(31)
    return [rng.integers(26, 531, size=(n, 41)).astype(np.uint16) for n in (601, 192)]


def mat(data, parts):
    train, test = ({"sensordataLux": part} for part in parts)
    savemat(file := io.BytesIO(), {"data": {"train": train, "test": test, "note": "made up"}})
    put(data, f"cmu-light/{sets.MAT}", file.getvalue())


def usc(data):
    """Two networks of 4 and 2 detectors, 3 days of 180 slots; speeds tell detector, day and
    slot.
    """
    detector, slot, day = np.ogrid[0:6, 0:180, 0:3]
    speed = 10.0 * (detector + 1) + day + slot / 1000
    speed[:, 10, 1] = 0  # the network is out
    speed[3] = 0  # a dead detector
    speed[1, 20, 0] = 0  # one gap
    for name, part in ((sets.DENSE, speed[:4]), (sets.SPARSE, speed[4:])):
        savemat(file := io.BytesIO(), {"series": part})
        put(data, f"traffic/{name}", file.getvalue())


# Reading and cleaning


@pytest.mark.skipif(
    "KBREPRO_DATA" not in os.environ, reason="KBREPRO_DATA is not set: no real data"
)
def test_real_data_gives_the_numbers_of_its_readme():
    lab, light = store.load("temperature", motes=sets.REPORTING), store.load("light")
    assert lab.is_real and lab.readings.shape == (7200, 51)
    assert store.load("traffic_usc").readings.shape == (1244, 108)
    used = lab.readings[:, np.isin(lab.sensors, sets.MOTES)]
    morning = lab.readings[(lab.times.hour == 8) & (lab.times.day >= 6)]
    learned, tested = store.train_test(light, 601 / 793)
    variances = [
        part.var(axis=0, ddof=1).mean()
        for part in (used, used[:4800], morning / np.sqrt(20), learned)
    ]
    assert variances == pytest.approx([10.00, 9.39, 0.29, 20 * 424.8], abs=0.005, rel=1e-4)
    assert len(set(tested.argmax(axis=1))) == 7
    means = store.load("half hours", sets.CALENDAR[:7], sets.HALF_HOURLY)
    own = [store.on_days(means, sets.CALENDAR[:5], hour).readings for hour in (8, None)]
    assert [part.shape for part in own] == [(10, 41), (240, 41)]
    assert [0.05 * part.var(axis=0, ddof=1).mean() for part in own] == pytest.approx(
        [0.776, 0.531], abs=0.001
    )
    with_gaps = store.load("half hours", sets.CALENDAR[:30], sets.COVERED)
    assert with_gaps.readings.shape == (1440, 35)
    assert "recorded is" not in store.status()


def test_extract_and_owners_format_give_the_same_table(data):
    extract(data, one_day())
    first = store.load("temperature", DAY, FEW)
    (data / "intel-lab" / sets.EXTRACT).unlink()
    owners(data, one_day())
    other = store.load("temperature", DAY, FEW)
    np.testing.assert_array_equal(first.readings, other.readings)
    assert first.times.equals(other.times)
    assert (first.checksum, first.sensors) == (other.checksum, other.sensors)
    assert re.search(rf"\nintel-lab/{sets.OWNERS}, sha256 \w+, as recorded\n", store.status())


def test_cleaning_minute_means_interpolation_and_edges(data):
    table = one_day(range(1, 55))
    extract(data, table)
    cleaned = store.load("temperature", DAY)
    means = table[table.moteid == 1].temperature.to_numpy()[:80].reshape(40, 2).mean(axis=1)
    column = cleaned.readings[:, 0]
    np.testing.assert_allclose(column[1:3], means[:2])
    np.testing.assert_allclose(column[3], (means[1] + means[2]) / 2)  # a gap of one minute
    # at the edge of an hour, too
    np.testing.assert_allclose(column[60], (column[59] + column[61]) / 2)
    assert column[0] == column[1]  # the first minute takes the nearest reading
    assert cleaned.sensors == [m for m in range(1, 55) if m not in {5, 8, 12, 15, 18, 30, 33, 39}]
    every = store.load("temperature", DAY, sets.REPORTING)
    assert every.sensors == [m for m in range(1, 55) if m not in {5, 15, 18}]
    kept = [every.sensors.index(mote) for mote in sets.MOTES]
    np.testing.assert_array_equal(every.readings[:, kept], cleaned.readings)


def test_half_hours_are_filled_and_cut_by_day_and_hour(data):
    means(data, half_hour_means())
    both = store.load("half hours", ["2004-03-04", "2004-03-05"], FEW)
    squares = np.arange(96.0) ** 2
    squares[0] = 1  # the nearest one
    expected = 100 * np.array(FEW) + squares[:, None]
    expected[50, 0] = 100 + (49**2 + 51**2) / 2
    np.testing.assert_allclose(both.readings, expected)
    assert both.is_real and both.sensors == list(FEW)
    second = store.on_days(both, ["2004-03-05"])
    np.testing.assert_array_equal(second.readings, both.readings[48:])
    assert set(second.times.day) == {5} and second.checksum == both.checksum
    early = store.on_days(both, ["2004-03-05", "2004-03-06"], 8)
    np.testing.assert_array_equal(early.readings, both.readings[[64, 65]])
    assert [f"{time:%H:%M}" for time in early.times] == ["08:00", "08:30"]


def test_light_is_in_lux_and_splits_as_in_its_file(data):
    mat(data, lux())
    light = store.load("light")
    assert light.is_real and light.unit == "Lux" and len(light.times) == 793
    assert light.sensors == list(range(1, 42))
    for part, recorded in zip(store.train_test(light, 601 / 793), lux(), strict=True):
        np.testing.assert_array_equal(part, recorded)


def test_traffic_is_cleaned_as_described(data):
    usc(data)
    roads = store.load("traffic_usc")
    assert roads.sensors == [0, 1, 2, 4, 5] and roads.readings.shape == (3 * 60 - 1, 5)
    assert roads.readings[0] == pytest.approx([10, 20, 30, 50, 60])
    # interpolated between its neighbours in time
    assert roads.readings[20, 1] == pytest.approx(20.020)
    assert roads.readings[60, 0] == pytest.approx(11.0)  # the second morning follows the first
    assert roads.times.is_monotonic_increasing and set(roads.times.hour) == set(range(6, 11))


def test_other_days_come_from_the_owners_file_when_it_is_there(data):
    extract(data, one_day())
    owners(data, one_day(day="2004-03-01").assign(temperature=21.0))
    assert (store.load("temperature", ["2004-03-01"], FEW).readings == 21).all()
    assert store.load("temperature", DAY, FEW).readings.std() > 1


# Bad input


def half_of_usc(data):
    usc(data)
    (data / "traffic" / sets.SPARSE).unlink()


LOGIN = b"<html>\nplease log in\n</html>"
DAMAGE = [  # set, how its file is written, which somebody recorded all the same
    ("temperature", lambda data: extract(data, one_day(FEW[:3]))),
    ("temperature", lambda data: extract(data, one_day()[::5])),
    ("temperature", lambda data: put(data, f"intel-lab/{sets.OWNERS}", LOGIN)),
    ("half hours", lambda data: means(data, half_hour_means()[48:])),
    ("traffic_usc", half_of_usc),
]


@pytest.mark.parametrize(("name", "write"), DAMAGE)
def test_a_damaged_file_is_named_and_never_replaced_by_the_substitute(data, name, write):
    write(data)
    (file,) = (path for path in data.rglob("*") if path.is_file())
    with pytest.raises(DamagedFile, match=rf"{re.escape(file.name)}: cannot be read as {name} \("):
        store.load(name, DAY, FEW)


RIGHT = [
    (f"intel-lab/{sets.OWNERS}", "temperature", lambda data: owners(data, one_day())),
    (f"traffic/{sets.SPARSE}", "traffic_usc", usc),
]


@pytest.mark.parametrize(("file", "name", "write"), RIGHT)
def test_a_file_with_another_sum_is_refused_by_name_with_both_sums_and_what_to_do(
    data, file, name, write
):
    """Each of these files can be read, and its readings are the right ones."""
    write(data)
    assert store.load(name, DAY, FEW).is_real
    sums = f"sha256 is {store.RECORDED[file]}, recorded is {OTHER_SUM}"
    store.RECORDED[file] = OTHER_SUM
    with pytest.raises(DamagedFile) as refused:
        store.load(name, DAY, FEW)
    assert (
        str(refused.value)
        == f"{data / file} is not allowed, its {sums}: remove it, or, if you know that it is right,"
        " record its sum in RECORDED of kbrepro/data/store.py"
    )
    assert f"{file}, {sums}" in store.status().splitlines()


DAYS, MOTES = r"days = .* must be a list of distinct days 'YYYY-MM-DD'", "distinct numbers from 1"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["humidity"], "name = 'humidity' is not allowed: .*'temperature'"),
        (["temperature", "2004-03-04"], DAYS),
        (["temperature", []], DAYS),
        (["temperature", ["2004-02-30"]], DAYS),
        (["temperature", DAY * 2], DAYS),
        (["temperature", DAY, []], MOTES),
        (["temperature", DAY, [55]], MOTES),
        (["temperature", DAY, ["1"]], MOTES),
        (["temperature", ["2004-03-04", "2004-03-09"], FEW], "0% of the mote-minutes of 2004-03"),
    ],
)
def test_impossible_names_days_and_motes_say_what_is_allowed(data, arguments, words):
    extract(data, one_day())
    with pytest.raises(ValueError, match=words):
        store.load(*arguments)


def test_a_directory_of_ones_own_must_be_there_and_nothing_is_written_to_it(data, monkeypatch):
    with pytest.raises(store.DownloadFailed, match="KBREPRO_DATA"):
        store.download_missing()
    assert [*data.iterdir()] == []
    monkeypatch.setenv("KBREPRO_DATA", str(data / "dtaa"))
    with pytest.raises(ValueError, match=r"KBREPRO_DATA = .*dtaa.* must be an existing directory"):
        store.load("temperature")


# Without files


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("temperature", (7200, 46)),
        ("half hours", (240, 46)),
        ("light", (793, 41)),
        ("traffic_usc", (600, 40)),
    ],
)
def test_without_files_a_labelled_substitute_that_resembles_readings(data, name, shape):
    made_up = store.load(name)
    assert not made_up.is_real and f"{name}: not found; a simulated substitute" in store.status()
    assert made_up.readings.shape == shape and len(made_up.times) == shape[0]
    assert made_up.readings.min() > 0
    # the largest reading moves
    assert len(set(made_up.readings[shape[0] // 2 :].argmax(axis=1))) > 5
    if name == "temperature":  # the same on every machine
        assert made_up.readings[[0, 3600, -1], [0, 20, -1]].tolist() == [21.1066, 24.7324, 24.6427]


def test_only_the_directory_that_is_named_is_searched(data, project, monkeypatch):
    (project / "data").mkdir(parents=True)
    extract(project / "data", one_day())
    assert store.load("temperature", DAY, FEW).is_real
    monkeypatch.setenv("KBREPRO_DATA", str(data))
    assert not store.load("temperature", DAY, FEW).is_real and "sha256" not in store.status()


def test_readme_lists_the_recorded_sums_and_the_limits():
    """With the start of the program no answer takes less than ten seconds."""
    assert (store.BEGINS, store.IN_ALL) == (5, 600)
    text = (Path(__file__).parents[2] / "data" / "README.md").read_text(encoding="utf-8")
    assert all(
        Path(name).name in text and sha256 in text for name, sha256 in store.RECORDED.items()
    )
    assert "after 5 seconds without a byte, and after ten minutes in all" in " ".join(text.split())


# Fetching


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project without data, and KBREPRO_DATA unset."""
    monkeypatch.delenv("KBREPRO_DATA", raising=False)
    monkeypatch.setattr(store.paths, "checkout", lambda: tmp_path / "project")
    monkeypatch.setattr(store.load, "__defaults__", (DAY, FEW))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    return tmp_path / "project"


class Served(http.server.SimpleHTTPRequestHandler):
    """Calls what is packed packed, as some servers do: then most programs unpack it on its way."""

    def log_message(self, *args):
        pass

    def end_headers(self):
        if self.path.endswith(".gz"):
            self.send_header("Content-Encoding", "gzip")
        super().end_headers()


@pytest.fixture
def server(tmp_path, monkeypatch):
    """A web server on this machine in the owners' place; returns the folder it serves."""
    folder = tmp_path / "served"
    monkeypatch.setattr(store, "RECORDED", {})
    owners(folder, one_day())
    mat(folder, lux())
    handler = partial(Served, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as httpd:
        # looks so often whether to end
        threading.Thread(target=httpd.serve_forever, args=(0.01,)).start()
        here = f"http://127.0.0.1:{httpd.server_port}"
        monkeypatch.setattr(
            store,
            "URLS",
            {name: (file, f"{here}/{file}") for name, (file, _) in store.URLS.items()},
        )
        yield folder
        httpd.shutdown()


def test_fetch_brings_checked_files_and_only_what_is_missing(project, server):
    assert not store.load("temperature").is_real
    store.download_missing()
    assert store.load("temperature").is_real and store.load("light").is_real
    said = store.status()
    assert sorted(re.findall("^(.*), sha256", said, flags=re.M)) == sorted(store.RECORDED)
    assert "recorded is" not in said
    # nothing temporary stays
    assert len([path for path in (project / "data").rglob("*") if path.is_file()]) == 2
    shutil.rmtree(server)
    store.download_missing()  # the data is there: nothing is asked of the server


@pytest.mark.parametrize(
    ("name", "spoil"), [("temperature", lambda right: LOGIN), ("light", lambda right: right[:999])]
)
def test_fetch_refuses_wrong_content_says_so_and_brings_the_rest(project, server, name, spoil):
    file, url = store.URLS[name]
    content = spoil((server / file).read_bytes())
    (server / file).write_bytes(content)
    found = hashlib.sha256(content).hexdigest()
    why = f"{urlsplit(url).netloc}: sha256 is {found}, recorded is {store.RECORDED[file]}"
    with pytest.raises(store.DownloadFailed, match=rf"^download failed: {name} \({why}\); stored "):
        store.download_missing()
    arrived = {other for other in store.URLS if store.load(other).is_real}
    assert arrived == {*store.URLS} - {name} and not (project / "data" / file).exists()


@pytest.mark.parametrize(
    ("size", "came", "seconds"),
    [
        # it never answers, as where no name is found
        (0, r"0 bytes in [12] seconds", 1.0),
        # it goes on and on, with short pauses
        (9, r"[1-9]\d+ bytes in [23] seconds", 1.5),
    ],
)
def test_fetch_has_a_limit_until_it_begins_and_in_all(project, monkeypatch, size, came, seconds):
    over = threading.Event()

    def drip(*_, **__):
        while not over.wait(0.05):
            yield b"x" * size

    @contextlib.contextmanager
    def slow(url, **_):
        if not size:
            over.wait()
        raw = SimpleNamespace(stream=drip)
        yield SimpleNamespace(raw=raw, raise_for_status=lambda: None)

    monkeypatch.setattr(requests, "get", slow)
    monkeypatch.setattr(store, "BEGINS", 1.0)
    monkeypatch.setattr(store, "IN_ALL", 1.5)
    begun = time.monotonic()
    with pytest.raises(store.DownloadFailed) as failed:
        store.download_missing()
    assert seconds <= time.monotonic() - begun < 1.9 * seconds  # both at once
    over.set()
    assert len(re.findall(rf" \(\S+: {came}\)", str(failed.value))) == len(store.URLS)
    assert not (project / "data").exists()
