"""How options are written: `--beta` where one owner has the name, always `--method.beta`, and other spellings.

Other spellings of schedules (`drop:…`) are in `also_accept` of the schedule's class.
"""

import copy
import functools
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from unbraid.cli.console import printable
from unbraid.options import ListedOption, Namespaces, Option, reject_negation
from unbraid.settings import lookup, parse_number

UsageError: Any = typer.BadParameter.__base__  # Typer does not name it
FULL_NAMES = "Every option also has its full name, such as --training.steps."
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


@contextmanager
def printable_usage() -> Iterator[None]:
    """Makes the messages of usage errors printable, and cuts long words."""
    try:
        yield
    except UsageError as error:
        error.message = printable(error.message)
        raise


class StrictCommand(TyperCommand):
    """A command whose numbers are decimal and finite, whose paths and names are not empty, and which explains
    `--no-NAME` of an option that is no switch."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        known = self.known
        for parameter in self.params:
            parameter.type = _strict(parameter, known)

    @property
    def known(self) -> set[str]:
        """The names of all options."""
        return {name for parameter in self.params for name in (*parameter.opts, *parameter.secondary_opts)}

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        with printable_usage():
            return super().parse_args(ctx, args)

    def explain_negation(self, words: Sequence[str]) -> None:
        """Raises for `--no-NAME` where there is only `--NAME`."""
        known = self.known
        negated = {f"--no-{name[2:]}": (name[2:], entry) for entry in self.params for name in entry.opts}
        for flag in (word.partition("=")[0] for word in words):
            if flag in negated and flag not in known:
                name, entry = negated[flag]
                is_number = entry.type.name in NUMBERS
                reject_negation(name, entry.type.name if is_number or not entry.metavar else entry.metavar)


NUMBERS: dict[str, type[int] | type[float]] = {  # by the name of Typer's types
    "int": int,
    "integer": int,
    "float": float,
}


def _strict(parameter: Any, known: Collection[str]) -> Any:
    """The type of a parameter, which reads numbers as `parse_number` does, and refuses empty paths and names, and known
    options in the place of a value."""
    is_path = parameter.type.name == "path"
    is_name = parameter.param_type_name == "option" and parameter.rich_help_panel in (None, "run", "more")
    strict = copy.copy(parameter.type)
    strict.__class__ = _strict_type(type(parameter.type))
    strict.known, strict.refuses_empty = known, is_path or is_name
    return strict


@functools.cache  # a class for each of the many options of a command takes half the time of building it
def _strict_type(kind: type) -> type:
    class Strict(kind):
        known: Collection[str]
        refuses_empty: bool

        def convert(self, value: Any, param: Any, ctx: Any) -> Any:
            if value == "" and self.refuses_empty:
                self.fail("The value is empty.", param, ctx)
            if isinstance(value, str) and value.startswith("--") and value.partition("=")[0] in self.known:
                self.fail(f"A value is missing before {value}.", param, ctx)
            try:
                if self.name in NUMBERS and isinstance(value, str):
                    return parse_number(value, NUMBERS[self.name])
            except ValueError as error:
                self.fail(str(error), param, ctx)
            return super().convert(value, param, ctx)

    return Strict


class Command(StrictCommand):
    """A command that also accepts the spellings of this module."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        words = canonical(args, self.known)
        self.explain_negation(words[: words.index("--") if "--" in words else None])
        return super().parse_args(ctx, words)


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


class OptionNames:
    """The flags of a command's options.

    Args:
        namespaces: The options by owner.
        reserved: Names that the command itself uses; an option of that name has its full name only.
    """

    def __init__(
        self, namespaces: Namespaces[Option] | Namespaces[ListedOption], reserved: Collection[str]
    ) -> None:
        self.namespaces, self.reserved = namespaces, reserved

    def name(self, owner: str, option: Option | ListedOption) -> str:
        """The shortest name: `beta`, or `data.noise`."""
        return (
            f"{owner}.{option.name}"
            if option.name in self.reserved
            else self.namespaces.shortest(owner, option.name)
        )

    def flags(self, owner: str, option: Option | ListedOption) -> tuple[str, ...]:
        """The flag, and for a switch also the flag that turns it off: --antialias and --no-antialias."""
        owner, dot, short = self.name(owner, option).replace("_", "-").rpartition(".")
        flag = f"--{owner}{dot}{short}"
        return (flag, f"--{owner}{dot}no-{short}") if option.is_switch else (flag,)

    def shortened(self, word: str) -> str:
        """A word of the command line with the full name of an option replaced by its flag."""
        flag, equals, value = word.partition("=")
        if not flag.startswith("--"):
            return word
        owner, dot, dashed = flag[2:].rpartition(".")
        name = dashed.replace("-", "_")
        if not dot:
            if name not in self.reserved and len(self.namespaces.owners_of(name)) > 1:
                raise ValueError(self.namespaces.ambiguous(name, prefix="--", separator="-"))
            return word
        options = self.namespaces.owners.get(owner, {})
        known = {f"--{off}{key}".replace("_", "-") for key in options for off in ("", "no-")}
        name = canonical_option(f"--{dashed}", known)[2:].replace("-", "_")
        is_off = name not in options and name.startswith("no_") and name[3:] in options
        owner, option = self.namespaces.find(f"{owner}.{name[3:] if is_off else name}")
        if is_off and not option.is_switch:
            reject_negation(f"{owner}.{dashed.removeprefix('no-')}", option.form)
        return self.flags(owner, option)[is_off] + equals + value


class OptionCommand(StrictCommand):
    """A command whose options belong to owners, and whose help has one section per owner."""

    names: OptionNames
    headings: Mapping[
        str, str
    ]  # by the owner of an option; `run` and `more` for options of the command itself

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        known = self.known
        end = args.index("--") if "--" in args else len(args)
        words = canonical(list(map(self.names.shortened, args[:end])), known)
        self.explain_negation(words)
        for flag in (word.partition("=")[0] for word in words if word.startswith("--")):
            if flag not in ctx.help_option_names:
                lookup(f"option of unbraid train {self.name}", flag, dict.fromkeys(sorted(known)))
        return super().parse_args(ctx, [*words, *args[end:]])

    def format_options(self, ctx: Any, formatter: Any) -> None:
        sections: dict[str, list[tuple[str, str]]] = {heading: [] for heading in self.headings.values()}
        for parameter in self.get_params(ctx):
            if (record := parameter.get_help_record(ctx)) is not None:
                owner = getattr(parameter, "rich_help_panel", None) or "more"
                sections[self.headings[owner]].append(record)
        for heading, records in sections.items():
            if records:
                with formatter.section(heading):
                    formatter.write_dl(records)
        formatter.write_paragraph()
        formatter.write_text(FULL_NAMES)


def option_command(names: OptionNames, headings: Mapping[str, str]) -> type[OptionCommand]:
    """The class of a command with these options."""
    return type("OptionCommand", (OptionCommand,), {"names": names, "headings": headings})


def value_of(option: str, words: Sequence[str]) -> str | None:
    """The value of an option within the words of a command, before they are parsed."""
    for index, word in enumerate(words):
        if word.startswith(f"{option}="):
            return word.partition("=")[2]
        if word == option and index + 1 < len(words):
            return words[index + 1]
    return None
