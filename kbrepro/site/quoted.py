"""Pages that quote the full-scale runs: the scorecard, and blocks of README and docs that nobody types."""

from __future__ import annotations

import io
import re
from pathlib import Path

from kbrepro import paths
from kbrepro.batch.provenance import PAGES
from kbrepro.site import blocks
from kbrepro.verdicts import scorecard

#: A block `<!-- begin NAME -->...<!-- end NAME -->`, in lines of its own or within a line.
_BLOCK = re.compile(r"(<!-- begin ([\w -]+?) -->)(\n?).*?(<!-- end \2 -->)", flags=re.DOTALL)


def renew(root: Path) -> list[Path]:
    """Write scorecard, picture and the blocks of the pages that are there, and return these files.

    Raises ValueError on a block that no name explains.
    """
    from kbrepro import figures
    from kbrepro.verdicts import pictures

    folder, card = root / "results" / scorecard.FULL_SCALE, root / "results" / "README.md"
    written = [card]
    if runs := {name: run for name, run in scorecard.read(folder).items() if run["rules"]}:
        picture = io.BytesIO()
        figures.use_style()
        pictures.all_parts(runs).savefig(picture, dpi=200, format="png", facecolor="white")
        paths.write_bytes(folder / scorecard.PICTURE, picture.getvalue())
        written.append(folder / scorecard.PICTURE)
    paths.write_text(card, scorecard.scorecard(root))
    for page in (root / name for name in PAGES if (root / name).is_file()):
        paths.write_text(page, filled(page.read_text(encoding="utf-8"), root))
        written.append(page)
    return written


def filled(text: str, root: Path) -> str:
    """Return a page with the content of all its blocks made anew from the results; ValueError on an unknown block."""
    found = blocks.read(root)

    def fill(match: re.Match[str]) -> str:
        begin, name, line_end, end = match.groups()
        return f"{begin}{line_end}{blocks.quote(name, found)}{line_end}{end}"

    return _BLOCK.sub(fill, text)
