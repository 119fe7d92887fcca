"""Codes to classes, src/unbraid/nn/classifier.py."""

import torch
from torch import nn
from torch.testing import assert_close

from unbraid.nn import Classifier, Classifiers


def test_one_hidden_layer_of_128_by_default() -> None:
    widths = [layer.out_features for layer in Classifier(10, 7).layers if isinstance(layer, nn.Linear)]
    assert widths == [128, 7]
    assert Classifier(10, 7)(torch.randn(3, 10)).shape == (3, 7)


def test_without_hidden_layers_it_is_linear() -> None:
    classifier, z = Classifier(4, 2, hidden=()), torch.randn(3, 4)
    (linear,) = classifier.layers
    assert isinstance(linear, nn.Linear)
    assert_close(classifier(z), z @ linear.weight.T + linear.bias)


def test_several_labels_have_a_classifier_each() -> None:
    classifiers, z = Classifiers(4, (2, 3), hidden=(5,)), torch.randn(6, 4)
    first, second = classifiers(z)
    assert first.shape == (6, 2) and second.shape == (6, 3)
    assert_close(second, classifiers.classifiers[1](z))
