"""What is missing or odd in a paper, in words."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import nbformat
import yaml

from kbrepro import papers
from kbrepro.batch import profiles
from kbrepro.batch.run import stale
from kbrepro.claims import claims_of, theorems_of


def odd(root: Path, notebooks: Sequence[str] = ()) -> list[str]:
    """Return a line for everything that is missing or odd in the papers of notebooks, of all if none is named.

    ValueError on a notebook that is not there.
    """
    lines = []
    for folder in sorted((root / "kbrepro" / "papers").glob("*/")):
        for file in ("__init__.py", "paper.py"):
            if not (folder / file).is_file() and list(folder.glob("*.py")):
                lines.append(f"kbrepro/papers/{folder.name} has no {file}, so nothing finds it")
    for name in profiles.chosen(notebooks, profiles.notebook_names(root), "notebook"):
        lines += [f"{name}: {line}" for line in (*_of_folder(root, name), *_of_notebook(root, name))]
    return lines


def _of_folder(root: Path, name: str) -> Iterator[str]:
    """What the folder of a paper lacks, its claims' ids, and who else should name it."""
    folders = [folder for folder, paper in papers.found().items() if paper.notebook == name]
    if len(folders) != 1:
        yield f"a paper.py in kbrepro/papers must name this notebook; {', '.join(folders) or 'none'} does"
        return
    if not list((root / "tests" / "papers" / folders[0]).glob("test_*.py")):
        yield f"there are no tests in tests/papers/{folders[0]}"
    cited = yaml.safe_load((root / "CITATION.cff").read_text(encoding="utf-8"))["references"]
    if not papers.found()[folders[0]].synthesis and f"Notebook {name}" not in [each["notes"] for each in cited]:
        yield f"CITATION.cff has no reference with the notes `Notebook {name}`"
    if not (root / "kbrepro" / "papers" / folders[0] / "claims.py").is_file():
        yield f"kbrepro/papers/{folders[0]}/claims.py is missing"
    else:
        ids = [each.id for each in claims_of(folders[0])] + [each.id for each in theorems_of(folders[0])]
        yield from (f"claim {each} is there {n} times" for each, n in Counter(ids).items() if n > 1)
        begins = f"{int(name[:2])}-"
        yield from (f"claim {each} must begin with {begins}" for each in ids if not each.startswith(begins))
        yield from _not_shown(root / "notebooks" / f"{name}.ipynb", ids)


def _not_shown(path: Path, ids: Sequence[str]) -> Iterator[str]:
    if path.is_file():
        cells = nbformat.read(path, as_version=4).cells
        shown = "".join(str(output.get("data", "")) for cell in cells for output in cell.get("outputs", []))
        yield from (f"claim {each} is not shown: record.verdicts" for each in ids if f"| {each} |" not in shown)


def _of_notebook(root: Path, name: str) -> Iterator[str]:
    """Whether a notebook is as its text, was run, and was played at full scale, and whether its profile fits."""
    path, refresh = root / "notebooks" / f"{name}.ipynb", f"`kbrepro refresh {name[:2]}`"
    if not path.is_file():
        yield f"there is no .ipynb: {refresh} makes it"
    elif stale(root, name):
        yield f"the .ipynb has other cells than the .py, which runs: {refresh}"
    elif not re.search(r'"execution_count": [0-9]', path.read_text(encoding="utf-8")):
        yield f"the .ipynb was not run: {refresh}"
    known = profiles.defaults(root, name)
    try:
        profiles.check(root, name, profiles.of_profile(root, name, "quick"), known)
    except ValueError as error:
        yield str(error)
    run = root / "results" / "paper" / name / "run.json"
    if not run.is_file():
        yield f"it was not played at full scale: `kbrepro reproduce {name[:2]}`"
        return
    played = json.loads(run.read_text(encoding="utf-8"))["parameters"]
    for key in [key for key, value in known.items() if key != profiles.RESERVED and played.get(key, value) != value]:
        yield f"{key} = {known[key]!r}, but the full scale was played with {played[key]!r}"
