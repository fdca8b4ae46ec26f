"""The page "Try it": shows the scene in each paper's folder, and makes the numbers that it keeps.

`python -m kbrepro.try_it` plays the scenes again and writes each paper's scene.json.
"""

import json
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

Pictures that run in this page: they play the algorithms as you watch, with the exact posterior and the widths of the
papers. Drag the sliders, click in a panel of a live one to pull an arm yourself,
or use the keyboard: tab to a control, arrow keys, space. On a narrow screen what is called left stands above."""
CAPTION = "A still picture: the scene itself needs scripts, which are off."


def page(files: Path) -> str:
    """Return the page in Markdown; the still pictures go to `files`, next to the page."""
    figures.use_style()
    scenes = {name: paper.notebook for name, paper in papers.found().items() if live.path(name).is_file()}
    parts = [_part(paper, notebook, files) for paper, notebook in scenes.items()]
    return "\n\n".join([HEAD, *parts, live.code()]) + "\n"


def _part(paper: str, notebook: str, files: Path) -> str:
    scene, name = live.read(paper), f"stills/{paper}.svg"
    drawn, picture = maker(paper).still(), BytesIO()
    drawn.savefig(picture, format="svg", metadata={"Date": None})
    plt.close(drawn)
    paths.write_bytes(files / name, picture.getvalue())
    still = f'<figure><img src="{name}" alt="{scene["title"]}"><figcaption>{CAPTION}</figcaption></figure>'
    words = f"## {notebook[:2]}: {scene['title']}\n\n{' '.join(scene['says'])}\n\n**Try:** {scene['try']}"
    return f"(try-{paper})=\n{words}\n\n{live.html(paper, still)}\n\nThe paper's page: [{notebook}]({notebook}.ipynb)."


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
