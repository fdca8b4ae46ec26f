"""An opened notebook plays one trial of each label again: other code is red and named, the same is remembered."""

import pytest

from kbrepro import replay, store
from kbrepro.record import Record


@pytest.fixture
def opened(toy):
    """The toy's Fig. 1 as a notebook reads it; returns what the log says."""

    def read():
        store._in_use.clear()
        record = Record("09_toy")
        toy.play()
        log = toy.root / ".cache" / "replays" / "log.txt"
        return record._replays, log.read_text(encoding="utf-8").splitlines() if log.is_file() else []

    return read


@pytest.fixture
def turned(toy, monkeypatch):
    """Call it, and the policy's sign is flipped."""
    from kbrepro.papers.toy.policy import Optimist

    def turn():
        monkeypatch.setattr(Optimist, "index", lambda its: its.posterior.mean - its.width * its.posterior.sd)

    return turn


def test_the_same_code_is_equal_and_is_not_played_twice(opened, monkeypatch):
    replays, (line,) = opened()
    assert line.startswith("09_toy: Fig. 1, trial ") and line.endswith(": equal") and replays.without == []
    with monkeypatch.context() as patch:
        patch.setattr(replay, "replayed", None)  # whoever plays again fails
        assert opened()[1] == [line]
    monkeypatch.setattr(replay, "code", lambda: "other code")
    assert opened()[1] == [line, line]


def test_a_flipped_sign_is_red_and_names_label_trial_and_round(opened, turned, toy):
    turned()
    with pytest.raises(replay.Differs, match=r"09_toy: Fig\. 1, trial \d+: arm \d+ in round \d+, where it was \d+"):
        opened()
    assert [path.name for path in (toy.root / ".cache/replays").iterdir()] == ["log.txt"]  # not remembered as equal


@pytest.mark.parametrize("profile", ["paper", "quick"])
def test_where_the_batch_names_the_store_what_it_reads_is_replayed_too(toy, turned, profile):
    kept_in = toy.root / "results" / profile / "09_toy" / "played"
    if profile == "quick":
        with store.using(store.Store(kept_in)):
            toy.play()
    turned()
    with store.using(store.Store(kept_in)):
        Record("09_toy")
        with pytest.raises(replay.Differs, match=r"arm \d+ in round .*To play it again: .*--fresh \"Fig\. 1\""):
            toy.play()
    asked = []
    with store.using(store.Store(kept_in, read_only=True, on_read=lambda job, kept: asked.append(job.label))):
        Record("09_toy")
        assert toy.play() and asked == ["Fig. 1"]  # an audit asks, and replays by itself


def test_on_another_blas_kernel_a_difference_stands_in_the_log(opened, turned, monkeypatch):
    turned()
    monkeypatch.setattr(replay, "blas_kernel", lambda: "Zen9")
    _, (line,) = opened()
    assert "where it was" in line


def test_a_label_without_a_cheap_trial_is_listed_and_the_budget_ends(opened, monkeypatch):
    monkeypatch.setattr(replay, "CHEAP", 0.0)
    replays, log = opened()
    assert (replays.without, log) == (["Fig. 1"], [])
    monkeypatch.setattr(replay, "CHEAP", 1.0)
    monkeypatch.setattr(replay, "BUDGET", 0.0)
    assert opened()[0].without == ["Fig. 1"]


def test_what_needs_data_that_is_not_here_is_said(toy, opened, monkeypatch):
    monkeypatch.setattr(replay, "unknown", lambda settings: True)
    assert opened()[1] == ["09_toy: Fig. 1: its data is not here"]
