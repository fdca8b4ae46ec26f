"""What nbval cannot see: text and notebook agree, outputs are really there, and no cell is vacuous."""

import json
import re
from pathlib import Path

import jupytext
import nbformat
import papermill
import pytest

from kbrepro import papers
from kbrepro.batch import profiles
from kbrepro.claims import claims_of, theorems_of

ROOT = Path(__file__).parents[1]
NAMES = sorted(path.stem for path in (ROOT / "notebooks").glob("*.py"))


@pytest.fixture(params=NAMES)
def name(request):
    return request.param


@pytest.fixture
def notebook(name):
    return nbformat.read(ROOT / "notebooks" / f"{name}.ipynb", as_version=4)


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def tagged(notebook, tag):
    return [cell for cell in code_cells(notebook) if tag in cell.metadata.get("tags", [])]


def test_text_and_notebook_agree(name, notebook):
    text = jupytext.read(ROOT / "notebooks" / f"{name}.py")
    assert [(c.cell_type, c.source) for c in notebook.cells] == [(c.cell_type, c.source) for c in text.cells]
    assert not any(str(ROOT) in cell.source for cell in text.cells)


def test_every_code_cell_has_been_executed_in_order(notebook):
    counts = [cell.execution_count for cell in code_cells(notebook)]
    assert counts == list(range(1, len(counts) + 1))


def test_outputs_hold_no_warnings_progress_bars_or_vector_pictures(notebook):
    for cell in code_cells(notebook):
        for output in cell.outputs:
            assert output.get("name") != "stderr", output
            assert output.output_type != "error"
            assert "image/svg+xml" not in output.get("data", {})


def test_every_output_is_compared(notebook):
    for cell in code_cells(notebook):
        assert not {"nbval-ignore-output", "nbval-skip", "raises-exception"} & {*cell.metadata.get("tags", [])}


def test_every_claim_and_theorem_of_the_paper_is_shown(name, notebook):
    folder, shown = (
        papers.folder_of(name),
        [output.get("data", {}) for c in code_cells(notebook) for output in c.outputs],
    )
    tables = "\n".join(data.get("text/markdown", "") for data in shown)
    ids = set(re.findall(r"^\| (\d-[A-Z]+) \|", tables, flags=re.M))
    assert ids == {each.id for each in (*claims_of(folder), *theorems_of(folder))}


def test_papermill_reads_type_default_and_meaning_of_every_parameter(name, notebook):
    parameters = papermill.inspect_notebook(str(ROOT / "notebooks" / f"{name}.ipynb"))
    (cell,) = tagged(notebook, "parameters")
    assert list(parameters) == [line.split(":")[0] for line in cell.source.splitlines() if line]
    assert "seed" in parameters
    for parameter in parameters.values():
        assert parameter["inferred_type_name"] != "None" and parameter["help"], parameter
        assert not parameter["default"].startswith("("), parameter
    quick = profiles.of_profile(ROOT, name, "quick")
    profiles.check(ROOT, name, quick, profiles.defaults(ROOT, name))
    run = json.loads((ROOT / "results" / "paper" / name / "run.json").read_text(encoding="utf-8"))
    kept = {key: run["parameters"].get(key, value) for key, value in profiles.defaults(ROOT, name).items()}
    assert kept == profiles.defaults(ROOT, name), "the defaults are the full scale, whose trials are kept"


def test_an_impossible_value_is_refused_before_a_kernel_starts(name):
    defaults = profiles.defaults(ROOT, name)
    (amount,) = [each for each in ("trials", "chains") if each in defaults]
    with pytest.raises(ValueError, match=rf"^{amount} = -3 is not allowed"):
        profiles.check(ROOT, name, {amount: -3}, defaults)
    profiles.check(ROOT, name, {}, defaults)
