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
