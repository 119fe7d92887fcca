"""What a metric is, in one line."""

import inspect

from unbraid.evaluation.arguments import Metric, without_partial
from unbraid.metrics import Direction
from unbraid.options import first_sentence


def metric_summary(metric: Metric) -> str:
    """The first sentence of a metric's documentation, and its direction and range.

    >>> from unbraid.metrics import modularity
    >>> metric_summary(modularity)
    'Degree to which each dimension has mutual information with one factor only. Higher is better, 0 to 1.'
    """
    direction = result_direction(metric)
    sentences = [first_sentence(without_partial(metric))]
    if direction is not None:
        text = str(direction)
        sentences.append(f"{text[0].upper()}{text[1:]}.")
    return " ".join(filter(None, sentences))


def result_direction(metric: Metric) -> Direction | None:
    """The direction that the metric's result class states; None if the result is not annotated as a named tuple."""
    try:
        result = inspect.signature(metric, eval_str=True).return_annotation
    except (NameError, TypeError, ValueError):  # annotations of your own function may not resolve
        return None
    is_named_tuple = inspect.isclass(result) and issubclass(result, tuple) and result.__name__ != "tuple"
    return Direction.of(result) if is_named_tuple else None
