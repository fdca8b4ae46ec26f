"""What nbval cannot see: text and notebook agree, outputs are really there, and no cell is vacuous."""

import json
import re
from pathlib import Path

import jupytext
import nbformat
import papermill
import pytest
import yaml
from kbrepro.verdicts import claims, scorecard

from kbrepro.batch import profiles

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


def compared_outputs(cell):
    """Outputs that nbval compares: printed text, tables, sentences and values, not pictures."""
    if "nbval-ignore-output" in cell.metadata.get("tags", []):
        return
    for output in cell.outputs:
        data = output.get("data", {})
        text = str(output.get("text", "")) or str(data.get("text/markdown", "")) or str(data.get("text/plain", ""))
        if text and not text.startswith("<Figure"):
            yield text


def test_text_and_notebook_agree(name, notebook):
    text = jupytext.read(ROOT / "notebooks" / f"{name}.py")
    assert [(c.cell_type, c.source) for c in notebook.cells] == [(c.cell_type, c.source) for c in text.cells]
    assert not any(str(ROOT) in cell.source for cell in text.cells)


def in_view(notebook):
    """Words of prose, pictures, and lines of code by cell, that a reader sees with all folds closed.

    A formula within a line is a word; displayed formulas, tables and the targets of links are none.
    """
    texts, pictures, code = [], 0, []
    for cell in notebook.cells:
        shows = "hide-output" not in cell.metadata.get("tags", [])
        if cell.cell_type == "markdown":
            texts.append(cell.source)
        elif not cell.metadata.get("jupyter", {}).get("source_hidden"):
            code.append([line for line in cell.source.splitlines() if line.strip()])
        for data in (output.get("data", {}) for output in cell.get("outputs", []) if shows):
            texts.append(str(data.get("text/markdown", "")))
            pictures += "image/png" in data
    text = "\n\n".join(texts).replace("**Not so in this run:**", "")
    text = re.sub(r"<details>\s*<summary>(.*?)</summary>.*?</details>", r"\1", text, flags=re.DOTALL)
    text = re.sub(r"\]\([^)]*\)", "]", re.sub(r"(?m)^\|.*$", "", text))
    text = re.sub(r"\$[^$]*\$", "formula", re.sub(r"\$\$.*?\$\$", "", text, flags=re.DOTALL))
    return len(text.split()), pictures, code


def test_what_is_in_view_can_be_read_in_fifteen_minutes(notebook):
    words, pictures, code = in_view(notebook)
    assert words <= 1800 and pictures <= 9
    assert sum(map(len, code)) <= 250 and max(map(len, code)) <= 20


def test_every_code_cell_has_been_executed_in_order(notebook):
    counts = [cell.execution_count for cell in code_cells(notebook)]
    assert counts == list(range(1, len(counts) + 1))


def test_every_section_compares_at_least_three_numbers(notebook):
    """Every section with an experiment; in notebooks whose cells are not yet tagged, every section."""
    sections, experiments, current = {}, set(), None
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and cell.source.startswith("## "):
            current = cell.source.splitlines()[0]
        elif cell.cell_type == "code" and current:
            texts = " ".join(compared_outputs(cell))
            numbers = sum(word.strip("[],%").replace(".", "", 1).isdigit() for word in texts.split())
            sections[current] = sections.get(current, 0) + numbers
            if "experiment" in cell.metadata.get("tags", []):
                experiments.add(current)
    judged = experiments or set(sections)
    assert judged
    assert {section: n for section, n in sections.items() if n < 3 and section in judged} == {}


def test_outputs_hold_no_warnings_progress_bars_or_vector_pictures(notebook):
    for cell in code_cells(notebook):
        for output in cell.outputs:
            assert output.get("name") != "stderr", output
            assert output.output_type != "error"
            assert "image/svg+xml" not in output.get("data", {})


def test_no_cell_ends_in_a_semicolon_or_skips_the_comparison(notebook):
    """But those that show committed full-scale results, which change with every full-scale run."""
    for cell in code_cells(notebook):
        tags = set(cell.metadata.get("tags", []))
        assert not cell.source.rstrip().endswith(";")
        assert ("nbval-ignore-output" in tags) == ("full-scale" in tags), cell.source
        assert not {"nbval-skip", "raises-exception"} & tags


def test_substitute_data_outputs_say_so(name, notebook):
    loads = any("store.load(" in cell.source for cell in code_cells(notebook))
    rules = claims.load(ROOT / "notebooks/claims" / f"{name}.yaml")
    assert loads == any("data" in claim.needs for claim in rules.claims.values())
    if loads:
        shown = json.dumps([cell.outputs for cell in code_cells(notebook)])
        assert "SIMULATED SUBSTITUTE" in shown


def test_papermill_reads_type_default_and_meaning_of_every_parameter(name, notebook):
    parameters = papermill.inspect_notebook(str(ROOT / "notebooks" / f"{name}.ipynb"))
    (cell,) = tagged(notebook, "parameters")
    assert list(parameters) == [line.split(":")[0] for line in cell.source.splitlines() if line]
    assert "seed" in parameters
    for parameter in parameters.values():
        assert parameter["inferred_type_name"] != "None" and parameter["help"], parameter
        assert not parameter["default"].startswith("("), parameter
    profile = yaml.safe_load((ROOT / "notebooks/profiles/paper" / f"{name}.yaml").read_text(encoding="utf-8"))
    assert set(profile) == set(parameters) - {"results_dir"}, "a default may change, a full-scale run may not"


def test_an_impossible_value_is_refused_before_a_kernel_starts(name):
    defaults = profiles.defaults(ROOT, name)
    (amount,) = [each for each in ("trials", "chains") if each in defaults]
    with pytest.raises(ValueError, match=rf"^{amount} = -3 is not allowed"):
        profiles.check(ROOT, name, {amount: -3}, defaults)
    profiles.check(ROOT, name, {}, defaults)


def test_what_is_shown_at_a_glance_is_what_the_full_scale_run_found(name, notebook):
    """In the notebook as it is opened and in the executed one, made again from the committed claims."""
    committed = ROOT / "results" / "paper" / name
    if not (committed / "claims.json").is_file():
        pytest.skip("results/paper holds no run of it")
    text = scorecard.glance(scorecard.read_run(committed), name)
    executed = nbformat.read(committed / "notebook.ipynb", as_version=4)
    for its, shown in ((notebook, f"**At full scale:**\n\n{text}"), (executed, text)):
        assert [c.outputs[0].data["text/markdown"] for c in tagged(its, "at-a-glance")] == [shown]
