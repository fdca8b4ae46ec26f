"""What people see at the prompt: one line for every mistake, never a traceback."""

import json
import os
import subprocess
import sys

import pytest
from click.testing import CliRunner
from fake_project import NAME, make_project

from kbrepro.__main__ import main
from kbrepro.batch import run
from kbrepro.data import store
from kbrepro.site import build


@pytest.fixture
def root(tmp_path, monkeypatch):
    root = make_project(tmp_path)
    monkeypatch.chdir(root / "notebooks")
    return root


def call(*arguments):
    return CliRunner().invoke(main, arguments)


def assert_one_line(result, message, code=1):
    """The command ended with this error, as click prints it, and nothing else went wrong."""
    assert isinstance(result.exception, SystemExit)
    assert result.exit_code == code
    [line] = [line for line in result.output.splitlines() if line.startswith("Error: ")]
    assert message in line
    assert "Traceback" not in result.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["reproduce", "--set", "horizon=1e4"], "horizon = 10000.0 is not allowed: horizon must be an integer"),
        (["reproduce", "--set", "horizon"], "it must be name=value"),
        (["refresh", "02_none"], "notebook '02_none' is not there; allowed: none"),
        (["report"], "first run `kbrepro reproduce --profile quick`"),
        (["report", "--profile", "full"], "first run `kbrepro reproduce --profile full`"),
        (["claims"], "first run `kbrepro reproduce --profile paper`"),
    ],
)
def test_mistakes_are_one_line(root, arguments, message):
    assert_one_line(call(*arguments), message)


@pytest.mark.parametrize("jobs", ["0", "-1", "two"])
def test_jobs_are_checked(root, jobs):
    assert_one_line(call("reproduce", "--jobs", jobs), "--jobs", code=2)


@pytest.mark.parametrize("jobs", ["0", "two", "²", "1.5"])
@pytest.mark.parametrize("command", ["reproduce", "audit"])
def test_jobs_of_the_environment_are_checked(root, monkeypatch, command, jobs):
    (root / "results/paper" / NAME / "played").mkdir(parents=True)
    (root / "results/paper" / NAME / "played" / "x.npz").touch()
    monkeypatch.setenv("KBREPRO_JOBS", jobs)
    assert_one_line(call(command), f"KBREPRO_JOBS = {jobs!r} is not allowed")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_a_terminal_that_is_not_utf_8_shows_what_it_can(tmp_path, encoding):
    code = "import click; from kbrepro.__main__ import main\n"
    code += "main.add_command(click.command('greek')(lambda: print('width', chr(0x3b2), chr(0xe9))))\nmain(['greek'])"
    environment = os.environ | {"PYTHONIOENCODING": encoding}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, env=environment)
    assert done.returncode == 0 and done.stdout.startswith(b"width "), done.stderr


@pytest.mark.parametrize("command", ["reproduce", "refresh", "report", "claims", "status"])
def test_outside_the_repository_the_message_says_so(tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    assert_one_line(
        call(command),
        f"a checkout of the kbrepro repository: no folder with notebooks/ and kbrepro/ at or above {tmp_path}",
    )


def test_reproduce_passes_everything_on_and_says_where_and_what_next(root, monkeypatch):
    seen = []
    monkeypatch.setattr(run, "run", lambda *arguments: seen.append(arguments) or [root / "results" / "x"])
    words = f"{NAME} --profile paper --set horizon=5 --set sizes=[3] --jobs 2 --fresh".split()
    result = call("reproduce", *words, "Fig. 1")
    said = "x: 0 of 0 claims of the paper stand.\n  results/x/notebook.ipynb\nNext: kbrepro report --profile .\n"
    assert (result.exit_code, result.output) == (0, said)
    assert call("reproduce", "--fresh").exit_code == 0
    assert seen[0] == ([NAME], "paper", {"horizon": 5, "sizes": [3]}, 2, root, ("Fig. 1",))
    assert seen[1] == ([], "quick", {}, None, root, ("*",))


def test_report_prints_where_to_look(root, monkeypatch):
    monkeypatch.setattr(build, "build", lambda root, results: results / "report" / "index.html")
    assert call("report", "--profile", "custom/12").output == "results/custom/12/report/index.html\n"


def test_claims_and_status_print_what_the_full_scale_runs_are(root):
    folder = root / "results" / "paper" / NAME
    folder.mkdir(parents=True)
    (folder / "claims.json").write_text('{"rules": "other", "expected": [], "claims": []}')
    assert call("claims").output.startswith(f"{NAME}\n")
    assert call("status").output == f"{NAME}: no full-scale run is here; never audited\n"
    record = dict.fromkeys(("quote", "where", "finds", "note", "deciding", "sanity_check", "substitute_data"), "")
    record |= {"id": "1-A", "verdict": "partly", "counts_as": "theorem", "says": "It is.", "changes": []}
    content = {"rules": "other", "expected": [], "claims": [record | {"parts": {}}]}
    (folder / "claims.json").write_text(json.dumps(content))
    assert call("status").output == f"{NAME}: no played trials are kept; never audited\n"
    (folder / "claims.json").write_text('{"rules": "0", "expec')
    assert_one_line(call("claims"), f"results/paper/{NAME}/claims.json cannot be read")


def test_data_prints_what_is_found_and_a_directory_that_is_not_there_is_one_line(root, monkeypatch, tmp_path):
    monkeypatch.setenv("KBREPRO_DATA", str(tmp_path))
    result = call("data")
    assert result.exit_code == 0 and f"data directory: {tmp_path}" in result.output
    monkeypatch.setenv("KBREPRO_DATA", str(tmp_path / "none"))
    assert_one_line(call("data"), "no such directory")


def test_a_failed_download_is_an_error_unless_only_missing_data_was_wanted(root, monkeypatch):
    monkeypatch.delenv("KBREPRO_DATA", raising=False)
    monkeypatch.setattr(store, "URLS", dict.fromkeys(store.URLS, "nonsense://"))
    assert_one_line(call("data", "fetch"), "no data from nonsense://")
    result = call("data", "fetch", "--if-missing")
    assert result.exit_code == 0 and result.output.endswith("; going on without data\n")


def test_help_loads_the_face_of_the_package_and_click_and_nothing_heavier():
    heavy = ("IPython", "matplotlib", "nbformat", "pandas", "papermill", "requests", "scipy.stats", "sphinx", "yaml")
    code = f"""import runpy, sys
sys.argv = ["kbrepro", "--help"]
try:
    runpy.run_module("kbrepro", run_name="__main__")
finally:
    print([name for name in {heavy} if name in sys.modules], "numpy" in sys.modules)"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("[] True\n")
    for command in ("beside", "claims", "compare", "data", "refresh", "report", "reproduce", "scorecard", "status"):
        assert f"  {command} " in done.stdout
