"""Every committed result is the file that a run wrote: no arm, gap or digit was changed by hand,
and none is lost.
"""

import shutil
import subprocess
from pathlib import Path

import pytest

from kbrepro import papers, paths
from kbrepro.trials import store, sums

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


def another_arm(results):
    """Change trial 23 of the label `regret` by what the store itself writes."""
    settings, kept = store.opened(results / "played", "regret")
    kept.columns["policies", "BKB, qbar=4", "arms"][23, 700] += 1
    elsewhere = results.with_name("elsewhere")
    store.Store(elsewhere).keep(store.Job("regret", None, settings, 0, 0, len(kept.seconds)), kept)
    shutil.copy(elsewhere / "regret.npz", results / "played")


def another_verdict(results):
    text = (results / "claims.json").read_text(encoding="utf-8")
    (results / "claims.json").write_text(
        text.replace('"comes out again"', '"does not"', 1), encoding="utf-8"
    )


@pytest.mark.parametrize(
    ("fault", "line"),
    [
        (another_arm, f"regret.npz {CHANGED}"),
        (
            lambda results: (results / "played/regret.npz").unlink(),
            "regret.npz is listed in SHA256SUMS, but missing",
        ),
        (lambda results: (results / "played/regret.json").write_text(""), f"regret.json {CHANGED}"),
        (
            lambda results: (results / "played/new.npz").touch(),
            "new.npz is not listed in SHA256SUMS",
        ),
        (another_verdict, f"claims.json {CHANGED}"),
    ],
)
def test_every_change_is_named_with_its_file(results, fault, line):
    fault(results)
    assert sums.wrong(results) + sums.wrong(results / "played") == [line]


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
