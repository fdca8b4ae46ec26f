"""An opened notebook plays one trial of each label again: other code is red and named."""

import pytest

from kbrepro import replay, store
from kbrepro.record import Record


@pytest.fixture
def opened(toy):
    """The toy's Fig. 1 as a notebook reads it; returns the log."""

    def read():
        store._in_use.clear()
        Record("09_toy")
        toy.play()
        log = toy.root / ".cache" / "replays" / "log.txt"
        return log.read_text(encoding="utf-8").splitlines() if log.is_file() else []

    return read


@pytest.fixture
def turned(toy, monkeypatch):
    """Flips the policy's sign."""
    from kbrepro.papers.toy.policy import Optimist

    monkeypatch.setattr(Optimist, "index", lambda its: its.posterior.mean - its.width * its.posterior.sd)


def test_the_same_code_is_equal_and_is_not_played_twice(opened, monkeypatch):
    (line,) = opened()
    assert line.startswith("09_toy: Fig. 1, trial ") and line.endswith(": equal")
    with monkeypatch.context() as patch:
        patch.setattr(replay, "replayed", None)  # whoever plays again fails
        assert opened() == [line]
    monkeypatch.setattr(replay, "code", lambda: "other code")
    assert opened() == [line, line]


def test_a_flipped_sign_is_red_and_names_label_trial_and_round(opened, turned):
    arm = r"arm \d+ of Optimist in round \d+, where it was \d+"
    for _ in range(2):  # what differs is not remembered
        with pytest.raises(replay.Differs, match=rf'09_toy: Fig\. 1, trial \d+: {arm}\. To play .*--fresh "Fig\. 1"'):
            opened()


@pytest.mark.parametrize("profile", ["paper", "quick"])
def test_where_the_batch_names_the_store_what_it_reads_is_replayed_too(toy, profile, request):
    kept_in = toy.root / "results" / profile / "09_toy" / "played"
    if profile == "quick":
        with store.using(store.Store(kept_in)):
            toy.play()
    request.getfixturevalue("turned")
    with store.using(store.Store(kept_in)):
        Record("09_toy")
        with pytest.raises(replay.Differs):
            toy.play()
    asked = []
    with store.using(store.Store(kept_in, read_only=True, on_read=lambda job, kept: asked.append(job.label))):
        Record("09_toy")
        assert toy.play() and asked == ["Fig. 1"]  # an audit asks, and replays by itself


def test_on_another_blas_kernel_a_difference_stands_in_the_log(opened, turned, monkeypatch):
    monkeypatch.setattr(replay, "blas_kernel", lambda: "Zen9")
    assert "where it was" in opened()[0]


@pytest.mark.parametrize("name", ["CHEAP", "BUDGET"])
def test_what_is_long_is_not_played_again(opened, turned, monkeypatch, name):
    monkeypatch.setattr(replay, name, 0.0)
    assert opened() == []


def test_what_needs_data_that_is_not_here_is_said(opened, turned, monkeypatch):
    monkeypatch.setattr(replay, "unknown", lambda _: True)
    assert opened()[0].endswith(": not played again, its data is not here")
