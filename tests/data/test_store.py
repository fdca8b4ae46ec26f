"""Finding, reading, cleaning, fetching; the substitute. Real-data checks need KBREPRO_DATA."""

import gzip
import hashlib
import http.server
import os
import re
import shutil
import threading
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from test_cmu_light import mat_of, tables

from kbrepro.data import cmu_light, intel_lab, store

DAY = ("2004-03-04",)
REAL = Path(os.environ.get("KBREPRO_DATA") or "nowhere", "intel-lab")


@pytest.fixture
def lab(tmp_path, monkeypatch):
    """An empty data directory that KBREPRO_DATA points at; returns its intel-lab folder."""
    monkeypatch.setenv("KBREPRO_DATA", str(tmp_path))
    folder = tmp_path / "intel-lab"
    folder.mkdir()
    return folder


def one_day(motes=None, day=DAY[0]):
    """Rows of a made-up day: a reading in two minutes of three (two in the first hour) of every mote."""
    rng = np.random.default_rng(5)
    minutes = [minute for minute in range(1440) if minute % 3]
    stamps = [f"{m // 60:02}:{m % 60:02}:{s}" for m in minutes for s in ("07.5", "41.25")[: 1 + (m < 60)]]
    motes = motes or range(1, 55)
    table = pd.DataFrame({"date": day, "time": stamps * len(motes), "epoch": 7})
    table["moteid"] = np.repeat(motes, len(stamps))
    table["temperature"] = rng.uniform(15, 30, len(table)).round(4)
    return table.assign(humidity=35.5, light=46.92, voltage=2.65)


def write_extract(folder, table):
    table.to_csv(folder / store.EXTRACT, index=False)


def write_owners(folder, table, extra=(), packed=True):
    text = table.to_csv(sep=" ", index=False, header=False)
    text = "".join(f"{row}\n" for row in extra) + text + "".join(f"{row}\n" for row in extra)
    (folder / "data.txt.gz").write_bytes(gzip.compress(text.encode(), 1) if packed else text.encode())


def write_locations(folder):
    (folder / "mote_locs.txt").write_text("".join(f"{mote} {mote / 2} 3\n" for mote in range(1, 55)))


BAD_DAYS = ["2004-03-04", [], ["2004-3-4"], ["2004-02-30"], DAY * 2, [20040304]]
BAD_MOTES = [[], [0], [55], [1, 1], ["1"]]
SUBSTITUTE = [21.0628, 24.0404, 25.2189]
LOGIN = b"<html>please log in</html>"

# rows of the kinds that the owner's file has and the extract has not
ODD_ROWS = (
    "2004-03-04 03:38:15.757551 2 1",
    "2004-03-04 03:38:16 2",
    "2004-03-05 08:29:04 6000 65407 294.261 36 41 2.6",
    "2004-03-04 08:29:04 6000 65407 294.261 36 41 2.6",
    "2004-03-04 04:01:02.5 9 1 122.153 -3.9 11.04 2.03",
    "2004-03-04 04:01:03 9 18 62.7 -3.9  2.03",
    "2004-03-04 05:01:03 9 18 62.7 -3.9 1 2.03 trailing words",
)


needs_lab = pytest.mark.skipif(not REAL.is_dir(), reason="KBREPRO_DATA names no directory with intel-lab/")


@needs_lab
def test_real_data_gives_the_numbers_of_its_readme():
    data = store.load("temperature")
    train, test = store.train_test(data)
    assert data.is_real and data.unit == "°C" and data.readings.shape == (7200, 46)
    assert (train.shape, test.shape) == ((4800, 46), (2400, 46))
    assert not np.isnan(data.readings).any()
    assert data.readings.var(axis=0, ddof=1).mean() == pytest.approx(10.00, abs=0.005)
    assert train.var(axis=0, ddof=1).mean() == pytest.approx(9.39, abs=0.005)
    assert data.times[0] == pd.Timestamp("2004-03-04") and data.times[-1] == pd.Timestamp("2004-03-08 23:59")
    assert data.locations.shape == (46, 2) and data.locations[0].tolist() == [21.5, 23.0]
    assert "DIFFERS" not in store.status()


@needs_lab
def test_mornings_of_51_motes_have_the_variance_of_the_readme():
    data = store.load("temperature", motes=intel_lab.REPORTING)
    morning = data.readings[(data.times.hour == 8) & (data.times.day >= 6)]
    assert morning.shape == (180, 51)
    assert morning.var(axis=0, ddof=1).mean() / 20 == pytest.approx(0.29, abs=0.005)


@pytest.mark.parametrize("packed", [True, False])  # a web server may unpack it on its way
def test_extract_and_owners_format_give_the_same_table(lab, tmp_path, monkeypatch, packed):
    table = one_day()
    write_extract(lab, table)
    first = store.load("temperature", DAY)
    second = tmp_path / "second" / "intel-lab"
    second.mkdir(parents=True)
    write_owners(second, table, ODD_ROWS, packed)
    monkeypatch.setenv("KBREPRO_DATA", str(second.parent))
    other = store.load("temperature", DAY)
    np.testing.assert_array_equal(first.readings, other.readings)
    assert (first.source, other.source) == (store.EXTRACT, "data.txt.gz") and first.checksum == other.checksum
    assert first.sensors == other.sensors and first.times.equals(other.times)
    assert "DIFFERS" in store.status()


