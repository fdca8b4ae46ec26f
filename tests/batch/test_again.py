"""What was played gives the committed verdicts, tables and regrets again; slow tests judge and show whole notebooks."""

import base64
import hashlib
import io
import json
from pathlib import Path

import nbformat
import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image

from kbrepro import papers
from kbrepro.__main__ import main
from kbrepro.batch import again, compare, run
from kbrepro.data import store as sensors
from kbrepro.verdicts import claims

ROOT = Path(__file__).parents[2]
PAPER = ROOT / "results" / "paper"
NOTEBOOKS = sorted(path.stem for path in ROOT.glob("notebooks/*.ipynb"))
NUMBERS = [name[:2] for name in NOTEBOOKS]
#: Those whose edition was played at full scale, as their last run says.
PLAYED = [
    path.parent.name
    for path in sorted(PAPER.glob("*/run.json"))
    if json.loads(path.read_text(encoding="utf-8"))["parameters"]["seed"]
    == claims.load(ROOT / "notebooks" / "claims" / f"{path.parent.name}.yaml").edition.seed
]
KEPT = {path.with_suffix("").name: path for path in PAPER.glob("*/played/*.npz")}


def test_something_of_every_notebook_is_kept_at_full_scale_and_all_of_it_is_small():
    assert {path.parents[1].name for path in KEPT.values()} >= set(PLAYED)  # more while one is being played
    syntheses = {paper.notebook for paper in papers.found().values() if paper.synthesis}
    for of_synthesis, limit in ((False, 60e6), (True, 15e6)):
        its = [path for path in KEPT.values() if (path.parents[1].name in syntheses) == of_synthesis]
        assert sum(path.stat().st_size for path in its) < limit


def test_nothing_kept_of_sensor_data_has_arms_or_gaps():
    for path in KEPT.values():
        told = path.with_suffix(".json").read_text(encoding="utf-8")
        if '"measured": ""' not in told and '"measured": "' in told:
            with np.load(path) as file:
                assert not any("gaps" in name or name.endswith("/arms") for name in file.files), path.name


# Whole notebooks


def seen(folder):
    """A run's notebook as a reader sees it: of pictures the pixels, whoever packed them and calls them a figure."""
    notebook = nbformat.read(folder / "notebook.ipynb", as_version=4)
    for output in (output for cell in notebook.cells for output in cell.get("outputs", [])):
        if packed := output.get("data", {}).get("image/png"):
            picture = Image.open(io.BytesIO(base64.b64decode(packed))).convert("RGB")
            output.data = {"size": picture.size, "pixels": hashlib.sha256(picture.tobytes()).hexdigest()}
    return notebook


def uses_data(notebook):
    rules = claims.load(ROOT / "notebooks" / "claims" / f"{notebook}.yaml")
    return any("data" in claim.needs for claim in rules.claims.values())


@pytest.fixture(scope="module")
def quick():
    """The plans of all quick runs, played (or read, where they are kept)."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        run.run([], "quick", {}, None, ROOT)
    return {r.notebook[:2]: r for r in run.plan([], "quick", {}, ROOT)}


@pytest.mark.slow
@pytest.mark.parametrize("number", NUMBERS)
def test_a_quick_run_is_judged_and_shown_from_its_store_with_the_same_claims_and_tables(quick, number):
    assert again.differing(quick[number]) == []


@pytest.mark.slow
@pytest.mark.parametrize("number", [name[:2] for name in NOTEBOOKS if uses_data(name)])
def test_so_it_is_without_the_sensor_data_it_was_played_on(quick, number, tmp_path, monkeypatch):
    if "not found" in sensors.status():
        pytest.skip("it was played on a simulated substitute")
    before = seen(quick[number].folder)
    monkeypatch.setenv("KBREPRO_DATA", str(tmp_path))
    assert again.differing(quick[number]) == []
    with run.judged_again(quick[number]) as folder:
        assert seen(folder) == before


@pytest.mark.slow
@pytest.mark.parametrize("number", NUMBERS)
def test_the_full_scale_run_is_judged_and_shown_from_its_store_as_committed(number):
    (r,) = run.plan([number], "paper", {}, ROOT)
    try:
        found = again.differing(r)
    except run.RunFailed as error:
        assert "is not in played/" in str(error)
        pytest.skip("its store is incomplete")
    # committed by one processor, judged by another: both round
    assert [item for item in found if item.state == compare.DIFFERS] == []


@pytest.mark.slow
def test_a_committed_number_that_is_not_what_was_played_is_named(quick):
    """The test above can fail."""
    r = quick[NUMBERS[0]]
    path = r.folder / "claims.json"
    committed = path.read_text(encoding="utf-8")
    content = json.loads(committed)
    first = content["claims"][0]
    first["verdict"] = "partly" if first["verdict"] == "reproduced" else "reproduced"
    path.write_text(json.dumps(content), encoding="utf-8")
    try:
        assert [item.name for item in again.differing(r)] == [f"claim {first['id']}"]
    finally:
        path.write_text(committed, encoding="utf-8")


def test_status_says_what_is_missing(monkeypatch):
    def lacks(r):
        raise run.RunFailed("NotKept: label 'Fig. 9' is not in played/, and nothing is to be played\nmore")

    monkeypatch.chdir(ROOT)
    for its, said in ((lambda r: [], "same verdicts and tables"), (lacks, "'Fig. 9' is not in played/")):
        monkeypatch.setattr(again, "differing", its)
        found = CliRunner().invoke(main, ["status", PLAYED[0]])
        assert found.exit_code == 0 and found.output.startswith(f"{PLAYED[0]}: ") and said in found.output
