"""How Sphinx builds the site: `make docs`, offline, warnings being errors."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

project = "Ricochet"
copyright = "The Ricochet authors, MIT licence"
extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "extensions.generated_pages",
    "extensions.external_loads",
]
exclude_patterns = ["conf.py", "extensions", "screenshots.py"]

# A notebook is a plain Python program of marked cells; its outputs are made here.
nb_custom_formats = {".py": ["jupytext.reads", {"fmt": "py:percent"}]}
nb_execution_mode = "cache"
nb_execution_cache_path = "../site/notebook_cache"
nb_execution_timeout = 120
nb_execution_raise_on_error = True
nb_output_stderr = "remove"  # progress

myst_heading_anchors = 3
highlight_language = "none"  # what is indented is a terminal's, not Python
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
autoclass_content = "both"
python_maximum_signature_line_length = 80

html_theme = "furo"
html_title = "Ricochet"
html_copy_source = False
html_show_sphinx = False
