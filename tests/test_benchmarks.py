"""The harness times and stops; every question runs at toy size. Nothing here asserts how
long anything takes.
"""

import json
from functools import partial
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from benchmarks import box, harness, many_arms
from benchmarks.__main__ import QUESTIONS, ask


def job_of(lengths, **settings):
    """A job whose repeats have steps of so many seconds, by a clock of its own; to begin takes 50,
    which do not count.
    """
    clock = SimpleNamespace(now=0.0)
    repeats = iter(lengths)

    def begin(size):
        clock.now += 50
        return steps()

    def steps():
        for number, second in enumerate(next(repeats)):
            clock.now += second
            yield number

    return harness.Job("job", begin, (1,), clock=lambda: clock.now, **settings)


def test_every_step_of_every_repeat_is_timed_and_setting_up_is_not():
    job = job_of([[1, 3], [2, 4], [5, 1], [50, 1, 1]], repeats=4)
    steps, items, note = harness.timed(job, 1)
    # 60 s are over in the last repeat, which does not count
    assert items == [0, 1] and note == ""
    assert [repeat.tolist() for repeat in steps] == [[1, 3], [2, 4], [5, 1]]
    # what is done once comes first; then the last quarter of the steps is what is timed
    jobs = [job_of([[9, 9], [1, 3], [2, 4], [5, 4]]), job_of([range(8)], repeats=1, late=True)]
    spread = harness.measured(jobs)[["min_s", "median_s", "max_s", "repeats"]]
    assert spread.to_numpy().tolist() == [[4, 6, 9, 3], [6, 6.5, 7, 2]]


def test_a_job_that_takes_too_long_is_stopped_and_its_row_says_so():
    job = job_of([[7] * 100] * 2, repeats=1, stop_after=20)._replace(sizes=(1, 2))
    (row,) = harness.measured([job]).to_dict("records")  # no further size is played
    assert row["note"] == "stopped after 20 s at step 3" and row["items"] == [0, 1, 2]
    assert row["repeats"] == 0 and np.isnan(row["median_s"])


# of the extra bench: torch says that parts of it, which GPyTorch and BoTorch use, are old
@pytest.mark.filterwarnings("ignore:.*torch.jit", "ignore::DeprecationWarning:torch")
def test_every_question_runs_and_every_job_was_measured_or_says_why_not(tmp_path, monkeypatch):
    monkeypatch.setattr(many_arms, "SIDE", 8)
    ask(tmp_path, (2, 4))
    tables = {name: pd.read_csv(tmp_path / f"{name}.csv") for name in QUESTIONS}
    for name, question in QUESTIONS.items():
        assert {*tables[name]["job"]} == {job.name for job in question.jobs}
        notes = tables[name].query("repeats == 0")["note"].tolist()
        # of ours none
        assert all(note.startswith("not measured: No module named") for note in notes)
        measured = tables[name].query("repeats > 0")
        assert measured.eval("min_s <= median_s <= max_s").all()
        if "same_arms" in measured:
            assert len(measured) > 2 and (measured["same_arms"].astype(str) == "True").all()
    many = tables["many_arms"].set_index("job")
    assert (many.loc[["rows", "scikit-learn"], "peak_MB"] > 0).all()
    assert many.loc["rows", ["arms", "t"]].to_numpy().tolist() == [[8, 128], [64, 128]]
    assert many.filter(like="width", axis=0).eval("distinct == t and of_floor > 0").all()
    text = (tmp_path / "README.md").read_text(encoding="utf-8")
    ran_on = json.loads((tmp_path / "run.json").read_text())
    assert ran_on["blas_threads"] == 1 and set(ran_on["seconds"]) == set(QUESTIONS)
    assert all(question.asks in text for question in QUESTIONS.values())
    assert str(tmp_path) not in text


def test_the_floor_counts_flops_and_bytes(monkeypatch):
    """Every product takes a second; m = 1, 2, 2, the first two of them new."""
    monkeypatch.setattr(many_arms, "_median", lambda function, times: 1.0)
    monkeypatch.setattr(many_arms, "SIDE", 4)
    least = many_arms.floor([(1, 3, 0.0), (2, 5, 0.0), (3, 3, 0.0)])
    assert (least["transforms_s"], least["distinct"]) == (3.0, 2)
    assert least["products_s"] == pytest.approx((3 * 1 + 3 * 4 + 4) / (2 * 64 * 2000**2))
    assert least["reading_s"] == pytest.approx(4 * 9 * 3 / 64 / 4e8)


def no_library(evaluations, seed):
    raise ImportError("No module named 'no_such_library'")


def test_the_box_is_searched_by_every_job_that_is_installed(monkeypatch):
    place = np.array([0.20169, 0.150011, 0.476874, 0.275332, 0.311652, 0.6573])
    assert box.hartmann(place) == pytest.approx(box.TOP, abs=1e-8)
    fixed, near = list(box.sobol(64, 24, 0)), list(box.sobol(64, 24, 0, near=32))
    assert fixed[:20] == near[:20] and fixed != near and len(near) == 24
    monkeypatch.setattr(box, "SEARCHES", {"ours": partial(box.sobol, 64), "no": no_library})
    found = box.main(evaluations=10, seeds=2)["jobs"]
    assert found["no"] == "not measured: No module named 'no_such_library'"
    best = [box.TOP - max(box.sobol(64, 10, seed)) for seed in range(2)]
    assert found["ours"]["simple_regret"] == sorted(best) and min(best) > 0
    assert len(found["ours"]["seconds"]) == 2
