"""Lists notebooks and profiles, and checks whether values fit a notebook's parameters; starts no
kernel.
"""

import ast
import copy
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import Any

import jupytext
import yaml
from nbformat import NotebookNode

from kbrepro import checks, paths
from kbrepro.batch.plans import Plan, plan_of, remembering
from kbrepro.trials import store

RESERVED = "results_dir"  # set by the batch itself
#: Parameters, or other names of a notebook.
Values = dict[str, object]
#: The kernel of every notebook; its text does not say it.
KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
#: Of jupytext.toml, which JupyterLab copies into each notebook that it saves.
FILTERS = {"cell_metadata_filter": "tags,jupyter,-all", "notebook_metadata_filter": "-all"}


def named_notebooks(root: Path, wanted: Iterable[str]) -> list[str]:
    """Return the names of the wanted notebooks, each a name, a number or a path; of all if none is
    wanted.

    ValueError on one that is not there.
    """
    # without copies, as Jupyter makes them: 05_name-Copy1
    names = sorted(path.stem for path in root.glob("notebooks/[0-9][0-9]_*.py"))
    names = [name for name in names if "-" not in name]
    numbered = {name[:2]: name for name in names}
    found = []
    for text in wanted:
        stem = Path(text).stem
        name = numbered.get(stem.zfill(2), stem)
        checks.one_of(names, notebook=name)
        found.append(name)
    return list(dict.fromkeys(found)) or names


def require(root: Path, profile: str) -> None:
    """Raise ValueError unless a profile is the full scale, the next edition, or a folder of
    notebooks/profiles.
    """
    folders = sorted(folder.name for folder in root.glob("notebooks/profiles/*/"))
    checks.one_of((paths.FULL_SCALE, paths.NEXT, *folders), profile=profile)


def parameters(root: Path, notebook: str, profile: str) -> Values:
    """Return the parameters of a notebook in a profile: those of its cell tagged `parameters`, as
    the profile has them. An edition that is frozen has another seed.

    ValueError if there is no such profile, or it is no mapping; on a name that the notebook has
    not, or that comes twice; if no cell is tagged `parameters`; and on what its cell tagged
    `checks` refuses: what stands there before `Record(...)` runs here, but for imports, so that no
    kernel starts with impossible values.
    """
    require(root, profile)
    text = source(root, notebook, profile)
    values = values_of(root, notebook, profile)
    names = _executed(notebook, text, "parameters", {"checks": checks})
    ours = [name for name in names if name[0] != "_" and name not in ("checks", RESERVED)]
    full_scale = {name: names[name] for name in ours}
    for name in values:
        checks.one_of(full_scale, **{f"parameter of {notebook}": name})
    _executed(notebook, text, "checks", names | values)
    return full_scale | values


def values_of(root: Path, notebook: str, profile: str) -> Values:
    """Return the values that a profile sets, or the seed of an edition that is frozen; ValueError
    if there are none to set.
    """
    if profile == paths.FULL_SCALE:
        return Values()
    if profile == paths.NEXT:
        edition = paths.facts_of(
            root / f"results/{profile}/{notebook}/{store.PLAYED}", paths.EDITION
        )
        return {"seed": edition["seed"]} if edition else Values()
    where = f"notebooks/profiles/{profile}/{notebook}.yaml"
    if not (root / where).is_file():
        raise ValueError(
            f"profile = {profile!r} is not allowed for {notebook}: there is no {where}"
        )
    try:
        return _values((root / where).read_text(encoding="utf-8"))
    except (yaml.YAMLError, TypeError, ValueError) as error:
        raise ValueError(
            f"{where} is not allowed: it must be lines of name: value ({error})"
        ) from None


