"""The tables of Reconstruction for Disentanglement, Contrast for Invariance, 2022."""
