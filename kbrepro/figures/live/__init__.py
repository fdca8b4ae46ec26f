"""Try it: pictures that play in the page. A paper's `scene.json` has the words and the moments on which one opens.

A notebook shows that of its paper by `live.show("gp_ucb")`, and the report's page "Try it" shows all.
"""

import json
from pathlib import Path
from typing import Any

from kbrepro import papers
from kbrepro.figures.style import LOOK

HERE = Path(__file__).parent
#: Line styles as SVG has them.
DASHES = {"-": "", "--": "7 4", ":": "2 3", "-.": "8 3 2 3"}
HEAD = """# Try it

Pictures that run in this page: they play the algorithms as you watch, with the exact posterior and the widths of the
papers. Drag the sliders, click in a panel to pull an arm yourself, or use the keyboard: tab to a control, arrow keys,
space. On a narrow screen what is called left stands above."""


class Scene:
    """The scene of a paper, named by its folder: words and moments; FileNotFoundError if it has none."""

    def __init__(self, paper: str) -> None:
        path = Path(papers.__file__).parent / paper / "scene.json"
        self.paper, self.content = paper, dict[str, Any](json.loads(path.read_text(encoding="utf-8")))

    def words(self) -> str:
        """Return what the scene says, in HTML and Markdown alike."""
        return f"{' '.join(self.content['says'])}\n\n<b>Try:</b> {self.content['try']}"

    def html(self) -> str:
        """Return the HTML of the picture, without scripts."""
        looks = {name: (look[0], DASHES[look[1]]) for name, look in LOOK.items() if isinstance(look[1], str)}
        data = json.dumps({"moments": self.content["moments"], "looks": looks}, ensure_ascii=False)
        inside = f'<script type="application/json">{data}</script><noscript>This picture needs scripts.</noscript>'
        return f'<div class="live" id="scene-{self.paper}">{inside}</div>'

    def _repr_html_(self) -> str:
        return "".join(f"<p>{part}</p>" for part in self.words().split("\n\n")) + self.html() + code()

    def __repr__(self) -> str:
        return f"{self.content['title']}: {' '.join(self.content['says'])}"


def show(paper: str) -> Scene:
    """Return the scene of a paper, named by its folder, for a notebook to show."""
    return Scene(paper)


def code() -> str:
    """Return style and scripts, once for all scenes of a page; in a block, so that a cell can run again."""
    style, *scripts = ((HERE / name).read_text(encoding="utf-8") for name in ("live.css", "posterior.js", "live.js"))
    return f"<style>\n{style}</style>\n<script>\n{{\n{''.join(scripts)}}}\n</script>"


def page() -> str:
    """Return the page "Try it" in Markdown, with the scene of every paper that has one."""
    parts = [HEAD]
    for folder in sorted(Path(papers.__file__).parent.glob("*/scene.json")):
        scene, notebook = Scene(folder.parent.name), papers.found()[folder.parent.name].notebook
        parts += [f"(try-{scene.paper})=\n## {notebook[:2]}: {scene.content['title']}", scene.words(), scene.html()]
        parts += [f"The paper's page: [{notebook}]({notebook}.ipynb)."]
    return "\n\n".join([*parts, code()]) + "\n"
