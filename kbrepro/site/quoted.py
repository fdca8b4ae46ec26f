"""Pages that quote the full-scale runs: the scorecard, and generated blocks of docs."""

import io
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from kbrepro import paths
from kbrepro.batch.provenance import PAGES
from kbrepro.papers import found as registered
from kbrepro.verdicts import scorecard
from kbrepro.verdicts.claims import VERDICTS

#: A block `<!-- begin NAME -->...<!-- end NAME -->`, in lines of its own or within a line.
_BLOCK = re.compile(r"(<!-- begin ([\w -]+?) -->)(\n?).*?(<!-- end \2 -->)", flags=re.DOTALL)
_NO_RUN = f"*There is no full-scale run: `kbrepro reproduce --profile {scorecard.FULL_SCALE}`.*"
#: Measured by hand on two idle cores, in a fresh clone; `make report` prepares the environment, too.
_MEASURED = {"make report": "183 s", "make test": "184 s"}


def renew(root: Path) -> list[Path]:
    """Write the scorecard, its pictures and the blocks of existing pages, and return these files.

    Raises ValueError on a block of unknown name.
    """
    from kbrepro import figures
    from kbrepro.verdicts import pictures

    folder, card = root / "results" / scorecard.FULL_SCALE, root / "results" / "README.md"
    written, pages = [card], [root / name for name in PAGES if (root / name).is_file()]
    if runs := scorecard.read(folder):
        figures.use_style()
        names = read(root).papers
        counted = {label(name, names): run["claims"] for name, run in scorecard.of_papers(runs).items()}
        drawn = {scorecard.TOTALS: pictures.totals(counted)}
        drawn |= {scorecard.PARTS.format(name[:2]): pictures.all_parts(run["claims"]) for name, run in runs.items()}
        for name, figure in drawn.items():
            picture = io.BytesIO()
            figure.savefig(picture, dpi=200, format="png", facecolor="white")
            paths.write_bytes(folder / name, picture.getvalue())
            written.append(folder / name)
    paths.write_text(card, scorecard.scorecard(root))
    for page in pages:
        paths.write_text(page, filled(page.read_text(encoding="utf-8"), root))
    return [*written, *pages]


def filled(text: str, root: Path) -> str:
    """Return a page with all its blocks made anew from the results; ValueError on an unknown block."""
    found = read(root)
    return _BLOCK.sub(lambda its: f"{its[1]}{its[3]}{quote(its[2], found)}{its[3]}{its[4]}", text)


# What each block says


@dataclass(frozen=True)
class Found:
    """Everything that is quoted: runs and papers, by notebook."""

    root: Path
    folder: Path
    runs: dict[str, dict[str, Any]]
    papers: dict[str, dict[str, Any]]


def read(root: Path) -> Found:
    """Return what there is to quote, which may be nothing."""
    folder, cited = root / "results" / scorecard.FULL_SCALE, root / "CITATION.cff"
    papers = yaml.safe_load(cited.read_text(encoding="utf-8"))["references"] if cited.is_file() else []
    return Found(root, folder, scorecard.read(folder), {p["notes"].split()[-1]: p for p in papers})


def quote(name: str, found: Found) -> str:
    """Return the Markdown of a block: one of BLOCKS, one of OF_A_RUN with a number, or a claim; else ValueError."""
    what, _, number = name.partition(" ")
    if name in BLOCKS:
        return BLOCKS[name](found)
    if what in OF_A_RUN and number.isdigit():
        notebook = next((its for its in found.runs if its.startswith(f"{number}_")), "")
        return OF_A_RUN[what](found, notebook) if notebook else _NO_RUN
    if re.fullmatch(r"\d+-[A-Z]+", name):
        return _verdict(found, name)
    allowed = ", ".join([*BLOCKS, *(f"{its} 01" for its in OF_A_RUN), "1-A"])
    raise ValueError(f"block {name!r} is not allowed; allowed are such as {allowed}")


# Of all papers


def label(notebook: str, papers: dict[str, dict[str, Any]]) -> str:
    """Return the name of a notebook's paper: its algorithm, authors and year."""
    hero = next((its.hero for its in registered().values() if its.notebook == notebook), "")
    if notebook not in papers:
        return notebook
    return f"{hero.partition('/')[0]}, {_authors(papers[notebook])}" if hero else _authors(papers[notebook])


def _authors(paper: dict[str, Any]) -> str:
    names = [author["family-names"] for author in paper["authors"]]
    return f"{' & '.join(names) if len(names) < 3 else f'{names[0]} et al.'} {paper['year']}"


def _halves(found: Found) -> str:
    every = [r for run in found.runs.values() for r in run["claims"]]
    its = [r for r in every if r.get("halves")]
    if not its:
        return "*No run was judged on halves of its trials.*"
    moved = [r for r in its if set(r["halves"]) != {r["verdict"]}]
    good, found_by = set(VERDICTS[:2]), {r["id"]: {r["verdict"], *r["halves"]} for r in its}
    opposite = [name for name, verdicts in found_by.items() if "not reproduced" in verdicts and good & verdicts]
    line = (
        f"{len(its)} of {len(every)} claims can be judged on each half of their trials. Of these, "
        f"{len(its) - len(moved)} have the same verdict on the whole and on both halves. Reproduced on one and not "
        f"reproduced on another: {', '.join(opposite) or 'none'}."
    )
    rows = [[r["id"], r["says"], r["mark"], *(f"{scorecard.GLYPHS[v]} {v}" for v in r["halves"])] for r in moved]
    return f"{line}\n\n{scorecard.table(['', 'the paper says', 'all trials', 'even trials', 'odd trials'], rows)}"


# Of one run, or one claim


def _run(found: Found, notebook: str) -> str:
    its = found.runs[notebook]["claims"]
    open_ = [f"{r['id']} ({r['note']})" for r in its if r["verdict"] == "not evaluated"]
    settings = ", ".join(f"`{name}` {value}" for name, value in found.runs[notebook]["facts"]["parameters"].items())
    lines = f"- Claims: {scorecard.summary(its)}.", f"- Not evaluated: {', '.join(open_) or 'none'}."
    return "\n".join([*lines, f"- Settings of the run: {settings}."])


def _cost(found: Found, notebook: str) -> str:
    its = found.runs[notebook]["facts"]
    computed, lasted = its["compute_seconds"], its["seconds"]
    return (
        f"All trials took {computed:.0f} s of computing ({computed / 60:.0f} min on one core). The run that wrote "
        f"these results took {lasted / 60:.1f} min with {its['jobs']} workers; it read the trials played earlier."
    )


def _costs(found: Found) -> str:
    minutes = sum(run["facts"]["compute_seconds"] for run in found.runs.values()) / 60
    files = [path for name in found.runs for path in (found.folder / name).rglob("*") if path.is_file()]
    size = sum(path.stat().st_size for path in files) / 1e6
    paper = f"{minutes:.0f} min of computing, which cores share" if found.runs else "not known: there is no run"
    rows = [[f"`{name}`", f"{time} on two idle cores", "1 GB, most of it packages"] for name, time in _MEASURED.items()]
    rows.append(["`make paper`", paper, f"the same, and {size:.0f} MB of results"])
    return scorecard.table(["", "time", "disk"], rows)


def _verdict(found: Found, claim: str) -> str:
    for r in (r for run in found.runs.values() for r in run["claims"] if r["id"] == claim):
        return "; ".join(filter(None, [r["mark"], r["deciding"]]))
    return "no full-scale verdict yet"


BLOCKS = {"halves": _halves, "costs": _costs}
OF_A_RUN = {"run": _run, "cost": _cost}
