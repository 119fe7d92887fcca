"""Other spellings that the command line accepts for options, values and commands.

Those of schedules (`drop:…`) are in `also_accept` of the schedule's class.
"""

import re
from collections.abc import Collection, Sequence
from typing import Any

from typer.core import TyperCommand, TyperGroup

COMMANDS = {"get": "download"}
OPTIONS = {
    "--codes": "--latent-dim",
    "--z-dim": "--latent-dim",
    "--batch": "--batch-size",
    "-b": "--batch-size",
    "--learning-rate": "--lr",
    "--lr-scheduler": "--lr-schedule",
    "--max-grad-norm": "--grad-clip",
    "--early-stopping-patience": "--patience",
    "--output": "--out",
    "--output-dir": "--out",
    "-o": "--out",
    "--track": "--logger",
    "--arch": "--architecture",
    "--part": "--split",
    "-n": "--num-samples",
    "--to": "--format",
}
BRITISH = {
    "colour": "color",
    "grey": "gray",
    "optimis": "optimiz",
    "regularis": "regulariz",
    "standardis": "standardiz",
}
VALUES = {
    "--precision": {"bfloat16": "bf16"},
    "--by": {
        "centrality": "model-centrality",
        "translation": "relative-translation",
        "difficulty": "translation-difficulty",
    },
}
METRICS = {"undone": "intervention_reversibility", "active_codes": "active_dims", "leak": "factor_probe"}
METRIC_NAME = re.compile(rf"(?<![^,:])({'|'.join(METRICS)})(?![^,.])")  # `leak`, `strand:leak`, `leak.worst`


class Command(TyperCommand):
    """A command that also accepts the spellings of this module."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        known = {name for parameter in self.params for name in (*parameter.opts, *parameter.secondary_opts)}
        return super().parse_args(ctx, canonical(args, known))


class Group(TyperGroup):
    """A group whose commands may also be called by the names in `COMMANDS`."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        return super().get_command(ctx, COMMANDS.get(cmd_name, cmd_name))


def canonical(words: Sequence[str], known: Collection[str]) -> list[str]:
    """The words of a command with other spellings replaced, where that gives an option that the command has.

    >>> canonical(["--batch", "64", "--lr-scheduler=linear:1:0:500"], {"--batch-size", "--lr-schedule"})
    ['--batch-size', '64', '--lr-schedule=linear:1:0:500']
    """
    replaced: list[str] = []
    option = ""
    for index, word in enumerate(words):
        if word == "--":
            return [*replaced, *words[index:]]
        if word.startswith("-"):
            name, equals, value = word.partition("=")
            option = canonical_option(name, known)
            replaced.append(option + equals + _canonical_value(option, value))
        else:
            replaced.append(_canonical_value(option, word))
            option = ""
    return replaced


def canonical_option(name: str, known: Collection[str]) -> str:
    """The known option that a name is another spelling of; the name itself if there is none."""
    if name in known:
        return name
    option = OPTIONS.get(name, name)
    for british, american in BRITISH.items():
        option = option.replace(british, american)
    return option if option in known else name


def _canonical_value(option: str, value: str) -> str:
    if option in ("--metrics", "--metric"):
        return METRIC_NAME.sub(lambda match: METRICS[match[1]], value)
    return VALUES.get(option, {}).get(value, value)
