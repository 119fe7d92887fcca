"""Photographs pages in headless Chromium, with the network cut: the explorer of a run, and the top of the demo's page.

    python docs/make_screenshots.py --explorer runs/rooms --demo demo --lesson runs/low

docs/make_explorer_film.py has the command that trains the rooms, docs/tutorials/classroom.md that of the lesson. Needs
playwright and Chromium.
"""

import argparse
import io
import shutil
import tempfile
from pathlib import Path

from make_pictures import save
from PIL import Image
from playwright.sync_api import Browser, sync_playwright

from unbraid.explore import write_explorer

WIDE, PHONE = (1440, 900), (390, 844)
DEMO, DEMO_WIDTH = (1240, 1150), 880  # pixels of the window, and width of the picture
LESSON = (1240, 540)


def photograph(
    browser: Browser, page_file: Path, size: tuple[int, int], *, whole: bool, scale: int = 1
) -> Image.Image:
    """The page as a window of this size shows it, or the whole page."""
    page = browser.new_page(viewport={"width": size[0], "height": size[1]}, device_scale_factor=scale)
    page.context.set_offline(True)
    page.goto(page_file.resolve().as_uri())
    page.wait_for_timeout(2000)
    return Image.open(io.BytesIO(page.screenshot(full_page=whole))).convert("RGB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--explorer", type=Path, metavar="RUN", help="run whose explorer is shown")
    parser.add_argument("--demo", type=Path, metavar="FOLDER", help="folder of `unbraid demo`")
    parser.add_argument("--lesson", type=Path, metavar="RUN", help="run whose explorer students open")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "pictures")
    options = parser.parse_args()
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    arguments = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--hide-scrollbars"]
    with sync_playwright() as started, tempfile.TemporaryDirectory() as folder:
        browser = started.chromium.launch(executable_path=chromium, args=arguments)
        if options.explorer:
            page_file = write_explorer(options.explorer, Path(folder) / "explorer.html")
            save(photograph(browser, page_file, WIDE, whole=True), options.out / "explorer.png")
            phone = photograph(browser, page_file, PHONE, whole=False, scale=2)
            save(phone, options.out / "explorer_phone.png")
        if options.lesson:
            page_file = write_explorer(options.lesson, Path(folder) / "low.html")
            save(photograph(browser, page_file, LESSON, whole=False), options.out / "classroom.png")
        if options.demo:
            top = photograph(browser, options.demo / "index.html", DEMO, whole=False)
            height = round(top.height * DEMO_WIDTH / top.width)
            save(top.resize((DEMO_WIDTH, height), Image.Resampling.LANCZOS), options.out / "demo.png")
        browser.close()


if __name__ == "__main__":
    main()
