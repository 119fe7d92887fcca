"""How long the explorer takes from a slider's movement to the picture, and how near it is to PyTorch's.

    python benchmarks/explorer_speed.py
    python benchmarks/explorer_speed.py runs/beta runs/digits

Without folders it writes the page of an untrained β-VAE on sprites of 64×64, whose time is that of a trained one.
The page is opened from disk in headless Chromium. A slider is moved to 50 places, as a hand would; each time is from
the input event to the picture drawn on the canvas, and the sweep and the neighbors below it are redrawn meanwhile.
Needs playwright and Chromium.
"""

import argparse
import shutil
import statistics
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import torch

from unbraid.explore import write_explorer
from unbraid.explore.page import decodes
from unbraid.runs.folder import Run
from unbraid.runs.model import load
from unbraid.runs.run_dataset import training_dataset
from unbraid.studies.plan import Plan

MOVED = """async (places) => {
  const shown = (canvas) => new Promise((go) => {
    const watch = new MutationObserver(() => { watch.disconnect(); go(); });
    watch.observe(canvas, { attributeFilter: ["data-shown"] });
  });
  const canvas = pictures.first.canvas, { input } = sliders.get(state.code), times = [];
  const low = Number(input.min), high = Number(input.max);
  for (let place = 0; place < places; place++) {
    const drawn = shown(canvas);
    input.value = low + (high - low) * ((place * 7) % places) / places;
    const began = performance.now();
    input.dispatchEvent(new Event("input", { bubbles: true }));
    await drawn;
    times.push(performance.now() - began);
    await new Promise((go) => setTimeout(go, 30));
  }
  return times;
}"""
DECODED = """async (rows) => {
  const out = [];
  for (const row of rows) out.push([...await decode(Float32Array.from(row), new Float32Array(0))]);
  return out;
}"""


def measure(browser: Any, run: Run, out: Path) -> str:
    """One line about a run's page."""
    path = write_explorer(run, out)
    model = load(run.folder, device="cpu")
    page = browser.new_page()
    page.goto(path.as_uri())
    page.wait_for_function("() => pictures.first.canvas.dataset.shown")
    page.evaluate(MOVED, 10)  # the browser compiles what it runs often
    times = page.evaluate(MOVED, 50)
    line = (
        f"{run.method_name} on {run.data_name} {tuple(model.shape)}: {path.stat().st_size / 1e6:.2f} MB, from input to "
        f"picture {statistics.median(times):.1f} ms, {max(times):.1f} ms at most of {len(times)}"
    )
    if model.method.conditions_on != "nuisances":
        dataset, generator = training_dataset(run), torch.Generator().manual_seed(0)
        with torch.no_grad():
            codes = model.method.encode(dataset.observe(dataset.sample_indices(100, generator)))
        codes = codes.gather(0, torch.rand(codes.shape, generator=generator).argsort(0))
        found = np.array(page.evaluate(DECODED, codes.tolist())).reshape(100, *model.shape)
        apart = np.abs(found - model.decode(codes).numpy()).max()
        line += f"; {255 * apart:.3f}/255 from PyTorch at most over 100 codes, each number from another observation"
    page.close()
    return line


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("runs", nargs="*", type=Path, help="run folders whose models decode")
    arguments = parser.parse_args()
    from playwright.sync_api import sync_playwright

    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as started:
        folders = [Run(folder) for folder in arguments.runs]
        if not folders:
            plan = Plan("beta-vae", "sprites", {"image_size": 64, "steps": 1, "batch_size": 4})
            folders = [plan.run(Path(scratch) / "run", quiet=True, device="cpu")]
        browser = started.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for run in folders:
            if not decodes(load(run.folder, device="cpu")):
                raise SystemExit(f"{run.folder} has no decoder to time.")
            print(measure(browser, run, Path(scratch) / "explorer.html"), flush=True)
        browser.close()


if __name__ == "__main__":
    main()
