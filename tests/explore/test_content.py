"""What an explorer shows, src/unbraid/explore/content.py."""

import base64
import io

import numpy as np
import torch
from PIL import Image

from unbraid.explore.content import content_of, groups, ranges, sheet
from unbraid.explore.examples import examples_from_data
from unbraid.report.figures import Activity
from unbraid.runs.folder import Run
from unbraid.runs.model import load
from unbraid.runs.run_dataset import training_dataset
from unbraid.strands import Strands


def test_it_tells_of_the_run(run: Run) -> None:
    model = load(run.folder, device="cpu")
    content = content_of(run, model, examples_from_data(model, training_dataset(run), size=40), shown=6)
    assert content["title"] == "β-VAE on sprites" and content["shape"] == [1, 32, 32]
    assert content["examples"]["shown"] == 6 and content["examples"]["codes"]["shape"] == [24, 4]
    assert [score["metric"] for score in content["scores"]][:1] == ["kl"]
    assert content["matrix"]["heading"] == "Importance"
    assert content["factors"][0]["means"]["shape"] == [3, 4]


def test_every_dimension_is_in_one_group_busiest_first() -> None:
    strands = Strands({"all": range(5), "left": (0, 1), "right": (2, 3)}, size=5)
    busy = Activity(np.array([0.1, 0.5, 0.3, 0.9, 0.2]), "nats")
    assert groups(strands, busy) == [
        {"name": "all", "dims": [4]},
        {"name": "left", "dims": [1, 0]},
        {"name": "right", "dims": [3, 2]},
    ]
    loose = groups(Strands({"left": (0,)}, size=2), Activity(np.ones(2), "nats"))
    assert loose[-1] == {"name": "no strand", "dims": [1]}


def test_sliders_reach_beyond_the_examples_and_the_prior(run: Run) -> None:
    model = load(run.folder, device="cpu")
    examples = examples_from_data(model, training_dataset(run), size=40)
    wide = examples._replace(codes=examples.codes * 100)
    low, high = ranges(model, wide)
    assert (low < wide.codes.min(0).values.numpy()).all() and (high > wide.codes.max(0).values.numpy()).all()
    low, high = ranges(model, examples._replace(codes=0 * examples.codes))
    assert (low == -3).all() and (high == 3).all()


def test_the_sheet_holds_every_pixel() -> None:
    x = torch.rand(18, 3, 4, 5)
    picture = Image.open(io.BytesIO(base64.b64decode(sheet(x).partition(",")[2])))
    assert picture.size == (16 * 5, 2 * 4)
    pixels = np.asarray(picture)
    assert np.array_equal(pixels[4:8, 5:10], (x[17] * 255).round().byte().permute(1, 2, 0).numpy())
