"""A batch that is only told: what would run, what it needed last, what is kept; nothing is executed or written."""

import json
import os
import subprocess
import sys

import joblib
import pytest
from click.testing import CliRunner
from fake_project import NAME, contents, make_project

from kbrepro import simulation
from kbrepro.__main__ import main
from kbrepro.batch import dry_run, process, provenance, run
from kbrepro.data import store


@pytest.fixture
def root(tmp_path, monkeypatch):
    root = make_project(tmp_path)
    monkeypatch.chdir(root)
    monkeypatch.setattr(store, "found", lambda: {"temperature": True, "light": False})
    return root


@pytest.fixture
def last(root):
    """Results of an earlier full-scale run."""
    folder = root / "results" / "paper" / NAME
    folder.mkdir(parents=True)
    parameters = {"horizon": 2000, "scale": 0.5, "sizes": [1, 2], "accident": ""}
    record = {"parameters": parameters, "compute_seconds": 600.0, "jobs": 3, "peak_megabytes": 512}
    (folder / "run.json").write_text(json.dumps(record))
    (folder / "trials.csv").write_text('label,trials,seconds\n"Fig. 1, a",40,500.00\n"Fig. 2",2,100.00\n')
    return folder


def told(*arguments):
    result = CliRunner().invoke(main, ["reproduce", "--dry-run", *arguments])
    assert result.exit_code == 0, result.output
    return result.output.splitlines()


def test_what_would_run_is_told_from_its_last_run_and_nothing_is_written(root, last):
    before = contents(root)
    assert told("--profile", "paper", "--jobs", "2") == [
        f"{NAME}: profile paper, to results/paper/{NAME}",
        "  minutes: about 5.0 where nothing is kept (600 s of trials / 2 workers)",
        "  memory: 512 MB at most in the last run, with 3 workers",
        "  kept: not known, the notebook has no seed (the last run played 42)",
        "data: temperature found, light simulated stand-in",
    ]
    assert contents(root) == before


def test_without_an_earlier_run_it_says_so(root, last):
    assert told()[:3] == [
        f"{NAME}: profile quick, to results/quick/{NAME}",
        "  minutes: not known, there is no run of it",
        "  memory: not known",
    ]
    assert told("--profile", "paper", "--set", "horizon=5")[0].endswith(f"/{NAME}")
    assert "results/custom/" in told("--profile", "paper", "--set", "horizon=5")[0]


def test_a_last_run_of_other_settings_or_of_an_older_kind_is_told(root, last):
    (last / "run.json").write_text(json.dumps({"parameters": {"horizon": 100, "scale": 0.5, "sizes": [1, 2]}}))
    assert told("--profile", "paper")[1:4] == [
        "  settings are not those of the last run there: horizon 2000 instead of 100, accident  instead of none",
        "  minutes: not known, the last run did not tell",
        "  memory: not known",
    ]


def test_mistakes_are_those_of_a_run(root):
    result = CliRunner().invoke(main, ["reproduce", "--dry-run", "02_none"])
    assert result.exit_code == 1 and f"notebook '02_none' is not there; allowed: {NAME}" in result.output


def test_kept_trials_are_counted_by_seed_as_the_simulation_keeps_them(tmp_path, monkeypatch):
    monkeypatch.setenv("KBREPRO_CACHE", str(tmp_path))
    monkeypatch.setenv("KBREPRO_JOBS", "1")
    with joblib.parallel_config("sequential"):
        simulation.map_trials(str, 5, 11, block=2)
        simulation.map_trials(str, 3, 12)
        simulation.map_trials(str, 5, 11, block=2)  # kept already
    assert dry_run.kept_trials(tmp_path) == {11: 5, 12: 3}
    [one, *others] = sorted(tmp_path.glob("**/_run_block/*/metadata.json"))
    for path in others:
        path.write_text("{")  # half written
    one.write_text(one.read_text().replace("numpy ", "numpy 0"))  # of another numpy
    assert dry_run.kept_trials(tmp_path) == {}
    assert dry_run.kept_trials(tmp_path / "none") == {}


def test_trials_of_the_seed_are_told(root, monkeypatch):
    effective = {"seed": 11}
    one = run.Run(root, NAME, "quick", root / "results" / "quick" / NAME, {}, effective)
    monkeypatch.setattr(dry_run, "kept_trials", lambda folder: {11: 7} if folder == root / ".cache" / "trials" else {})
    assert "  kept: 7 trials of seed 11" in dry_run.told([one], None).splitlines()


def test_workers_are_those_asked_for_else_of_the_environment_else_the_processors(monkeypatch):
    monkeypatch.setenv("KBREPRO_JOBS", "5")
    assert (provenance.workers(3), provenance.workers("4"), provenance.workers(None)) == (3, 4, 5)
    monkeypatch.delenv("KBREPRO_JOBS")
    assert provenance.workers(None) == os.cpu_count()


def test_memory_is_that_of_a_process_and_its_descendants():
    hold = "x = bytearray(b'1' * 80_000_000); print('ready', flush=True); input()"
    nested = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {hold!r}])"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", nested], **pipes) as child:
        assert child.stdout.readline() == "ready\n"
        assert 80 < process.megabytes(child.pid) < 400
        child.communicate("\n")
    assert process.megabytes(child.pid) == 0
