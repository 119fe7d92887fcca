"""Names and texts of users in Markdown and LaTeX, where their special characters stand for themselves."""

import html
import re

MARKDOWN = re.compile(r"[\\`*\[\]|]|(?<!\w)_|_(?!\w)")  # an underscore within a word is not special
LATEX = {letter: f"\\{letter}" for letter in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}


def escape_markdown(text: object) -> str:
    """One line of text with the special characters of Markdown, of its tables and of HTML escaped."""
    return MARKDOWN.sub(r"\\\g<0>", " ".join(html.escape(str(text), quote=False).split()))


def code_markdown(name: str) -> str:
    """A name in the font of code, within a line or a table; backticks in it need a longer fence."""
    text = " ".join(name.split()).replace("|", "\\|")
    fence = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    space = " " if "`" in text else ""
    return f"{fence}{space}{text}{space}{fence}"


def escape_latex(text: str) -> str:
    """One line of text with the special characters of LaTeX escaped."""
    return "".join(LATEX.get(letter, letter) for letter in " ".join(text.split()))
