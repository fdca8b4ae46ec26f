"""Try it: pictures that play in a notebook. A paper's `scene.json` has the words and the moments on
which one opens.
"""

import json
from importlib.resources import files
from pathlib import Path

from IPython.display import HTML

from kbrepro.figures.style import LOOK

HERE = Path(__file__).parent
#: Line styles as SVG has them.
DASHES = {"-": "", "--": "7 4", ":": "2 3", "-.": "8 3 2 3"}


def show(paper: str) -> HTML:
    """Return the scene of a paper, named by its folder, for a notebook to show; FileNotFoundError
    if it has none.
    """
    path = files("kbrepro.papers") / paper / "scene.json"
    scene = json.loads(path.read_text(encoding="utf-8"))
    looks = {
        name: (look[0], DASHES[look[1]]) for name, look in LOOK.items() if isinstance(look[1], str)
    }
    data = json.dumps({"moments": scene["moments"], "looks": looks}, ensure_ascii=False)
    style, *scripts = (
        (HERE / name).read_text(encoding="utf-8")
        for name in ("live.css", "posterior.js", "live.js")
    )
    return HTML(
        f"<p>{' '.join(scene['says'])}</p><p><b>Try:</b> {scene['try']}</p>"
        f'<div class="live"><script type="application/json">{data}</script></div>'
        # a block: a cell can run again
        f"<style>\n{style}</style>\n<script>\n{{\n{''.join(scripts)}}}\n</script>"
    )
