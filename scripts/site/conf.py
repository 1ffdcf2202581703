"""Sphinx settings of the site; scripts/site/build.py stages the pages and runs it."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import goodgain

project = "goodgain"
project_copyright = "The goodgain developers"
version = release = goodgain.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_design",
    "docstrings",
    "mathml",
]
exclude_patterns = ["**/node_modules", "**/.venv"]
suppress_warnings = ["myst.strikethrough"]

myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence", "deflist", "attrs_block"]
myst_fence_as_directive = ["math"]  # GitHub typesets ```math blocks too
html_math_renderer = "mathml"

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
python_maximum_signature_line_length = 80
python_display_short_literal_types = True
add_module_names = False
toc_object_entries_show_parents = "hide"

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_theme = "pydata_sphinx_theme"
html_title = "goodgain"
html_static_path = [str(Path(__file__).parent / "static")]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_search_scorer = str(Path(__file__).parent / "scorer.js")
html_show_sourcelink = False
html_copy_source = False
html_last_updated_fmt = None
templates_path: list[str] = []
smartquotes = False  # --options and 'values' stay what readers type
html_context = {"default_mode": "auto"}  # light or dark, as the reader's system is
html_theme_options = {
    "logo": {"text": "goodgain"},
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "navigation_depth": 3,
    "show_prev_next": True,
    "header_links_before_dropdown": 6,
    "navbar_align": "left",
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": []}