def test_cleaning_minute_means_interpolation_and_edges(lab):
    table = one_day()
    write_extract(lab, table)
    data = store.load("temperature", DAY)
    mine = table[table.moteid == 1].temperature.to_numpy()[:80].reshape(40, 2).mean(axis=1)
    column = data.readings[:, 0]
    np.testing.assert_allclose(column[1:3], mine[:2])
    np.testing.assert_allclose(column[3], (mine[1] + mine[2]) / 2)  # a gap of one minute
    np.testing.assert_allclose(column[60], (column[59] + column[61]) / 2)  # at the edge of an hour, too
    assert column[0] == column[1]  # the first minute takes the nearest reading
    assert data.sensors == [m for m in range(1, 55) if m not in {5, 8, 12, 15, 18, 30, 33, 39}]
    assert data.locations is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["humidity"], "name = 'humidity' is not allowed: .*'temperature'"),
        *((["temperature", days], r"days = .* must be a list of distinct days 'YYYY-MM-DD'") for days in BAD_DAYS),
        *((["temperature", DAY, motes], r"motes = .* distinct numbers from 1 to 54") for motes in BAD_MOTES),
        (["temperature", ["2004-03-04", "2004-03-09"]], "0% of the mote-minutes of 2004-03-09"),
    ],
)
def test_impossible_names_days_and_motes_say_what_is_allowed(lab, arguments, message):
    write_extract(lab, one_day())
    with pytest.raises(ValueError, match=message):
        store.load(*arguments)


def test_other_days_come_from_the_owners_file_when_it_is_there(lab):
    write_extract(lab, one_day())
    write_owners(lab, one_day(day="2004-03-01"))
    assert store.load("temperature", ["2004-03-01"]).source == "data.txt.gz"
    assert store.load("temperature", DAY).source == store.EXTRACT


def cut_short(write, folder, size):
    write(folder, one_day())
    (path,) = folder.iterdir()
    path.write_bytes(path.read_bytes()[:size])


