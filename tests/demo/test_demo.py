"""The demo, src/unbraid/demo/demo.py, with two steps per run; one test opens the page in a browser."""

import functools
import html
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.report.test_page import Checker
from tests.test_readme import parse
from unbraid.data import grass
from unbraid.demo.demo import demo
from unbraid.recipes.demo import demo_pairs, plans
from unbraid.recipes.demo.seeds import runs
from unbraid.runs.folder import Run

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
KEYS = ("recon-contrast", "intervention", "principled-contrast", "augmented-gin", "subembeddings")
SMALL: dict[str, Any] = {"max_steps": 2, "max_samples": 100, "workers": 1}


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            grass, "paint_grass", functools.cache(grass.paint_grass)
        )  # one drawing for all datasets
        yield demo(tmp_path_factory.mktemp("demo") / "demo", quiet=True, **SMALL)


def test_each_system_has_a_baseline_on_the_same_data() -> None:
    assert tuple(demo_pairs()) == KEYS and len({plan.folder_name for plan in plans()}) == 10
    for pair in demo_pairs(seed=3).values():
        assert pair.system.plan.data == pair.baseline.plan.data
        assert pair.system.plan.evaluation == pair.baseline.plan.evaluation
        assert pair.system.plan.options["seed"] == pair.baseline.plan.options["seed"] == 3
        for entry in pair:
            assert entry.metric.split(".")[0] in entry.plan.metrics


def test_each_seed_has_its_own_mixture() -> None:
    for seed in (0, 3):
        assert [entry.plan.options["data_seed"] for entry in demo_pairs(seed)["augmented-gin"]] == [
            seed,
            seed,
        ]


def test_the_study_has_seeds_that_were_not_used_for_choices() -> None:
    for scale, count in (("quick", 3), ("paper", 10)):
        seeds = [plan.options["seed"] for plan in runs(scale)]
        assert sorted(set(seeds)) == list(range(9, 9 + count)) and len(seeds) == 10 * count


def test_nothing_is_downloaded() -> None:
    for plan in plans():
        assert plan.data == "mixture" or plan.options["digits"] == "bundled"


def test_each_system_has_a_score_an_explorer_and_a_command(page: Path) -> None:
    text = page.read_text()
    checker = Checker(text)
    assert page.name == "index.html" and page.stat().st_size < 10_000_000
    assert set(KEYS) <= set(checker.ids) and "://" not in text and "<script" not in text
    links = [source for source in checker.sources if not source.startswith("data:image/")]
    assert links.count("#recon-contrast") == 1
    for key in KEYS:
        assert f"explorers/{key}.html" in links and (page.parent / f"explorers/{key}.html").is_file()
    assert text.count('class="bar system"') == 5 and text.count('class="bar baseline"') == 5
    assert text.count("Run it on your data") == 5


def test_the_page_is_valid_html(page: Path) -> None:
    html5lib = pytest.importorskip("html5lib", reason="the validator html5lib is in the extra `dev`")
    html5lib.HTMLParser(strict=True).parse(page.read_text())


def test_the_commands_on_the_page_can_be_read(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("my-images", "patients", "controls"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"<pre><code>(.*?)</code></pre>", page.read_text(), re.S)
    commands = [
        html.unescape(re.sub(r"</?span>", "", line)) for block in blocks for line in block.splitlines()
    ]
    assert len(commands) >= 15
    for command in commands:
        parse(command)


def test_a_second_call_reuses_finished_runs_and_prints_its_steps(
    page: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    weights = sorted((page.parent / "runs").glob("*/model.safetensors"))
    trained = [path.stat().st_mtime_ns for path in weights]
    assert len(weights) == 10 and all(Run(path.parent).finished for path in weights)
    before = page.read_bytes()
    monkeypatch.setattr("unbraid.explore.write_explorer", lambda run, out: out)
    assert demo(page.parent, **SMALL) == page and page.read_bytes() == before
    assert [path.stat().st_mtime_ns for path in weights] == trained
    printed = capsys.readouterr().err
    assert "1/3  Training 5 systems" in printed and "3/3" in printed and str(page) in printed


def test_a_folder_with_other_things_is_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("mine")
    with pytest.raises(ValueError, match=r"not a study folder: it contains index\.html"):
        demo(tmp_path, quiet=True, **SMALL)
    assert [path.name for path in tmp_path.iterdir()] == ["index.html"]
    assert (tmp_path / "index.html").read_text() == "mine"


def test_a_run_that_fails_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*arguments: object, **options: object) -> None:
        raise FloatingPointError("the loss is not finite")

    monkeypatch.setattr("unbraid.studies.plan.Plan.run", broken)
    with pytest.raises(
        ValueError, match=r"demo failed\. FloatingPointError: the loss is not finite \(unbraid train"
    ):
        demo(tmp_path / "demo", quiet=True, **SMALL)


@pytest.mark.skipif(BROWSER is None, reason="there is no Chromium to look at the page with")
@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (390, "dark")])
def test_a_browser_shows_the_page(page: Path, width: int, scheme: str) -> None:
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is in the extra `dev`")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        tab = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        requests: list[str] = []
        tab.on("request", lambda request: requests.append(request.url))
        tab.goto(page.as_uri())
        unseen = "[...document.images].filter(one => one.naturalWidth < 2 || one.clientWidth < 2).length"
        assert tab.evaluate("document.images.length") > 15 and tab.evaluate(unseen) == 0
        assert (
            tab.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        )  # no horizontal overflow
        tab.click("text=Open the explorer >> nth=0")
        assert tab.url.endswith("explorers/recon-contrast.html")
        assert not [url for url in requests if not url.startswith(("file:", "data:", "blob:"))]
        browser.close()
