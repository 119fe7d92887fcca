"""The built site: its links, its pictures and its formulas, in a browser without a network."""

import os
import shutil
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag, urlsplit

import pytest

SITE = Path(__file__).parents[1] / "_build" / "html"
PAGES = sorted(path for path in SITE.rglob("*.html") if "_static" not in path.parts)
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
PHONE, DESK = (390, 844), (1440, 900)


class Page(HTMLParser):
    """The targets and the anchors of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.files: list[str] = []
        self.anchors: set[str] = {"", "top"}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.anchors |= {value for key in ("id", "name") if (value := values.get(key))}
        link, file = values.get("href"), values.get("src")
        if tag == "a" and link:
            self.links.append(link)
        if tag in ("img", "script") and file:
            self.files.append(file)
        if tag == "link" and link and values.get("rel") == "stylesheet":
            self.files.append(link)


@pytest.fixture(scope="module")
def pages() -> dict[Path, Page]:
    assert PAGES, "Build the site first: make docs"
    return {path: Page(path.read_text()) for path in PAGES}


def test_links_lead_to_pages_and_anchors_of_the_site(pages: dict[Path, Page]) -> None:
    broken = []
    for path, page in pages.items():
        for link in page.links:
            if urlsplit(link).scheme or link.startswith("//"):
                continue
            address, anchor = urldefrag(link)
            target = (path.parent / unquote(address)).resolve() if address else path
            if not target.exists():
                broken.append(f"{path.relative_to(SITE)}: {link}")
            elif target in pages and unquote(anchor) not in pages[target].anchors:
                broken.append(f"{path.relative_to(SITE)}: no anchor {link}")
    assert not broken, "\n".join(broken)


def test_pictures_scripts_and_styles_are_part_of_the_site(pages: dict[Path, Page]) -> None:
    for path, page in pages.items():
        for file in page.files:
            address = urlsplit(file)
            assert not address.netloc, f"{path.relative_to(SITE)} loads {file} from elsewhere"
            if address.scheme != "data":
                assert (path.parent / unquote(address.path)).is_file(), f"{path.relative_to(SITE)}: {file}"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api")
    if BROWSER is None:
        pytest.skip("no Chromium")
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield opened
        opened.close()


LOOK = """async () => {
  const formulas = document.querySelectorAll(".math").length;
  if (formulas) await window.MathJax?.startup?.promise;
  const drawn = [...document.querySelectorAll(".math")].filter(e => e.querySelector("mjx-container svg")).length;
  document.querySelectorAll("img").forEach(image => { image.loading = "eager"; });
  await Promise.all([...document.images].map(image => image.decode().catch(() => null)));
  return {
    formulas: formulas - drawn,
    errors: [...document.querySelectorAll('[data-mml-node="merror"], [data-mjx-error], .math [fill="red"]')]
      .map(e => e.outerHTML.slice(0, 80)),
    images: [...document.images].filter(image => !image.naturalWidth).map(image => image.src),
    overflow: document.documentElement.scrollWidth - window.innerWidth,
  };
}"""


@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
def test_pages_are_whole_without_a_network(browser: Any, size: tuple[int, int]) -> None:
    """No console error, no failed request, no formula left as text, and nothing wider than the screen."""
    context = browser.new_context(viewport={"width": size[0], "height": size[1]}, offline=True)
    page, wrong, where = context.new_page(), [], ""

    def note(kind: str, text: str) -> None:
        wrong.append(f"{where}: {kind}: {text}")

    page.on("console", lambda message: message.type == "error" and note("console", message.text))
    page.on("pageerror", lambda error: note("error", str(error)))
    page.on("requestfailed", lambda request: note("failed", request.url))
    page.on("request", lambda request: request.url.startswith("http") and note("network", request.url))
    for path in PAGES:
        where = str(path.relative_to(SITE))
        page.goto(path.as_uri(), timeout=120_000)
        seen = page.evaluate(LOOK)
        for kind, value in seen.items():
            if (kind == "overflow" and value <= 1) or not value:
                continue
            note(kind, str(value))
    context.close()
    assert not wrong, os.linesep.join(wrong)
