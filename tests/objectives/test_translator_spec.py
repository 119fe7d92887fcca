"""Settings of the translator, src/unbraid/objectives/translator_spec.py."""

import pytest

from unbraid.methods import Intervention
from unbraid.objectives import MLPTranslator, MLPTranslatorSGD, PlainTranslator, TranslatorSpec
from unbraid.options import options_of, to_cli_args
from unbraid.settings import from_json, to_json


def test_a_translator_is_one_value_on_the_command_line() -> None:
    option = options_of(Intervention)["translator"]
    assert option.parse("mlp") == MLPTranslator() == option.default
    assert option.parse("mlp:64:10:0.01:2") == MLPTranslator(64, 10, 0.01, 2)
    assert option.parse("mlp-sgd:32:10:0.1") == MLPTranslatorSGD(width=32, steps=10, lr=0.1, downsample=0)
    assert option.parse("plain") == PlainTranslator(downsample=1)
    assert to_cli_args("translator", MLPTranslatorSGD(steps=7)) == ["--translator", "mlp-sgd:32:7"]
    with pytest.raises(
        ValueError, match=r"--translator: 'conv' must be one of mlp:WIDTH:STEPS:LR:DOWNSAMPLE"
    ):
        option.parse("conv")


@pytest.mark.parametrize(
    "spec", [MLPTranslator(8, 3, 0.2, 1), MLPTranslatorSGD(8, 3, 0.2), PlainTranslator()], ids=str
)
def test_a_translator_is_kept_as_json(spec: TranslatorSpec) -> None:
    assert from_json(to_json(spec)) == spec


def test_values_out_of_range_are_refused() -> None:
    for text, got in (("mlp:0", "0 and 5"), ("mlp-sgd:32:0", "32 and 0"), ("plain:0", "0 and 20")):
        with pytest.raises(ValueError, match=f"Width and steps .* must be at least 1; got {got}"):
            TranslatorSpec.parse(text)
    for text, name in (("mlp:32:5:-1", "lr"), ("mlp:32:5:0.1:-2", "downsample")):
        with pytest.raises(ValueError, match=f"{name} must be a finite number of at least 0"):
            TranslatorSpec.parse(text)
    with pytest.raises(ValueError, match=r"'5\.5' is not a whole number"):
        TranslatorSpec.parse("mlp:32:5.5")
