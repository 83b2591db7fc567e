"""Sphinx for the site: `make docs` builds it into build/site, without a network, and with warnings as errors."""

from __future__ import annotations

import sys
from importlib.metadata import version as installed_version
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

from inventories import write_inventories  # noqa: E402

project = "fcpair"
author = "The fcpair developers"
project_copyright = f"{author}, MIT licence"
release = version = installed_version("fcpair")

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.intersphinx",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    *("commands", "recipe_keys", "python_api", "catalogues", "http_api", "outside_pages"),  # of _ext
]
exclude_patterns = ["_*", "images"]
nitpicky = True
nitpick_ignore_regex = [  # what is no public interface, but stands in signatures that are
    (
        "py:class",
        r"fcpair\.store\..*|fcpair\.report\..*|fcpair\.steps\.base\..*|fcpair\..*\.(Cluster|ColumnHeads|DoubtRanking)",
    ),
    ("py:class", r"fcpair\.stages\.questions\.form\.Form"),
    ("py:class", r"(fcpair\.steps\.(oversight\.next_steps|rules\.tallies)\.)?(Act|ActRow|RoundProgress)"),
    ("py:class", r"pd\.DataFrame|RankingOfCns|NoPositives"),  # names of a function that is shown without its module
    ("py:class", r"collections\.abc\.Mapping\[str"),  # part of a signature that is cut up, as its default is no code
    ("py:obj", r"typing\.Literal\['unanimous'"),  # the same
]
default_role = "literal"  # docstrings put code in single backticks, as Markdown does

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 6
suppress_warnings = ["myst.header"]  # pages that are made of a README begin where its headings do
nb_execution_mode = "force"
nb_execution_timeout = 120
nb_execution_raise_on_error = True

autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
napoleon_numpy_docstring = False
python_maximum_signature_line_length = 88

intersphinx_mapping = write_inventories(HERE.parent / "build" / "inventories")

html_theme = "furo"
html_title = "fcpair"
html_copy_source = False
html_show_sphinx = False
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_theme_options = {"navigation_with_keys": True}
copybutton_prompt_text = "$ "
copybutton_only_copy_prompt_lines = True
copybutton_line_continuation_character = "\\"
pygments_style = "tango"
pygments_dark_style = "github-dark"
