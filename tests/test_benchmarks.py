"""The harness times, stops and keeps; every question runs at toy size. Nothing here asserts how
long anything takes.
"""

import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from benchmarks import box, harness, many_arms, million
from benchmarks.__main__ import QUESTIONS, ask


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands still unless it is moved: `clock.now += seconds`."""
    still = SimpleNamespace(now=0.0)
    monkeypatch.setattr(harness, "time", SimpleNamespace(perf_counter=lambda: still.now))
    return still


def steps_of(clock, seconds):
    """A job whose steps take so long."""
    for number, second in enumerate(seconds):
        clock.now += second
        yield number


def test_every_step_of_every_repeat_is_timed_and_setting_up_is_not(clock):
    lengths = iter([[1, 3], [2, 4], [5, 1], [200]])

    def begin():
        clock.now += 50
        return steps_of(clock, next(lengths))

    run = harness.timed(begin, repeats=4)
    # the last repeat takes too long and does not count
    assert run.items == [0, 1] and run.note == ""
    assert [steps.tolist() for steps in run.steps] == [[1, 3], [2, 4], [5, 1]]
    assert run.totals(2) == [4, 6, 6] and run.totals(1) == [1, 2, 5]


def test_a_job_that_takes_too_long_is_stopped_and_its_row_says_so(clock):
    run = harness.timed(lambda: steps_of(clock, [7] * 100), stop_after=20)
    assert [steps.tolist() for steps in run.steps] == [[7, 7, 7]] and run.items == [0, 1, 2]
    assert run.note == "stopped after 20 s at step 3"
    assert run.totals(2) == [14] and run.totals(4) == []


# of the extra bench: torch says that parts of it, which GPyTorch and BoTorch use, are old; an arm
# that is pending is asked for again
@pytest.mark.filterwarnings(
    "ignore:.*torch.jit:DeprecationWarning",
    "ignore::DeprecationWarning:torch",
    "ignore:A not p.d., added jitter",
)
def test_every_question_runs_and_every_job_was_measured_or_says_why_not(tmp_path, monkeypatch):
    monkeypatch.setenv("KBREPRO_JOBS", "1")
    ask(tmp_path, "TOY")
    tables = {name: pd.read_csv(tmp_path / f"{name}.csv") for name in QUESTIONS}
    for name in ("peers", "many_arms", "growth"):
        table = tables[name]
        assert ((table["repeats"] > 0) | table["note"].notna()).all()
        measured = table[table["repeats"] > 0]
        assert (measured["min_s"] <= measured["median_s"]).all() and (
            measured["median_s"] <= measured["max_s"]
        ).all()
    for name in ("peers", "batches"):
        table = tables[name][tables[name]["repeats"] > 0]
        same = table["job"].isin(
            ["kbrepro", "kbrepro, rows", "bare numpy", "scikit-learn", "tinygp"]
        )
        assert same.sum() >= 2 and (table.loc[same, "same_arms"].astype(str) == "True").all()
    text, known = (
        (tmp_path / "README.md").read_text(encoding="utf-8"),
        json.loads((tmp_path / "run.json").read_text()),
    )
    assert known["blas_threads"] == 1 and set(known["seconds"]) == set(QUESTIONS)
    assert (
        all(question.ASKS in text for question in QUESTIONS.values()) and str(tmp_path) not in text
    )


def test_the_floor_counts_flops_and_bytes(monkeypatch):
    """Every product takes a second; m = 1, 2, 2, the first two of them new."""
    monkeypatch.setattr(many_arms, "_median", lambda function, times: 1.0)
    model = many_arms.problem_of(4).model
    least = many_arms.floor(model, np.array([3, 5, 3]))
    assert (least["transforms_s"], least["distinct"]) == (3.0, 2)
    assert least["products_s"] == pytest.approx((3 * 1 + 3 * 4 + 4) / (2 * 64 * 2000**2))
    assert least["reading_s"] == pytest.approx(4 * 9 * 3 / 64 / 4e8)


def test_the_run_on_many_arms_is_checked_by_dense_solves(monkeypatch):
    found = million.main(side=8, horizon=60, checks=20, each=30)
    assert (
        found["arms"] == 512
        and found["distinct"] <= 60
        and found["largest_error"] < 1e-12
        and found["wrong"] == 0
    )
    monkeypatch.setattr(million, "NOISE_VARIANCE", 1.0 + 1e-6)
    _, arms, observations, seen = million.play(8, 60, 20, 30)
    monkeypatch.setattr(million, "NOISE_VARIANCE", 1.0)
    assert max(error for error, _ in million.departures(8, arms, observations, seen)) > 1e-9


def no_library(seed, evaluations):
    raise ImportError("No module named 'no_such_library'")


def test_the_box_is_searched_by_every_job_that_is_installed():
    place = np.array([0.20169, 0.150011, 0.476874, 0.275332, 0.311652, 0.6573])
    assert box.hartmann(place) == pytest.approx(box.TOP, abs=1e-8)
    fixed, near = box.sobol(64, 0, 24), box.sobol(64, 0, 24, near=32)
    assert fixed[:20] == near[:20] and fixed != near and len(near) == 24
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            box, "JOBS", {"ours": lambda seed, n: box.sobol(64, seed, n), "no": no_library}
        )
        found = box.main(evaluations=10, seeds=2)["jobs"]
    assert found["no"] == "not measured: No module named 'no_such_library'"
    assert found["ours"]["simple_regret"] == tuple(sorted(found["ours"]["simple_regret"]))
    assert min(found["ours"]["simple_regret"]) > 0 and len(found["ours"]["seconds"]) == 2
