"""The demo: the five systems and their baselines on one page, in five minutes."""

from unbraid.demo.demo import demo

__all__ = [
    "demo",
]
