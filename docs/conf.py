"""Sphinx configuration of the report; `kbrepro report` supplies the pages."""

import re
from importlib.metadata import files
from pathlib import Path

project = "kbrepro"
html_title = "kbrepro"
extensions = ["myst_nb", "sphinx.ext.autodoc"]
# what else the project has is no page
include_patterns = [
    "*.md",
    "docs/**",
    "notebooks/*",
    "results/*.md",
    "results/claims/*",
    "data/README.md",
]

nb_execution_mode = "off"
nb_merge_streams = True
nb_render_markdown_format = "myst"  # what cells show has tables and formulas
nb_code_prompt_show = "Show {type}"  # source or outputs
nb_code_prompt_hide = "Hide {type}"
myst_enable_extensions = ["dollarmath", "amsmath"]
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
# a paper's page before what the package calls its parts
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


def setup(app):
    app.add_config_value("profile", "paper", "html")
    app.connect("config-inited", say_profile)
    app.connect("autodoc-process-docstring", as_text)
    app.connect("autodoc-skip-member", skip)
