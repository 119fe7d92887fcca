"""Clustering accuracy over the number of images: Fig. 11, on linear Grassy-MNIST.

1000, 2500 and 4986 images per digit, with as many patches of grass; at `quick` scale 40 and 120. The caption names
cVAE, the text sRb-VAE.
"""

from unbraid.recipes.principled_contrast import grassy, rows
from unbraid.studies import Plan, replace

SCALES = ("quick", "short", "paper")


def runs(scale: str) -> list[Plan]:
    """sRb-VAE, cVAE and Eq. 8, three seeds; at quick scale one seed."""
    plan, sizes, seeds = grassy(scale=scale), (1000, 2500, 4986), 3
    if scale == "quick":
        plan, sizes, seeds = replace(plan, batch_size=32), (40, 120), 1
    return [
        run
        for size in sizes
        for run in rows(replace(plan, per_digit=size, patches=size), "sRb-VAE", "cVAE", "Eq. 8", seeds=seeds)
    ]
