"""The project's root, and replacing files and folders whole."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kbrepro import paths


def test_the_root_is_found_from_itself_and_from_below_and_by_notebooks_from_elsewhere(
    tmp_path, monkeypatch
):
    root, elsewhere, deep = (tmp_path / name for name in ("root", "else", "root/notebooks/deep"))
    for folder in (deep, root / "kbrepro", elsewhere):
        folder.mkdir(parents=True)
    assert paths.project_root(root) == paths.project_root(deep) == root
    monkeypatch.chdir(root / "kbrepro")
    assert paths.project_root() == paths.checkout() == root
    monkeypatch.chdir(elsewhere)
    assert paths.checkout() == Path(paths.__file__).resolve().parents[1]


def test_a_notebooks_folder_alone_is_not_the_project(tmp_path):
    (tmp_path / "notebooks").mkdir()
    with pytest.raises(
        paths.ProjectNotFound, match=f"checkout of the kbrepro repository.*{tmp_path}"
    ):
        paths.project_root(tmp_path)


def test_files_are_written_all_or_none_and_an_error_names_the_file(tmp_path):
    one = tmp_path / "new" / "one"
    other = one / "other"  # which has no folder
    for text in ("first, long", "γ"):
        paths.write_text(one, text)
    assert [*one.parent.iterdir()] == [one]
    with pytest.raises(OSError, match=str(other)):
        paths.write_all({one: b"new", other: b"new"})
    assert [*one.parent.iterdir()] == [one]
    assert one.read_text(encoding="utf-8") == "γ"


def test_broken_json_is_named(tmp_path):
    for text in (b"", b"{", b"\xff"):
        (tmp_path / "run.json").write_bytes(text)
        with pytest.raises(
            ValueError, match=f"{tmp_path.name}/run.json cannot be read .*: restore it"
        ):
            paths.read_json(tmp_path / "run.json")


def test_what_a_process_left_half_written_is_removed_after_its_end(tmp_path):
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    left = [f"played/a.npz.{ended.pid}.partial", f"played/a.part/1.npz.{ended.pid}.partial"]
    others = [f"a.npz.{os.getpid()}.partial", ".01_small.partial/run.json", "a.npz"]
    for name in (*left, *others, f"report-x.{ended.pid}.partial/page"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    paths.sweep(tmp_path)
    there = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*")}
    assert there == {*others, ".01_small.partial", "played", "played/a.part"}
