"""An audit plays kept trials again: the same code is green, code that pulls another arm once is red
and is named.
"""

import json
import re
import shutil
import sys
import time
from collections import Counter
from functools import partial

import numpy as np
import pytest
from click.testing import CliRunner
from fake_project import make_project, notebook_of, write_paper
from registering import registered

from kbrepro.__main__ import main
from kbrepro.batch import audit, play, run
from kbrepro.trials import replay, store
from kbrepro.trials.replay import blas_kernel

MODULE = """import kbrepro as kb

class Best(kb.Policy):
    def index(self):
        return {best}

def total(source, trial):
    return {{"sum": float(source(trial).expected_reward.sum()) {more}, "seconds": {seconds}}}
"""
PLAIN = {"best": "self.posterior.mean", "more": "", "seconds": "1.0"}
PLAN = """from functools import partial

import kbrepro as kb
from kbrepro.trials.simulation import Planned
import toy_rules


def experiments(seed, lengthscale):
    source = kb.GPDraw(kb.Matern(lengthscale, nu=2.5), kb.grid(30), 0.01)
    rules = {"EI": kb.ExpectedImprovement, "best": toy_rules.Best}
    return {
        "Fig. 1, d = 1": Planned(kb.Experiment(source, rules, 600), 4, seed),
        "sums": Planned(partial(toy_rules.total, source), 6, seed),
    }
"""
PARAMETERS = 'seed: int = 3\nlengthscale: float = 0.2\nresults_dir: str = ""'
NO_CELL_RUNS = "raise RuntimeError('an audit asks the plan alone')"


def write_rules(root, **what):
    (root / "toy_rules.py").write_text(MODULE.format(**PLAIN | what))
    for name in ("toy_rules", "kbrepro.papers.toy.experiments"):
        sys.modules.pop(name, None)
    return root


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """A project of one notebook, whose rules lie in a module of its own, played once."""
    notebook = notebook_of(PARAMETERS, NO_CELL_RUNS)
    root = write_rules(make_project(tmp_path_factory.mktemp("played"), "01_toy", notebook, "{}\n"))
    write_paper(root, "01_toy", PLAN)
    with pytest.MonkeyPatch.context() as patch, registered(root):
        patch.setattr(sys, "dont_write_bytecode", True)
        patch.syspath_prepend(str(root))
        (r,) = run.plan(["01"], "paper", root)
        assert play.play_missing(r)
    sys.modules.pop("toy_rules")
    facts = {"blas_kernels": [blas_kernel()], "parameters": r.parameters}
    (r.folder / "run.json").write_text(json.dumps(facts), encoding="utf-8")
    return root


@pytest.fixture
def project(played, tmp_path, monkeypatch):
    """A copy of that project; call it with what its module is to say instead."""
    root = tmp_path / "project"
    shutil.copytree(played, root)
    monkeypatch.chdir(root)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # a file may change twice in a second
    monkeypatch.syspath_prepend(str(root))
    with registered(root):
        yield partial(write_rules, root)


def audited(root, minutes=0.2):
    (planned,) = run.plan(["01"], "paper", root)
    return audit.audit_run(planned, minutes, seed=0)


def labels_of(done):
    return Counter(trial.label for trial in done.done)


def called(minutes=0.2):
    done = CliRunner().invoke(main, ["audit", "01", "--minutes", str(minutes)])
    return done.exit_code, done.output


def test_the_same_code_is_equal_throughout_in_processes(project, monkeypatch):
    monkeypatch.setenv("KBREPRO_JOBS", "2")
    done = audited(project(seconds="2.0"), 1.0)  # which are not compared
    assert labels_of(done) == {"Fig. 1, d = 1": 8, "sums": 6}
    assert str(done) == "01_toy: 14 of 14 replayed, 14 equal"


def test_what_differs_is_named_with_label_trial_and_round_and_the_exit_code_is_1(project):
    project(best="self.posterior.mean if self.t <= 500 else -self.posterior.mean")
    code, text = called()
    first, *lines = text.splitlines()
    assert (code, first) == (1, "01_toy: 14 of 14 replayed, 10 equal")
    trial = r"  differs: Fig\. 1, d = 1, trial \d: arm \d+ of best in round 501, stored arm \d+"
    assert len(lines) == 4 and all(re.fullmatch(trial, line) for line in lines)


def test_on_another_blas_kernel_all_is_said_and_nothing_is_red(project, monkeypatch):
    project(best="-self.posterior.mean", more="/ 0")
    monkeypatch.setattr(replay, "blas_kernel", lambda: "Zen9")
    code, text = called()
    assert code == 0 and text.startswith("01_toy: 14 of 14 replayed, 4 equal\n")
    assert (
        len(
            re.findall(
                r"  differs, as another numpy, .* may cause: sums, .*ZeroDivisionError", text
            )
        )
        == 6
    )
    last = f"BLAS kernel Zen9 here, {blas_kernel()} when played: last digits may differ"
    assert text.endswith(f"  {last}\n")


def test_minutes_are_wall_time(project):
    start = time.monotonic()
    done = audited(project(more="+ 0 * len([__import__('time').sleep(0.5)])"), 0.02)
    assert time.monotonic() - start < 6 and 0 < len(done.done) < 14 and done.is_green


def test_a_label_comes_first_once_and_what_takes_too_long_is_left_out(project, monkeypatch):
    jobs = {label: store.Job(label, len, None, 3, 0, 1) for label in "ab"}
    units = [audit.Unit(jobs["a"], n, None, 0.0) for n in range(50)]
    units.append(audit.Unit(jobs["b"], 0, None, 0.0))
    for seed in range(5):
        order = audit._order(units, np.random.default_rng(seed))
        assert {unit.job.label for unit in order[:2]} == {"a", "b"}
        assert Counter(order) == Counter(units)
    labels = store.labels
    monkeypatch.setattr(store, "labels", lambda folder: labels(folder) | {"sums": {"seconds": 1e6}})
    assert labels_of(audited(project())) == {"Fig. 1, d = 1": 8}


def test_an_audit_that_replayed_nothing_says_so_and_its_exit_code_is_1(project):
    project()
    line = "01_toy: 0 of 14 replayed, 0 equal: no trial was replayed; raise --minutes\n"
    assert called(1e-9) == (1, line)


def test_what_is_not_kept_is_said(project):
    folder = project() / "results/paper/01_toy/played"
    (folder / "sums.npz").unlink()
    code, text = called()
    assert code == 1 and "Error: 01_toy/played/sums.npz is missing" in text
    for name in ("sums.json", "SHA256SUMS"):
        (folder / name).unlink()
    code, text = called()
    assert code == 1 and "Error: label 'sums' is not stored. To play" in text
