"""An audit plays kept trials again: the same code is green, code that pulls another arm once is red and is named."""

import os
import shutil
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from fake_project import make_project, notebook_of

import kbrepro as kb
from kbrepro import paths, simulation, store
from kbrepro.__main__ import main
from kbrepro.batch import audit, run
from kbrepro.replay import blas_kernel
from kbrepro.store.flat import flat

MODULE = """import kbrepro as kb

class Rule(kb.UCB):
    'GP-UCB.'
    {index}

def counted(mean):
    with open("asked", "a") as file:
        file.write("x")
    return mean

class Best(kb.Policy):
    def index(self):
        return {best}

def total(source, trial):
    return {{"sum": float(source(trial).expected_reward.sum()) {more}, "seconds": {seconds}}}
"""
PACKAGE = Path(run.__file__).parents[2]
PLAIN = {"index": "", "best": "self.posterior.mean", "more": "", "seconds": "1.0"}
CELLS = (
    'seed: int = 3\nlengthscale: float = 0.2\nresults_dir: str = ""',
    "from functools import partial\nimport kbrepro as kb\nimport toy_rules\nfrom pathlib import Path",
    "source = kb.GPDraw(kb.Matern(lengthscale, nu=2.5), kb.grid(30), 0.01)\n"
    "rules = {'ours': partial(toy_rules.Rule, width=kb.Srinivas2010(0.1)), 'best': toy_rules.Best}\n"
    "traces = kb.run_trials(kb.Experiment(source, rules, 600), 4, seed, label='Fig. 1, d = 1')",
    "sums = kb.map_trials(partial(toy_rules.total, source), 6, seed, label='sums')",
    "Path(results_dir, 'found.txt').write_text(str([t.regret.sum() for t in traces.values()]))",
)


