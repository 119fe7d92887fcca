"""Makes the pictures of the documentation: one for each method, and sheets of the datasets that are made here.

    python docs/make_pictures.py --steps 5000 --device cuda

It trains every method that decodes, on rendered sprites, on colored digits where a class is predicted, or on drawn
faces against plain ones where there is a background, into a temporary folder, so that only the pictures stay.
"""

import argparse
import io
import tempfile
from pathlib import Path
from typing import Any

import torch
from PIL import Image
from torch import Generator

from unbraid import Plan, load, open_dataset, replace
from unbraid.data.draws import PairDraw
from unbraid.data.palettes import PALETTES
from unbraid.methods import ClosedForm, method_class, method_classes
from unbraid.methods.base import Method
from unbraid.methods.predictor import Predictor
from unbraid.metrics import latent_mcc, latent_r2, spectrum
from unbraid.optimizers import Adam
from unbraid.recipes.augmented_gin import figure1
from unbraid.report import (
    image_sheet,
    joint_chart,
    quantile_traversals,
    reconstructions,
    swaps,
    traversals,
)
from unbraid.report.charts import file_bytes
from unbraid.report.contrast import both_reconstructed, has_contrast, strands_apart, target_and_background
from unbraid.report.figures import activity, examples
from unbraid.report.flow_charts import Recovered, recovery_chart
from unbraid.report.flows import augmented_samples
from unbraid.report.subembeddings import view_pairs
from unbraid.schedules import Exponential, Linear
from unbraid.types import ContrastBatch, PairBatch

ROWS = 6  # codes to show, busiest first
RECOVERING = ("augmented-gin", "gin", "ivae")  # shown by the latents that they find


def plan_of(method: str, steps: int, batch: int, size: int) -> Plan:
    """Settings that show what a method does in a few thousand steps; the papers train much longer."""
    if issubclass(method_class(method), Predictor):
        pairs = method_class(method).batch_type is PairBatch
        options = {
            "digits": "bundled",
            "steps": steps,
            "batch_size": batch // 2 if pairs else batch,
            "seed": 0,
        }
        return Plan(method, "colored-mnist", options)
    if method_class(method).batch_type is ContrastBatch:
        options = {
            "show": "accessories",
            "steps": steps,
            "batch_size": batch // 2,
            "seed": 0,
            "salient_dim": 4,
        }
        if issubclass(method_class(method), ClosedForm):
            return Plan(method, "faces", {"show": "accessories", "salient_dim": 4})
        return Plan(method, "faces", options | {"common_dim": 12, "beta": 0.2, "optimizer": Adam(1e-3)})
    plan = Plan(
        method,
        "sprites",
        {"image_size": size, "steps": steps, "batch_size": batch, "seed": 0, "optimizer": Adam(5e-4)},
    )
    if method == "annealed-vae":
        # In so few steps the paper's γ of 1000 makes a code that meets the capacity and encodes nothing.
        return replace(plan, gamma=10.0, capacity=Linear(0.0, 25.0, max(1, round(0.8 * steps))))
    if method in ("infogan", "infogan-cr"):  # whose players have rates of their own
        late = {"contrast_start_step": round(0.9 * steps)} if method == "infogan-cr" else {}
        return Plan(method, "sprites", {**plan.options, "optimizer": None, **late})
    correlated: dict[str, Any] = {"architecture": "conv-factor-vae", "correlate": ("pos_x", "scale")}
    if method == "intervention":
        return replace(plan, **correlated)
    if method == "sequential-intervention":
        schedules = {
            "feature_schedule": Linear(2.0, 10.0, max(1, round(0.6 * steps))),
            "beta_schedule": Exponential(16.0, 1.0, steps),
        }
        return replace(plan, beta=0.5, lambda_translation=0.0, **schedules, **correlated)
    if method_class(method).batch_type is PairBatch:
        return replace(
            plan, batch_size=batch // 2, pair_rule="exactly", k=1
        )  # as many images a step as the others
    return plan


