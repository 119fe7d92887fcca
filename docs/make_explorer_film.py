"""Films the explorer of a run, as the README shows it: some sliders move one after the other.

    unbraid train sw-vae --data rooms --image-size 32 --latent-dim 10 --beta 4 --lambda-swap 10 --lr 7e-4 \\
        --swap-schedule linear:0:1:2500 --k-schedule linear:1:3:2500 --steps 6000 --batch-size 48 --out runs/rooms
    python docs/make_explorer_film.py runs/rooms --dimensions 3,1,9 --out docs/pictures/explorer_rooms.webp

It opens the page in headless Chromium (playwright, and an installed Chromium) with the network cut.
"""

import argparse
import io
import math
import shutil
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from unbraid.explore import write_explorer

FRAMES_PER_SLIDER = 24
MILLISECONDS = 70  # per frame
REACH = 0.8  # share of the slider that is shown


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("run", type=Path)
    parser.add_argument("--dimensions", required=True, help="The dimensions whose sliders move, in order.")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--width", type=int, default=1100)
    parser.add_argument("--height", type=int, default=640)
    parser.add_argument("--scale", type=float, default=0.8, help="Size of the film relative to the page.")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page_file = write_explorer(options.run, Path(folder) / "explorer.html")
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--hide-scrollbars"]
        )
        page = browser.new_page(viewport={"width": options.width, "height": options.height})
        page.context.set_offline(True)
        page.goto(Path(page_file).resolve().as_uri())
        page.wait_for_function("document.querySelectorAll('input[type=range]').length > 0")
        page.wait_for_timeout(500)
        frames = [
            frame
            for dimension in map(int, options.dimensions.split(","))
            for frame in film(page, dimension, options.scale)
        ]
        browser.close()
    frames[0].save(
        options.out,
        save_all=True,
        append_images=frames[1:],
        duration=MILLISECONDS,
        loop=0,
        quality=72,
        method=6,
    )
    print(f"{options.out}: {len(frames)} frames, {options.out.stat().st_size / 1e6:.1f} MB")


def film(page: Page, dimension: int, scale: float) -> list[Image.Image]:
    """The frames in which one slider moves up, down, and back to where it was."""
    slider: Any = page.locator(f'input[type=range][data-code="{dimension}"]')
    low, high, start = (float(slider.evaluate(f"node => node.{name}")) for name in ("min", "max", "value"))
    slider.focus()
    frames = []
    for frame in range(FRAMES_PER_SLIDER + 1):  # the last frame is where it began
        phase = REACH * math.sin(2 * math.pi * frame / FRAMES_PER_SLIDER)
        value = start + phase * ((high - start) if phase > 0 else (start - low))
        slider.evaluate(
            "(node, value) => { node.value = value; node.dispatchEvent(new Event('input', {bubbles: true})); }",
            value,
        )
        page.wait_for_timeout(60)
        image = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
        frames.append(
            image.resize((round(image.width * scale), round(image.height * scale)), Image.Resampling.LANCZOS)
        )
    return frames


if __name__ == "__main__":
    main()
