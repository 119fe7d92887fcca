"""`unbraid train METHOD`: one subcommand per method, its options read from the constructors' signatures."""

import inspect
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from unbraid.cli.config_file import config_words
from unbraid.cli.console import DATA_ROOT_HELP, DEVICE_HELP, JSON_HELP, print_json
from unbraid.cli.custom_code import use_references
from unbraid.cli.spelling import canonical_option, value_of
from unbraid.options import ListedOption, Option

if TYPE_CHECKING:
    from unbraid.cli.spelling import OptionNames
    from unbraid.options import Namespaces
    from unbraid.runs import Run

# Options of `unbraid train` itself, not of a method, dataset or training configuration: type, default, form and help.
COMMON: dict[str, tuple[Any, Any, str | None, str]] = {
    "data": (
        str,
        ...,
        "NAME|PATH",
        "Dataset: a name, a folder of images, an .npz, .npy or .csv file, or your own FILE.py:FUNCTION.",
    ),
    "out": (Path, ..., "FOLDER", "Run folder; must be new or empty unless --resume is given."),
    "resume": (bool, False, None, "Continue from the last checkpoint, or start if there is none."),
    "device": (str, "auto", "NAME", DEVICE_HELP),
    "config": (
        Path | None,
        None,
        "FILE.json",
        "Plan to start from: method, dataset and options, such as the plan.json of a run folder.",
    ),
    "draw": (
        str | None,
        None,
        "FILE.py:CLASS",
        "Your own draw of batches. Default: the standard draw of the method's batches.",
    ),
    "init_from": (Path | None, None, "FOLDER", "Initialize the weights from this finished run."),
    "data_root": (Path | None, None, "FOLDER", DATA_ROOT_HELP),
    "devices": (
        int,
        1,
        "N",
        "Number of processes on this machine, one per device (needs the extra `distributed`).",
    ),
    "num_nodes": (int, 1, "N", "Number of machines that train together."),
    "checkpoint_seconds": (float, 30.0, "SECONDS", "Seconds between checkpoints."),
    "log_every": (int, 50, "STEPS", "Steps between entries of the history."),
    "compile": (
        bool | None,
        None,
        None,
        "Use torch.compile for losses on CUDA. Default: only for runs of 50,000 steps or more.",
    ),
    "logger": (str | None, None, "NAME", "Also log to tensorboard, mlflow or wandb."),
    "quiet": (bool, False, None, "Show no progress."),
    "json": (bool, False, None, JSON_HELP),
}
USED_MOST = ("data", "out", "resume", "device", "config")


class MethodCommands(TyperGroup):
    """One command per method, built when it is called, because its options depend on the dataset."""

    _arguments: Sequence[str] = ()  # of the method's command

    def list_commands(self, ctx: Any) -> list[str]:
        from unbraid.methods import method_classes

        return list(method_classes())

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if any(word.partition("=")[0] == "--config" for word in args):
            args = config_words(args)
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        self._arguments = args[1:]
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        return method_command(cmd_name, self._arguments)


def method_command(name: str, arguments: Sequence[str] = ()) -> Any:
    """The command that trains one method, with the options of the dataset and the draw that the arguments name."""
    from unbraid.cli.option_table import listed_options

    data, draw = value_of("--data", arguments), value_of("--draw", arguments)
    is_help = not arguments or {"-h", "--help"} & {*arguments}  # without arguments, for the list of commands
    if draw is None and is_help and (listed := listed_options(name, data)):
        return _command(name, data, *listed)  # help needs no torch
    from unbraid.methods import method_class
    from unbraid.options import first_sentence
    from unbraid.studies import plan_options

    if any(":" in word for word in (name, *arguments)):
        more = (value_of(flag, arguments) for flag in ("--background", "--architecture"))
        use_references([name, data, draw, *more])
    _reject_latent_dim(name, arguments)
    return _command(name, data, first_sentence(method_class(name)), plan_options(name, data, draw))