DAMAGE = {
    "truncated gz": partial(cut_short, write_extract, size=100_000),
    "wrong columns": lambda folder: write_extract(folder, one_day().rename(columns={"moteid": "sensor"})),
    "wrong times": lambda folder: write_extract(folder, one_day().assign(time="noon")),
    "motes missing": lambda folder: write_extract(folder, one_day(range(1, 50))),
    "rows missing": lambda folder: write_extract(folder, one_day()[::5]),
    "a web page": lambda folder: (folder / "data.txt.gz").write_text("<html>\nNot here today\n</html>\n"),
    "bytes": lambda folder: (folder / "data.txt.gz").write_bytes(b"\x1f\x8b" + bytes(range(256)) * 9),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_file_is_named_and_never_replaced_by_the_substitute(lab, kind):
    DAMAGE[kind](lab)
    (file,) = lab.iterdir()
    with pytest.raises(store.DamagedFile, match=file.name):
        store.load("temperature", DAY)


@pytest.mark.parametrize("text", ["1 2 3\n", "1 x 3\n", "<html>"])
def test_damaged_locations_are_named(lab, text):
    write_extract(lab, one_day())
    (lab / "mote_locs.txt").write_text(text)
    with pytest.raises(store.DamagedFile, match=r"mote_locs\.txt"):
        store.load("temperature", DAY)


def test_empty_directory_gives_the_labelled_substitute_whatever_the_project_holds(tmp_path, monkeypatch):
    project = tmp_path / "project"
    (project / "data" / "intel-lab").mkdir(parents=True)
    write_extract(project / "data" / "intel-lab", one_day())
    monkeypatch.setattr(store, "project_root", lambda: project)
    monkeypatch.delenv("KBREPRO_DATA", raising=False)
    assert store.load("temperature", DAY).is_real
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv("KBREPRO_DATA", str(tmp_path / "empty"))
    data = store.load("temperature", DAY)
    assert not data.is_real and data.source == "simulated substitute"
    assert "sha256" not in store.status() and "substitute" in store.status()


@pytest.mark.parametrize(
    ("name", "shape"),
    [("temperature", (7200, 46)), ("light", (793, 41)), ("traffic_usc", (600, 40)), ("traffic_metr_la", (600, 40))],
)
def test_without_files_a_labelled_substitute_that_resembles_readings(lab, name, shape):
    data = store.load(name)
    assert not data.is_real and data.source == "simulated substitute" and f"{name}: not found" in store.status()
    assert data.readings.shape == shape and data.readings.min() > 0 and len(data.times) == shape[0]
    apart = np.linalg.norm(data.locations[:, None] - data.locations, axis=2)
    correlation = np.corrcoef(data.readings.T)
    assert correlation[apart < 5].mean() > correlation[apart > 25].mean() + 0.1
    assert len(set(data.readings[shape[0] // 2 :].argmax(axis=1))) > 5  # the largest reading moves
    if name == "temperature":  # the same on every machine
        assert data.readings[[0, 3600, -1], [0, 20, -1]].tolist() == SUBSTITUTE


def test_readme_lists_the_recorded_sums():
    text = (Path(__file__).parents[2] / "data" / "README.md").read_text(encoding="utf-8")
    assert all(Path(name).name in text and sha256 in text for name, sha256 in store.RECORDED.items())


def test_a_mistyped_directory_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setenv("KBREPRO_DATA", str(tmp_path / "dtaa"))
    with pytest.raises(ValueError, match=r"KBREPRO_DATA = .*dtaa.* must be an existing directory"):
        store.load("temperature")


def test_all_motes_that_report_on_request(lab):
    write_extract(lab, one_day())
    write_locations(lab)
    data = store.load("temperature", DAY, intel_lab.REPORTING)
    assert data.sensors == [m for m in range(1, 55) if m not in {5, 15, 18}]
    assert data.readings.shape == (1440, 51) and data.locations.shape == (51, 2)
    kept = [data.sensors.index(mote) for mote in intel_lab.MOTES]
    np.testing.assert_array_equal(data.readings[:, kept], store.load("temperature", DAY).readings)


def test_shared_arrays_are_read_only(lab):
    data = store.load("temperature")
    assert store.load("temperature", list(store.DAYS)) is data
    with pytest.raises(ValueError, match="read-only"):
        data.readings[0, 0] = 1


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project without data, and KBREPRO_DATA unset."""
    monkeypatch.delenv("KBREPRO_DATA", raising=False)
    monkeypatch.setattr(store, "project_root", lambda: tmp_path / "project")
    monkeypatch.setattr(store, "DAYS", DAY)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    return tmp_path / "project"


@pytest.fixture
def server(tmp_path, monkeypatch):
    """A web server on this machine in the owners' place; returns the folder it serves."""
    folder = tmp_path / "served"
    folder.mkdir()
    handler = partial(http.server.SimpleHTTPRequestHandler, directory=str(folder))
    handler.func.log_message = lambda *args: None
    write_owners(folder, one_day(), ODD_ROWS)
    write_locations(folder)
    (folder / cmu_light.MAT).write_bytes(mat_of(*tables()))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as httpd:
        threading.Thread(target=httpd.serve_forever, args=(0.01,)).start()  # looks so often whether to end
        here = f"http://127.0.0.1:{httpd.server_port}"
        served = {name: {file: f"{here}/{Path(file).name}" for file in files} for name, files in store.URLS.items()}
        monkeypatch.setattr(store, "URLS", served)
        files = [file for files in served.values() for file in files]
        sums = {file: hashlib.sha256((folder / Path(file).name).read_bytes()).hexdigest() for file in files}
        monkeypatch.setattr(store, "RECORDED", sums)
        yield folder
        httpd.shutdown()


def test_fetch_brings_checked_files_and_only_what_is_missing(project, server):
    assert not store.load("temperature", DAY).is_real
    store.fetch()
    data = store.load("temperature", DAY)
    assert data.is_real and data.locations[0].tolist() == [0.5, 3.0] and store.load("light").is_real
    names = ["cmu-light/iw_data_all.mat", "intel-lab/data.txt.gz", "intel-lab/mote_locs.txt"]
    said = store.status()
    assert sorted(re.findall("^(.*), sha256", said, flags=re.M)) == names and "DIFFERS" not in said
    assert len([path for path in (project / "data").rglob("*") if path.is_file()]) == 3  # nothing temporary stays
    shutil.rmtree(server)
    store.fetch()  # the data is there: nothing is asked of the server


@pytest.mark.parametrize("name", ["data.txt.gz", "mote_locs.txt", cmu_light.MAT])
@pytest.mark.parametrize("content", [LOGIN, None])  # None: truncated
def test_fetch_refuses_wrong_content_says_so_and_brings_the_rest(project, server, name, content):
    right = (server / name).read_bytes()
    (server / name).write_bytes(right[: len(right) // 2] if content is None else content)
    with pytest.raises(store.DownloadFailed, match=rf"^no data from http://127\.0\.0\.1.*{re.escape(name)}.*$"):
        store.fetch()
    arrived = [path.name for path in (project / "data").rglob("*") if path.is_file()]
    assert name not in arrived and len(arrived) >= 1
    assert store.load("temperature", DAY).is_real == (name == cmu_light.MAT)
    assert store.load("light").is_real == (name != cmu_light.MAT)


def test_fetch_without_a_network_says_so_in_one_line(project, monkeypatch):
    monkeypatch.setattr(store, "URLS", {"light": dict.fromkeys(store.URLS["light"], "http://127.0.0.1:9/")})
    with pytest.raises(store.DownloadFailed, match="Connection"):
        store.fetch()


def test_fetch_leaves_a_directory_of_ones_own_alone(lab, project, monkeypatch):
    monkeypatch.setenv("KBREPRO_DATA", str(lab.parent))
    with pytest.raises(store.DownloadFailed, match="KBREPRO_DATA"):
        store.fetch()
    assert list(lab.iterdir()) == []
