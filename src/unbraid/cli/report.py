"""`unbraid report`."""

from pathlib import Path
from typing import Annotated

import typer

from unbraid.cli.console import AsJSON, DataRoot, print_json
from unbraid.cli.custom_code import takes_custom_code
from unbraid.cli.output import PAGES, out_file


@takes_custom_code("method", "data", "architecture")
def report(
    folder: Annotated[Path, typer.Argument(metavar="RUN|STUDY", help="Run folder or study folder.")],
    out: Annotated[
        Path | None, out_file(*PAGES, help="The HTML file to write. Default: report.html in the folder.")
    ] = None,
    print_table: Annotated[
        str | None,
        typer.Option(
            metavar="md|latex|html", help="Format in which to print a study's table, instead of the report."
        ),
    ] = None,
    figures: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,…",
            help="Figures, separated by commas; FILE.py:FUNCTION for your own. Default: the method's choice.",
        ),
    ] = None,
    explorers: Annotated[
        bool, typer.Option("--explorers", help="Also write and link the explorers of the runs shown.")
    ] = False,
    data_root: DataRoot = None,
    as_json: AsJSON = False,
) -> None:
    """Write an HTML report for a run or study."""
    if print_table is not None:
        if out is not None or figures or explorers:
            raise ValueError(
                "--print-table prints a table and writes no page: leave out --out, --figures and --explorers."
            )
        table = study_table(folder, print_table)
        print_json({"table": table}) if as_json else print(table, end="")
        return
    names = tuple(figures.split(",")) if figures else ()
    path = write_page(folder, out, data_root, explorers=explorers, figures=names)
    print_json({"out": str(path)}) if as_json else print(f"Written to {path}.")


def write_page(
    folder: Path,
    out: Path | None,
    root: Path | None,
    *,
    explorers: bool = False,
    figures: tuple[str, ...] = (),
) -> Path:
    """Writes the report of a run or study, and the explorers of the runs shown if asked for."""
    from unbraid.explore import write_explorers
    from unbraid.report import shown_runs, write_report, write_study_report
    from unbraid.runs import Run
    from unbraid.studies import is_study, open_study

    study = open_study(folder) if is_study(folder) else None
    if explorers:
        write_explorers([Run(folder)] if study is None else [run for _, run in shown_runs(study)], root)
    if study is None:
        return write_report([folder], out, root=root, figures=figures)
    return write_study_report(folder, out, root=root, figures=figures)


def study_table(folder: Path, format: str) -> str:
    """A study's table in Markdown, LaTeX or HTML."""
    from unbraid.studies import open_study, render_table

    study = open_study(folder)
    return render_table(format, study.rows, study.published)
