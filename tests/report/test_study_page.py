"""The page of a study, src/unbraid/report/study_page.py; one test looks at it in a browser."""

import os
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.report.test_page import Checker, forget_code
from tests.small_study import PLANS, small_study
from unbraid.explore import write_explorers
from unbraid.report import study_page
from unbraid.report.study_page import shown_runs, write_study_report
from unbraid.studies.plan import Plan, replace
from unbraid.studies.results import open_study

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
ASK = """<script>addEventListener("load", () => {
  const pictures = [...document.images];
  document.body.dataset.pictures = pictures.length;
  document.body.dataset.seen = pictures.filter(one => one.naturalWidth > 1 && one.clientWidth > 1).length;
  document.body.dataset.wide = document.documentElement.scrollWidth - innerWidth;
});</script>"""


OWN = {"architecture": "mlp-small", "latent_dim": 3, "steps": 2, "batch_size": 4}


class Tables(HTMLParser):
    """The cells of every table, row by row."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tables: list[list[list[str]]] = []
        self._cell = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")
            self._cell = True

    def handle_endtag(self, tag: str) -> None:
        self._cell = self._cell and tag not in ("td", "th")

    def handle_data(self, data: str) -> None:
        if self._cell:
            self.tables[-1][-1][-1] += data


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_study(tmp_path_factory.mktemp("page") / "study")


@pytest.fixture(scope="module")
def page(folder: Path) -> Path:
    return write_study_report(folder)


def test_the_page_is_whole_and_asks_for_nothing_outside(folder: Path, page: Path) -> None:
    text = page.read_text()
    checker = Checker(text)
    assert page == folder / "report.html" and page.stat().st_size < 10_000_000
    assert all(source.startswith("data:image/") for source in checker.sources) and checker.sources
    assert not re.findall(r"https?://", text)
    expected = {
        "study",
        "results",
        "comparisons",
        "effects",
        "correlations",
        "failures",
        "runs",
        "traversals",
    }
    assert expected | {"curves", "again", "settings", "versions"} <= set(checker.ids)
    assert "<script" not in text and "prefers-color-scheme: dark" in text and "@media print" in text


def test_the_page_is_valid_html(page: Path) -> None:
    html5lib = pytest.importorskip("html5lib", reason="the validator html5lib is in the extra `dev`")
    html5lib.HTMLParser(strict=True).parse(page.read_text())


def test_its_tables_hold_ours_and_the_published_numbers(folder: Path, page: Path) -> None:
    facts, results, comparisons, *_ = Tables(page.read_text()).tables
    assert ["runs", "6 of 7 done, 1 failed"] in facts and ["seeds", "0, 1"] in facts
    assert [row[:2] for row in results] == [
        ["method", "settings"],
        ["beta-vae", "beta 1.0"],
        ["beta-vae", "beta 4.0"],
        ["ada-gvae", ""],
    ]
    rows = {(row.method, row.settings.get("beta"), row.metric): row for row in open_study(folder).rows}
    mig = next(index for index, name in enumerate(results[0]) if name.startswith("mig"))
    cell = results[2][mig]
    assert cell.endswith("n\xa0=\xa02 [0.2135]")
    shown = rows["beta-vae", 4.0, "mig"]
    assert float(cell.split(" ")[0]) == pytest.approx(shown.mean, abs=shown.std or 0)
    assert {row[2] for row in comparisons[1:]} <= {"tie", "ahead", "higher"} and len(comparisons) == 7


def test_failures_and_the_command_are_on_it(page: Path) -> None:
    text = re.sub(r"</?span>", "", page.read_text())
    assert "unbraid train annealed-vae" in text and "ValueError: gamma must be" in text
    assert "Traceback (most recent call last)" in text
    assert f"unbraid study mine.py --out {page.parent}" in text


def test_the_run_nearest_to_its_settings_mean_is_shown(folder: Path) -> None:
    study = open_study(folder)
    chosen = shown_runs(study)
    assert [plan.method for plan, _ in chosen] == ["beta-vae", "ada-gvae"]
    rows = [row for row in study.rows if row.method == "beta-vae" and row.metric == "reconstruction"]
    best = min(rows, key=lambda row: row.mean)
    assert chosen[0][0].options["beta"] == best.settings["beta"]


def test_one_run_a_method_where_there_would_be_too_many(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(study_page, "MAX_RUNS", 1)
    assert len(shown_runs(open_study(folder))) == 1


def test_a_page_that_would_be_too_heavy_shows_fewer_runs(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(study_page, "MAX_BYTES", 1000)
    text = write_study_report(folder, tmp_path / "page.html").read_text()
    assert "1 more would exceed the page size" in text and 'alt="ada-gvae' not in text


def test_single_seeds_are_compared_with_nothing(tmp_path: Path) -> None:
    folder = small_study(tmp_path / "study", [PLANS[0], PLANS[2]], name="described in Python")
    text = write_study_report(folder, tmp_path / "page.html", title="Two <runs>").read_text()
    Checker(text)
    assert "No two settings have two seeds in common" in text and "defined in Python. Repeat it with" in text
    assert "<title>Two &lt;runs&gt;</title>" in text


def test_explorers_are_written_where_they_can_be_and_linked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plans = [PLANS[0], replace(PLANS[4], architecture="mlp")]  # the second has too many weights for a page
    folder = small_study(tmp_path / "a study", plans)
    page = tmp_path / "pages" / "page.html"
    assert "Explore this model" not in write_study_report(folder, page).read_text()
    write_explorers([run for _, run in shown_runs(open_study(folder))])
    links = re.findall(r'href="([^"]*)"', write_study_report(folder, page).read_text())
    assert links == [f"../a%20study/runs/{plans[0].folder_name}/explorer.html"]
    assert f"{plans[1].folder_name} has no explorer: " in capsys.readouterr().err
    written = folder / "runs" / plans[0].folder_name / "explorer.html"
    assert written.exists() and not (folder / "runs" / plans[1].folder_name / "explorer.html").exists()
    os.utime(written, (0, 0))  # older than the weights: not of this model
    assert "Explore this model" not in write_study_report(folder, page).read_text()


def test_runs_of_code_that_was_not_named_keep_their_scores_and_lose_their_figures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = f"{Path(__file__).parent / 'own_vae.py'}:OwnAutoencoder"
    plans = [PLANS[0], Plan(own, PLANS[0].data, {**OWN, "image_size": 32}, ("reconstruction",))]
    folder = small_study(tmp_path / "study", plans)
    named = write_study_report(folder).read_text()
    assert 'id="figure-sorted_images"' in named and "No figures for this run" not in named
    forget_code(monkeypatch)
    page = write_study_report(folder).read_text()
    Checker(page)
    assert 'id="figure-sorted_images"' not in page and 'id="traversals"' in page
    assert "No figures for this run." in page and "--method PATH/own_vae.py:OwnAutoencoder" in page
    assert Tables(page).tables[1] == Tables(named).tables[1]  # the results
    assert Tables(page).tables[0] == Tables(named).tables[0]  # the facts


@pytest.mark.skipif(BROWSER is None, reason="there is no Chromium to look at the page with")
@pytest.mark.parametrize("width", [1440, 500])  # a window of Chromium's is no narrower than 500
def test_a_browser_sees_its_tables_and_pictures(page: Path, tmp_path: Path, width: int) -> None:
    asking = tmp_path / "asking.html"
    asking.write_text(page.read_text().replace("</body>", ASK + "</body>"))
    flags = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}"]
    done = subprocess.run(
        [str(BROWSER), *flags, f"--window-size={width},2000", "--dump-dom", asking.as_uri()],
        capture_output=True,
        text=True,
        timeout=120,
    )
    found = dict(re.findall(r'data-(\w+)="(-?\d+)"', done.stdout.partition("<body")[2].partition(">")[0]))
    assert int(found["pictures"]) > 10 and found["seen"] == found["pictures"]
    assert int(found["wide"]) <= 0  # nothing sticks out
    assert Tables(done.stdout).tables[:3] == Tables(page.read_text()).tables[:3]
