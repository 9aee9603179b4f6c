"""Sphinx's settings for the site. docs/site/build.py runs it."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "docs/site"), str(ROOT / "bindings/python/src")]

import docstrings  # noqa: E402

project = "libboxretry"
(release,) = re.findall(r'^#define BOXRETRY_VERSION "(.*)"$', (ROOT / "include/boxretry.h").read_text(), re.MULTILINE)
extensions = ["myst_parser", "sphinx.ext.autodoc"]
myst_heading_anchors = 4
highlight_language = "text"

default_role = "py:obj"
add_module_names = False
autodoc_mock_imports = ["box_sdk_gen", "httpx", "httpx2", "opentelemetry", "requests", "urllib3"]
autoclass_content = "both"
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True}
smartquotes = False
toc_object_entries_show_parents = "hide"

html_theme = "furo"
html_title = f"libboxretry {release}"
html_show_sourcelink = False
html_copy_source = False
html_show_copyright = False
html_show_sphinx = False


def setup(app: Any) -> None:
    """Sphinx calls this."""
    app.connect("autodoc-process-docstring", docstrings.adapt)
    app.connect("autodoc-process-bases", docstrings.show_public_bases)