def source(root: Path, notebook: str, profile: str = paths.FULL_SCALE) -> NotebookNode:
    """Return the text of a notebook, which is what runs; of the next edition its draft.

    ValueError, which names the file, if git left a conflict in it, or if no cell is tagged
    `parameters`.
    """
    where = f"notebooks/{paths.NEXT}/{notebook}.py"
    if profile != paths.NEXT:
        where = f"notebooks/{notebook}.py"
    text = (root / where).read_text(encoding="utf-8")
    if re.search("^<<<<<<< ", text, flags=re.M):
        raise ValueError(f"{where} is not allowed: git left a conflict in it (<<<<<<<)")
    found = copy.deepcopy(_read(text))
    if not _tagged(found, "parameters"):
        raise ValueError(f"{where} is not allowed: it must have a cell tagged parameters")
    found.metadata["kernelspec"] = KERNEL
    return found


@cache  # slow, and every question about a notebook asks for it
def _read(text: str) -> NotebookNode:
    return jupytext.reads(text, "py:percent")


def _tagged(notebook: NotebookNode, tag: str) -> str:
    """The code of the cells of a notebook with a tag."""
    return "\n".join(cell.source for cell in notebook.cells if tag in cell.metadata.get("tags", []))


def _executed(name: str, text: NotebookNode, tag: str, values: Values) -> Values:
    """What the names are after the cells with a tag, up to `Record(...)` and without imports;
    ValueError, which names file and tag, if they fail.
    """
    names = dict(values)
    try:
        code = ast.parse(_tagged(text, tag))
        steps = takewhile(lambda step: "Record(" not in ast.unparse(step), code.body)
        code.body = [step for step in steps if not isinstance(step, ast.Import | ast.ImportFrom)]
        exec(compile(code, name, "exec"), names)
    except ValueError:  # of `checks`: it names the parameter
        raise
    except Exception as error:
        raise ValueError(
            f"notebooks/{name}.py is not allowed: its cell tagged {tag} fails"
            f" ({type(error).__name__}: {error})"
        ) from None
    return names


def _values(text: str) -> Values:
    """The values of a profile; ValueError on a name that comes twice."""
    names = [name.value for name, _ in getattr(yaml.compose(text), "value", [])]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"{name} is given twice")
    return dict(yaml.safe_load(text) or {})


@dataclass(frozen=True)
class Run:
    """One notebook with its parameters in a profile, and the folder of its results."""

    root: Path
    notebook: str
    folder: Path
    parameters: Values

    @property
    def played(self) -> Path:
        """Where its trials are kept."""
        return self.folder / store.PLAYED

    @property
    def kept_in(self) -> store.Store:
        """The store of its trials, to read."""
        return store.Store(self.played, read_only=True)

    @property
    def edition(self) -> str:
        """NEXT if it is of the edition that comes next, else empty."""
        profile = self.folder.parent.name
        return profile if profile == paths.NEXT else ""

    @property
    def plan(self) -> Plan:
        """What it plays, by label; of data that is not here what its store remembers."""
        return plan_of(self.notebook, self.parameters, remembering(self.kept_in), self.edition)

    @property
    def way_back(self) -> str:
        """What to do where parameters are not those with which it was played; empty if they are."""
        played = self.facts.get("parameters", {})
        others = [
            name for name, value in self.parameters.items() if played.get(name, value) != value
        ]
        if not others:
            return ""
        return (
            f"the notebook differs from the full scale in {len(others)} of its parameters"
            f" ({', '.join(others)}): `git checkout notebooks/{self.notebook[:2]}*` restores them;"
            " for other parameters use a profile (docs/using.md)"
        )

    @property
    def facts(self) -> dict[str, Any]:
        """What its run.json says; empty if there is none."""
        return paths.facts_of(self.folder)


def plan(notebooks: Sequence[str], profile: str, root: Path) -> list[Run]:
    """Return what `run_notebooks` would run; ValueError like that."""
    return [
        Run(root, name, root / f"results/{profile}/{name}", parameters(root, name, profile))
        for name in named_notebooks(root, notebooks)
    ]
