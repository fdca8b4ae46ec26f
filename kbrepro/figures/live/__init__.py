"""Scenes: pictures that run. A paper's scene is the numbers in its `scene.json`; scripts of this folder draw it.

A notebook shows that of its paper by `live.show("gp_ucb")`, and the site's page "Try it" shows all.
"""

import json
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from kbrepro import papers
from kbrepro.figures.style import LOOK

HERE = Path(__file__).parent
SCRIPTS = ("posterior.js", "charts.js", "live.js", "recorded.js")
#: Line styles as SVG has them.
DASHES = {"-": "", "--": "7 4", ":": "2 3", "-.": "8 3 2 3"}
OFF = "This scene needs scripts, which are off."


def path(paper: str) -> Path:
    """Return the file for the numbers of a paper's scene, whether it exists or not."""
    return Path(papers.__file__).parent / paper / "scene.json"


@cache
def read(paper: str) -> dict[str, Any]:
    """Return the numbers and words of a paper's scene; FileNotFoundError if it has none."""
    return json.loads(path(paper).read_text(encoding="utf-8"))


def html(paper: str, still: str = "") -> str:
    """Return the HTML of a scene without scripts; `still`: that of the picture where scripts are off."""
    looks = {name: (look[0], DASHES[look[1]]) for name, look in LOOK.items() if isinstance(look[1], str)}
    numbers = json.dumps({"scene": read(paper), "looks": looks}, ensure_ascii=False, separators=(",", ":"))
    kept = numbers.replace("<", "\\u003c")  # no text of a scene may end the script
    inside = f'<script type="application/json">{kept}</script><noscript>{still or OFF}</noscript>'
    return f'<div class="live" id="scene-{paper}">{inside}</div>'


def code() -> str:
    """Return style and scripts, once for all scenes of a page; in a block, so that a cell can run again."""
    scripts = "\n".join((HERE / name).read_text(encoding="utf-8") for name in SCRIPTS)
    style = (HERE / "live.css").read_text(encoding="utf-8")
    return f"<style>\n{style}</style>\n<script>\n{{\n{scripts}}}\n</script>"


class Scene:
    """A scene for a notebook: words, numbers and scripts in one piece of HTML."""

    def __init__(self, paper: str) -> None:
        self.paper, self.its = paper, read(paper)

    def _repr_html_(self) -> str:
        says = " ".join(escape(sentence, quote=False) for sentence in self.its["says"])
        told = f"<p>{says}</p><p><b>Try:</b> {escape(self.its['try'], quote=False)}</p>"
        return f"{told}{html(self.paper)}{code()}"

    def __repr__(self) -> str:
        return f"{self.its['title']}: {' '.join(self.its['says'])}"


def show(paper: str) -> Scene:
    """Return the scene of a paper, named by its folder, for a notebook to show."""
    return Scene(paper)
