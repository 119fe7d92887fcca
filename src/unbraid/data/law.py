"""The law of a dataset: which of its observations train, how often each is drawn, and which are kept to test.

Unsupervised Disentanglement Learning by Intervention, 2021, App. B: a test set is held out first, and a training
set is then drawn from the rest, with correlated or with independent factors. Any two factors of any dataset can be
correlated, at any strength.
"""

import inspect
from collections.abc import Callable
from typing import Any, Literal

from torch import Generator

from unbraid.data.dataset import Dataset
from unbraid.seeds import derive

Split = Literal["train", "test"]


def under_law(
    dataset: Dataset,
    *,
    correlate: tuple[str, ...] = (),
    sigma: float = 0.2,
    resample: int = 0,
    hold_out: int = 0,
    split: Split = "train",
    law_seed: int = 0,
) -> Dataset:
    """The observations of a dataset that train, under a joint distribution of two factors, or those that test.

    Args:
        dataset: Any dataset; its own distribution of factors is that of what is held out.
        correlate: Two factors that training shows correlated, such as pos_x,scale.
        sigma: The width of their ridge, exp(-(v1 - v2)² / 2σ²) with both from 0 to 1: the smaller, the stronger.
        resample: How many observations to draw once, with replacement, and train on alone; 0 for all.
        hold_out: How many observations are kept apart to test, the same ones for any correlation; of a dataset that
            shows things several times, all observations of as many things as come nearest.
        split: `train`, or `test` for those that are held out.
        law_seed: Of what is held out and of what is drawn.
    """
    if resample < 0 or hold_out < 0:
        raise ValueError(
            f"resample and hold_out count observations, from 0 on; got {resample} and {hold_out}."
        )
    if correlate and (len(correlate) != 2 or correlate[0] == correlate[1]):
        raise ValueError(
            f"Two different factors can be correlated, such as pos_x,scale; got {','.join(correlate)}."
        )
    if split == "test" and not hold_out:
        raise ValueError(
            "Nothing is held out to test: give hold_out, the number of observations to hold out."
        )
    name, kept, held = dataset.name, dataset, dataset
    if hold_out:
        if hold_out >= len(dataset):
            raise ValueError(
                f"{name} has {len(dataset)} observations, so at most {len(dataset) - 1} can be held out; got "
                f"hold_out={hold_out}."
            )
        if not 0 < (things := round(dataset.things * hold_out / len(dataset))) < dataset.things:
            raise ValueError(
                f"{name} shows {dataset.things} things in {len(dataset)} observations, and whole things are held out, "
                f"1 to {dataset.things - 1} of them; hold_out={hold_out} would be {things}."
            )
        kept, held = dataset.split(hold_out / len(dataset), _generator(law_seed, "held out"))
    if split == "test":
        return held.called(f"{name}-test")
    if correlate:
        first, second = correlate
        kept = kept.under(lambda space: space.correlated(first, second, sigma=sigma))
        kept = kept.called(f"{name}-{first}-{second}")
    return kept.drawn_once(resample, _generator(law_seed, "resample")) if resample else kept


def _generator(seed: int, purpose: str) -> Generator:
    return Generator().manual_seed(derive(seed, purpose))


LAW = {
    name: parameter
    for name, parameter in inspect.signature(under_law).parameters.items()
    if name != "dataset"
}


def with_law(make: Callable[..., Dataset]) -> Callable[..., Dataset]:
    """The constructor of a dataset that also takes the options of `under_law`."""

    def constructor(*place: Any, **options: Any) -> Dataset:
        law = {name: options.pop(name) for name in LAW if name in options}
        dataset = make(*place, **options)
        return under_law(dataset, **law) if law else dataset

    own = inspect.signature(make)
    constructor.__signature__ = own.replace(  # type: ignore[attr-defined]
        parameters=[*own.parameters.values(), *LAW.values()]
    )
    constructor.__annotations__ = {**make.__annotations__, **under_law.__annotations__}
    constructor.__doc__ = _documented(make)
    constructor.__wrapped__ = make  # type: ignore[attr-defined]  # to tell it by
    constructor.__name__, constructor.__module__ = make.__name__, make.__module__
    return constructor


def _documented(make: Callable[..., Dataset]) -> str:
    """The constructor's documentation with the law's options at its end."""
    text, law = inspect.getdoc(make) or "", inspect.getdoc(under_law) or ""
    entries = law.partition("Args:\n")[2].partition("    correlate:")
    heading = "" if "\nArgs:\n" in text else "\n\nArgs:"
    return f"{text.rstrip()}{heading}\n{entries[1]}{entries[2]}"
