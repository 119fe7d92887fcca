"""Under which licence the data behind a dataset is published, where that is known."""

from collections.abc import Mapping
from typing import Any

HERE = "made by Unbraid itself, MIT"
MNIST = "MNIST: CC BY-SA 3.0"
BUNDLED = "scikit-learn's digits, from the UCI repository: CC BY 4.0"
RESEARCH = "for research that is not commercial, by its publishers' terms"
LICENCES = {
    "sprites": HERE,
    "rooms": HERE,
    "credit": HERE,
    "hidden-groups": HERE,
    "mixture": HERE,
    "faces": HERE,
    "dsprites": "Apache 2.0",
    "shapes3d": "Apache 2.0",
    "mpi3d": "CC BY 4.0",
    "mouse-protein": "CC BY 4.0",
    "celeba": RESEARCH,
    "expressions": RESEARCH,
}
DIGITS = ("digits", "colored-mnist", "rotation-colored-mnist", "hue-mnist", "grassy-mnist", "mnist-stl10")
ON_PHOTOGRAPHS = ("grassy-mnist", "mnist-stl10")  # unless what lies behind the digits was made here


def licence(data: Mapping[str, Any]) -> str:
    """The licence of the data that a run's settings describe; empty where Unbraid does not know it."""
    origin = data.get("origin") or {}
    name = origin.get("name", "")
    if name not in DIGITS:
        return LICENCES.get(name, "")
    words = data["name"].split("-")
    digits = BUNDLED if {"bundled", "digits"} & {*words} else MNIST
    made_here = {"painted", "textures"} & {*words}
    return (
        digits
        if name not in ON_PHOTOGRAPHS or made_here
        else f"{digits}; that of the photographs is not known"
    )
