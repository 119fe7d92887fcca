"""The pages of docs/results are what their sources and the committed rows say, docs/build_results.py."""

import re
import shutil
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
sys.path.insert(0, str(DOCS))

from build_results import BEGIN, END, MARKED, RESULTS, build, with_summary  # noqa: E402
from result_tables import NO_ROWS, functions  # noqa: E402

SOURCES = sorted((RESULTS / "sources").glob("*.md.jinja"))
OTHERS = sorted(page for folder in ("methods", "systems") for page in (DOCS / folder).glob("*.md"))
EXPRESSION = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}", re.DOTALL)
CODE = re.compile(r"```.*?```|`[^`\n]*`|\$[^$\n]*\$|\]\([^)]*\)|torch \d\.\d+", re.DOTALL)
MEASURED = re.compile(r"(?<![\w.])[−-]?\d+\.\d{2,}")  # 0.123, and not a setting such as 0.5, 1e-3 or `0.25`
ROWS = """\
method,seed,metric,value
a,0,mig,0.1
a,1,mig,0.3
a,2,mig,0.5
b,0,mig,0.2
b,1,mig,0.2
c,0,mig,-0.0001
"""


@pytest.fixture(scope="module")
def pages() -> dict[Path, str]:
    return build()


def test_pages_are_built_from_their_sources(pages: dict[Path, str]) -> None:
    stale = [path.name for path, text in pages.items() if path.read_text(encoding="utf-8") != text]
    assert not stale, "run `make results` and commit the pages"


def test_every_page_has_a_source() -> None:
    assert {page.name for page in RESULTS.glob("*.md")} == {
        source.name.removesuffix(".jinja") for source in SOURCES if not source.name.startswith("_")
    }


def test_a_changed_row_changes_its_pages_and_no_other(tmp_path: Path, pages: dict[Path, str]) -> None:
    results, readme = tmp_path / "results", tmp_path / "README.md"
    shutil.copytree(RESULTS, results, ignore=shutil.ignore_patterns("*.md"))
    readme.write_text(f"# Title\n{BEGIN}\nold\n{END}\nmore\n")
    rows = results / "rows" / "vae_family_sweep.csv"
    text = rows.read_text(encoding="utf-8")
    changed = re.sub(r'(?m)^(ada-gvae,0,mig,".*?"),[^,]+,', r"\1,0.9,", text)
    assert changed != text
    rows.write_text(changed, encoding="utf-8")
    before = {path.name: page for path, page in pages.items() if path.parent in (RESULTS, DOCS.parent)}
    after = {path.name: page for path, page in build(results, readme).items()}
    pages_changed = {name for name in after if name != "README.md" and before[name] != after[name]}
    assert pages_changed == {"index.md", "vae_family.md"}
    assert after["README.md"].startswith("# Title\n") and after["README.md"].endswith(f"{END}\nmore\n")
    assert "old" not in after["README.md"] and "| VAE family |" in after["README.md"]


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.name)
def test_no_measured_number_is_typed_by_hand(source: Path) -> None:
    """Numbers come from functions. Sections that say that they have no rows are exempt."""
    for section in re.split(r"(?m)^(?=#)", source.read_text(encoding="utf-8")):
        if "no_rows()" not in section:
            typed = EXPRESSION.sub("", CODE.sub("", EXPRESSION.sub("", section)))
            assert not MEASURED.findall(typed)
            cells = [line for line in typed.splitlines() if line.startswith("|") and "±" in line]
            assert not cells


