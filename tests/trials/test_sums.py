"""Every committed result is the file that a run wrote: no arm, gap or digit was changed by hand,
and none is lost.
"""

import shutil
import subprocess
from pathlib import Path

import pytest
from kept_trials import kept_of
from test_rejudge import as_written, flat

from kbrepro import papers, paths
from kbrepro.claims import scorecard
from kbrepro.trials import store, sums

RESULTS = Path(__file__).parents[2] / "results" / "paper"
NAME, CHANGED = (
    "04_bkb_variance_starvation",
    "was changed: it has another checksum than in SHA256SUMS",
)


def changed(results, folder):
    """What is not as it was written; the claim is named, by judging all again, only where
    claims.json is another.
    """
    lines = sums.wrong(results) + [f"played/{line}" for line in sums.wrong(results / "played")]
    if any(line.startswith("claims.json was") for line in lines):
        lines += changed_claims(results, folder)
    return [f"{results.name}: {line}" for line in lines]


def changed_claims(results, folder):
    now = scorecard.of_paper(folder, kept_of(results / "played"))
    for kind, records in paths.read_json(results / "claims.json").items():
        for was, judged in zip(records, now[kind], strict=True):
            claim, again = judged.get("id", kind), as_written(judged, None)
            for name, value in flat(was).items():
                if value != again.get(name):
                    said = f"{name[1:]} is {value!r}, judged again {again.get(name)!r}"
                    yield f"claims.json: {claim}: {said}"


@pytest.mark.parametrize(("folder", "paper"), papers.found().items())
def test_what_is_committed_is_what_was_written(folder, paper):
    lines = changed(RESULTS / paper.notebook, folder)
    assert not lines, "\n".join(lines)


@pytest.mark.parametrize(
    "played", sorted(RESULTS.glob("*/played")), ids=lambda path: path.parent.name
)
def test_every_label_is_listed_with_both_its_files(played):
    labels = {path.stem for path in played.glob("*.npz")}
    both = {f"{label}.{end}" for label in labels for end in ("npz", "json")}
    assert sums.listed(played).keys() == both


@pytest.fixture
def results(tmp_path, monkeypatch):
    """A copy of what is committed of 04, with a table of 01; judging gives what is committed."""
    committed = paths.read_json(RESULTS / NAME / "claims.json")
    monkeypatch.setattr(scorecard, "of_paper", lambda *_: committed)
    folder = shutil.copytree(RESULTS / NAME, tmp_path / NAME)
    shutil.copytree(next(RESULTS.glob("01_*")) / "tables", folder / "tables")
    paths.write_text(folder / sums.NAME, sums.text(sums.of(folder)))
    return folder


def another_arm(results):
    """Change trial 23 of the label `regret` by what the store itself writes."""
    settings, kept = store.opened(results / "played", "regret")
    kept.columns["policies", "BKB", "arms"][23, 700] += 1
    elsewhere = results.with_name("elsewhere")
    store.Store(elsewhere).keep(store.Job("regret", None, settings, 0, 0, len(kept.seconds)), kept)
    shutil.copy(elsewhere / "regret.npz", results / "played")


def replace(results, name, old, new):
    text = (results / name).read_text(encoding="utf-8")
    assert old in text
    (results / name).write_text(text.replace(old, new, 1), encoding="utf-8")


VERDICT, TABLE = '"verdict": "comes out again"', "tables/fig5a_rules.csv"


@pytest.mark.parametrize(
    ("fault", "lines"),
    [
        (another_arm, [f"played/regret.npz {CHANGED}"]),
        (
            lambda results: (results / "played/regret.npz").unlink(),
            ["played/regret.npz is listed in SHA256SUMS, but"],
        ),
        (
            lambda results: (results / "played/regret.json").write_text(""),
            [f"played/regret.json {CHANGED}"],
        ),
        (
            lambda results: (results / "played/new.npz").touch(),
            ["played/new.npz is not listed in SHA256SUMS"],
        ),
        (lambda results: replace(results, TABLE, "1", "2"), [f"{TABLE} {CHANGED}"]),
        (
            lambda results: replace(results, "claims.json", VERDICT, '"verdict": "does not"'),
            [
                f"claims.json {CHANGED}",
                "claims.json: 4-B: verdict is 'does not', judged again 'comes out again'",
            ],
        ),
    ],
)
def test_every_change_is_named_with_its_notebook_and_file_and_claim(results, fault, lines):
    assert changed(results, "bkb") == []
    fault(results)
    for line, start in zip(changed(results, "bkb"), lines, strict=True):
        assert line.startswith(f"{NAME}: {start}")


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
