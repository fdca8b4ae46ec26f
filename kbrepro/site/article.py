"""The article and the letters: templates whose placeholders, @{...}, are filled from the full-scale runs.

`make article` runs this module, which writes article/filled/: the letters, and the article as a PDF.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from string import Template

from kbrepro import paths
from kbrepro.site import pages
from kbrepro.site.placeholders import Results

PAGE, TEMPLATE = "article", "article/article.md"
#: The head of the PDF's Markdown: how its pages look.
LOOK = """---
papersize: a4
margin: {x: 2.1cm, top: 1.9cm, bottom: 2cm}
fontsize: 9.5pt
linkcolor: "#1a4d8f"
header-includes: |
  ```{=typst}
  #show image: it => box(width: 100%, align(center, it))
  #set image(width: 74%)
  #show figure: set block(sticky: true)
  #show figure.where(kind: table): set block(breakable: true, sticky: false)
  #set table(inset: (x: 5pt, y: 3pt))
  #show table: set text(size: 8.5pt)
  #show table: set par(justify: false)
  #set table(stroke: (x, y) => (top: 0.3pt + luma(80%)))
  #show regex("\\b\\d-[A-Z]{1,2}\\b"): box
  ```
---

"""
#: Settings, and constants that papers print or docs/found_on_the_way.md proves: the text may state them, listed at the
#: head of a template.
_SETTINGS = re.compile(r"<!-- settings: (.*?) -->\n*", re.DOTALL)
#: What else may have a digit: placeholders, formulas, links, years, claims, places in papers and in this text.
_PLACES = r"Sections?|Theorems?|Lemmas?|Propositions?|Tables?|Figures?|Figs?\.|[Ee]qs?\.|[Nn]otebooks?|footnote|chapter"
_ALLOWED = (
    r"@\{[^}]*\}",
    r"\$\$.*?\$\$",
    r"\$(?![^$]*(?:\d{3}|\d\.\d|%))[^$]*[A-Za-z\\][^$]*\$",  # 2 / T is a formula, 0.43 and 215 are results
    r"\]\([^)]*\)",
    r"\b(?:19|20)\d\d\b",
    r"\b\d-[A-Z]{1,2}\b",
    r"(?m:^(?:## )?\d\. )",
    rf"\b(?:{_PLACES}) \d+(?:\.\d+)*(?:(?:,| and| to) \d+(?:\.\d+)*)*",
)
_NUMBER = re.compile(r"\S*[\d%]\S*|\b(?:twice|half|halves|\w+fold|hundreds?|thousands?|[mb]illions?|per ?cent)\b")


class _Form(Template):
    delimiter, idpattern, braceidpattern = "@", r"(?!)", r"[^{}]+"


def filled(template: Path, results: Results) -> str:
    """Return a template filled from results; ValueError on what is unknown or stale, and on numbers that were typed."""
    text = template.read_text(encoding="utf-8")
    if numbers := typed(text):
        raise ValueError(f"{template.name}: typed, not filled in: {', '.join(numbers)}")
    text = _Form(_SETTINGS.sub("", text)).substitute(results)
    return text.replace("<br>– ", "\n\n- ").replace("](docs/", "](../docs/")  # blocks are written for the README


def typed(text: str) -> list[str]:
    """Return the numbers of a template that are no placeholder, no stated setting, and not allowed by their kind."""
    stated, text = _SETTINGS.match(text), _SETTINGS.sub("", text).partition("\n## References\n")[0]
    names = [rf"(?<!\w){re.escape(setting)}(?!\w)" for setting in stated[1].split("; ")] if stated else []
    for allowed in (*names, *_ALLOWED):
        text = re.sub(allowed, " ", text, flags=re.DOTALL)
    return _NUMBER.findall(text)


def page(root: Path, source: Path) -> dict[str, str]:
    """Return the article as a page of the site, or why it cannot be filled; nothing where there is none.

    Its figures are left in `source`.
    """
    if not (root / TEMPLATE).is_file():
        return {}
    results = Results(root)
    try:
        text = pages.inside(root, filled(root / TEMPLATE, results))
    except ValueError as error:  # a report of other results goes on
        return {PAGE: f"# The article\n\n```{{warning}}\nThe results are not those of its text: {error}\n```\n"}
    for figure in results.figures:
        paths.write_bytes(source / figure, (results.found.folder / figure).read_bytes())
    for name, run in results.found.runs.items():
        text = pages.linked(text, [r["id"] for r in run["claims"]], f"{name}.html")
    return {PAGE: text}


def pdf(markdown: str, figures: Path) -> bytes:
    """Return a text as a PDF; its figures are below `figures`, and its links to other pages become plain words."""
    import pypandoc
    import typst

    alone = re.sub(r"\[([^]]+)\]\(\.\./[^)]+\)", r"\1", markdown)
    form = "markdown-implicit_figures-superscript-subscript"
    arguments = ["--standalone", "--shift-heading-level-by=-1"]
    source = pypandoc.convert_text(LOOK + alone, "typst", format=form, extra_args=arguments)
    return typst.compile(source.encode(), root=figures, ignore_system_fonts=True)  # the same on every machine


def write(root: Path) -> Iterator[Path]:
    """Write the letters, filled, and the article as a PDF to article/filled/; yield each file."""
    results, folder = Results(root), root / "article" / "filled"
    for letter in sorted((root / "article" / "letters").glob("*.md")):
        paths.write_text(folder / letter.name, filled(letter, results))
        yield folder / letter.name
    article = filled(root / TEMPLATE, results)
    paths.write_bytes(folder / "article.pdf", pdf(article, results.found.folder))
    yield folder / "article.pdf"


if __name__ == "__main__":
    for written in write(paths.project_root()):
        print(written)
