"""An opened notebook plays one trial of each label again: other code is red and named."""

import json

import numpy as np
import pytest

from kbrepro import paths
from kbrepro.batch.record import Record
from kbrepro.trials import replay, store
from kbrepro.trials.store import Job

FULL = {"seed": 1, "trials": 12, "horizon": 30, "results_dir": ""}


@pytest.fixture
def opened(toy):
    """The toy's Fig. 1 as a notebook reads it; returns the log."""

    def read():
        Record("09_toy", FULL).play("Fig. 1")
        log = toy.root / ".cache" / "replays" / "log.txt"
        return log.read_text(encoding="utf-8").splitlines() if log.is_file() else []

    return read


@pytest.fixture
def turned(toy, monkeypatch):
    """Flips the policy's sign."""
    from kbrepro.papers.toy.policy import Optimist

    monkeypatch.setattr(
        Optimist, "index", lambda its: its.posterior.mean - its.width * its.posterior.sd
    )


def test_the_same_code_is_equal_and_is_not_played_twice(opened, monkeypatch):
    (line,) = opened()
    assert line.startswith("09_toy: Fig. 1, trial ") and line.endswith(": equal")
    with monkeypatch.context() as patch:
        patch.setattr(replay, "replayed", None)  # whoever plays again fails
        assert opened() == [line]
    monkeypatch.setattr(replay, "code", lambda: "other code")
    assert opened() == [line, line]
    here = replay.stack()
    monkeypatch.setattr(replay, "stack", lambda: here | {"scipy": "1.0"})
    assert opened() == [line] * 3


def test_a_flipped_sign_is_red_and_names_label_trial_and_round(opened, turned):
    arm = r"arm \d+ of Optimist in round \d+, where it was \d+"
    for _ in range(2):  # what differs is not remembered
        with pytest.raises(
            replay.Differs,
            match=rf'09_toy: Fig\. 1, trial \d+: {arm}\. To play .*--fresh "Fig\. 1"',
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
    assert "where it was" in line and line.endswith(
        f"; BLAS kernel Zen9 here, {kernel} when played"
    )


@pytest.fixture
def played_with(toy):
    """Says in run.json with which version of a package the toy was played."""

    def write(name, version):
        path = toy.folder / "run.json"
        facts = json.loads(path.read_text(encoding="utf-8"))
        facts["versions"] = {
            "numpy": np.__version__,
            "scipy": replay.scipy.__version__,
            "joblib": "0",
            name: version,
        }
        path.write_text(json.dumps(facts), encoding="utf-8")

    return write


@pytest.fixture
def larger(toy, monkeypatch):
    """Multiplies the gaps that are played: the arms stay."""

    def by(factor):
        flat = replay.flat
        monkeypatch.setattr(
            replay, "flat", lambda result: {**flat(result), ("gaps",): result["gaps"] * factor}
        )

    return by


@pytest.mark.parametrize("name", ["numpy", "scipy"])
def test_with_another_numpy_or_scipy_small_numbers_are_logged_and_larger_ones_red(
    opened, played_with, larger, name
):
    larger(1 + 5e-7)
    played_with(name, "1.0")
    (line,) = opened()
    assert "; the same arms, numbers alone, by at most 5.0e-07 of their size; " in line
    assert f"; {name} " in line and line.endswith(" here, 1.0 when played")
    assert len(opened()) == 2  # what differs is played again
    larger(1 + 3e-6)
    with pytest.raises(replay.Differs, match=r"numbers alone, by at most [34]\.\de-06"):
        opened()


def test_with_the_same_versions_numbers_are_exact_and_with_others_arms_are(
    opened, played_with, larger, request
):
    played_with("joblib", "another")
    larger(1 + 5e-7)
    with pytest.raises(replay.Differs, match=r"numbers alone, by at most 5\.0e-07"):
        opened()
    played_with("numpy", "1.0")
    request.getfixturevalue("turned")
    with pytest.raises(replay.Differs, match="where it was"):
        opened()


def test_digests_of_arms_and_whole_numbers_are_exact_with_any_version_and_code_that_fails_is_red():
    facts = {"blas_kernels": [replay.blas_kernel()], "versions": {"numpy": "1.0"}}
    most, _ = replay.allowed(facts)

    def job(function):
        return store.Job("it", function, {}, 3, 0, 1)

    digest = job(lambda trial: {"policies": {"EI": {"arms_digest": "a", "totals": np.ones(2)}}})
    kept = replay.flat(digest.function(None))
    other = job(lambda trial: {"policies": {"EI": {"arms_digest": "b", "totals": np.ones(2)}}})
    assert replay.replayed(digest, 0, kept) == ("", 0.0)
    said, share = replay.replayed(other, 0, kept)
    assert said == "policies/EI/arms_digest" and share > most
    count = job(lambda trial: {"count": 7, "size": 1.0 + 1e-7})
    assert replay.replayed(count, 0, {("count",): 6, ("size",): 1.0})[1] > most
    assert 0 < replay.replayed(count, 0, {("count",): 7, ("size",): 1.0})[1] < most
    assert replay.replayed(job(lambda trial: 1 / 0), 0, kept)[1] > most


@pytest.mark.parametrize("name", ["CHEAP", "BUDGET"])
def test_what_is_long_is_not_played_again(opened, turned, monkeypatch, name):
    monkeypatch.setattr(replay, name, 0.0)
    assert opened() == []


def test_what_needs_data_that_is_not_here_is_said(opened, turned, monkeypatch):
    monkeypatch.setattr(Job, "without_data", True)
    assert opened()[0].endswith(": not played again, its data is not here")


def test_the_digest_of_the_code_covers_the_rooms_that_play(monkeypatch):
    texts = []
    monkeypatch.setattr(replay.sums, "checksum", texts.append)
    replay.code.__wrapped__()
    for name in ("bandits/policies/ucb.py", "papers/bkb/policy.py", "trials/simulation.py"):
        assert (paths.checkout() / "kbrepro" / name).read_bytes() in texts[0]
