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

import kbrepro as kb
from kbrepro.__main__ import main
from kbrepro.batch import audit, play, run
from kbrepro.trials import replay, simulation, store
from kbrepro.trials.replay import blas_kernel
from kbrepro.trials.store.flat import flat

MODULE = """import kbrepro as kb

class Rule(kb.UCB):
    'GP-UCB.'
    {index}

class Best(kb.Policy):
    def index(self):
        return {best}

def total(source, trial):
    return {{"sum": float(source(trial).expected_reward.sum()) {more}, "seconds": {seconds}}}
"""
PLAIN = {"index": "", "best": "self.posterior.mean", "more": "", "seconds": "1.0"}
PLAN = """from functools import partial

import kbrepro as kb
from kbrepro.trials.simulation import Planned
import toy_rules


def experiments(seed, lengthscale):
    source = kb.GPDraw(kb.Matern(lengthscale, nu=2.5), kb.grid(30), 0.01)
    rules = {"ours": partial(toy_rules.Rule, width=kb.Srinivas2010(0.1)), "best": toy_rules.Best}
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
        patch.setenv("KBREPRO_JOBS", "1")
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
    monkeypatch.setenv("KBREPRO_JOBS", "1")
    with registered(root):
        yield partial(write_rules, root)


def audited(root, minutes=0.2, seed=0):
    (planned,) = run.plan(["01"], "paper", root)
    return audit.audit_run(planned, minutes, seed)


def called(minutes=0.2):
    return CliRunner().invoke(main, ["audit", "01", "--minutes", str(minutes)])


def test_the_same_code_is_equal_throughout_in_processes(project, monkeypatch):
    monkeypatch.setenv("KBREPRO_JOBS", "2")
    done = audited(project(), 1.0)
    assert Counter(done.equal) == {"Fig. 1, d = 1": 8, "sums": 6}
    assert str(done) == "01_toy: 14 of 14 replayed, 14 equal"


def test_a_rule_that_differs_after_round_500_is_named_with_label_trial_and_round(project):
    done = audited(project(best="self.posterior.mean if self.t <= 500 else -self.posterior.mean"))
    said = re.compile(r"Fig\. 1, d = 1, trial \d: arm \d+ of best in round 501, where it was \d+$")
    assert len(done.differ) == 4 and all(map(said.match, done.differ)) and len(done.equal) == 10


def test_another_constant_in_a_width_is_red_and_the_exit_code_is_1(project):
    project(
        index=(
            "def index(self):\n        return self.posterior.mean + 0.9 * self.width(self) *"
            " self.posterior.sd"
        )
    )
    result = called()
    assert result.exit_code == 1 and "differs: Fig. 1, d = 1, trial " in result.output


def test_another_number_is_red_other_seconds_are_not_and_code_that_fails_is(project):
    assert audited(project(seconds="2.0")).differ == []
    said = "sum; no arms are kept to compare; numbers, by at most 2.0e-07 of their size"
    assert {text.split(": ")[1] for text in audited(project(more="* (1 + 2e-7)")).differ} == {said}
    assert all("ZeroDivisionError" in text for text in audited(project(more="/ 0")).differ)


def test_another_blas_kernel_than_the_one_that_played_is_said(project, monkeypatch):
    """There nothing is red, but all is said."""
    turned = "def index(self):\n        return -self.posterior.mean"
    root = project(index=turned, best="-self.posterior.mean", more="* 1.1")
    assert "BLAS" not in str(done := audited(root)) and len(done.differ) == 14
    monkeypatch.setattr(replay, "blas_kernel", lambda: "Zen9")
    done = audited(root)
    assert f"BLAS kernel Zen9 here, {blas_kernel()} when played" in str(done)
    assert (len(done.told), done.differ) == (14, []) and str(done).count(
        "differs as another stack may: sums, "
    ) == 6
    assert str(done).startswith("01_toy: 14 of 14 replayed, 0 equal") and called().exit_code == 0


def test_minutes_are_wall_time(project):
    start = time.monotonic()
    done = audited(project(more="+ 0 * len([__import__('time').sleep(0.5)])"), 0.02)
    assert time.monotonic() - start < 6 and 0 < len(done.equal) < 14 and not done.differ


SOURCE = kb.GPDraw(kb.Matern(0.2, nu=2.5), kb.grid(30), 0.01)


@pytest.mark.parametrize("arms", [True, False])
def test_what_is_kept_of_a_run_is_compared_with_or_without_its_arms(arms):
    rules = {"mean": kb.MeanOnly, "variance": kb.VarianceOnly}
    played = partial(simulation.play_trial, kb.Experiment(SOURCE, rules, 40), arms=arms)
    swapped = partial(
        simulation.play_trial, kb.Experiment(SOURCE, {"mean": kb.VarianceOnly}, 40), arms=arms
    )
    before = flat(played(kb.Trial(3, 0)))
    job = store.Job("it", played, {}, 3, 0, 1)
    assert audit.replayed(job, 0, before, "mean") == ("", 0.0)
    differ, _ = audit.replayed(job._replace(function=swapped), 0, before, "mean")
    last = differ.split("; ")[-1]
    assert last.startswith("arm " if arms else "policies/mean/arms_digest")
    assert "alone" not in differ


@pytest.mark.parametrize(("arms", "share"), [(True, 1e-7), (False, 1e-4)])
def test_the_same_arms_with_other_numbers_are_red_and_said_to_be_the_same(arms, share):
    def job(larger):
        def source(trial):
            problem = SOURCE(trial)
            return kb.Problem(problem.model, problem.expected_reward * larger)

        experiment = kb.Experiment(source, {"variance": kb.VarianceOnly}, 40)
        return store.Job("it", partial(simulation.play_trial, experiment, arms=arms), {}, 3, 0, 1)

    differ, by = audit.replayed(
        job(1 + share), 0, flat(job(1.0).function(kb.Trial(3, 0))), "variance"
    )
    where, how = differ.split("; ")
    assert where.startswith("gaps, at " if arms else "policies/variance/totals, at ")
    size = float(re.search(r"^the same arms, numbers alone, by at most (\S+) of", how)[1])
    assert size == pytest.approx(by, rel=0.05) and size == pytest.approx(share, rel=0.05)


def test_a_label_comes_first_once_and_what_takes_too_long_is_left_out(project, monkeypatch):
    units = [audit.Unit("a", n, None, 0.0) for n in range(50)] + [audit.Unit("b", 0, None, 0.0)]
    for seed in range(5):
        order = audit._order(units, np.random.default_rng(seed))
        assert {unit.label for unit in order[:2]} == {"a", "b"} and sorted(order) == sorted(units)
    units_of = audit._units
    long = {"sums": 1e6, "Fig. 1, d = 1": 0.0}
    monkeypatch.setattr(
        audit, "_units", lambda *pair: [u._replace(seconds=long[u.label]) for u in units_of(*pair)]
    )
    assert audited(project()).equal == ["Fig. 1, d = 1"] * 8


def test_an_audit_that_replayed_nothing_says_so_and_its_exit_code_is_1(project):
    project()
    result = called(1e-9)
    said = "01_toy: 0 of 14 replayed, 0 equal: nothing was audited; give it more --minutes\n"
    assert (result.exit_code, result.output) == (1, said)
    assert called().exit_code == 0


def test_what_is_not_kept_is_said(project):
    folder = project() / "results/paper/01_toy/played"
    (folder / "sums.npz").unlink()
    assert (
        result := called()
    ).exit_code == 1 and "Error: 01_toy/played/sums.npz is missing" in result.output
    (folder / "sums.json").unlink()
    (folder / "SHA256SUMS").unlink()
    assert (
        result := called()
    ).exit_code == 1 and "Error: label 'sums' is not kept; to play it" in result.output
