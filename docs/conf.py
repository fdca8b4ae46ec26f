"""Sphinx configuration of the report; `kbrepro report` supplies the pages."""

import re
import textwrap
from importlib.metadata import files
from pathlib import Path

import yaml
from docutils import nodes
from sphinx import addnodes

project = "kbrepro"
html_title = "kbrepro"
extensions = ["myst_nb", "sphinx.ext.autodoc"]
# what else the project has is no page
include_patterns = ["*.md", "docs/**", "notebooks/*", "data/README.md"]
include_patterns += ["results/README.md", "results/figures.md", "results/claims/*.md"]

nb_execution_mode = "off"
nb_merge_streams = True
nb_render_markdown_format = "myst"  # what cells show has tables and formulas
nb_code_prompt_show = "Show {type}"  # source or outputs
nb_code_prompt_hide = "Hide {type}"
myst_enable_extensions = ["dollarmath", "amsmath", "html_image"]
myst_heading_anchors = 3
# a results page may skip a heading level, pandas adds output types that HTML has no use for, and
# what a page links to need not be part of the report (tests/test_pages.py looks for it in the
# project)
suppress_warnings = ["myst.header", "mystnb.unknown_mime_type", "myst.xref_missing"]

# one file with everything in it: fonts as paths, all of TeX's extensions
MATHJAX = next(
    f for f in files("sphinx-mathjax-offline") or [] if f.name == "tex-svg-full.js"
).locate()
html_static_path = [str(MATHJAX), "report.css"]
mathjax_path = MATHJAX.name

html_theme = "sphinx_book_theme"
html_css_files = ["report.css"]
# headings and named rows first, then pages, then what the package calls its parts
html_search_scorer = str(Path(__file__).with_name("search_scorer.js"))
html_show_copyright = False
html_show_sphinx = False
# the pages have a search, and the index is too wide for a phone
html_use_index = html_domain_indices = False
html_show_sourcelink = False
html_copy_source = False
html_context = {"default_mode": "auto"}  # untold, the theme complains in the console
html_theme_options = {
    "use_download_button": False,
    "use_fullscreen_button": False,
    "show_toc_level": 2,
    "home_page_in_toc": True,
    "footer_content_items": [],
    "navbar_persistent": [],
}

# Docstrings are text with formulas, not reStructuredText: | and * stand for themselves, `names` are
# code

add_module_names = False
autodoc_typehints_format = "short"
autodoc_use_type_comments = False  # there are none
autodoc_type_aliases = {"Array": "Array", "Kernel": "Kernel"}
python_maximum_signature_line_length = 100


def literal(text):
    """Escape what has a meaning in reStructuredText, except `names`."""
    code, plain = re.split(r"`([^`]+)`", text)[1::2], re.split(r"`[^`]+`", text)
    plain = [re.sub(r"([\\*|_`])", r"\\\1", part) for part in plain]
    return "".join(
        part + (f"\\ ``{name}``\\ " if name else "")
        for part, name in zip(plain, [*code, ""], strict=True)
    )


def as_text(app, what, name, obj, options, lines):
    """Keep paragraphs, lists and indented formulas of a docstring, and take all else literally."""
    paragraphs, lines[:] = "\n".join(lines).strip().split("\n\n"), []
    for paragraph in paragraphs:
        if paragraph.startswith(" "):
            lines += ["::", "", *paragraph.splitlines(), ""]
        elif paragraph.startswith("- "):
            lines += [
                f"- {literal(' '.join(item.split()))}"
                for item in re.split(r"^- ", paragraph, flags=re.M)[1:]
            ]
            lines.append("")
        else:
            lines += [literal(" ".join(paragraph.split())), ""]


def skip(app, what, name, obj, would_skip, options):
    """Fields of named tuples say nothing that the class does not say."""
    return True if type(obj).__name__ == "_tuplegetter" else None


def say_profile(app, config):
    """Every page of a report that is not full scale says so at its top."""
    if config.profile != "paper":
        config.html_theme_options["announcement"] = (
            f"Profile “{config.profile}”: short runs, not the full scale. What the text says came"
            " out is that of the full scale."
        )


def bibtex(work):
    """A work of CITATION.cff as an entry of BibTeX; a title keeps its capitals."""
    names = [", ".join([*author.values()][:2]) for author in work["authors"]]
    fields = {
        "author": " and ".join(names) if "year" in work else f"{{{names[0]}}}",
        "title": f"{{{work['title']}}}",
        "booktitle": work.get("collection-title"),
        "year": work.get("year"),
        "note": f"Version {work['version']}" if "version" in work else None,
        "url": work.get("url"),
    }
    key = f"{names[0].partition(',')[0].lower()}{work['year']}" if "year" in work else project
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
    kind = "inproceedings" if fields["booktitle"] else "misc"
    return "\n".join([f"@{kind}{{{key},", *lines, "}"])


def cite(app, docname, source):
    """The first page ends with the entries of the project and of its papers."""
    if docname == "index":
        work = yaml.safe_load(Path(app.srcdir, "CITATION.cff").read_text("utf-8"))
        entries = [bibtex(one) for one in (work, *work["references"])]
        block = "\n\n".join(["```bibtex", *entries]).replace("\n\n", "\n", 1)
        source[0] += f"\n## Cite\n\n{work['message']}\n\n{block}\n```\n"


def link_pictures(app, doctree):
    """Sphinx copies pictures and links small ones to large ones: where a page links one to a file
    in HTML, which leads to no copy, that link goes; one in Markdown stays.
    """
    for picture in [*doctree.findall(nodes.image)]:
        cell, at = picture.parent, picture.parent.index(picture)
        if isinstance(cell, nodes.inline):
            picture["classes"].append("no-scaled-link")
        elif at and re.match('<a href="(?!http)', cell[at - 1].astext()):
            del cell[at + 1], cell[at - 1]


def name_rows(app, doctree):
    """The search finds a table's row that has an anchor, by its section and first cell.

    A title within an index node is searched as a heading is, and is not shown.
    """
    for anchor in [*doctree.findall(nodes.raw)]:
        named, row = re.match(r'<a id="([^"]+)">', anchor.astext()), anchor.parent
        while row and not isinstance(row, nodes.row):
            row, section = row.parent, row
        if named and row:
            while not isinstance(section, nodes.section):
                section = section.parent
            text = " ".join(re.sub(r"<[^>]+>", " ", row[0].astext()).split())
            text = f"{section[0].astext()} > {textwrap.shorten(text, 40, placeholder=' …')}"
            title = nodes.title("", text)
            anchor.parent.insert(0, addnodes.index("", "", title, ids=[named[1]], entries=[]))


def setup(app):
    app.add_config_value("profile", "paper", "html")
    app.connect("config-inited", say_profile)
    app.connect("source-read", cite)
    app.connect("doctree-read", link_pictures)
    app.connect("doctree-read", name_rows)
    app.connect("autodoc-process-docstring", as_text)
    app.connect("autodoc-skip-member", skip)
