"""Protocols of renderers, src/unbraid/data/renderer.py."""

from unbraid.data.colored_digits import colored_mnist
from unbraid.data.mnist_stl10 import mnist_stl10
from unbraid.data.renderer import Renderer, TensorRenderer
from unbraid.data.rooms import rooms
from unbraid.data.sprites import sprites


def test_renderers_that_hold_tensors_can_be_moved() -> None:
    for dataset in (sprites(), rooms(image_size=8)):
        assert isinstance(dataset.source, Renderer) and not isinstance(dataset.source, TensorRenderer)
    for dataset in (colored_mnist(digits="bundled"), mnist_stl10(digits="bundled", backgrounds="textures")):
        assert isinstance(dataset.source, TensorRenderer) and dataset.nbytes == dataset.source.nbytes > 0
