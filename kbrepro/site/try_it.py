"""The page "Try it": shows the scene in each paper's folder, and makes the numbers that it keeps.

`python -m kbrepro.site.try_it` plays the scenes again and writes each paper's scene.json.
"""

import json
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt

from kbrepro import figures, papers, paths
from kbrepro.figures import live

PAGE = "try_it"
HEAD = """# Try it

Pictures that run in this page: some play their algorithms as you watch, with the exact posterior and the widths of the
papers; others show kept runs, step by step. Drag the sliders, click in a panel of a live one to pull an arm yourself,
or use the keyboard: tab to a control, arrow keys, space. On a narrow screen what is called left stands above."""
CAPTION = "A still picture: the scene itself needs scripts, which are off."


def scenes(notebooks: Sequence[str]) -> dict[str, str]:
    """Return paper -> notebook for papers with a scene whose notebook is shown, in the order of notebooks."""
    its = {name: paper.notebook for name, paper in papers.found().items()}
    return {name: notebook for name, notebook in its.items() if live.path(name).is_file() and notebook in notebooks}


def page(notebooks: Sequence[str], files: Path) -> str:
    """Return the page in Markdown; the still pictures go to `files`, next to the page."""
    figures.use_style()
    parts = [_part(paper, notebook, files) for paper, notebook in scenes(notebooks).items()]
    return "\n\n".join([HEAD, *parts, live.code()]) + "\n"


def link(notebook: str) -> str:
    """Return a sentence that links from a paper's page to its scene; empty if it has none."""
    its = [live.read(paper) | {"paper": paper} for paper in scenes([notebook])]
    return f"[Try it]({PAGE}.md#try-{its[0]['paper']}): {its[0]['title']}" if its else ""


def _part(paper: str, notebook: str, files: Path) -> str:
    its, name = live.read(paper), f"stills/{paper}.svg"
    drawn, picture = maker(paper).still(), BytesIO()
    drawn.savefig(picture, format="svg", metadata={"Date": None})
    plt.close(drawn)
    paths.write_bytes(files / name, picture.getvalue())
    still = f'<figure><img src="{name}" alt="{its["title"]}"><figcaption>{CAPTION}</figcaption></figure>'
    told = f"## {notebook[:2]}: {its['title']}\n\n{' '.join(its['says'])}\n\n**Try:** {its['try']}"
    return f"(try-{paper})=\n{told}\n\n{live.html(paper, still)}\n\nThe paper's page: {{doc}}`{notebook}`."


def maker(paper: str) -> Any:
    return import_module(f"kbrepro.papers.{paper}.scene")


def renew() -> list[Path]:
    """Make every paper's scene again, write its numbers, and return the files."""
    written = []
    for paper in papers.found():
        if find_spec(f"kbrepro.papers.{paper}.scene"):
            text = json.dumps(maker(paper).scene(), ensure_ascii=False, separators=(",", ":"))
            paths.write_text(live.path(paper), text + "\n")
            written.append(live.path(paper))
    return written


if __name__ == "__main__":
    print(*renew(), sep="\n")
