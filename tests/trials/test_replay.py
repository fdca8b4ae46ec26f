"""An opened notebook plays one trial of each label again: other code is red and named."""

import re
from functools import partial

import numpy as np
import pytest

import kbrepro as kb
from kbrepro import paths
from kbrepro.batch.record import Record
from kbrepro.trials import replay
from kbrepro.trials.simulation import play_trial
from kbrepro.trials.store import Job
from kbrepro.trials.store.flat import flat

FULL = {"seed": 1, "trials": 12, "horizon": 30, "results_dir": ""}


@pytest.fixture
def opened(toy):
    """The toy's Fig. 1 as a notebook reads it; returns the log."""

    def read():
        Record("09_toy", FULL).play("Fig. 1")
        log = toy.root / ".cache/replays/log.txt"
        return log.read_text(encoding="utf-8").splitlines() if log.is_file() else []

    return read


@pytest.fixture
def turned(toy, monkeypatch):
    """Flips the policy's sign."""
    from kbrepro.papers.toy.policy import Optimist

    monkeypatch.setattr(
        Optimist, "index", lambda policy: policy.posterior.mean - policy.width * policy.posterior.sd
    )


def test_the_same_code_is_equal_and_is_not_played_twice(opened, monkeypatch):
    (line,) = opened()
    assert line.startswith("09_toy: Fig. 1, trial ") and line.endswith(": equal")
    with monkeypatch.context() as patch:
        patch.setattr(replay, "verify", None)  # whoever plays again fails
        assert opened() == [line]
    monkeypatch.setattr(replay, "code", lambda: "other code")
    assert opened() == [line, line]
    here = replay.stack()
    monkeypatch.setattr(replay, "stack", lambda: here | {"scipy": "1.0"})
    assert opened() == [line] * 3


def test_a_flipped_sign_is_red_and_names_label_trial_and_round(opened, turned):
    arm = r"arm \d+ of Optimist in round \d+, stored arm \d+"
    for _ in range(2):  # what differs is not remembered
        with pytest.raises(
            replay.Differs,
            match=rf'09_toy: Fig\. 1, trial \d+: {arm}\. The replay .*--fresh "Fig\. 1"`',
        ):
            opened()


@pytest.mark.parametrize("profile", ["paper", "quick"])
def test_what_the_batch_keeps_elsewhere_is_replayed_too(toy, profile, request):
    folder = toy.root / "results" / profile / "09_toy"
    changed = {"trials": 3} if profile == "quick" else {}
    toy.play(folder / "played", **changed)
    request.getfixturevalue("turned")
    where = folder.relative_to(toy.root).as_posix()
    with pytest.raises(replay.Differs):
        Record("09_toy", FULL | changed | {"results_dir": where}).play("Fig. 1")


def test_on_another_blas_kernel_a_difference_stands_in_the_log(opened, turned, monkeypatch):
    kernel = replay.blas_kernel()
    monkeypatch.setattr(replay, "blas_kernel", lambda: "Zen9")
    (line,) = opened()
    assert "stored arm" in line
    assert line.endswith(f"; BLAS kernel Zen9 here, {kernel} when played")


@pytest.mark.parametrize("name", ["CHEAP", "BUDGET"])
def test_what_is_long_is_not_played_again(opened, turned, monkeypatch, name):
    monkeypatch.setattr(replay, name, 0.0)
    assert opened() == []


def test_what_needs_data_that_is_not_here_is_said(opened, turned, monkeypatch):
    monkeypatch.setattr(Job, "without_data", True)
    assert opened()[0].endswith(": not replayed, its sensor data is missing")


def facts(**other):
    """The stack of this process, but for what is other: what a run.json says."""
    kernel = other.pop("kernel", replay.blas_kernel())
    versions = {name: version for name, version in replay.stack().items() if name != "BLAS kernel"}
    return {"blas_kernels": [kernel], "versions": versions | other}