@pytest.mark.parametrize("page", OTHERS, ids=lambda path: path.stem)
def test_measured_numbers_of_methods_stand_between_marks(page: Path) -> None:
    text = re.sub(r"\$\$.*?\$\$|arXiv:\d+\.\d+", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert not MEASURED.findall(CODE.sub("", MARKED.sub("", text)))


def test_marked_numbers_on_other_pages_are_those_of_the_rows(tmp_path: Path) -> None:
    results, readme, page = tmp_path / "results", tmp_path / "README.md", tmp_path / "methods" / "own.md"
    for folder in (results / "sources", results / "rows", page.parent):
        folder.mkdir(parents=True)
    (results / "sources" / "_readme.md.jinja").write_text("a summary\n")
    (results / "rows" / "x.csv").write_text(ROWS)
    readme.write_text("# Title\n")
    call = '<!-- {{ value("x.csv", "mig", method="a", digits=1) }} -->'
    table = '<!-- {{ table("x.csv", {"A": {"method": "a"}}, {"MIG": "mig"}, digits=1) }} -->'
    page.write_text(f"It has {call}0.7<!-- end -->.\n\n{table}<!-- end -->\n")
    (tmp_path / "methods" / "none.md").write_text("no numbers\n")
    pages = build(results, readme)
    assert tmp_path / "methods" / "none.md" not in pages
    value, *lines = pages[page].splitlines()
    assert value == f"It has {call}0.3\u00a0±\u00a00.2<!-- end -->."
    assert lines == [
        *("", table, ""),
        *("| method | MIG | n |", "| --- | --- | --- |", "| A | 0.3\u00a0±\u00a00.2 | 3 |"),
        *("", "<!-- end -->"),
    ]
    page.write_text(pages[page])
    assert build(results, readme)[page] == pages[page]  # once more changes nothing


def test_functions_by_hand(tmp_path: Path) -> None:
    (tmp_path / "rows").mkdir()
    (tmp_path / "rows" / "x.csv").write_text(ROWS)
    call = functions(tmp_path)
    assert call["value"]("x.csv", "mig", method="a") == "0.300\u00a0±\u00a00.200"
    assert call["value"]("x.csv", "mig", method="a", show="seeds", digits=1) == "0.1, 0.3 and 0.5"
    assert call["value"]("x.csv", "mig", method="c") == "0.000"
    # Differences of seeds 0 and 1: -0.1 and 0.1; the 95 % quantile of Student's t with one degree is 12.706.
    assert call["paired"]("x.csv", "mig", {"method": "a"}, {"method": "b"}) == "0.000 [−1.271,\u00a01.271]"
    table = call["table"]("x.csv", {"A": {"method": "a"}, "B": {"method": "b"}}, {"MIG": "mig"}, digits=1)
    assert table.splitlines()[2:] == ["| A | 0.3\u00a0±\u00a00.2 | 3 |", "| B | 0.2\u00a0±\u00a00.0 | 2 |"]
    paired = call["paired_table"]("x.csv", {"method": "a"}, {"B": {"method": "b"}}, {"MIG": "mig"}, digits=1)
    assert paired.splitlines()[2] == "| B | 0.0 [−1.3,\u00a01.3] | 2 |"


def test_the_results_of_a_study_are_rows_whose_settings_are_columns(tmp_path: Path) -> None:
    """Also where a method lacks a setting, and with specs and lists as on the command line."""
    common = "method,settings,steps,seed,metric,value\n"
    lines = [
        'factor-vae,"{""gamma"": 40.0, ""correlate"": [""a"", ""b""]}",10,0,dci,0.5',
        'factor-vae,"{""gamma"": 40.0, ""correlate"": [""a"", ""b""]}",30,0,dci,0.7',
        'factor-vae,"{""gamma"": 10.0, ""correlate"": []}",10,0,dci,0.1',
        'intervention,"{""translator"": {""spec"": ""plain:2:3:0.1:1""}}",10,0,dci,0.3',
    ]
    (tmp_path / "rows").mkdir()
    (tmp_path / "rows" / "study.csv").write_text(common + "\n".join(lines) + "\n")
    value = functions(tmp_path)["value"]
    strong = {"gamma": 40.0, "correlate": "a,b"}
    assert [value("study.csv", "dci", steps=steps, **strong) for steps in (10, 30)] == ["0.500", "0.700"]
    assert value("study.csv", "dci", gamma=10.0, correlate="") == "0.100"
    assert value("study.csv", "dci", method="intervention", translator="plain:2:3:0.1:1") == "0.300"
    assert value("study.csv", "dci", gamma="", method="intervention") == "0.300"


def test_mistakes_in_a_source_are_errors(tmp_path: Path) -> None:
    (tmp_path / "rows").mkdir()
    (tmp_path / "rows" / "x.csv").write_text(ROWS)
    call = functions(tmp_path)
    with pytest.raises(ValueError, match="several rows of seed 0"):
        call["value"]("x.csv", "mig")
    with pytest.raises(ValueError, match="no rows of sap"):
        call["value"]("x.csv", "sap", method="a")
    with pytest.raises(ValueError, match="no rows for the line 'D'"):
        call["table"]("x.csv", {"D": {"method": "d"}}, {"MIG": "mig"})
    with pytest.raises(ValueError, match=r"no column of x.csv 'methods'; did you mean method"):
        call["value"]("x.csv", "mig", methods="a")
    with pytest.raises(ValueError, match="no published value"):
        call["published"]("recon-contrast/table3", "sw-vae", "shapes3d", "MIG")


def test_the_summary_goes_between_its_marks() -> None:
    assert with_summary(f"a\n{BEGIN}\nb", "new") == f"a\n{BEGIN}\nnew\n{END}\nb"
    assert with_summary(f"a\n{BEGIN}\nold\n{END}\nb", "new") == f"a\n{BEGIN}\nnew\n{END}\nb"


def test_pages_without_rows_say_so() -> None:
    assert NO_ROWS in (RESULTS / "p4_latents.md").read_text(encoding="utf-8")
