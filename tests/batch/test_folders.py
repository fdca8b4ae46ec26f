"""Folders are replaced whole, and by one process at a time."""

import pytest

from kbrepro.batch import folders


def folder(path, text):
    path.mkdir()
    (path / "file.txt").write_text(text)
    return path


def test_swap_in_replaces_a_folder(tmp_path):
    final = folder(tmp_path / "final", "old")
    (final / "only_in_the_old.txt").touch()
    folders.swap_in(folder(tmp_path / "new", "new"), final)
    assert {p.name: p.read_text() for p in final.iterdir()} == {"file.txt": "new"}
    assert [p.name for p in tmp_path.iterdir()] == ["final"]


def test_a_swap_that_cannot_be_made_leaves_the_old_folder(tmp_path):
    final = folder(tmp_path / "final", "old")
    with pytest.raises(FileNotFoundError):
        folders.swap_in(tmp_path / "missing", final)
    assert (final / "file.txt").read_text() == "old"


def test_a_swap_cut_short_between_its_two_steps_is_undone(tmp_path):
    final = folder(tmp_path / "final", "old")
    final.rename(tmp_path / "final.old.partial")
    folders.recover(final)
    assert (final / "file.txt").read_text() == "old"


def test_what_was_played_before_a_swap_was_cut_short_outlives_what_is_played_before_its_recovery(tmp_path):
    final, aside = folder(tmp_path / "final", "new"), folder(tmp_path / "final.old.partial", "old")
    for its, name in ((aside, "a.npz"), (final, "b.npz")):
        (its / "played").mkdir()
        (its / "played" / name).touch()
    folders.recover(final)
    assert sorted(path.name for path in (final / "played").iterdir()) == ["a.npz", "b.npz"]


def test_a_lock_is_held_by_one_at_a_time(tmp_path):
    with folders.locked(tmp_path / "locks" / "a") as first, folders.locked(tmp_path / "locks" / "a") as second:
        assert (first, second) == (True, False)
    with folders.locked(tmp_path / "locks" / "a") as third:
        assert third