def write_rules(root, **what):
    (root / "toy_rules.py").write_text(MODULE.format(**PLAIN | what))
    sys.modules.pop("toy_rules", None)
    return root


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """A project of one notebook, whose rules lie in a module of its own, played once."""
    root = write_rules(make_project(tmp_path_factory.mktemp("played"), "01_toy", notebook_of(*CELLS), "{}\n"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", f"{root}{os.pathsep}{PACKAGE}")
        run.run(["01"], "quick", {}, 1, root)
    return root


@pytest.fixture
def in_processes(played, tmp_path, monkeypatch):
    """A copy of that project; call it with what its module is to say instead."""
    root = tmp_path / "project"
    shutil.copytree(played, root)
    monkeypatch.chdir(root)
    monkeypatch.syspath_prepend(str(root))
    monkeypatch.setenv("PYTHONPATH", f"{root}{os.pathsep}{PACKAGE}")
    monkeypatch.setenv("KBREPRO_JOBS", "1")
    monkeypatch.delenv("KBREPRO_STORE", raising=False)
    return partial(write_rules, root)


@pytest.fixture
def project(in_processes, monkeypatch):
    """The same, audited in this process, which saves seconds."""
    monkeypatch.setattr(audit, "_in_processes", lambda calls, n, end: (audit._replayed(*call) for call in calls))
    return in_processes


def audited(root, minutes=0.2, seed=0):
    (planned,) = run.plan(["01"], "quick", {}, root)
    return audit.audit(planned, minutes, seed, 1)


def called(*more):
    return CliRunner().invoke(main, ["audit", "01", "--profile", "quick", "--minutes", "0.2", *more])


def test_the_same_code_is_equal_throughout_in_processes(in_processes):
    done = audited(in_processes(), 1.0)
    assert done.units == {"Fig. 1, d = 1": 8, "sums": 6} and not done.differ and done.replayed == 14
    assert audit.text(done).splitlines() == ["01_toy (quick): 14 of 14 replayed, 14 equal"]


def test_a_rule_that_differs_after_round_500_is_named_with_label_trial_and_round(project):
    done = audited(project(best="self.posterior.mean if self.t <= 500 else -self.posterior.mean"))
    ((label, differ),) = done.differ.items()
    assert label == "Fig. 1, d = 1" and len(differ) == 4 and done.rounding == []
    assert all(text.startswith("Fig. 1, d = 1, trial ") and "(best): arm " in text for text in differ)
    assert all("in round 501, where it was" in text for text in differ)


def test_another_constant_in_a_width_is_red_and_the_exit_code_is_1(project):
    index = "def index(self):\n        return self.posterior.mean + 0.9 * self.width(self) * self.posterior.sd"
    project(index=index)
    result = called("--keep")
    assert result.exit_code == 1 and "differs: Fig. 1, d = 1, trial " in result.output
    (row,) = paths.read_rows(Path("results/audits.csv"))
    assert (row["differing labels"], row["in numbers alone"], row["by at most"]) == ("Fig. 1, d = 1", "0", "0.0e+00")
    assert int(row["equal"]) == int(row["replayed"]) - 4


def test_another_number_is_red_other_seconds_are_not_and_code_that_fails_is(project):
    assert audited(project(seconds="2.0")).differ == {}
    done = audited(project(more="* (1 + 2e-7)"))
    said = "sum; no arms are kept to compare; numbers, by at most 2.0e-07 of their size"
    assert {text.split(": ")[1] for text in done.differ["sums"]} == {said}
    assert done.rounding == pytest.approx([2e-7] * 6)
    assert "  6 in numbers alone, by at most 2.0e-07 of their size" in audit.text(done)
    done = audited(project(more="/ 0"))
    assert all("ZeroDivisionError" in text for text in done.differ["sums"]) and done.rounding == []


def test_another_blas_kernel_than_the_one_that_played_is_said():
    done = audit.Audit("01_toy", "paper", {"sums": 1}, played_with=[blas_kernel()])
    assert "BLAS" not in audit.text(done)
    done.played_with = ["Zen9"]
    assert f"BLAS kernel {blas_kernel()} here, Zen9 when played" in audit.text(done)
    done.played_with = []
    assert "BLAS" not in audit.text(done)
    done.differ["sums"] = ["x"]
    assert "here, one that is not recorded when played" in audit.text(done)


@pytest.mark.slow
def test_minutes_are_wall_time_and_what_runs_past_the_end_is_stopped(in_processes):
    root = in_processes(more="+ __import__('time').sleep(60) * 0 if source else 0")
    start = time.monotonic()
    done = audited(root, 0.25)
    assert time.monotonic() - start < 25 and done.replayed < 14 and not done.differ


def test_interrupted_it_prints_what_it_has(project, monkeypatch):
    def interrupted(calls, n, deadline):
        yield audit._replayed(*next(calls))
        raise KeyboardInterrupt

    project()
    monkeypatch.setattr(audit, "_in_processes", interrupted)
    result = called()
    assert result.exit_code == 130 and "1 of 14 replayed, 1 equal" in result.output
    assert "it was interrupted" in result.output


@pytest.mark.parametrize("arms", [True, False])
def test_what_is_kept_of_a_run_is_compared_with_or_without_its_arms(arms):
    source = kb.GPDraw(kb.Matern(0.2, nu=2.5), kb.grid(30), 0.01)
    rules = {"mean": kb.MeanOnly, "variance": kb.VarianceOnly}
    played = partial(simulation.play_trial, kb.Experiment(source, rules, 40), arms=arms)
    swapped = partial(simulation.play_trial, kb.Experiment(source, {"mean": kb.VarianceOnly}, 40), arms=arms)
    before = flat(played(kb.Trial(3, 0)))
    unit, job = audit.Unit("it", 0, "mean", 1.0), store.Job("it", played, {}, 3, 0, 1)
    assert audit._replayed(unit, job, before) == (unit, [], 0)
    _, differ, size = audit._replayed(unit, job._replace(function=swapped), before)
    assert (
        size == np.inf
        and differ[-1].startswith("arm " if arms else "policies/mean/arms_digest")
        and "alone" not in str(differ)
    )


@pytest.mark.parametrize(("arms", "share"), [(True, 1e-7), (False, 1e-4)])
def test_the_same_arms_with_other_numbers_are_red_and_said_to_be_the_same(arms, share):
    def job(larger):
        def source(trial):
            problem = draw(trial)
            return kb.Problem(problem.model, problem.expected_reward * larger)

        experiment = kb.Experiment(source, {"variance": kb.VarianceOnly}, 40)
        return store.Job("it", partial(simulation.play_trial, experiment, arms=arms), {}, 3, 0, 1)

    draw, unit = kb.GPDraw(kb.Matern(0.2, nu=2.5), kb.grid(30), 0.01), audit.Unit("it", 0, "variance", 1.0)
    before = flat(job(1.0).function(kb.Trial(3, 0)))
    _, (where, how), size = audit._replayed(unit, job(1 + share), before)
    assert where.startswith("gaps, at " if arms else "policies/variance/totals, at ") and size == pytest.approx(
        share, rel=1e-2
    )
    assert how == f"the same arms, numbers alone, by at most {size:.1e} of their size"


def test_a_label_comes_first_once_and_what_takes_too_long_is_left_out(project):
    units = [audit.Unit("a", n, None, 0.0) for n in range(50)] + [audit.Unit("b", 0, None, 0.0)]
    for seed in range(5):
        order = audit._order(units, np.random.default_rng(seed))
        assert {unit.label for unit in order[:2]} == {"a", "b"} and sorted(order) == sorted(units)
    slow = [audit.Unit("c", 0, None, 1e6), audit.Unit("d", 0, None, 0.0)]
    assert [unit.label for unit in audit._in_time(slow, audit.time.monotonic() + 10)] == ["d"]


def test_few_replays_are_said_and_the_bound_is_about_3_over_k():
    done = audit.Audit("01_toy", "paper", {"long": 100, "short": 2, "slow": 9})
    done.equal.update({"long": 30, "short": 2, "slow": 1})
    first, bound, few = audit.text(done).splitlines()[-3:]
    assert "33 of 111 replayed, 33 equal" in first and "'long', all 30 drawn are equal" in bound
    assert "fewer than 10% of its trials differ" in bound and few.endswith("1 label: slow")
    many = audit.Audit("01_toy", "paper", {f"{n}": 9 for n in range(40)}, audit.Counter({"0": 9}))
    assert "39 labels: 1; 2; 3; 4; 5; 6; and 33 more" in audit.text(many)


def test_cells_that_need_what_is_not_kept_are_passed_over(project):
    root = project()
    (root / "results/quick/01_toy/played/Fig._1,_d_=_1.npz").unlink()
    done = audited(root)
    assert done.units == {"sums": 6}
    assert "not everything is kept: label 'Fig. 1, d = 1' is not kept" in audit.text(done)


def test_without_a_store_the_command_says_what_to_do(project):
    shutil.rmtree(project() / "results/quick/01_toy/played")
    assert (result := called()).exit_code == 1 and "first `kbrepro reproduce 01`" in result.output


def test_another_statistic_is_shown_anew_and_no_policy_is_asked(project):
    """Every call of a policy is counted: those of the audit, to see that they are, and none of a run that reads."""
    root = project(best="counted(self.posterior.mean)")
    path = root / "notebooks" / "01_toy.py"
    path.write_text(path.read_text().replace("t.regret.sum()", "round(t.regret.mean(), 6)").replace("'found.", "'new."))
    run.run(["01"], "quick", {}, 1, root)
    folder = root / "results/quick/01_toy"
    assert (folder / "new.txt").is_file() and not (folder / "found.txt").exists()
    assert not (root / "asked").exists()
    assert audited(root).differ == {} and (root / "asked").stat().st_size == 4 * 600


def test_another_setting_in_the_notebook_is_an_error_that_names_both(project, capfd):
    root = project()
    path = root / "notebooks" / "01_toy.py"
    path.write_text(path.read_text().replace("lengthscale, nu=2.5", "lengthscale + 0.15, nu=2.5"))
    with pytest.raises(run.RunFailed):
        run.run(["01"], "quick", {}, 1, root)
    said = capfd.readouterr().err
    assert "Matern, lengthscale: 0.2 before, 0.35 now" in said and '--fresh "Fig. 1, d = 1"' in said
    run.run(["01"], "quick", {}, 1, root, ["Fig. 1, d = 1", "sums"])
    assert audited(root).differ == {}
