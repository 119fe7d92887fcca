"""Unbraid."""
