"""The page "Try it": every scene that a paper's folder keeps, and the making of what it keeps.

    python -m kbrepro.site.try_it        # plays the scenes again and writes each paper's scene.json
"""

import json
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from kbrepro import figures, papers, paths
from kbrepro.figures import live

PAGE = "try_it"
HEAD = """# Try it

Pictures that run in this page: two play their algorithms as you watch, with the exact posterior and the widths of the
papers; three show kept runs, step by step. Drag the sliders, click in a panel to pull an arm yourself, or use the
keyboard: tab to a control, arrow keys, space."""
CAPTION = "A still picture: the scene itself needs scripts, which are off."


def scenes() -> dict[str, str]:
    """Return paper -> number of its notebook, of papers that keep a scene, in the order of the notebooks."""
    return {name: its.notebook[:2] for name, its in papers.found().items() if live.path(name).is_file()}


def page(files: Path) -> str:
    """Return the page in Markdown; the still pictures go to `files`, beside the page."""
    figures.use_style()
    parts = [_part(paper, number, files) for paper, number in scenes().items()]
    return "\n\n".join([HEAD, *parts, live.code()]) + "\n"


def _part(paper: str, number: str, files: Path) -> str:
    its, name = live.read(paper), f"stills/{paper}.svg"
    drawn = _maker(paper).still()
    (files / name).parent.mkdir(exist_ok=True)
    drawn.savefig(files / name, metadata={"Date": None})
    figures.style.plt.close(drawn)
    still = f'<figure><img src="{name}" alt="{its["title"]}"><figcaption>{CAPTION}</figcaption></figure>'
    link = f"The notebook: {{doc}}`{papers.found()[paper].notebook}`."
    told = f"## {number}: {its['title']}\n\n{' '.join(its['says'])}\n\n**Try:** {its['try']}"
    return f"(try-{paper})=\n{told}\n\n{live.html(paper, still)}\n\n{link}"


def _maker(paper: str) -> Any:
    return import_module(f"kbrepro.papers.{paper}.scene")


def renew() -> list[Path]:
    """Make every paper's scene again, write what it keeps, and return the files."""
    written = []
    for paper in papers.found():
        if find_spec(f"kbrepro.papers.{paper}.scene"):
            text = json.dumps(_maker(paper).scene(), ensure_ascii=False, separators=(",", ":"))
            paths.write_text(live.path(paper), text + "\n")
            written.append(live.path(paper))
    return written


if __name__ == "__main__":
    print(*renew(), sep="\n")
