"""Metrics by name: those of Unbraid, of installed packages, and your own functions.

A metric is written `mig`, `strand:mig` for one strand of the code, or `own.py:roughness` for your own function. The
function of a module without a dot has a colon in front, `:own:roughness`, because `own:roughness` names a strand.
"""

import inspect
import re
from collections.abc import Callable
from typing import Any

from unbraid import custom_code
from unbraid.evaluation.arguments import SUPPLIED, metric_name, required
from unbraid.evaluation.model_scores import MODEL_METRICS
from unbraid.settings import lookup

Metric = Callable[..., Any]
ENTRY_POINTS = "unbraid.metrics"
# A strand before the first colon; your own code, after it, is in a file, in a module with a dot, or after a colon.
STRAND = re.compile(r"(?:(?P<strand>[^:]+):)??(?P<metric>[^:]+\.py:\w+|\w+(?:\.\w+)+:\w+|:\w+:\w+|[^:]+)")


def split_strand(metric: str) -> tuple[str, str]:
    """The strand, empty for the default one, and the name or reference of the metric.

    >>> split_strand("common:mig"), split_strand("own.py:roughness"), split_strand("common:own.py:roughness")
    (('common', 'mig'), ('', 'own.py:roughness'), ('common', 'own.py:roughness'))
    >>> split_strand(":own:roughness")
    ('', 'own:roughness')
    """
    match = STRAND.fullmatch(metric)
    if match is None:
        raise ValueError(f"A metric is written NAME, STRAND:NAME or FILE.py:NAME; got {metric!r}.")
    return match["strand"] or "", match["metric"].removeprefix(":")


def find_metric(metric: str | Metric) -> tuple[str, Metric]:
    """The name and the function of a metric."""
    if callable(metric):
        return metric_name(metric), metric
    _, name = split_strand(metric)
    if custom_code.is_reference(name):
        function = custom_code.require_known(name, option="--metrics")
        if not callable(function):
            raise ValueError(f"A metric is a function; {name} is {function!r:.60}.")
        return custom_code.plain_name(name), function
    available = available_metrics()
    custom = custom_code.known(name)
    if name not in available and callable(custom) and not inspect.isclass(custom):
        return name, custom
    return name, lookup("metric", name, available, or_else=", or your own FILE.py:FUNCTION")


def metric_reference(metric: str | Metric) -> str:
    """The text that stands for a metric in plans. Your own code is imported and remembered for this process."""
    if isinstance(metric, str):
        _, name = split_strand(metric)
        if custom_code.is_reference(name):
            custom_code.use(name)
        return metric
    name, _ = find_metric(metric)
    if available_metrics().get(name) is metric:
        return name
    location = custom_code.location(custom_code.use(metric))
    return f":{location}" if split_strand(location)[0] else location


def score_name(metric: str) -> str:
    """The name of a metric's score in runs and tables: `common:roughness` for `common:own.py:roughness`."""
    strand, name = split_strand(metric)
    return f"{strand}:{custom_code.plain_name(name)}" if strand else custom_code.plain_name(name)


def available_metrics() -> dict[str, Metric]:
    """Every metric of one trained method, by name: Unbraid's, then those of installed packages."""
    from unbraid import metrics

    functions = {name: getattr(metrics, name) for name in metrics.__all__}
    builtin = {metric.__name__: metric for metric in MODEL_METRICS} | {
        name: function
        for name, function in functions.items()
        if inspect.isfunction(function) and _returns_score(function) and required(function) <= SUPPLIED
    }
    return {name: installed.code for name, installed in custom_code.plugins(ENTRY_POINTS).items()} | builtin


def metric_family(metric: Metric) -> str:
    """What a metric asks for beyond codes, as a heading: the first of these that it requires."""
    needs = required(metric)
    families = {
        "For the target/background setting": {"background", "background_codes", "background_sampled_codes"},
        "Of the trained model": {"sample", "posterior", "decoder", "decode_fn", "flow", "encode_factors"},
        "Needs labels": {"labels", "predictions", "test_labels"},
        "Needs the true factors": {"factors", "names", "factor_space", "factor_sizes"},
        "Needs the true latents": {"latents"},
    }
    return next((family for family, names in families.items() if needs & names), "Needs codes alone")


def _returns_score(function: Metric) -> bool:
    result = inspect.signature(function, eval_str=True).return_annotation
    return "score" in getattr(result, "_fields", ())
