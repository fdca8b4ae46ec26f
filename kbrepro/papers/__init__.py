"""One folder per paper, which imports the core and no other paper. Its `paper.py` says what the paper is."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules

from kbrepro import checks

#: A line style, by name or as (offset, (on, off, ...)).
Style = str | tuple[int, tuple[int, ...]]
#: Colour and line style.
Look = tuple[str, Style]


@dataclass(frozen=True)
class Paper:
    """What a folder registers as `PAPER` in its `paper.py`.

    `notebook`; `families`: colour -> name -> line style of the algorithms that no earlier paper has (one without gets
    the next colour of a cycle). A `synthesis` is not a paper: it plays algorithms of others, may import their folders,
    and its families are kinds of rules.
    """

    notebook: str
    families: Mapping[str, Mapping[str, Style]] = field(default_factory=dict)
    synthesis: bool = False


@cache
def found() -> dict[str, Paper]:
    """Return every paper whose folder here has a `paper.py`, by name, in the order of the notebooks."""
    folders = [name for _, name, is_folder in iter_modules(__path__) if is_folder]
    names = [name for name in folders if find_spec(f"{__name__}.{name}.paper")]
    all_papers = {name: import_module(f"{__name__}.{name}.paper").PAPER for name in names}
    return dict(sorted(all_papers.items(), key=lambda item: item[1].notebook))


def folder_of(notebook: str) -> str:
    """Return the folder of the paper of a notebook; ValueError if no paper names it."""
    by_notebook = {paper.notebook: folder for folder, paper in found().items()}
    checks.one_of(tuple(by_notebook), notebook=notebook)
    return by_notebook[notebook]


def looks() -> dict[str, Look]:
    """Return the look of every algorithm; ValueError if two papers give one of them two looks."""
    known: dict[str, Look] = {}
    for paper in found().values():
        for colour, family in paper.families.items():
            for name, style in family.items():
                if known.setdefault(name, (colour, style)) != (colour, style):
                    refused = f"look {colour, style} of {name!r} is not allowed: it has {known[name]}"
                    raise ValueError(f"{paper.notebook}: {refused}")
    return known
