"""Towards Principled Objectives for Contrastive Disentanglement, 2020."""