def _command(name: str, data: str | None, summary: str, namespaces: "Namespaces[Any]") -> Any:
    from unbraid.cli.spelling import OptionNames, option_command

    names = OptionNames(namespaces, COMMON)
    parameters = [_common_parameter(key, *entry) for key, entry in COMMON.items()]
    parameters += [_option_parameter(names, owner, option) for owner, option in namespaces]

    def train(**values: Any) -> None:
        common = {key: values.pop(key) for key in COMMON}
        parsed = {}
        for key, value in values.items():
            if value is not None:
                full_name = key.replace("__", ".")
                _, option = namespaces.find(full_name)
                parsed[full_name] = value if isinstance(value, bool) else option.parse(value)
        _train(name, common, parsed)

    train.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    train.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    train.__doc__ = summary
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    app.command(name, cls=option_command(names, _headings(name, data)), short_help=summary)(train)
    return typer.main.get_command(app)


def _headings(method: str, data: str | None) -> dict[str, str]:
    """The headings of the help by the owner of an option, most used first."""
    return {
        "run": "Run",
        "method": f"Method {method}",
        "training": "Training",
        "data": f"Dataset {data}",
        "network": "Networks",
        "draw": "Batches",
        "more": "More options of the run",
    }


def _reject_latent_dim(name: str, arguments: Sequence[str]) -> None:
    """Raises for `--latent-dim` with a method whose code size follows from other options."""
    from unbraid.methods import method_class

    method = method_class(name)
    options = {canonical_option(argument.partition("=")[0], {"--latent-dim"}) for argument in arguments}
    if "latent_dim" not in method.code_size_options and "--latent-dim" in options:
        sizes = " and ".join(f"--{option.replace('_', '-')}" for option in method.code_size_options)
        size = f"set by {sizes}" if sizes else "that of an observation or of a network"
        raise ValueError(
            f"{name} has no --latent-dim: the size of its code is {size}. See `unbraid train {name} --help`."
        )


def _common_parameter(
    key: str, kind: Any, default: Any, form: str | None, help_text: str
) -> inspect.Parameter:
    flag = f"--{_with_dashes(key)}"
    info = typer.Option(
        f"{flag}/--no-{_with_dashes(key)}" if kind == bool | None else flag,
        help=help_text,
        metavar=form,
        rich_help_panel="run" if key in USED_MOST else "more",
        show_default=default not in (None, False, ...),
    )
    return _parameter(key, Annotated[kind, info], default)


def _option_parameter(names: "OptionNames", owner: str, option: "Option | ListedOption") -> inspect.Parameter:
    """The command-line parameter of a constructor's argument.

    Values are strings here and parsed in `train`, so that error messages are one sentence.
    """
    listed = option.listed() if isinstance(option, Option) else option
    info = typer.Option(
        "/".join(names.flags(owner, option)),
        help=listed.help,
        rich_help_panel=owner,
        metavar=None if listed.is_switch else listed.form,
        show_default=False,
    )
    key = names.name(owner, option).replace(".", "__")
    return _parameter(key, Annotated[bool | None if listed.is_switch else str | None, info], None)


def _parameter(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    default = inspect.Parameter.empty if default is ... else default
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default)


def _train(method: str, common: dict[str, Any], options: Mapping[str, Any]) -> None:
    from unbraid.studies import Plan

    plan = Plan(method, common.pop("data"), options, metrics=(), draw=common.pop("draw"))
    del common["config"]  # its words were put in the place of the option
    out, root, as_json = common.pop("out"), common.pop("data_root"), common.pop("json")
    common["quiet"] |= as_json
    _print_run(plan.run(out, root=root, **common), method, as_json)


def _print_run(run: "Run", method: str, as_json: bool) -> None:
    """Prints the last entry of the history with a loss."""
    last = next((entry for entry in reversed(run.history()) if "loss" in entry), {})
    if as_json:
        print_json({"run": str(run.folder), "identity": run.identity, "method": method, **last})
        return
    terms = ", ".join(
        f"{name} {value:.4g}" for name, value in last.items() if name not in ("step", "seconds")
    )
    trained = f"trained for {last['step']} steps" if last else "fitted"
    print(f"{method} {trained} in {run.folder}{f': {terms}' if terms else ''}.")


def _with_dashes(key: str) -> str:
    return key.replace("_", "-")
