"""How the site is built: `make docs`. Nothing is fetched; MathJax loads in the reader's browser."""

import inspect
import re

import unbraid
from unbraid.settings import RecordsArguments

project = "Unbraid"
author = "The Unbraid developers"
copyright = author
release = version = unbraid.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.mathjax", "sphinx.ext.napoleon"]
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]

html_theme = "furo"
html_title = "Unbraid"
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True}

default_role = "code"  # single backticks in docstrings are code
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # shapes are explained in unbraid.types, and signatures stay readable
napoleon_numpy_docstring = False

FIELD = re.compile(r"^    (\w+): ([^#=]+?)(?: = [^#]+?)?(?:  # (.*))?$")


def fields_of(kind):
    """The fields of a named tuple with the comments beside them."""
    found, name = {}, None
    for line in inspect.getsource(kind).splitlines():
        if (match := FIELD.match(line)) and match[1] in kind._fields:
            name = match[1]
            found[name] = match[3] or ""
    return found


def list_fields(app, what, name, obj, options, lines):
    """Named tuples are documented by their fields, in place of Python's own sentence about each."""
    if not (inspect.isclass(obj) and issubclass(obj, tuple) and hasattr(obj, "_fields")):
        return
    if lines and lines[0].startswith(f"{obj.__name__}("):
        lines.clear()
    lines += ["", *(f"* `{field}`{': ' * bool(note)}{note}" for field, note in fields_of(obj).items()), ""]


def skip_fields(app, what, name, obj, skip, options):
    """Fields are listed above, not one by one."""
    return True if type(obj).__name__ == "_tuplegetter" else None


def constructor_of(app, what, name, obj, options, signature, returns):
    """The arguments of what remembers them are those of its constructor, not of `Described.__new__`."""
    if what != "class" or not issubclass(obj, RecordsArguments) or obj is RecordsArguments:
        return None
    _, *parameters = inspect.signature(obj.__init__).parameters.values()
    return str(inspect.Signature([p.replace(annotation=p.empty) for p in parameters])), None


def escape_stars(app, what, name, obj, options, lines):
    """`**arguments` outside of code is no beginning of bold text."""
    lines[:] = [re.sub(r"(?<![`*\w])\*\*(\w+)(?!\*)", r"\\*\\*\1", line) for line in lines]


def setup(app):
    app.connect("autodoc-process-signature", constructor_of)
    app.connect("autodoc-process-docstring", escape_stars)
    app.connect("autodoc-process-docstring", list_fields)
    app.connect("autodoc-skip-member", skip_fields)