def larger(share, rule=kb.VarianceOnly, arms=True):
    """A job of one rule on rewards that are larger by a share: the rule pulls the same arms."""

    def source(trial):
        problem = kb.GPDraw(kb.Matern(0.2, nu=2.5), kb.grid(30), 0.01)(trial)
        return kb.Problem(problem.model, problem.expected_reward * (1 + share))

    play = partial(play_trial, kb.Experiment(source, {"rule": rule}, 40), arms=arms)
    return Job("it", play, {}, 3, 0, 1)


NUMBERS = r", at \d+; the arms are equal, numbers differ by at most {} of their size"
GAPS = f"gaps{NUMBERS.format('5.0e-07')}"
ARM = r"arm \d+ of rule in round \d+, stored arm \d+"


def returns(**result):
    """A job that returns this, and one that fails where it is empty."""
    return Job("it", lambda trial: result or 1 / 0, {}, 3, 0, 1)


PLAYED = {"count": 7, "size": np.float64(1.0), "seconds": 1.0}
SIZE = "size; no arms are stored to compare, numbers differ by at most 2.0e-07 of their size"
DIGEST = r"policies/rule/totals, at \d+; policies/rule/arms_digest"
WITHOUT = partial(larger, arms=False)


@pytest.mark.parametrize(
    ("stack", "before", "now", "words", "is_red"),
    [
        ({}, larger(0), larger(0), "", False),
        ({}, larger(0), larger(5e-7), GAPS, True),
        ({"joblib": "0"}, larger(0), larger(5e-7), GAPS, True),
        ({"numpy": "1.0"}, larger(0), larger(5e-7), GAPS, False),
        ({"scipy": "1.0"}, larger(0), larger(5e-7), GAPS, False),
        ({"numpy": "1.0"}, larger(0), larger(3e-6), f"gaps{NUMBERS.format('3.0e-06')}", True),
        ({"numpy": "1.0"}, larger(0), larger(0, kb.MeanOnly), ARM, True),
        ({"kernel": "Zen9"}, larger(0), larger(0, kb.MeanOnly), ARM, False),
        # where no arms are kept their digest is compared
        ({}, WITHOUT(0), WITHOUT(0), "", False),
        ({}, WITHOUT(0), WITHOUT(1e-4), f"policies/rule/totals{NUMBERS.format('1.0e-04')}", True),
        ({}, WITHOUT(0), WITHOUT(0, kb.MeanOnly), DIGEST, True),
        # whole numbers are exact, and code that fails is red
        ({"numpy": "1.0"}, returns(**PLAYED), returns(**PLAYED | {"seconds": 2.0}), "", False),
        ({"numpy": "1.0"}, returns(**PLAYED), returns(**PLAYED | {"size": 1 + 2e-7}), SIZE, False),
        ({"numpy": "1.0"}, returns(**PLAYED), returns(**PLAYED | {"count": 6}), "count", True),
        (
            {"numpy": "1.0"},
            returns(**PLAYED),
            returns(),
            "ZeroDivisionError: division by zero",
            True,
        ),
    ],
)
def test_what_may_differ_depends_on_the_stack_that_played(stack, before, now, words, is_red):
    kept = flat(before.function(kb.Trial(3, 0)))
    policy = "rule" if ("policies", "rule", "seconds") in kept else None
    done = replay.verify(now, 0, kept, facts(**stack), policy)
    assert re.fullmatch(words, done.differ) and done.is_red == is_red


def test_the_digest_of_the_code_covers_the_rooms_that_play(monkeypatch):
    texts = []
    monkeypatch.setattr(replay.sums, "checksum", texts.append)
    replay.code.__wrapped__()
    for name in ("bandits/policies/ucb.py", "papers/bkb/policy.py", "trials/simulation.py"):
        assert (paths.checkout() / "kbrepro" / name).read_bytes() in texts[0]
