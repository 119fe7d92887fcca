"""`unbraid report`, src/unbraid/cli/report.py."""

from pathlib import Path

from tests.commandline import CommandLine


def test_report_writes_a_page(unbraid: CommandLine, trained: Path) -> None:
    assert unbraid("report", trained).code == 0
    assert (trained / "report.html").read_text().lstrip().lower().startswith("<!doctype html>")


def test_report_writes_a_page_about_a_study_and_prints_its_table(
    unbraid: CommandLine, study_folder: Path, tmp_path: Path
) -> None:
    out = unbraid("report", study_folder, "--out", tmp_path / "page.html", "--json").json
    assert out == {"out": str(tmp_path / "page.html")} and (tmp_path / "page.html").exists()
    assert (
        unbraid("report", study_folder, "--print-table", "md").out == (study_folder / "table.md").read_text()
    )
    assert unbraid("report", study_folder, "--print-table", "latex").out.endswith("\\end{tabular}\n")
    assert (
        unbraid("report", study_folder, "--print-table", "html", "--json").json["table"].startswith("<table")
    )
    assert "no table format 'pdf'" in unbraid("report", study_folder, "--print-table", "pdf").sentence
    assert "is not a study folder" in unbraid("report", tmp_path, "--print-table", "md").sentence


def test_report_draws_the_figures_that_are_asked_for(
    unbraid: CommandLine, trained: Path, tmp_path: Path
) -> None:
    own = f"{Path(__file__).parents[1] / 'report' / 'own_vae.py'}:code_row"
    out = unbraid("report", trained, "--figures", f"swaps,{own}", "--out", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert out.code == 0 and 'id="swaps"' in page and 'id="figure-code_row"' in page
    assert 'id="traversals"' not in page
    assert "did you mean swaps" in unbraid("report", trained, "--figures", "swap").sentence


def test_options_of_the_page_are_refused_with_a_table(unbraid: CommandLine, study_folder: Path) -> None:
    table = ("report", study_folder, "--print-table", "md")
    for words in (("--out", "x.html"), ("--figures", "joint"), ("--explorers",)):
        assert "prints a table and writes no page" in unbraid(*table, *words).sentence
