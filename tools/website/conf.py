"""Configuration of Sphinx for the site. tools/docs.py writes what it reads; ./x docs calls it."""
import os
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "tools")]

project = "merganser"
author = "the merganser developers"
release = version = re.search(r"project\(\w+ VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
html_title = f"merganser {version}"
html_show_copyright = False
extensions = ["myst_parser", "breathe", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
root_doc = "index"
toc_object_entries = False  # tables of contents list pages, not functions
highlight_language = "text"
default_role = "literal"  # single backticks in docstrings of Python

myst_heading_anchors = 6
myst_heading_slug_func = "docs.heading_anchor"

breathe_projects = {"merganser": os.environ["MERGANSER_DOXYGEN_XML"]}
breathe_default_project = "merganser"
breathe_domain_by_extension = {"h": "c", "hpp": "cpp"}
breathe_default_members = ("members", "undoc-members")
cpp_id_attributes = []
c_id_attributes = []

# The package is read as it is, without its extension and without NumPy.
autodoc_mock_imports = ["numpy", "merganser._core"]
autodoc_typehints = "none"
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_rtype = False

html_theme = "furo"
html_static_path = [str(Path(os.environ["MERGANSER_SITE_SOURCE"]) / "_static")]
html_css_files = ["style.css"]
html_search_scorer = str(ROOT / "tools" / "website" / "scorer.js")
html_copy_source = False
html_show_sourcelink = False
html_last_updated_fmt = None
html_theme_options = {"navigation_with_keys": False}
suppress_warnings = ["misc.highlighting_failure"]  # commands that go on in the next line

# Names that end in an underscore, as attributes of estimators do, are references in reStructuredText.
TRAILING_UNDERSCORE = re.compile(r"(?<![`\w])(\w+_)(?=[^\w`]|$)")


def as_restructured(text):
    """Returns a docstring with code and tables of two columns, which stand there as they are typed, as literal blocks."""
    paragraphs, in_sections = text.split("\n\n"), False
    for i, paragraph in enumerate(paragraphs):
        lines = paragraph.split("\n")
        in_sections = in_sections or (len(lines) > 1 and re.fullmatch(r"-{3,}", lines[1]) is not None)  # of numpydoc
        if in_sections:
            paragraphs[i] = "\n".join(TRAILING_UNDERSCORE.sub(r"``\1``", line) if line.startswith("    ") else line
                                      for line in lines)
        elif all(re.match(r" {4}", line) for line in lines):
            paragraphs[i] = "::\n\n" + paragraph
        elif any(re.match(r" {12}", line) for line in lines) or all(re.match(r"\S+( \S+)* {2,}\S", line) for line in lines):
            paragraphs[i] = "::\n\n" + "\n".join("    " + line for line in lines)
        else:
            paragraphs[i] = TRAILING_UNDERSCORE.sub(r"``\1``", paragraph)
    return "\n\n".join(paragraphs)


def mend_docstring(app, what, name, thing, options, lines):
    """Replaces the lines of a docstring of Python, before its sections are read."""
    lines[:] = as_restructured("\n".join(lines)).split("\n")


def setup(app):
    """Connects what docstrings of Python need."""
    app.connect("autodoc-process-docstring", mend_docstring, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
