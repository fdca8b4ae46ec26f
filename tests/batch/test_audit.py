"""An audit plays kept trials again: the same code is green, code that pulls another arm once is red and is named."""

import json
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
    "rules = {'ours': partial(toy_rules.Rule, width=kb.Bayes(0.1)), 'best': toy_rules.Best}\n"
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
def project(played, tmp_path, monkeypatch):
    """A copy of that project; call it with what its module is to say instead."""
    root = tmp_path / "project"
    shutil.copytree(played, root)
    monkeypatch.chdir(root)
    monkeypatch.syspath_prepend(str(root))
    monkeypatch.setenv("PYTHONPATH", f"{root}{os.pathsep}{PACKAGE}")
    monkeypatch.setenv("KBREPRO_JOBS", "1")
    monkeypatch.delenv("KBREPRO_STORE", raising=False)
    return partial(write_rules, root)


def audited(root, minutes=0.2, seed=0):
    (planned,) = run.plan(["01"], "quick", {}, root)
    return audit.audit(planned, minutes, seed, 1)


def test_the_same_code_is_equal_throughout(project):
    found = audited(project())
    assert found.units == {"Fig. 1, d = 1": 8, "sums": 6} and not found.differ and found.replayed == 14
    text = audit.text([found])
    assert "14 of 14 replayed, 14 equal" in text and "not audited" not in text


def test_a_rule_that_differs_after_round_500_is_named_with_label_trial_and_round(project):
    late = "self.posterior.mean if self.t <= 500 else -self.posterior.mean"
    found = audited(project(best=late))
    ((label, differ),) = found.differ.items()
    assert label == "Fig. 1, d = 1" and len(differ) == 4
    assert all(told.startswith("Fig. 1, d = 1, trial ") and "(best): arm " in told for told in differ)
    assert all("in round 501, where it was" in told for told in differ) and found.by == []
    said = "\n  4 differ in arms, whole numbers or texts, or fail; 0 in numbers with the same arms, by at most 0.0e+00"
    assert said in audit.text([found])


def test_another_constant_in_a_width_is_red_and_the_exit_code_is_1(project):
    index = "def index(self):\n        return self.posterior.mean + 0.9 * self.width(self) * self.posterior.sd"
    project(index=index)
    found = CliRunner().invoke(main, ["audit", "01", "--profile", "quick", "--minutes", "0.2", "--keep"])
    assert found.exit_code == 1 and "differs: Fig. 1, d = 1, trial " in found.output
    (row,) = paths.read_rows(Path("results/audits.csv"))
    assert row["differing labels"] == "Fig. 1, d = 1" and (row["in numbers alone"], row["by at most"]) == (
        "0",
        "0.0e+00",
    )
    assert int(row["equal"]) == int(row["replayed"]) - 4


def test_another_number_is_red_other_seconds_are_not_and_code_that_fails_is(project):
    assert audited(project(seconds="2.0")).differ == {}
    found = audited(project(more="* (1 + 2e-7)"))
    said = "sum, at its value; no arms are kept to compare; numbers, by at most 2.0e-07 of their size"
    assert {told.split(": ")[1] for told in found.differ["sums"]} == {said} and found.by == []
    assert found.without_arms == pytest.approx([2e-7] * 6)
    text = audit.text([found])
    assert "; 6 in numbers where no arms are kept, by at most 2.0e-07" in text and "is no rounding" not in text
    text = audit.text([audited(project(more="* (1 + 2e-5)"))])
    assert "more than 1e-06 is no rounding: where no arms are kept, others may have been pulled" in text
    found = audited(project(more="/ 0"))
    assert all("ZeroDivisionError" in told for told in found.differ["sums"]) and found.by == found.without_arms == []


def test_another_blas_kernel_than_the_one_that_played_is_said(project):
    root = project()
    found = audited(root)
    assert found.played_with == [found.kernel] and "BLAS" not in audit.text([found])
    (planned,) = run.plan(["01"], "quick", {}, root)
    path = planned.folder / "run.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"blas_kernels": ["Zen9"]}))
    found.played_with = run.played_with(planned)
    assert f"BLAS kernel {found.kernel} here, played with Zen9" in audit.text([found])
    path.unlink()
    found.played_with = run.played_with(planned)
    assert "BLAS" not in audit.text([found])
    found.differ["sums"] = ["x"]
    assert "played with a kernel that is not recorded" in audit.text([found])


@pytest.mark.slow
def test_minutes_are_wall_time_and_what_runs_past_the_end_is_stopped(project):
    root = project(more="+ __import__('time').sleep(60) * 0 if source else 0", best="self.posterior.mean")
    (planned,) = run.plan(["01"], "quick", {}, root)
    start = time.monotonic()
    found = audit.audit(planned, 0.25, 0, 1)
    assert time.monotonic() - start < 25 and found.replayed < 14 and not found.differ


def test_interrupted_it_prints_what_it_has(project, monkeypatch):
    def interrupted(calls, workers, deadline):
        unit, job, before = next(calls)
        yield audit._replayed(unit, job, before)
        raise KeyboardInterrupt

    project()
    monkeypatch.setattr(audit, "_in_processes", interrupted)
    found = CliRunner().invoke(main, ["audit", "01", "--profile", "quick", "--minutes", "0.2"])
    assert found.exit_code == 130 and "1 of 14 replayed, 1 equal" in found.output
    assert "not all was audited: it was interrupted" in found.output


