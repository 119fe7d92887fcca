"""How the site is built: `make docs`. Nothing is fetched, then or when a page is read: formulas are drawn by a copy of
MathJax that is part of the site."""

import importlib.util
import inspect
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # site_parts, make_pictures and executed_pages

import site_parts
from executed_pages import page_with_outputs
from sphinx.util.inspect import stringify_signature

import unbraid
from unbraid.settings import RecordsArguments

project = "Unbraid"
author = "The Unbraid developers"
copyright = author
release = version = unbraid.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_design",
]
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]

html_theme = "furo"
html_title = "Unbraid"
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True}
# One file that draws formulas as SVG, so that no font and no further script is loaded.
MATHJAX = importlib.util.find_spec("sphinx-mathjax-offline").submodule_search_locations[0]
html_static_path = ["static", f"{MATHJAX}/static/mathjax/tex-svg-full.js"]
html_css_files = ["site.css"]
html_js_files = ["fit.js"]
mathjax_path = "tex-svg-full.js"
mathjax3_config = {"options": {"enableMenu": False}}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
linkcheck_ignore = [
    r"https://github\.com/unbraid/.*",
    r"https://unbraid\.readthedocs\.io.*",
]  # not public yet

default_role = "code"  # single backticks in docstrings are code
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
python_maximum_signature_line_length = 90
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
    """Fields are listed above, not one by one; scikit-learn adds `set_fit_request` and the like."""
    return True if type(obj).__name__ == "_tuplegetter" or re.fullmatch(r"set_\w+_request", name) else None


def constructor_of(app, what, name, obj, options, signature, returns):
    """The arguments of what remembers them are those of its constructor, not of `Described.__new__`."""
    if what != "class" or not issubclass(obj, RecordsArguments) or obj is RecordsArguments:
        return None
    _, *parameters = inspect.signature(obj.__init__).parameters.values()
    return stringify_signature(inspect.Signature(parameters), unqualified_typehints=True), None


def escape_stars(app, what, name, obj, options, lines):
    """`**arguments` outside of code is no beginning of bold text."""
    lines[:] = [re.sub(r"(?<![`*\w])\*\*(\w+)(?!\*)", r"\\*\\*\1", line) for line in lines]


def fill_parts(app, name, source):
    """The gallery and the reference of each package are written when the site is built."""
    source[0] = site_parts.fill(source[0])


def pages_with_parts(app, env, added, changed, removed):
    """These pages are read in every build, because they follow the code."""
    return [name for name in env.found_docs if site_parts.has_parts(Path(env.doc2path(name)).read_text())]


def show_outputs(app, docname, source):
    """Tutorials and pages of systems are shown with the outputs of their code, if it was executed."""
    if executed := page_with_outputs(docname):
        source[0], notebook = executed
        app.env.note_dependency(str(notebook), docname=docname)


def setup(app):
    app.connect("source-read", fill_parts)
    app.connect("env-get-outdated", pages_with_parts)
    app.connect("source-read", show_outputs)
    app.connect("autodoc-process-signature", constructor_of)
    app.connect("autodoc-process-docstring", escape_stars)
    app.connect("autodoc-process-docstring", list_fields)
    app.connect("autodoc-skip-member", skip_fields)
