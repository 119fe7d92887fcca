"""The table of figures, src/unbraid/report/figure_table.py."""

import ast
from pathlib import Path

import pytest
import torch

import unbraid
from tests.tiny import METHODS, SHAPE, make
from unbraid.data import DATASETS, Dataset, sprites
from unbraid.methods.base import Method, method_classes
from unbraid.methods.beta_vae import BetaVAE
from unbraid.methods.protocols import HasFigures, has_decoder
from unbraid.report.figure_table import FIGURES, IMAGES, FigureEntry
from unbraid.runs.model import Model

PLAIN = Dataset(torch.zeros(8, *SHAPE, dtype=torch.uint8), name="plain")


def test_every_figure_has_a_heading_and_a_name_for_files_and_anchors() -> None:
    for name, entry in FIGURES.items():
        assert name.replace("-", "").replace("_", "").isalnum() and entry.heading
    assert len({entry.heading for entry in FIGURES.values()}) == len(FIGURES)


def test_what_is_lacking_is_named() -> None:
    model = Model(make(BetaVAE).float(), SHAPE)
    assert FIGURES["traversals"].unmet(model, PLAIN) == []
    assert FIGURES["strands"].unmet(model, PLAIN) == ["the strands predictive and nuisance"]
    assert FIGURES["recovery"].unmet(model, PLAIN) == ["a flow", "true latents"]
    assert FIGURES["view_pairs"].unmet(model, PLAIN) == ["pairs of views"]
    assert FIGURES["importance"].unmet(model, sprites(image_size=16)) == ["a score dci"]
    assert FigureEntry("Rows", FIGURES["traversals"].draw, (IMAGES,)).unmet(
        Model(make(BetaVAE).float(), (9,)), PLAIN
    ) == ["images"]


@pytest.mark.parametrize("cls", METHODS, ids=lambda cls: cls.name())
def test_every_method_has_figures_that_exist_and_none_that_decode_without_a_decoder(
    cls: type[Method],
) -> None:
    method = make(cls).float()
    if isinstance(method, HasFigures):
        assert set(method.figures()) <= FIGURES.keys()
    met = {name for name, entry in FIGURES.items() if not entry.unmet(Model(method, SHAPE), PLAIN)}
    assert ("reconstructions" in met) == has_decoder(method)


@pytest.mark.parametrize("package", ["report", "explore"])
def test_no_page_asks_for_a_method_or_a_dataset_by_name(package: str) -> None:
    names = method_classes().keys() | DATASETS.keys()
    for path in (Path(unbraid.__file__).parent / package).glob("*.py"):
        constants = [
            node.value for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Constant)
        ]
        assert not names & {value for value in constants if isinstance(value, str)}, path
