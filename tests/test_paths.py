"""The project's root, and replacing files and folders whole."""

import pytest

from kbrepro import paths


@pytest.fixture
def root(tmp_path):
    for name in ("notebooks", "kbrepro"):
        (tmp_path / name).mkdir()
    return tmp_path


def folder(path, text):
    path.mkdir()
    (path / "file.txt").write_text(text)
    return path


def test_the_root_is_found_from_itself_and_from_below(root, monkeypatch):
    (root / "notebooks" / "deep").mkdir()
    assert paths.project_root(root) == paths.project_root(root / "notebooks" / "deep") == root
    monkeypatch.chdir(root / "kbrepro")
    assert paths.project_root() == root


def test_a_notebooks_folder_alone_is_not_the_project(tmp_path):
    (tmp_path / "notebooks").mkdir()
    with pytest.raises(paths.ProjectNotFound, match=f"checkout of the kbrepro repository.*{tmp_path}"):
        paths.project_root(tmp_path)


def test_write_text_replaces_whole_files_and_makes_folders(tmp_path):
    path = tmp_path / "new" / "file.txt"
    for text in ("first, long", "γ"):
        paths.write_text(path, text)
        assert path.read_text(encoding="utf-8") == text
    assert [p.name for p in path.parent.iterdir()] == ["file.txt"]


def test_swap_in_replaces_a_folder(tmp_path):
    final = folder(tmp_path / "final", "old")
    (final / "only_in_the_old.txt").touch()
    paths.swap_in(folder(tmp_path / "new", "new"), final)
    assert {p.name: p.read_text() for p in final.iterdir()} == {"file.txt": "new"}
    assert [p.name for p in tmp_path.iterdir()] == ["final"]


def test_a_swap_that_cannot_be_made_leaves_the_old_folder(tmp_path):
    final = folder(tmp_path / "final", "old")
    with pytest.raises(FileNotFoundError):
        paths.swap_in(tmp_path / "missing", final)
    assert (final / "file.txt").read_text() == "old"


def test_a_swap_cut_short_between_its_two_steps_is_undone(tmp_path):
    final = folder(tmp_path / "final", "old")
    final.rename(tmp_path / "final.old.partial")
    paths.recover(final)
    assert (final / "file.txt").read_text() == "old"


def test_a_lock_is_held_by_one_at_a_time(tmp_path):
    with paths.locked(tmp_path / "locks" / "a") as first, paths.locked(tmp_path / "locks" / "a") as second:
        assert (first, second) == (True, False)
    with paths.locked(tmp_path / "locks" / "a") as third:
        assert third
