"""What neither nbval nor `kbrepro check` sees: outputs are compared and clean, parameters say what they mean."""

from pathlib import Path

import nbformat
import papermill
import pytest

from kbrepro.batch import profiles

ROOT = Path(__file__).parents[1]
every_notebook = pytest.mark.parametrize("name", sorted(path.stem for path in (ROOT / "notebooks").glob("*.py")))


@every_notebook
def test_every_output_is_compared_and_holds_no_warnings_progress_bars_or_folders_of_a_machine(name):
    notebook = nbformat.read(ROOT / "notebooks" / f"{name}.ipynb", as_version=4)
    assert str(ROOT) not in str(notebook)
    for cell in (cell for cell in notebook.cells if cell.cell_type == "code"):
        assert not {"nbval-ignore-output", "nbval-skip", "raises-exception"} & {*cell.metadata.get("tags", [])}
        for output in cell.outputs:
            assert output.get("name") != "stderr" and output.output_type != "error", output
            assert "image/svg+xml" not in output.get("data", {})


@every_notebook
def test_papermill_reads_type_default_and_meaning_of_every_parameter(name):
    known = papermill.inspect_notebook(str(ROOT / "notebooks" / f"{name}.ipynb"))
    assert list(known) == ["seed", *list(profiles.parameters(ROOT, name, "paper"))[1:], profiles.RESERVED]
    for parameter in known.values():
        assert parameter["inferred_type_name"] != "None" and parameter["help"], parameter
        assert not parameter["default"].startswith("("), parameter


@every_notebook
def test_an_impossible_value_is_refused_before_a_kernel_starts(name, monkeypatch):
    (amount,) = [each for each in ("trials", "chains") if each in profiles.parameters(ROOT, name, "paper")]
    monkeypatch.setattr(profiles, "_values", lambda _: {amount: -3})
    with pytest.raises(ValueError, match=rf"^{amount} = -3 is not allowed"):
        profiles.parameters(ROOT, name, "quick")
