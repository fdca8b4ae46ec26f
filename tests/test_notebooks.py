"""What neither nbval nor `kbrepro check` sees: outputs are compared and clean, parameters say what
they mean.
"""

import os
import shutil
import tomllib
from pathlib import Path

import nbformat
import papermill
import pytest
from ipykernel.ipkernel import IPythonKernel
from ipykernel.kernelspec import get_kernel_dict
from jupytext.cli import jupytext

from kbrepro.batch import profiles

ROOT = Path(__file__).parents[1]
every_notebook = pytest.mark.parametrize("name", profiles.named_notebooks(ROOT, []))


@every_notebook
def test_every_output_is_compared_and_holds_no_warnings_progress_bars_or_folders_of_a_machine(name):
    notebook = nbformat.read(ROOT / "notebooks" / f"{name}.ipynb", as_version=4)
    assert str(ROOT) not in str(notebook)
    for cell in (cell for cell in notebook.cells if cell.cell_type == "code"):
        assert not {"nbval-ignore-output", "nbval-skip", "raises-exception"} & {
            *cell.metadata.get("tags", [])
        }
        for output in cell.outputs:
            assert output.get("name") != "stderr" and output.output_type != "error", output
            assert "image/svg+xml" not in output.get("data", {})


@every_notebook
def test_jupyterlab_saves_a_notebook_that_was_only_opened_as_it_is(name):
    """It writes the names of ipykernel, the filters of jupytext.toml, and its Python's version."""
    path = ROOT / "notebooks" / f"{name}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    filters = tomllib.loads((ROOT / "jupytext.toml").read_text(encoding="utf-8"))
    del filters["formats"]
    kernel = {"name": "python3"} | {
        key: get_kernel_dict()[key] for key in ("display_name", "language")
    }
    version = notebook.metadata.language_info.version
    assert notebook.metadata == {
        "jupytext": filters,
        "kernelspec": kernel,
        "language_info": IPythonKernel.language_info | {"version": version},
    }
    assert path.read_text(encoding="utf-8") == nbformat.writes(notebook) + "\n"


@every_notebook
def test_papermill_reads_type_default_and_meaning_of_every_parameter(name):
    inspected = papermill.inspect_notebook(str(ROOT / "notebooks" / f"{name}.ipynb"))
    assert list(inspected) == [
        "seed",
        *list(profiles.parameters(ROOT, name, "paper"))[1:],
        profiles.RESERVED,
    ]
    for parameter in inspected.values():
        assert parameter["inferred_type_name"] != "None" and parameter["help"], parameter
        assert not parameter["default"].startswith("("), parameter


@every_notebook
def test_an_impossible_value_is_refused_before_a_kernel_starts(name, monkeypatch):
    (amount,) = [
        count for count in ("trials", "chains") if count in profiles.parameters(ROOT, name, "paper")
    ]
    parameters = profiles.parameters(ROOT, name, "quick")
    for parameter in (amount, *(one for one in parameters if f"{one}_".startswith("seed_"))):
        for value in (-3, 1.5, "abc", None):
            monkeypatch.setattr(profiles, "_values", lambda _, wrong={parameter: value}: wrong)
            with pytest.raises(ValueError, match=rf"^{parameter} = {value!r} is not allowed"):
                profiles.parameters(ROOT, name, "quick")
    # as papermill's -p gives a list
    for parameter in [one for one in parameters if isinstance(parameters[one], list)]:
        wrong = {parameter: str(parameters[parameter])}
        monkeypatch.setattr(profiles, "_values", lambda _, wrong=wrong: wrong)
        with pytest.raises(ValueError, match=rf"^{parameter} = .*papermill takes lists with -y"):
            profiles.parameters(ROOT, name, "quick")


def as_an_editor_writes(path):
    """The .ipynb with what VS Code adds: its kernel's name, the language's version, and a language
    on every cell.
    """
    notebook = nbformat.read(path, as_version=4)
    notebook.metadata.kernelspec.display_name = ".venv (3.11.7)"
    notebook.metadata.language_info = {
        "name": "python",
        "version": "3.11.7",
        "file_extension": ".py",
    }
    notebook.metadata.vscode = {"interpreter": {"hash": "8e5f"}}
    for cell in notebook.cells:
        cell.metadata.vscode = {"languageId": "python"}
    nbformat.write(notebook, path)


@pytest.mark.parametrize("edit", [lambda _: None, as_an_editor_writes])
@pytest.mark.parametrize("newer", [".ipynb", ".py"])
def test_jupytext_leaves_the_text_as_it_is_whichever_file_is_newer(tmp_path, edit, newer):
    shutil.copy(ROOT / "jupytext.toml", tmp_path)
    paths = [
        path for path in sorted((ROOT / "notebooks").iterdir()) if path.suffix in (".py", ".ipynb")
    ]
    for path in paths:
        copy = tmp_path / shutil.copy(path, tmp_path)
        if copy.suffix == ".ipynb":
            edit(copy)
        os.utime(copy, (1, 2 if copy.suffix == newer else 1))
    jupytext(["--quiet", "--sync", *(str(path) for path in tmp_path.glob(f"*{newer}"))])
    for path in paths:
        if path.suffix == ".py":
            assert (tmp_path / path.name).read_bytes() == path.read_bytes()
