"""A page per paper: the executed notebook, code folded, with anchors, figures and their numbers, how to rerun it."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell

from kbrepro.site import page_end
from kbrepro.verdicts import scorecard


def paper(root: Path, folder: Path) -> NotebookNode:
    """Return the notebook of one run as a page of the site; its files are at `<notebook>/` beside the page."""
    notebook = nbformat.read(folder / "notebook.ipynb", as_version=4)
    ids = [record["id"] for record in scorecard.read_run(folder)["claims"]]
    _show_claims(notebook, root, folder)
    _edit(notebook, "markdown", lambda text: inside(root, text))
    _edit(notebook, "code", lambda text: coloured(linked(inside(root, text), ids)))
    _show_figures(notebook, folder)
    _fold(notebook)
    run = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    ends = page_end.numbers(folder), page_end.rerun(root, folder, run), page_end.cite(root, folder.name)
    notebook.cells += [new_markdown_cell(text) for text in ends if text]
    return notebook


def title(folder: Path) -> tuple[str, str]:
    """Return the heading of a run's notebook and the paragraph below it, which names the paper."""
    first = nbformat.read(folder / "notebook.ipynb", as_version=4).cells[0].source.split("\n\n")
    return first[0].removeprefix("# "), first[1] if len(first) > 1 else ""


# Text


def inside(root: Path, text: str) -> str:
    """Return Markdown whose links lead to pages of the site, or are names of files: the site stands alone."""
    there = "|".join(page.stem for page in (root / "docs").glob("*.md"))
    text = re.sub(rf"\]\((?:\.\./)+docs/({there})\.md\)", r"](\1.md)", text) if there else text
    return re.sub(r"\[([^]]+)\]\((?:\.\./)+([^)]+)\)", r"\1 (`\2`)", text)


def coloured(text: str) -> str:
    """Return Markdown whose verdicts in bold have a glyph, and a class that the style sheet colours."""
    for verdict, glyph in scorecard.GLYPHS.items():
        for word in (verdict, verdict.capitalize()):
            span = f'<span class="verdict {verdict.replace(" ", "-")}">{glyph} {word}</span>'
            text = text.replace(f"{glyph} **{word}**", span).replace(f"**{word}**", span)
    return text


def linked(text: str, ids: Sequence[str], page: str = "") -> str:
    """Return Markdown whose claims (4-B) lead to where a page shows them; by default the page that the text is on."""
    if not ids:
        return text
    return re.sub(rf'(?<![\w#"$>-])({"|".join(ids)})(?![\w"-])', rf'<a href="{page}#\1">\1</a>', text)


def _edit(notebook: NotebookNode, cell_type: str, edit: Callable[[str], str]) -> None:
    """Change the source of Markdown cells, or the Markdown that code cells show."""
    for cell in (cell for cell in notebook.cells if cell.cell_type == cell_type):
        if cell_type == "markdown":
            cell.source = edit(cell.source)
        for output in cell.get("outputs", []):
            if text := output.get("data", {}).get("text/markdown"):
                output.data["text/markdown"] = edit(text)


def _show_claims(notebook: NotebookNode, root: Path, folder: Path) -> None:
    """Make the tables of claims anew, with anchors: #4-B where a claim is shown first, #all-4-B where last."""
    own = {r["id"]: r for r in scorecard.read_run(folder)["claims"]}
    paper = root / "results" / scorecard.FULL_SCALE
    full = {r["id"]: r for r in scorecard.read_run(paper / folder.name)["claims"]}
    tables = [output for cell in notebook.cells for output in cell.get("outputs", []) if _of_claims(output)]
    left, seen = Counter(claim for output in tables for claim in output.metadata["claims"]), set()
    for output in tables:
        its = scorecard.rows([own[claim] for claim in output.metadata["claims"]], full=full)
        for r in its:
            claim, first = r["id"], r["id"] not in seen
            seen.add(claim)
            left[claim] -= 1
            here = f' id="{claim}"' if first else "" if left[claim] else f' id="all-{claim}"'
            there = f' href="#{claim}"' if not first else f' href="#all-{claim}"' if left[claim] else ""
            r["id"] = f"<a{here}{there}>{claim}</a>"
        output.data["text/markdown"] = scorecard.verdict_table(its, beside=folder.parent != paper)


def _of_claims(output: NotebookNode) -> bool:
    return "claims" in output.get("metadata", {})


def _fold(notebook: NotebookNode) -> None:
    """Fold code, as much as stands together in one, and leave out code that only shows what the record knows."""
    cells: list[NotebookNode] = []
    for cell in notebook.cells:
        if cell.cell_type == "code":
            shows = "at-a-glance" in cell.metadata.get("tags", []) or any(map(_of_claims, cell.outputs))
            cell.metadata["tags"] = ["remove-input" if shows else "hide-input"]
            if not shows and cells and cells[-1].cell_type == "code" and not cells[-1].outputs:
                cells[-1].source, cells[-1].outputs = f"{cells[-1].source}\n\n\n{cell.source}", cell.outputs
                continue
        cells.append(cell)
    notebook.cells = cells


# Figures and numbers


def _show_figures(notebook: NotebookNode, folder: Path) -> None:
    """Put the SVG of a figure, with its numbers, in the place of the picture that the notebook shows of it."""
    for output in (output for cell in notebook.cells for output in cell.get("outputs", [])):
        stem = output.get("metadata", {}).get("image/png", {}).get("figure", "")
        if (folder / "figures" / f"{stem}.svg").is_file():  # a picture that is in no file stays what it is
            output.data = NotebookNode({"text/html": figure(folder, stem)})


def figure(folder: Path, stem: str, where: str = "") -> str:
    """Return the HTML of a figure of a run: its SVG if there is one, what it says, links to its numbers."""
    where, manifest = where or f"{folder.name}/figures", scorecard.read_manifest(folder)
    its = manifest["figures"].get(stem, {"title": "", "curves": False, "tables": []})
    file = f"{stem}.svg" if (folder / "figures" / f"{stem}.svg").is_file() else f"{stem}.png"
    own = [f"figures/{stem}.csv"] * its["curves"]
    own += [f"tables/{name}.csv" for name in its["tables"] if name in manifest["tables"]]
    links = ", ".join(f'<a href="{folder.name}/{name}">{name}</a>' for name in own)
    caption = f"<figcaption><details><summary>Numbers</summary>{links}</details></figcaption>" if links else ""
    alt = escape(its["title"] or stem.replace("_", " "))
    return f'<figure><a href="{where}/{file}"><img src="{where}/{file}" alt="{alt}"></a>{caption}</figure>'
