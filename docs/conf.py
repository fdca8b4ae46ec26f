"""Sphinx configuration of the report; `kbrepro report` supplies the pages."""

from importlib.metadata import files

project = "kbrepro"
html_title = "kbrepro"
extensions = ["myst_nb"]
exclude_patterns = ["_build"]

nb_execution_mode = "off"
nb_merge_streams = True
myst_enable_extensions = ["dollarmath", "amsmath"]
myst_heading_anchors = 3
# a results page may skip a heading level, and pandas adds output types that HTML has no use for
suppress_warnings = ["myst.header", "mystnb.unknown_mime_type"]

# one file with everything in it: fonts as paths, all of TeX's extensions
MATHJAX = next(f for f in files("sphinx-mathjax-offline") or [] if f.name == "tex-svg-full.js").locate()
html_static_path = [str(MATHJAX), "report.css"]
mathjax_path = MATHJAX.name

html_theme = "sphinx_book_theme"
html_css_files = ["report.css"]
html_show_copyright = False
html_show_sphinx = False
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "use_download_button": False,
    "use_fullscreen_button": False,
    "show_toc_level": 2,
    "home_page_in_toc": True,
    "footer_content_items": [],
    "navbar_persistent": [],
}
