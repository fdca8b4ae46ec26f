"""A page per paper: the executed notebook, code folded, with anchors, figures and their numbers, how to rerun it."""

import json
import re
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

import nbformat
import pandas as pd
import yaml
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell, new_output

from kbrepro.batch import profiles
from kbrepro.site import try_it
from kbrepro.verdicts import scorecard


def paper(root: Path, folder: Path) -> NotebookNode:
    """Return the notebook of one run as a page of the site; its files are in `<notebook>/` next to the page."""
    notebook = nbformat.read(folder / "notebook.ipynb", as_version=4)
    run = scorecard.read_run(folder)
    ids = [r["id"] for r in run["claims"]]
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    _show_claims([output for output in outputs if _of_claims(output)], root, folder)
    for cell in (cell for cell in notebook.cells if cell.cell_type == "markdown"):
        cell.source = inside(root, cell.source)
    for output in outputs:
        if text := output.get("data", {}).get("text/markdown"):
            output.data["text/markdown"] = coloured(linked(inside(root, text), ids))
        stem = output.get("metadata", {}).get("image/png", {}).get("figure", "")
        if (folder / "figures" / f"{stem}.svg").is_file():  # a picture that is in no file stays what it is
            output.data = NotebookNode({"text/html": figure(folder, stem)})
    _fold(notebook)
    if tried := try_it.link(folder.name):
        notebook.cells.insert(1, new_markdown_cell(tried))
    notebook.metadata["html_theme.sidebar_secondary.remove"] = "true"  # rows of claims need the width
    ends = numbers(folder), rerun(root, folder, run["facts"]), cite(root, folder.name)
    notebook.cells += [new_markdown_cell(text) for text in ends if text]
    return notebook


def title(folder: Path) -> tuple[str, str]:
    """Return the heading of a run's notebook and the paragraph below it, which names the paper."""
    first = nbformat.read(folder / "notebook.ipynb", as_version=4).cells[0].source.split("\n\n")
    return first[0].removeprefix("# "), first[1] if len(first) > 1 else ""


# Text


def inside(root: Path, text: str) -> str:
    """Return Markdown whose links lead to pages of the site, or become names of files: the site needs nothing else."""
    there = "|".join(page.stem for page in (root / "docs").glob("*.md"))
    text = re.sub(rf"\]\((?:\.\./)+docs/({there})\.md\)", r"](\1.md)", text) if there else text
    return re.sub(r"\[([^]]+)\]\((?:\.\./)+([^)]+)\)", r"\1 (`\2`)", text)


def coloured(text: str) -> str:
    """Return Markdown whose bold verdicts have a glyph and a class that the style sheet colours."""
    for verdict, glyph in scorecard.GLYPHS.items():
        for word in (verdict, verdict.capitalize()):
            span = f'<span class="verdict {verdict.replace(" ", "-")}">{glyph} {word}</span>'
            text = text.replace(f"{glyph} **{word}**", span).replace(f"**{word}**", span)
    return text


def linked(text: str, ids: Sequence[str], page: str = "") -> str:
    """Return Markdown whose claims (4-B) link to where a page shows them; by default the page of the text."""
    if not ids:
        return text
    return re.sub(rf'(?<![\w#"$>-])({"|".join(ids)})(?![\w"-])', rf'<a href="{page}#\1">\1</a>', text)


def _show_claims(tables: Sequence[NotebookNode], root: Path, folder: Path) -> None:
    """Make the tables of claims anew, with an anchor, #4-B, where a claim first appears."""
    own = {r["id"]: r for r in scorecard.read_run(folder)["claims"]}
    paper, seen = root / "results" / scorecard.FULL_SCALE, set()
    full = scorecard.read_run(paper / folder.name)["claims"]
    for output in tables:
        its = scorecard.rows([own[claim] for claim in output.metadata["claims"]], full=full)
        for r in its:
            claim = r["id"]
            r["id"] = f'<a {"href" if claim in seen else "id"}="{"#" * (claim in seen)}{claim}">{claim}</a>'
            seen.add(claim)
        output.data["text/markdown"] = scorecard.verdict_table(its, beside=folder.parent != paper)


def _of_claims(output: NotebookNode) -> bool:
    return "claims" in output.get("metadata", {})


def _fold(notebook: NotebookNode) -> None:
    """Fold code, adjacent cells together, and leave out code that only shows what the record knows."""
    cells: list[NotebookNode] = []
    for cell in notebook.cells:
        if cell.cell_type == "code":
            tags = cell.metadata.get("tags", [])
            shows, folded = "at-a-glance" in tags or any(map(_of_claims, cell.outputs)), "hide-output" in tags
            cell.outputs = _said_once(cell.outputs)
            cell.metadata["tags"] = ["remove-input" if shows else "hide-input"] + ["hide-output"] * folded
            if not (shows or folded) and cells and cells[-1].cell_type == "code" and not cells[-1].outputs:
                cells[-1].source, cells[-1].outputs = f"{cells[-1].source}\n\n\n{cell.source}", cell.outputs
                continue
        cells.append(cell)
    notebook.cells = cells


