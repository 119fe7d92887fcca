"""How the colors of Colored-MNIST were chosen: by a plain network alone, on digits of the training file.

    UNBRAID_DATA=… python benchmarks/fix_colors.py

The plain `cnn` is trained with cross-entropy on 50,000 training digits, each in two colorings. The other
10,000 training digits, painted on candidate grounds, say how far it falls there. First the candidates one by one,
then the two sets as they are in `unbraid.data.palettes`. No test digit is looked at, and no method but this
network. docs/results/p1_colors.md has the numbers.
"""

import argparse

import numpy as np
import torch
from torch import Generator, Tensor
from torch.nn import functional as F

from unbraid.data import read_digits
from unbraid.data.color_renderer import ColorRenderer
from unbraid.data.palettes import PALETTES, rgb
from unbraid.methods import CNN
from unbraid.methods.base import build_method
from unbraid.metrics import GroupAccuracy, group_accuracy

PALETTE = PALETTES["mild"]  # training grounds and inks are those of both sets
HUES = {"yellow": "{v}{v}00", "magenta": "{v}00{v}", "cyan": "00{v}{v}"}
BRIGHTNESS = (0x60, 0x80, 0x90, 0x94, 0x98, 0xA0, 0xA4, 0xA8, 0xB0, 0xC0)


def split() -> tuple[Tensor, Tensor]:
    """The numbers of the digits that train and of those that judge."""
    order = torch.randperm(60_000, generator=Generator().manual_seed(1234))
    return order[:50_000], order[50_000:]


def train(images: Tensor, labels: Tensor, *, seed: int, steps: int, device: str) -> CNN:
    """Cross-entropy, Adam at 1e-3, batches of 128; the two colorings of a digit are drawn once."""
    generator = Generator().manual_seed(seed)
    chosen, _ = split()
    colors = torch.rand(len(images), 18, generator=generator).argsort(1)[:, :2]
    renderer = ColorRenderer(images, rgb(PALETTE.train), rgb(PALETTE.digits)).to(device)
    torch.manual_seed(seed)
    network = build_method(CNN, (3, 28, 28), n=len(chosen), classes=10).to(device)
    optimizer = torch.optim.Adam(network.parameters(), 1e-3)
    for _ in range(steps):
        image = chosen[torch.randint(len(chosen), (128,), generator=generator)]
        color = colors[image, torch.randint(2, (128,), generator=generator)]
        values = torch.stack([labels[image], image, color // 6, color % 6], 1).to(device)
        loss = F.cross_entropy(network.predict(renderer(values).float() / 255), values[:, 0])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return network.eval()


@torch.no_grad()
def judge(
    network: CNN, images: Tensor, labels: Tensor, grounds: tuple[str, ...], *, count: int, device: str
) -> GroupAccuracy:
    """Accuracy on held-out training digits in every coloring of the grounds; groups are class × ground."""
    held_out = split()[1][:count]
    renderer = ColorRenderer(images[held_out], rgb(grounds), rgb(PALETTE.digits)).to(device)
    colorings = torch.cartesian_prod(torch.arange(len(held_out)), torch.arange(len(grounds)), torch.arange(6))
    values = torch.cat([labels[held_out][colorings[:, :1]], colorings], 1)
    guesses = [
        network.predict(renderer(part.to(device)).float() / 255).argmax(1).cpu() for part in values.split(512)
    ]
    return group_accuracy(torch.cat(guesses).numpy(), values[:, 0].numpy(), values[:, 2:].numpy())


def spread(values: list[float]) -> str:
    return f"{np.mean(values):.3f} ± {np.std(values, ddof=1) if len(values) > 1 else 0:.3f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--steps", type=int, default=6000, help="of training")
    parser.add_argument("--seeds", type=int, default=3, help="networks to train")
    parser.add_argument("--count", type=int, default=1000, help="held-out digits to judge by")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--sets-only", action="store_true", help="leave out the candidates one by one")
    arguments = parser.parse_args()
    images, labels = read_digits(digits="mnist")
    how = {"count": arguments.count, "device": arguments.device}
    networks = [
        train(images, labels, seed=seed, steps=arguments.steps, device=arguments.device)
        for seed in range(arguments.seeds)
    ]

    def row(name: str, grounds: tuple[str, ...]) -> str:
        judged = [judge(network, images, labels, grounds, **how) for network in networks]
        numbers = (
            [result.score for result in judged],
            [result.worst for result in judged],
            [result.worst_nuisance for result in judged],
            [result.worst_fine for result in judged],
        )
        return f"| {name} | {', '.join(grounds)} | " + " | ".join(map(spread, numbers)) + " |"

    print("| grounds | RRGGBB | average | worst class × ground | worst ground | worst class × ground × ink |")
    print("|---|---|---|---|---|---|")
    if not arguments.sets_only:
        for hue, pattern in HUES.items():
            for brightness in BRIGHTNESS:
                print(row(hue, (pattern.format(v=f"{brightness:02x}"),)), flush=True)
    print(row("training", PALETTE.train), flush=True)
    for name, palette in PALETTES.items():
        print(row(name, palette.test), flush=True)


if __name__ == "__main__":
    main()
