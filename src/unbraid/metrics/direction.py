"""Whether the score of a metric should be high or low, and between which bounds it lies."""

from typing import NamedTuple


class Direction(NamedTuple):
    """The direction and the bounds of a score, as the result class of the metric states them.

    A result class states each as an attribute of the same name. The attributes have no annotations, so that they are
    no fields of the result; what is not stated has the default below.

    >>> class Roughness(NamedTuple):
    ...     score: float
    ...     chance: float
    ...     higher_is_better = False
    ...     bounds = (0.0, None)
    ...     undirected = ("chance",)
    >>> direction = Direction.of(Roughness)
    >>> direction.of_number(), direction.of_number("chance"), str(direction)
    (False, None, 'lower is better, at least 0')
    """

    higher_is_better: bool | None = None  # None: neither direction is better
    bounds: tuple[float | None, float | None] = (None, None)  # None: unbounded
    undirected: tuple[str, ...] = ()  # further numbers of the result for which neither direction is better
    lower_is_better_in: tuple[str, ...] = ()  # strands whose score should be low

    @classmethod
    def of(cls, result: type) -> "Direction":
        """The direction that a result class states; without any for a number."""
        stated = {
            name: vars(base)[name]
            for base in reversed(result.__mro__)
            for name in cls._fields
            if name in vars(base) and name not in vars(base).get("_fields", ())
        }
        direction = cls(**stated)
        if direction.higher_is_better not in (True, False, None):
            raise ValueError(
                f"higher_is_better of {result.__name__} must be True, False or None; got "
                f"{direction.higher_is_better!r}."
            )
        if len(direction.bounds) != 2:
            raise ValueError(
                f"bounds of {result.__name__} must be the lowest and the highest score, with None for no bound; got "
                f"{direction.bounds!r}."
            )
        return direction

    def of_number(self, name: str = "", *, strand: str = "") -> bool | None:
        """Whether higher is better for the score or, with a name, for a further number of the result.

        Args:
            name: Name of a further number, such as `gap.digit`; its first word is the field of the result.
            strand: Strand on which the metric was computed.
        """
        if name.partition(".")[0] in self.undirected:
            return None
        return False if strand in self.lower_is_better_in else self.higher_is_better

    @property
    def words(self) -> str:
        """The direction in words: `higher is better; lower in common`."""
        words = {True: "higher is better", False: "lower is better", None: "neither direction is better"}
        strands = ", ".join(self.lower_is_better_in)
        return words[self.higher_is_better] + (f"; lower in {strands}" if strands else "")

    @property
    def range(self) -> str:
        """The bounds in words: `0 to 1`, `at least 0`, `at most 1`; empty without bounds."""
        low, high = self.bounds
        if low is None and high is None:
            return ""
        if high is None:
            return f"at least {low:g}"
        return f"at most {high:g}" if low is None else f"{low:g} to {high:g}"

    def __str__(self) -> str:
        return ", ".join(filter(None, [self.words, self.range]))