def _said_once(outputs: Sequence[NotebookNode]) -> list[NotebookNode]:
    """Outputs without the answers, replaced by a link to the head of the page, where they are."""
    others = [output for output in outputs if "answers" not in output.get("metadata", {})]
    link = {"text/markdown": "The answers [at the head of this page](#at-a-glance) are checked here."}
    return others + [new_output("display_data", data=link)] * (len(others) < len(outputs))


# Figures and numbers


def figure(folder: Path, stem: str, where: str = "") -> str:
    """Return the HTML of a run's figure: its SVG, its title, links to its numbers."""
    where, run = where or f"{folder.name}/figures", scorecard.read_run(folder)
    its = run["figures"].get(stem, {"title": "", "curves": False, "tables": []})
    own = [f"figures/{stem}.csv"] * its["curves"]
    own += [f"tables/{name}.csv" for name in its["tables"] if name in run["tables"]]
    links = ", ".join(f'<a href="{folder.name}/{name}">{name}</a>' for name in own)
    if not own and run["tables"]:
        links = f'<a href="{folder.name}.html#the-numbers">every table of this run</a>'
    caption = f"<figcaption><details><summary>Numbers</summary>{links}</details></figcaption>" if links else ""
    alt = escape(its["title"] or stem.replace("_", " "))
    return f'<figure><a href="{where}/{stem}.svg"><img src="{where}/{stem}.svg" alt="{alt}"></a>{caption}</figure>'


# The end: all numbers of the run, how to rerun exactly this, how to cite it


def numbers(folder: Path) -> str:
    """Return a section with a link to every table of a run; nothing where it wrote none."""
    links = [f'<a href="{folder.name}/tables/{p.name}">{p.name}</a>' for p in sorted(folder.glob("tables/*.csv"))]
    to_filter = [f"[Every number, to filter and sort]({folder.name}_{name}.md)" for name in filtered(folder)]
    every = [scorecard.folded("Every table of this run", ", ".join(links))] if links else []
    return "\n\n".join(["## The numbers", *to_filter, *every]) if links else ""


def filtered(folder: Path) -> list[str]:
    """Return the names of the tables of a run that have a page of their own, <notebook>_<name> (`of_table`)."""
    return [name for name, its in scorecard.read_run(folder)["tables"].items() if its.get("page")]


def of_table(folder: Path, name: str) -> str:
    """Return the page of a table in Markdown; docs/filters.js lets readers filter it by its words and sort it."""
    table = pd.read_csv(folder / "tables" / f"{name}.csv", keep_default_na=False)
    shown = table.rename(columns=lambda column: column.replace("_", " ")).to_html(
        index=False, border=0, classes="filtered", float_format="{:.3g}".format
    )
    head = f"# {title(folder)[0].partition(':')[0]}: every number"
    link = f"Back to [the notebook]({folder.name}.ipynb). Click on the head of a column of numbers to sort."
    return "\n\n".join([head, link, f'<div class="wide">\n{shown}\n</div>']) + "\n"


def rerun(root: Path, folder: Path, run: dict[str, Any]) -> str:
    """Return a section with command, commit, parameters, versions and checksums of a run, as `run.json` has them."""
    settings = "".join(f" --set '{name}={json.dumps(value)}'" for name, value in _overridden(root, folder, run).items())
    command = f"kbrepro reproduce {folder.name[:2]} --profile {run['profile']}{settings}"
    git = run["git"]
    lines = [f"git checkout {git['commit']}"] if git["commit"] else []
    spent = f"The run took {run['seconds'] / 60:.1f} min, all its trials {run['compute_seconds'] / 60:.0f} min; "
    spent += "trials played earlier are read, not played again."
    changed = " Some files differed from that commit." if git["dirty"] else ""
    facts = {"Parameters": run["parameters"], "Versions": run["versions"], "Data (SHA-256)": run["data"]}
    rows = {name: [(f"`{key}`", f"`{value}`") for key, value in its.items()] for name, its in facts.items() if its}
    folded = [scorecard.folded(name, scorecard.table(["", ""], its)) for name, its in rows.items()]
    shell = "\n".join(["```sh", *lines, command, "```"])
    return "\n\n".join(["## How to rerun exactly this", shell, spent + changed, *folded])


def _overridden(root: Path, folder: Path, run: dict[str, Any]) -> dict[str, Any]:
    """The settings of a custom run that are not those of its profile."""
    if folder.parents[1].name != "custom":
        return {}
    defaults = profiles.defaults(root, folder.name)
    usual = defaults | profiles.of_profile(root, folder.name, run["profile"])
    return {name: value for name, value in run["parameters"].items() if usual.get(name) != value}


def cite(root: Path, notebook: str) -> str:
    """Return a section that names this replication and the paper of a notebook, from CITATION.cff."""
    cff = yaml.safe_load((root / "CITATION.cff").read_text(encoding="utf-8"))
    papers = [paper for paper in cff["references"] if notebook in paper["notes"]]
    cited = [f"- {_names(its)}. *{its['title']}*. {its.get('collection-title', '')} {its['year']}." for its in papers]
    own = f"- {_names(cff)}. *{cff['title']}*, version {cff['version']}."
    lead = "This replication, and the paper:" if cited else "This replication:"
    return "\n".join(["## How to cite", "", lead, "", own, *cited])


def _names(entry: dict[str, Any]) -> str:
    return ", ".join(a.get("name") or f"{a['given-names']} {a['family-names']}" for a in entry["authors"])
