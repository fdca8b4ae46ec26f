"""What is missing or odd in a paper, in words."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import jupytext
import nbformat
import yaml

from kbrepro import papers, paths, store, sums
from kbrepro.batch import profiles
from kbrepro.batch.run import plan
from kbrepro.claims import sentences_of


def odd(root: Path, notebooks: Sequence[str] = ()) -> list[str]:
    """Return a line for everything that is missing or odd in the papers of notebooks, of all if none is named.

    ValueError on a notebook that is not there.
    """
    lines = []
    for name in profiles.chosen(root, notebooks):
        lines += [f"{name}: {line}" for line in (*_of_folder(root, name), *_of_notebook(root, name))]
    return lines


def _of_folder(root: Path, name: str) -> Iterator[str]:
    """What the folder of a paper lacks, its claims' ids, and who else should name it."""
    folders = [folder for folder, paper in papers.found().items() if paper.notebook == name]
    if len(folders) != 1:
        yield f"a paper.py in kbrepro/papers must name this notebook; {', '.join(folders) or 'none'} does"
        return
    (folder,) = folders
    if not list((root / "tests" / "papers" / folder).glob("test_*.py")):
        yield f"there are no tests in tests/papers/{folder}"
    cited = yaml.safe_load((root / "CITATION.cff").read_text(encoding="utf-8"))["references"]
    if not papers.found()[folder].synthesis and f"Notebook {name}" not in [each["notes"] for each in cited]:
        yield f"CITATION.cff has no reference with the notes `Notebook {name}`"
    if not (root / "kbrepro" / "papers" / folder / "claims.py").is_file():
        yield f"kbrepro/papers/{folder}/claims.py is missing"
        return
    sentences = sentences_of(folder)
    ids, begins = [each.id for each in sentences], f"{int(name[:2])}-"
    yield from (f"claim {each.id} has no quote: its function needs a docstring" for each in sentences if not each.quote)
    yield from (f"claim {each} is there {n} times" for each, n in Counter(ids).items() if n > 1)
    yield from (f"claim {each} must begin with {begins}" for each in ids if not each.startswith(begins))
    path = root / "notebooks" / f"{name}.ipynb"
    shown = path.read_text(encoding="utf-8") if path.is_file() else ""
    yield from (f"claim {each} is not shown: record.verdicts" for each in ids if shown and f"| {each} |" not in shown)


def _of_notebook(root: Path, name: str) -> Iterator[str]:
    """Whether a notebook is as its text, was run, and was played at full scale, and whether its profile fits."""
    path, refresh = root / "notebooks" / f"{name}.ipynb", f"`kbrepro refresh {name[:2]}`"
    if not path.is_file():
        yield f"there is no .ipynb: {refresh} makes it"
    else:
        cells, text = nbformat.read(path, as_version=4).cells, jupytext.read(path.with_suffix(".py")).cells
        if [(cell.cell_type, cell.source) for cell in cells] != [(cell.cell_type, cell.source) for cell in text]:
            yield f"the .ipynb has other cells than the .py, which runs: {refresh}"
        counts = [cell.execution_count for cell in cells if cell.cell_type == "code"]
        if counts != [*range(1, len(counts) + 1)]:
            yield f"the .ipynb was not run from top to bottom: {refresh}"
    try:
        plan([name], "quick", root)
    except ValueError as error:
        yield str(error)
    (full,) = plan([name], paths.FULL_SCALE, root)
    if not full.facts:
        yield f"it was not played at full scale: `kbrepro reproduce {name[:2]}`"
    played = full.facts.get("parameters", {})
    for key, value in full.parameters.items():
        if played.get(key, value) != value:
            yield f"{key} = {value!r}, but the full scale was played with {played[key]!r}"
    yield from sums.wrong(full.folder)
    yield from (f"{store.PLAYED}/{line}" for line in sums.wrong(full.played))
