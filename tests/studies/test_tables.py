"""Tables in three formats, src/unbraid/studies/tables.py."""

import pytest

from unbraid.studies.tables import (
    Row,
    format_setting,
    html,
    is_further,
    latex,
    markdown,
    numbers,
    render_table,
    sign,
    table,
)


def row(method: str, mean: float, std: float | None = 0.01, *, metric: str = "mig", **other: object) -> Row:
    made = Row(method, "rooms", {}, metric, "", mean, std, 3, None, higher_is_better=True)
    return made._replace(**other)


ROWS = [row("sw-vae", 0.7164, 0.0123, published=0.716), row("vae", 0.2, None, n=1)]


def test_the_best_mean_on_a_dataset_is_bold_and_n_is_shown() -> None:
    lines = markdown(ROWS).splitlines()
    assert lines[2] == "| sw-vae | rooms | **0.716 ± 0.012** (n=3) [0.716] |"
    assert lines[3] == "| vae | rooms | 0.2 (n=1) |"
    assert "best mean on a dataset is in bold; published values in brackets." in lines[-1]


def test_the_stored_direction_decides_which_mean_is_bold() -> None:
    for higher_is_better, bold in ((False, ["low"]), (True, ["high"]), (None, [])):
        rows = [
            row(name, mean, higher_is_better=higher_is_better) for name, mean in (("high", 2.0), ("low", 1.0))
        ]
        assert [key[0] for key, (cell,) in table(rows).lines if cell and cell.best] == bold
    rows = [row("a", 1.0, higher_is_better=True), row("b", 2.0, higher_is_better=False)]  # of two versions
    assert not any(cell.best for _, (cell,) in table(rows).lines if cell)
    assert (sign(True), sign(False), sign(None)) == (1, -1, 0)


def test_further_numbers_are_told_from_files() -> None:
    assert is_further("dci.completeness") and is_further("salient:clustering.chance")
    assert (
        not is_further("mig") and not is_further("own.py:roughness") and is_further("own.py:roughness.share")
    )


def test_equal_means_have_no_best() -> None:
    assert not any(cell.best for _, (cell,) in table([row("a", 0.5), row("b", 0.5)]).lines if cell)


def test_settings_are_written_as_the_command_line_has_them() -> None:
    values = (4.0, ["pos_x", "scale"], [], {"spec": "linear:0:25:400"}, None)
    assert [format_setting(value) for value in values] == [
        "4.0",
        "pos_x,scale",
        "none",
        "linear:0:25:400",
        "None",
    ]
    assert "| correlate pos_x,scale |" in markdown(
        [row("a", 0.5, settings={"correlate": ["pos_x", "scale"]})]
    )


def test_a_single_setting_is_not_the_best_and_datasets_are_separate() -> None:
    rows = [row("a", 0.1), row("b", 0.5), row("a", 0.05, data="sprites")]
    found = {(key[0], key[1]): cell.best for key, (cell,) in table(rows).lines if cell}
    assert found == {("a", "rooms"): False, ("b", "rooms"): True, ("a", "sprites"): False}


@pytest.mark.parametrize(
    ("mean", "std", "expected"),
    [
        (0.71642, 0.01234, ("0.716", "0.012")),
        (243.567, 1.3, ("243.6", "1.3")),
        (131.2, 14.0, ("131", "14")),
        (0.5, 0.0, ("0.5", "0")),
        (0.123456, 0.0000123, ("0.1235", "0.0000")),
        (0.000034567, 0.0000123, ("3.46e-05", "1.2e-05")),
        (0.123456, None, ("0.1235", "")),
        (float("nan"), 0.1, ("nan", "")),
    ],
)
def test_a_mean_has_as_many_decimals_as_its_standard_deviation(
    mean: float, std: float | None, expected: tuple[str, str]
) -> None:
    assert numbers(mean, std) == expected


def test_further_numbers_are_shown_if_they_are_published() -> None:
    rows = [*ROWS, row("vae", 0.1, metric="mig.first"), row("vae", 0.1, metric="mig.second")]
    found = markdown(rows, {("vae", "mig.second"): 0.2})
    assert "mig.second" in found and "mig.first" not in found


def test_a_key_of_a_metric_alone_adds_a_further_number() -> None:
    rows = [
        row(method, mean, metric="common:clustering.chance", higher_is_better=None)
        for method, mean in (("a", 0.1), ("b", 0.2))
    ]
    assert "chance" not in markdown([*ROWS, *rows])
    found = markdown([*ROWS, *rows], {("common:clustering.chance",): None})
    assert "| a | rooms |  | 0.100 ± 0.010 (n=3) |" in found  # neither direction is better for chance


def test_the_note_contains_the_number_of_samples() -> None:
    rows = [made._replace(samples=500) for made in ROWS]
    assert "over n seeds, each scored on 500 samples; the best" in table(rows).note
    more = [*rows, row("vae", 0.1, data="sprites", samples=90), row("vae", 0.1, data="sprites", samples=100)]
    assert "each scored on 500 samples of rooms, 90 to 100 samples of sprites;" in table(more).note
    assert "samples" not in table(ROWS).note


def test_latex_is_escaped_and_bold() -> None:
    text = latex([*ROWS, row("a_b & 50%", 0.1, settings={"beta": 4.0})])
    assert r"$\mathbf{0.716 \pm 0.012}$ ($n=3$) [0.716]" in text
    assert r"a\_b \& 50\% & rooms & beta 4.0 & $0.100 \pm 0.010$ ($n=3$) \\" in text
    assert (
        text.count("&") - 1
        == 3 * len(text.split(r"\midrule")[1].split(r"\bottomrule")[0].split("\n")[1:-1]) + 3
    )


def test_html_is_escaped_and_names_its_one_dataset_in_the_caption() -> None:
    text = html([*ROWS, row("<i>", 0.1, metric="mig")])
    assert "<strong>0.716 ± 0.012</strong>" in text and "&lt;i&gt;" in text and "<i>" not in text
    assert "<caption>rooms. Mean" in text and "<td>rooms</td>" not in text
    both = html([*ROWS, row("vae", 0.1, data="sprites")])
    assert "<td>sprites</td>" in both and "<caption>Mean" in both


def test_an_unknown_format_is_refused() -> None:
    assert render_table("md", ROWS) == markdown(ROWS)
    with pytest.raises(ValueError, match="no table format 'pdf'"):
        render_table("pdf", ROWS)


def test_names_with_special_characters_stand_for_themselves() -> None:
    name = "a|b\n<script>`x`[y](z) 5% of_it \\"
    lines = markdown([row(name, 0.5, data=name, metric=name, samples=7)]).splitlines()
    escaped = r"a\|b &lt;script&gt;\`x\`\[y\](z) 5% of_it \\"
    assert len(lines) == 5 and lines[0] == f"| method | data | {escaped} |"
    assert lines[2] == f"| {escaped} | {escaped} | 0.500 ± 0.010 (n=3) |"
    note, *body = latex([row(name, 0.5, data=name), row("other", 0.4, data="x\n}", samples=5)]).splitlines()
    assert note.startswith("% Mean +- standard") and body[0] == r"\begin{tabular}{llr}"
    assert r"a|b <script>`x`[y](z) 5\% of\_it \textbackslash{} & " in body[4]