def picture_of(plan: Plan, device: str) -> Image.Image:
    """Trains, and draws what is reconstructed above what the busiest codes do."""
    dataset = plan.dataset()
    with tempfile.TemporaryDirectory() as folder:
        plan.run(Path(folder) / "run", device=device)
        model = load(Path(folder) / "run", device=device)
    if has_contrast(model, dataset):
        both = strands_apart(model, dataset, count=9), both_reconstructed(model, dataset, count=9)
        return stack([figure.sheet() for figure in both])
    if isinstance(model.method, Predictor):
        both = reconstructions(model, dataset, count=9), swaps(model, dataset, count=9)
        return stack([figure.sheet() for figure in both])
    active = activity(model, examples(dataset, 512)).active[:ROWS]
    move = traversals if hasattr(model.method, "posterior") else quantile_traversals
    figures = reconstructions(model, dataset, count=9), move(model, dataset, dims=active)
    return stack([figure.sheet() for figure in figures])


def recovered(method: str, device: str) -> Image.Image:
    """The latents that a method finds in the mixture; augmented GIN also where they were turned before the network."""
    plans = {plan.method: plan for plan in figure1.BASELINES if plan.method == method}
    if method == "augmented-gin":
        names = {"constant stds": 0, "turned, constant": 4, "turned, varying": 5}
        plans = {name: replace(figure1.BASE, **figure1.SETTINGS[index]) for name, index in names.items()}
    dataset = open_dataset("mixture")
    assert dataset.latents is not None and dataset.combinations is not None
    codes = {}
    for name, plan in plans.items():
        with tempfile.TemporaryDirectory() as folder:
            replace(plan, seed=0).run(Path(folder) / "run", device=device)
            model = load(Path(folder) / "run", device=device)
        seen, given = plan.dataset(), model.method.condition_from(dataset.combinations, None)
        codes[name] = model.encode(seen.observe(seen.indices()), condition=given).cpu().numpy()
    observed, latents = dataset.observe(dataset.indices()), dataset.latents.informative(dataset.indices())
    labels, found = dataset.combinations.numpy(), {}
    for name, z in codes.items():
        mcc, r2 = latent_mcc(z, latents.numpy()), latent_r2(z, latents.numpy())
        found[name] = Recovered(
            z, mcc.codes, r2.score, mcc.score, spectrum(z) if z.shape[1] > latents.shape[1] else None
        )
    chart = file_bytes(recovery_chart(observed.numpy(), latents.numpy(), labels, found), "png")
    picture = Image.open(io.BytesIO(chart)).convert("RGB")
    return picture.resize((1000, picture.height * 1000 // picture.width)).quantize(32)


def stack(sheets: list[Image.Image]) -> Image.Image:
    """Sheets one below the other, their right edges aligned, as the labels stand on the left."""
    width = max(sheet.width for sheet in sheets)
    picture = Image.new("RGB", (width, sum(sheet.height for sheet in sheets)), "white")
    top = 0
    for sheet in sheets:
        picture.paste(sheet, (width - sheet.width, top))
        top += sheet.height
    return picture


def sheet_of(name: str) -> Image.Image:
    """Some pictures of a dataset, drawn at random, in three rows."""
    dataset = open_dataset(name)
    x = dataset.observe(dataset.sample_indices(27, Generator().manual_seed(0)))
    return image_sheet([("", row) for row in x.split(9)])


def digits_in_color() -> Image.Image:
    """Pairs of both datasets of colored digits, then digits of their test splits. Bundled digits need no files."""
    rows = []
    for name, label in (("colored-mnist", "colored"), ("rotation-colored-mnist", "and turned")):
        train, test = (open_dataset(name, digits="bundled", split=part) for part in ("train", "test"))
        generator = Generator().manual_seed(1)
        pairs = PairDraw()(train, 9, generator, torch.tensor(0))
        rows += [
            (label, pairs.x1),
            ("partner", pairs.x2),
            ("test", test.observe(test.sample_indices(9, generator))),
        ]
    return image_sheet(rows)


def chosen_colors() -> Image.Image:
    """One digit in every coloring of training and of both tests."""
    rows = []
    trained = PALETTES["mild"].train
    for label, colors, grounds in (
        ("training", "mild", trained),
        ("mild", "mild", None),
        ("hard", "hard", None),
    ):
        test = open_dataset(
            "colored-mnist", digits="bundled", split="test", color_set=colors, test_background_colors=grounds
        )
        rows.append((label, test.observe(torch.arange(18) + 18 * 3)))
    return image_sheet(rows, scale=1)


def faces_and_grass() -> Image.Image:
    """Targets above their backgrounds (Fig. 3): drawn faces of both kinds, and bundled digits over painted grass."""
    shown = [open_dataset("faces", show=show, image_size=28) for show in ("expressions", "accessories")]
    shown += [
        open_dataset("grassy-mnist", digits="bundled", grass="painted", mix=mix)
        for mix in ("linear", "nonlinear")
    ]
    return stack([target_and_background(dataset, count=9, seed=1).sheet() for dataset in shown])


def joints() -> Image.Image:
    """What correlated training sets show of their two factors, as the paper's Fig. 6: exact distributions."""
    pairs = {
        "sprites": ("scale", "pos_x"),
        "rooms": ("floor_hue", "wall_hue"),
        "hue-mnist": ("digit", "hue"),
    }
    charts = []
    for name, pair in pairs.items():
        options = {"digits": "bundled"} if name == "hue-mnist" else {}
        chart = joint_chart(open_dataset(name, correlate=pair, **options), *pair)
        charts.append(Image.open(io.BytesIO(file_bytes(chart, "png"))).convert("RGB"))
    sheet = Image.new(
        "RGB", (sum(chart.width for chart in charts), max(chart.height for chart in charts)), "white"
    )
    left = 0
    for chart in charts:
        sheet.paste(chart, (left, sheet.height - chart.height))
        left += chart.width
    return sheet.resize((sheet.width // 2, sheet.height // 2), Image.Resampling.LANCZOS)


def save(picture: Image.Image, path: Path) -> None:
    """64 grays keep the file small; colors stay as they are, which a palette would spoil."""
    gray = picture.mode == "RGB" and all(
        band.getextrema()[1] - band.getextrema()[0] <= 12 for band in _differences(picture)
    )
    picture = picture.convert("L").quantize(64) if gray else picture
    picture.save(path, optimize=True)
    print(f"{path}: {path.stat().st_size / 1024:.0f} KB", flush=True)


def _differences(picture: Image.Image) -> tuple[Image.Image, Image.Image]:
    from PIL import ImageChops

    red, green, blue = picture.split()
    return ImageChops.difference(red, green), ImageChops.difference(green, blue)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--steps", type=int, default=5000, help="steps of training for each method")
    parser.add_argument("--batch-size", type=int, default=256, help="images in a step")
    parser.add_argument("--image-size", type=int, default=64, help="side of the sprites' pictures")
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda or mps")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "pictures")
    parser.add_argument("--methods", help="names separated by commas; every method by default")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    decoding = [name for name, cls in method_classes().items() if cls.decode is not Method.decode]
    methods = arguments.methods.split(",") if arguments.methods else decoding
    for method in methods:
        if method in RECOVERING:
            save(recovered(method, arguments.device), arguments.out / f"{method.replace('-', '_')}.png")
            continue
        plan = plan_of(method, arguments.steps, arguments.batch_size, arguments.image_size)
        save(picture_of(plan, arguments.device), arguments.out / f"{method.replace('-', '_')}.png")
    if not arguments.methods:
        for name in ("sprites", "rooms"):
            save(sheet_of(name), arguments.out / f"{name}.png")
        save(digits_in_color(), arguments.out / "colored_digits.png")
        save(chosen_colors(), arguments.out / "p1_colors.png")
        save(joints(), arguments.out / "joint.png")
        overlays = open_dataset("mnist-stl10", digits="bundled", backgrounds="textures", pairs=100)
        save(view_pairs(overlays, count=9).sheet(), arguments.out / "view_pairs.png")
        save(faces_and_grass(), arguments.out / "faces.png")
        sets = augmented_samples(open_dataset("digits", digits="bundled"), count=9)
        save(sets.sheet(), arguments.out / "sets.png")


if __name__ == "__main__":
    torch.set_float32_matmul_precision("high")
    main()
