"""Recipes: one module a published table or figure, named PAPER/ITEM on the command line."""
