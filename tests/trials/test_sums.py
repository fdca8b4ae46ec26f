"""Every committed result is the file that a run wrote: no arm, gap or digit was changed by hand,
and none is lost.
"""

import shutil
import subprocess
from pathlib import Path

import pytest

from kbrepro import papers, paths
from kbrepro.trials import sums

RESULTS = Path(__file__).parents[2] / "results" / "paper"
NAME = "04_bkb_variance_starvation"
CHANGED = "was changed: it has another checksum than in SHA256SUMS"


@pytest.mark.parametrize("paper", papers.found().values(), ids=lambda paper: paper.notebook)
def test_what_is_committed_is_what_was_written(paper):
    results = RESULTS / paper.notebook
    assert sums.wrong(results) == sums.wrong(results / "played") == []


@pytest.mark.parametrize(
    "played", sorted(RESULTS.glob("*/played")), ids=lambda path: path.parent.name
)
def test_every_label_is_listed_with_both_its_files(played):
    labels = {path.stem for path in played.glob("*.npz")}
    both = {f"{label}.{end}" for label in labels for end in ("npz", "json")}
    of_edition = {paths.EDITION, paths.RERUN}
    assert sums.listed(played).keys() - of_edition == both


@pytest.fixture
def results(tmp_path):
    """A copy of what is committed of 04."""
    return shutil.copytree(RESULTS / NAME, tmp_path / NAME)


def change(path):
    path.write_bytes(path.read_bytes() + b" ")


@pytest.mark.parametrize(
    ("fault", "name", "said"),
    [
        (change, "played/regret.npz", CHANGED),
        (change, "played/regret.json", CHANGED),
        (change, "claims.json", CHANGED),
        (Path.unlink, "played/regret.npz", "is listed in SHA256SUMS, but missing"),
        (Path.touch, "played/new.npz", "is not listed in SHA256SUMS"),
    ],
)
def test_every_change_is_named_with_its_file(results, fault, name, said):
    path = results / name
    fault(path)
    assert sums.wrong(results) + sums.wrong(results / "played") == [f"{path.name} {said}"]


def test_letters_in_another_unicode_form_are_the_same_file(tmp_path):
    (tmp_path / "Mate\u0301rn.npz").touch()
    paths.write_text(tmp_path / sums.NAME, sums.text({"Mat\u00e9rn.npz": sums.checksum(b"")}))
    assert sums.wrong(tmp_path) == []


def test_sha256sum_reads_the_same_file(results):
    if not shutil.which("sha256sum"):
        pytest.skip("there is no sha256sum")
    command = ["sha256sum", "--check", "--strict", "--quiet", sums.NAME]
    for code in (0, 1):
        done = subprocess.run(command, cwd=results, capture_output=True, text=True, check=False)
        found = done.returncode, "run.json: FAILED" in done.stdout
        assert found == (code, bool(code)), done.stderr
        (results / "run.json").write_text("{}")
