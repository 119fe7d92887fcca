"""Texts in Markdown and LaTeX, src/unbraid/display/markdown.py."""

from unbraid.display.markdown import code_markdown, escape_latex, escape_markdown


def test_special_characters_of_markdown_and_html_are_escaped() -> None:
    assert escape_markdown("group_accuracy.worst") == "group_accuracy.worst"
    assert escape_markdown("_a_ *b* [c](d)\n<b>|\\ & `e`") == (
        r"\_a\_ \*b\* \[c\](d) &lt;b&gt;\|\\ &amp; \`e\`"
    )


def test_code_ends_where_the_name_ends() -> None:
    assert [code_markdown(name) for name in ("z", "a`b", "a|b\nc", "``")] == [
        "`z`",
        "`` a`b ``",
        r"`a\|b c`",
        "``` `` ```",
    ]


def test_special_characters_of_latex_are_escaped() -> None:
    assert escape_latex("a_b & 5%\n{x} ~^\\") == (
        r"a\_b \& 5\% \{x\} \textasciitilde{}\textasciicircum{}\textbackslash{}"
    )
