"""README: short, its numbers those of the committed results, every code block runs. Docs: the same of their codes."""

import re
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from types import SimpleNamespace

import numpy as np
import pytest

import kbrepro as kb

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")

PAPER = ROOT / "results" / "paper"
needs_results = pytest.mark.skipif(not PAPER.is_dir(), reason="there is no results folder")


def blocks(text, language):
    fenced = re.findall(r"^ *```(\w*)\n(.*?)^ *```$", text, flags=re.S | re.M)
    return [code for name, code in fenced if name == language]


def test_the_readme_is_short_and_shows_a_picture_and_a_table_before_code():
    """At most 900 words, without addresses of links and rules of tables; no code of a claim, nothing generated."""
    text = re.sub(r"(?m)^\|[ |-]+\|$", "", re.sub(r"\]\([^)]*\)", "]", README))
    assert len(text.replace("|", " ").split()) <= 900
    before = README.partition("## Which rule")[0]
    assert (before.count("!["), before.count("\n| --- |"), before.count("```")) == (1, 1, 0)
    assert not re.findall(r"\b\d-[A-Z]{1,2}\b|<!--", README)


def test_the_examples_of_the_readme_run(tmp_path):
    """The first finds the top of the hill; the policy of the second can play."""
    own, mine = blocks(README, "python")
    (tmp_path / "own.py").write_text(own, encoding="utf-8")
    done = subprocess.run([sys.executable, "own.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "Warning" not in done.stderr, done.stderr
    x, y = map(float, re.findall(r"\d\.\d+", done.stdout))
    assert max(abs(x - 0.7), abs(y - 0.7)) < 0.11
    scope = {"__name__": "example"}
    exec(mine, scope)
    model = kb.Model(kb.grid(5), kb.SquaredExponential(0.3), 0.01)
    assert scope["Mine"](model, 9).ask(np.random.default_rng(1)) in range(5)


def test_the_rules_of_the_table_of_advice_pull_arms():
    table = README.partition("## Which rule should I use?")[2].partition("## Run it")[0]
    codes = re.findall(r"`(kb\.[^`]+\))`", table)
    model = kb.Model(kb.grid(5), kb.SquaredExponential(0.3), 0.01, norm=2.0)
    assert len(codes) == 3
    for code in codes:
        assert eval(code, {"kb": kb, "model": model}).ask(np.random.default_rng(1)) in range(5)


def test_examples_of_docs_that_no_other_test_runs(monkeypatch):
    """The kept trials of Table 1 can be read; the SLURM script needs a package that is not installed: a substitute."""
    pages = {path.name: blocks(path.read_text(encoding="utf-8"), "python") for path in (ROOT / "docs").glob("*.md")}
    elsewhere = {"own_problem.md", "beside.md", "many_arms.md"}  # test_front_door, batch/test_beside, test_lattice
    here = {"read_results.md", "several_machines.md"}
    assert {name for name, codes in pages.items() if codes} == elsewhere | here
    cluster = SimpleNamespace(job_script=str, scale=lambda jobs: None, scheduler_address="tcp://")
    monkeypatch.setitem(sys.modules, "dask_jobqueue", SimpleNamespace(SLURMCluster=lambda **_: cluster))
    monkeypatch.chdir(ROOT)
    scope = {}
    for name in here:
        for code in pages[name] if name == "several_machines.md" or PAPER.is_dir() else ():
            exec(dedent(code), scope)
    assert not PAPER.is_dir() or set(scope["tidy"]["algorithm"]) >= {"IGP-UCB", "π-GP-UCB"}
