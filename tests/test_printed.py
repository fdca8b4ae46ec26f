"""What pages print is what comes out, and code that they quote is that of the package."""

import json
import re

import numpy as np
import pytest
from click.testing import CliRunner
from pages import ROOT, blocks, page

import kbrepro as kb
from kbrepro.__main__ import main
from kbrepro.batch import beside

PATHS = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
PAGES = {path.name: path.read_text(encoding="utf-8") for path in PATHS}
#: What a reader types begins with one of these; a block that begins with another word was printed,
#: or is code.
TYPED = ("kbrepro", ".venv/bin/kbrepro", "make", "python3", "git")
PRINTED = {
    (name, code)
    for name, page in PAGES.items()
    for language in ("", "text")
    for code in blocks(page, language)
    if not code.startswith(TYPED)
}


def of(page):
    (code,) = [code for name, code in PRINTED if name == page]
    return code


def lines(text):
    return [line.rstrip() for line in text.strip().splitlines()]


def test_every_block_that_is_no_command_is_one_of_those_below():
    """What the page on replication prints is compared in test_replication."""
    names = sorted(name for name, _ in PRINTED)
    assert names == ["beside.md", "claims.md", *["replication.md"] * 4]


def test_the_claim_that_is_shown_is_that_of_the_paper():
    assert of("claims.md") in page("kbrepro/papers/igp_ucb/claims.py")


def test_the_rivals_of_the_printed_table_are_kept_trials_and_its_verdicts_follow_from_numbers():
    number = r"(-?[\d.]+)"
    rows = re.findall(
        rf"^(\S+) +{number} +{number} +{number} +{number} +(\w+)$", of("beside.md"), flags=re.M
    )
    kept = kb.played("03", "Table 1, d = 1")
    assert [row[0] for row in rows] == [*kept]
    (yours,) = re.findall(rf"^yours +{number}$", of("beside.md"), flags=re.M)
    for name, *numbers, verdict in rows:
        mean, difference, low, high = map(float, numbers)
        regret = kept[name].first(20).cumulative_regret[:, -1].mean()
        assert mean == pytest.approx(regret, rel=5e-4)
        assert float(yours) - mean == pytest.approx(difference, abs=1)
        assert (verdict == "higher", verdict == "lower") == (low > 0, high < 0)
        assert verdict in ("higher", "lower", "open")


def test_the_numbers_of_the_box_are_those_that_were_measured():
    jobs = json.loads(page("results/box.json"))["jobs"]
    for name, found in jobs.items():
        ends = found["simple_regret"][0], found["simple_regret"][-1]
        low, high = (f"{float(f'{end:.2g}'):f}".rstrip("0") for end in ends)
        row = f"| {name} | {low} to {high} | {np.median(found['seconds']):.2g} |"
        assert row in PAGES["own_problem.md"]


@pytest.mark.slow
def test_the_command_prints_the_table_of_the_page(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(beside, "save", lambda *_: "results/custom/beside/03/Table_1,_d_=_1")
    (tmp_path / "my_policy.py").write_text(
        blocks(PAGES["beside.md"], "python")[0], encoding="utf-8"
    )
    (command,) = re.findall(r"^kbrepro (beside \S+:.*)$", PAGES["beside.md"], flags=re.M)
    words = [word.strip('"') for word in re.findall(r'"[^"]*"|\S+', command)]
    words[1] = str(tmp_path / words[1])
    assert lines(CliRunner().invoke(main, words).stdout) == lines(of("beside.md"))
