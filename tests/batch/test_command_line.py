"""What people see at the prompt: one line for every mistake, never a traceback."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from fake_project import NAME, make_project

from kbrepro import paths
from kbrepro.__main__ import main
from kbrepro.batch import run

ROOT = Path(__file__).parents[2]


@pytest.fixture
def root(tmp_path, monkeypatch):
    root = make_project(tmp_path)
    monkeypatch.chdir(root / "notebooks")
    return root


def call(*arguments):
    return CliRunner().invoke(main, arguments)


def assert_one_line(result, message):
    """The command ended with this error, as click prints it, and nothing else went wrong."""
    assert isinstance(result.exception, SystemExit)
    assert result.exit_code == 1
    [line] = [line for line in result.output.splitlines() if line.startswith("Error: ")]
    assert message in line
    assert "Traceback" not in result.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["reproduce", "--profile", "full"],
            "profile = 'full' is not allowed: profile must be one of 'paper'",
        ),
        (
            ["reproduce", "--profile", "quick", "--fresh", "Fig. 1"],
            "--fresh = 'Fig. 1' is not allowed: --fresh must be one of '*'",
        ),
        (
            ["refresh", "02_none"],
            f"notebook = '02_none' is not allowed: notebook must be one of '{NAME}'",
        ),
        (
            ["report"],
            "no notebook was run in results/paper: first `kbrepro reproduce --profile paper`",
        ),
        (["report", "--profile", "quick"], "first `kbrepro reproduce --profile quick`"),
        (
            ["report", "--profile", ""],
            "profile = '' is not allowed: profile must be one of 'paper', 'next', 'quick'",
        ),
    ],
)
def test_mistakes_are_one_line(root, arguments, message):
    assert_one_line(call(*arguments), message)


@pytest.mark.parametrize("command", ["reproduce", "report", "claims"])
def test_outside_the_repository_the_message_says_so(tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    # as installed
    monkeypatch.setattr(paths, "__file__", str(tmp_path / "site-packages/kbrepro/paths.py"))
    message = (
        "a checkout of the kbrepro repository: no folder with notebooks/ and kbrepro/ at or above"
        f" {tmp_path}"
    )
    assert_one_line(call(command), message)


def test_reproduce_passes_everything_on_and_says_where_and_what_next(root, monkeypatch):
    seen = []
    monkeypatch.setattr(
        run,
        "run_notebooks",
        lambda *arguments: seen.append(arguments) or [root / "results/quick/x"],
    )
    result = call(*f"reproduce {NAME} --profile quick --fresh".split(), "Fig. 1")
    lines = "results/quick/x\nNext: kbrepro report --profile quick\n"
    assert (result.exit_code, result.output) == (0, lines)
    assert call("reproduce", "--fresh").exit_code == 0
    assert seen == [((NAME,), "quick", root, ("Fig. 1",)), ((), "paper", root, ("*",))]


def test_claims_prints_a_line_a_claim_or_all_of_one(root):
    text = (ROOT / "results/paper/05_gpn_ucb_chains/claims.json").read_text(encoding="utf-8")
    paths.write_text(root / f"results/paper/{NAME}/claims.json", text)
    found = json.loads(text)
    lines = call("claims").output.splitlines()
    assert len(lines) == len(found["claims"] + found["theorems"])
    first, last = found["claims"][0], found["theorems"][-1]
    both = call("claims", first["id"].lower(), last["id"]).output
    assert first["quote"] in both and last["checked"] in both and " a rerun" in both
    result = call("claims", "9-ae")
    assert_one_line(
        result,
        "claim = '9-ae' is not allowed: claim must be one that `kbrepro claims` prints, such as"
        " 5-AE, ",
    )
    assert result.output.count(" 5-") == 5  # not all of them


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1", "ascii"])
def test_a_terminal_that_is_not_utf_8_shows_what_it_can(encoding, monkeypatch):
    monkeypatch.chdir(ROOT)
    done = CliRunner(charset=encoding).invoke(main, ["claims", "4-K"])
    assert done.exit_code == 0, done.output
    assert b" comes out again (uncertain): " in done.stdout_bytes


def test_fetch_without_a_network_says_in_one_line_what_that_means(root, monkeypatch):
    (root / "data").mkdir()
    monkeypatch.delenv("KBREPRO_DATA", raising=False)
    monkeypatch.setattr(socket, "getaddrinfo", lambda *args, **kwargs: int("no resolver"))
    result = call("data", "fetch")
    (line,) = result.output.splitlines()
    assert result.exit_code == 1 and line.startswith(
        "download failed: temperature (db.csail.mit.edu: invalid literal"
    )
    assert line.endswith(
        "; stored results are shown all the same, and quick runs play simulated data"
    )


def test_data_prints_what_is_found_and_a_directory_that_is_not_there_is_one_line(
    root, monkeypatch, tmp_path
):
    monkeypatch.setenv("KBREPRO_DATA", str(tmp_path))
    result = call("data")
    assert result.exit_code == 0 and f"data directory: {tmp_path}" in result.output
    monkeypatch.setenv("KBREPRO_DATA", str(tmp_path / "none"))
    assert_one_line(call("data"), "is not allowed: it must be an existing directory")


def test_help_loads_the_face_of_the_package_and_click_and_nothing_heavier():
    heavy = [
        "IPython",
        "matplotlib",
        "nbformat",
        "pandas",
        "papermill",
        "requests",
        "scipy.stats",
        "sphinx",
        "yaml",
    ]
    code = f"""import runpy, sys
sys.argv = ["kbrepro", "--help"]
try:
    runpy.run_module("kbrepro", run_name="__main__")
finally:
    print([name for name in {heavy} if name in sys.modules], "numpy" in sys.modules)"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("[] True\n")
    assert all(f"  {command} " in done.stdout for command in main.commands)


def test_a_schedulers_signal_is_treated_as_ctrl_c(root, monkeypatch):
    def plays(run, fresh):
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(5)

    monkeypatch.setattr(run, "_run", plays)
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        result = call("reproduce", "--profile", "quick")
    finally:
        signal.signal(signal.SIGTERM, before)
    assert result.exit_code == 1 and "Aborted!" in result.output
    said = "interrupted; finished trials are stored, and the same command goes on from there"
    assert f"{NAME}: {said}" in result.output