@pytest.mark.parametrize("arms", [True, False])
def test_what_is_kept_of_a_run_is_compared_with_or_without_its_arms(arms):
    source = kb.GPDraw(kb.Matern(0.2, nu=2.5), kb.grid(30), 0.01)
    rules = {"mean": kb.MeanOnly, "variance": kb.VarianceOnly}
    played = partial(simulation.play_trial, kb.Experiment(source, rules, 40), arms=arms)
    swapped = partial(simulation.play_trial, kb.Experiment(source, {"mean": kb.VarianceOnly}, 40), arms=arms)
    (before,) = store.plain.through([played(kb.Trial(3, 0))])
    unit, job = audit.Unit("it", 0, "mean", 1.0), store.Job("it", played, {}, 3, 0, 1)
    assert audit._replayed(unit, job, before) == (unit, [], 0)
    _, differ, size = audit._replayed(unit, job._replace(function=swapped), before)
    assert size == np.inf and differ[-1].startswith("arm " if arms else "arms_digest") and "alone" not in str(differ)


@pytest.mark.parametrize(("arms", "share"), [(True, 1e-7), (False, 1e-4)])
def test_the_same_arms_with_other_numbers_are_red_and_said_to_be_the_same(arms, share):
    def job(larger):
        def source(trial):
            problem = draw(trial)
            return kb.Problem(problem.model, problem.expected_reward * larger)

        experiment = kb.Experiment(source, {"variance": kb.VarianceOnly}, 40)
        return store.Job("it", partial(simulation.play_trial, experiment, arms=arms), {}, 3, 0, 1)

    draw, unit = kb.GPDraw(kb.Matern(0.2, nu=2.5), kb.grid(30), 0.01), audit.Unit("it", 0, "variance", 1.0)
    (before,) = store.plain.through([job(1.0).function(kb.Trial(3, 0))])
    _, (where, how), size = audit._replayed(unit, job(1 + share), before)
    assert where.startswith("gaps, at " if arms else "totals, at ") and size == pytest.approx(share, rel=1e-2)
    assert how == f"the same arms, numbers alone, by at most {size:.1e} of their size"


def test_a_label_comes_first_once_and_what_takes_too_long_is_left_out(project):
    units = [audit.Unit("a", n, None, 0.0) for n in range(50)] + [audit.Unit("b", 0, None, 0.0)]
    for seed in range(5):
        order = audit._order(units, np.random.default_rng(seed))
        assert {unit.label for unit in order[:2]} == {"a", "b"} and sorted(order) == sorted(units)
    slow = [audit.Unit("c", 0, None, 1e6), audit.Unit("d", 0, None, 0.0)]
    assert [unit.label for unit in audit._in_time(slow, audit.time.monotonic() + 10)] == ["d"]


def test_few_replays_are_said_and_the_bound_is_about_3_over_k():
    found = audit.Audit("01_toy", "paper", {"long": 100, "short": 2, "slow": 9})
    found.equal.update({"long": 30, "short": 2, "slow": 1})
    text = audit.text([found])
    assert "33 of 111 replayed, 33 equal" in text and "fewer than 10% of its trials differ" in text
    assert "fewer than 8.7%" in text and "1 label: slow" in text
    many = audit.Audit("01_toy", "paper", {f"{n}": 9 for n in range(40)}, audit.Counter({"0": 9}))
    assert "39 labels: 1; 2; 3; 4; 5; 6; and 33 more" in audit.text([many])


def test_cells_that_need_what_is_not_kept_are_passed_over(project):
    root = project()
    (root / "results/quick/01_toy/played/Fig._1,_d_=_1.npz").unlink()
    found = audited(root)
    assert found.units == {"sums": 6} and "label 'Fig. 1, d = 1' is not kept" in found.missing
    assert "not everything is kept" in audit.text([found])


def test_without_a_store_the_command_says_what_to_do(project):
    shutil.rmtree(project() / "results/quick/01_toy/played")
    found = CliRunner().invoke(main, ["audit", "01", "--profile", "quick"])
    assert found.exit_code == 1 and "first `kbrepro reproduce 01`" in found.output


def test_a_word_and_another_statistic_are_shown_anew_and_no_policy_is_asked(project):
    """Every call of a policy is counted: those of the audit, to see that they are, and none of a run that reads."""
    root = project(best="counted(self.posterior.mean)")
    path = root / "notebooks" / "01_toy.py"
    path.write_text(
        path.read_text().replace("t.regret.sum()", "round(t.regret.mean(), 6)").replace("'found.txt'", "'new.txt'")
    )
    run.run(["01"], "quick", {}, 1, root)
    folder = root / "results/quick/01_toy"
    assert (folder / "new.txt").is_file() and not (folder / "found.txt").exists()
    assert not (root / "asked").exists()
    assert audited(root).differ == {} and (root / "asked").stat().st_size == 4 * 600


def test_another_setting_in_the_notebook_is_an_error_that_names_both(project):
    root = project()
    path = root / "notebooks" / "01_toy.py"
    path.write_text(path.read_text().replace("lengthscale, nu=2.5", "lengthscale + 0.15, nu=2.5"))
    with pytest.raises(run.RunFailed):
        run.run(["01"], "quick", {}, 1, root)
    log = (root / "results/quick/01_toy.partial/log.txt").read_text()
    assert "Matern, lengthscale: 0.2 before, 0.35 now" in log and '--fresh "Fig. 1, d = 1"' in log
    run.run(["01"], "quick", {}, 1, root, ["Fig. 1, d = 1", "sums"])
    assert audited(root).differ == {}
