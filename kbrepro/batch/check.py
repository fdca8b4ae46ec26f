"""What is missing or inconsistent in a paper, in words."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import nbformat
import yaml

from kbrepro import papers, paths
from kbrepro.batch import pairs, profiles
from kbrepro.claims.digests import digest
from kbrepro.claims.judging import Claim, Theorem, sentences_of
from kbrepro.trials import store, sums
from kbrepro.trials.store.settings import differences


def odd(root: Path, notebooks: Sequence[str] = ()) -> list[str]:
    """Return a line for everything that is missing or odd in the papers of notebooks, of all if
    none is named.

    ValueError on a notebook that is not there.
    """
    lines = []
    for name in profiles.named_notebooks(root, notebooks):
        for part in (_of_folder, _of_notebook):
            try:
                for line in part(root, name):
                    lines.append(f"{name}: {line}")
            except ValueError as error:  # of a text, parameters or a profile
                lines.append(f"{name}: {error}")
    return lines


def _of_folder(root: Path, name: str) -> Iterator[str]:
    """What the folder of a paper lacks, its claims' ids, and who else should name it."""
    by_notebook = {paper.notebook: folder for folder, paper in papers.found().items()}
    if name not in by_notebook:
        yield "no paper.py in kbrepro/papers names this notebook"
        return
    folder = by_notebook[name]
    if not [*root.glob(f"tests/papers/{folder}/test_*.py")]:
        yield f"there are no tests in tests/papers/{folder}"
    cited = yaml.safe_load((root / "CITATION.cff").read_text(encoding="utf-8"))["references"]
    notes = [reference["notes"] for reference in cited]
    if not papers.found()[folder].synthesis and f"Notebook {name}" not in notes:
        yield f"CITATION.cff has no reference with the notes `Notebook {name}`"
    claims = f"kbrepro/papers/{folder}/claims.py"
    if not (root / claims).is_file():
        yield f"{claims} is missing"
        return
    sentences = sentences_of(folder)
    for sentence in sentences:
        if not (sentence.quote if isinstance(sentence, Claim) else sentence.statement):
            yield f"claim {sentence.id} has no quote: its function needs a docstring"
    judged = root / f"results/{paths.FULL_SCALE}/{name}/claims.json"
    if judged.is_file():
        before = {
            record["id"]: record.get("predicate") for record in paths.read_json(judged)["claims"]
        }
        others = [
            claim.id
            for claim in sentences
            if isinstance(claim, Claim) and before.get(claim.id) != digest(claim.predicate)
        ]
        if others:
            yield (
                f"claims.json was judged with other predicates or tables of {', '.join(others)}:"
                f" `kbrepro reproduce {name[:2]}` judges them again"
            )
    path, begins = root / f"notebooks/{name}.ipynb", f"{int(name[:2])}-"
    shown = path.read_text(encoding="utf-8") if path.is_file() else ""
    for claim, n in Counter(sentence.id for sentence in sentences).items():
        if n > 1:
            yield f"claim {claim} is defined {n} times"
        if not claim.startswith(begins):
            yield f"claim {claim} must begin with {begins}"
        if shown and rf"id=\"{claim}\"" not in shown:
            yield f"claim {claim} is not shown: name it in record.verdicts(...)"


def _of_notebook(root: Path, name: str) -> Iterator[str]:
    """Whether a notebook is as its text, was run, and was played at full scale as it is planned,
    and whether its profile fits.
    """
    path, refresh = root / f"notebooks/{name}.ipynb", f"`kbrepro refresh {name[:2]}`"
    text, (full,) = profiles.source(root, name), profiles.plan([name], paths.FULL_SCALE, root)
    figures = len([*full.folder.glob("figures/*.png")])
    sections = re.findall("^## (.*)", "\n".join(cell.source for cell in text.cells), flags=re.M)
    if sections[:1] != ["What came out"]:
        yield "the first section of the notebook must be ## What came out"
    if not path.is_file():
        yield f"there is no .ipynb: {refresh} makes it"
    else:
        yield from (f"{line}: {refresh}" for line in _of_outputs(path, figures))
        line, _ = pairs.differ(root, name)
        yield from [line] * bool(line)
    if not full.facts:
        yield f"it was not run at full scale: `kbrepro reproduce {name[:2]}` runs it"
    yield from sums.wrong(full.folder)
    yield from (f"{store.PLAYED}/{line}" for line in sums.wrong(full.played))
    yield from [full.way_back] if full.way_back else _of_plan(full)
    profiles.plan([name], "quick", root)


def _of_plan(full: profiles.Run) -> Iterator[str]:
    """Whether the store has what the plan plays, and what claims say of T is a horizon of it."""
    plan, kept = full.plan, store.labels(full.played)
    horizons = {value for value in full.parameters.values() if isinstance(value, int)}
    for label, planned in plan.items():
        with suppress(ValueError):  # it plays no experiment
            horizons.add(planned.experiment.horizon)
        if label in kept:
            others = differences(kept[label]["settings"], planned.job(label).settings)[:1]
            yield from (
                f"label {label!r} was played with other settings: {line}" for line in others
            )
        elif full.facts:
            yield f"label {label!r} is not stored: `kbrepro play {full.notebook[:2]}` plays it"
    folder = papers.folder_of(full.notebook) if plan else ""
    if not (full.root / f"kbrepro/papers/{folder}/claims.py").is_file():
        return
    for sentence in sentences_of(folder):
        text = sentence.checked if isinstance(sentence, Theorem) else sentence.shows
        for number in re.findall(r"(?<!to )\bT = (\d[\d,]*\b)(?! to)", text):
            if int(number.replace(",", "")) not in horizons:
                yield f"claim {sentence.id} says T = {number}, which no label of its plan has"


def _of_outputs(path: Path, figures: int) -> Iterator[str]:
    """What is odd in an .ipynb, which shows so many figures."""
    # whatever it raises on what is no notebook, such as one in which git left a conflict
    try:
        notebook = nbformat.read(path, as_version=4)
    except Exception:
        yield f"notebooks/{path.name} is not a notebook: git may have left a conflict (<<<<<<<)"
        return
    kernel, ours = notebook.metadata.get("kernelspec", {}).get("name"), profiles.KERNEL["name"]
    if kernel != ours:
        yield f"notebooks/{path.name} names the kernel {kernel!r}, not {ours!r}"
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    if [cell.execution_count for cell in code] != [*range(1, len(code) + 1)]:
        yield "the .ipynb was not run from top to bottom"
    images = path.read_text(encoding="utf-8").count('"image/png":')
    if images < figures:
        yield f"notebooks/{path.name} shows {images} of its {figures} figures"
