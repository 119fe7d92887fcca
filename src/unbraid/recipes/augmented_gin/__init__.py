"""Self-supervised Disentangled Representation Learning, 2021, under review."""
