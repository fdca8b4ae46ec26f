"""Folders are replaced whole, and by one process at a time."""

from pathlib import Path

import pytest

from kbrepro.batch import folders


def folder(path, *names):
    for name in names:
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).touch()
    return path


def names(path):
    return sorted(its.relative_to(path).as_posix() for its in path.rglob("*") if its.is_file())


def test_a_swap_that_cannot_be_made_leaves_the_old_folder(tmp_path):
    final = folder(tmp_path / "final", "old.txt")
    with pytest.raises(FileNotFoundError):
        folders.swap_in(tmp_path / "missing", final)
    assert names(final) == ["old.txt"]


@pytest.mark.parametrize("last", range(4))
def test_whichever_step_of_a_swap_is_the_last_one_folder_is_whole_and_keeps_what_was_played(
    tmp_path, monkeypatch, last
):
    """Interrupted after so many of its three renamings, and then recovered."""
    real, done = Path.rename, []
    final, new = folder(tmp_path / "final", "played/a.npz", "old.txt"), folder(tmp_path / "final.partial", "new.txt")

    def rename(path, target):
        if len(done) >= last:
            raise KeyboardInterrupt
        done.append(path)
        return real(path, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", rename)
        try:
            folders.swap_in(new, final)
        except KeyboardInterrupt:
            assert last < 3
    folders.recover(final)
    assert names(final) == ["new.txt" if last > 1 else "old.txt", "played/a.npz"]
    assert last < 3 or [path.name for path in tmp_path.iterdir()] == ["final"]


def test_what_was_played_before_a_swap_was_cut_short_outlives_what_is_played_before_its_recovery(tmp_path):
    final = folder(tmp_path / "final", "played/b.npz")
    folder(tmp_path / "final.old.partial", "played/a.npz")
    folders.recover(final)
    assert names(final) == ["played/a.npz", "played/b.npz"]


def test_a_lock_is_held_by_one_at_a_time(tmp_path):
    with folders.locked(tmp_path / "locks" / "a") as first, folders.locked(tmp_path / "locks" / "a") as second:
        assert (first, second) == (True, False)
    with folders.locked(tmp_path / "locks" / "a") as third:
        assert third
