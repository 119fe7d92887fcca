"""`unbraid train METHOD`: one subcommand per method, its options read from the constructors' signatures."""

import inspect
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from unbraid.cli.aliases import Command, canonical_option
from unbraid.cli.console import DATA_ROOT_HELP, DEVICE_HELP, JSON_HELP, print_json

if TYPE_CHECKING:
    from unbraid.options import Option
    from unbraid.runs import Run

# Options of `unbraid train` itself, not of a method, dataset or training configuration: type, default and help.
COMMON = {
    "data": (str, ..., "Dataset: a name, a folder of images, or an .npz, .npy or .csv file."),
    "out": (Path, ..., "Run folder; must be new or empty unless --resume is given."),
    "data_root": (Path | None, None, DATA_ROOT_HELP),
    "device": (str, "auto", DEVICE_HELP),
    "resume": (bool, False, "Continue from the last checkpoint, or start if there is none."),
    "init_from": (Path | None, None, "Initialize the weights from this finished run."),
    "devices": (
        int,
        1,
        "Number of processes on this machine, one per device (needs the extra `distributed`).",
    ),
    "num_nodes": (int, 1, "Number of machines that train together."),
    "checkpoint_seconds": (float, 30.0, "Seconds between checkpoints."),
    "log_every": (int, 50, "Steps between entries of the history."),
    "compile": (
        bool | None,
        None,
        "Use torch.compile for losses on CUDA. Default: only for runs of 50,000 steps or more.",
    ),
    "logger": (str | None, None, "Also log to tensorboard, mlflow or wandb."),
    "quiet": (bool, False, "Show no progress."),
    "json": (bool, False, JSON_HELP),
}


class MethodCommands(TyperGroup):
    """One command per method, built when it is called, because its options depend on the dataset."""

    _arguments: list[str]  # of the method's command

    def list_commands(self, ctx: Any) -> list[str]:
        from unbraid.methods import method_classes

        return list(method_classes())

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        self._arguments = args[1:]
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        arguments = getattr(self, "_arguments", [])
        _reject_latent_dim(cmd_name, arguments)
        return method_command(cmd_name, _data_argument(arguments))


def method_command(name: str, data: str | None) -> Any:
    """The command that trains one method; it has the options of the dataset, if one is given."""
    from unbraid.methods import method_class
    from unbraid.options import first_sentence
    from unbraid.studies import allowed_options

    options = allowed_options(name, data or "sprites")
    if data is None:
        options = {key: (group, option) for key, (group, option) in options.items() if group != "data"}
    panel_titles = {"method": name, "data": f"{data}", "draw": "batches"}
    parameters = [_common_parameter(key, *entry) for key, entry in COMMON.items()]
    parameters += [
        _option_parameter(key, option, panel_titles.get(group, group))
        for key, (group, option) in options.items()
    ]

    def train(**values: Any) -> None:
        common = {key: values.pop(key) for key in COMMON}
        parsed = {
            key: value if isinstance(value, bool) else options[key][1].parse(value)
            for key, value in values.items()
            if value is not None
        }
        _train(name, common, parsed)

    train.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    train.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    train.__doc__ = summary = first_sentence(method_class(name))
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    app.command(name, cls=Command, short_help=summary)(train)
    return typer.main.get_command(app)


def _reject_latent_dim(name: str, arguments: Sequence[str]) -> None:
    """Raises for `--latent-dim` with a method whose code size follows from other options."""
    from unbraid.methods import method_class

    method = method_class(name)
    options = {canonical_option(argument.partition("=")[0], {"--latent-dim"}) for argument in arguments}
    if method.has_own_code_size and "--latent-dim" in options:
        raise ValueError(
            f"{name} has no --latent-dim: the size of its code is {method.code_size_options}. See `unbraid train "
            f"{name} --help`."
        )


def _data_argument(arguments: Sequence[str]) -> str | None:
    """The value of `--data`, which determines the options of the dataset."""
    for index, argument in enumerate(arguments):
        if argument.startswith("--data="):
            return argument.removeprefix("--data=")
        if argument == "--data" and index + 1 < len(arguments):
            return arguments[index + 1]
    return None


def _common_parameter(key: str, kind: Any, default: Any, help_text: str) -> inspect.Parameter:
    flag = f"--{_with_dashes(key)}"
    names = f"{flag}/--no-{_with_dashes(key)}" if kind == bool | None else flag
    info = typer.Option(names, help=help_text, show_default=default not in (None, False, ...))
    return _parameter(key, Annotated[kind, info], default)


def _option_parameter(key: str, option: "Option", panel: str) -> inspect.Parameter:
    """The command-line parameter of a constructor's argument.

    Values are strings here and parsed in `train`, so that error messages are one sentence.
    """
    from unbraid.options import usage

    flag, switch = f"--{_with_dashes(key)}", option.kind is bool
    default = (
        ""
        if option.default is None or option.default == ()
        else f" [default: {_format_default(option.default)}]"
    )
    info = typer.Option(
        f"{flag}/--no-{_with_dashes(key)}" if switch else flag,
        help=option.help + default,
        rich_help_panel=panel,
        metavar=None if switch else usage(option),
        show_default=False,
    )
    return _parameter(key, Annotated[bool | None if switch else str | None, info], None)


def _parameter(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    default = inspect.Parameter.empty if default is ... else default
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default)


def _train(method: str, common: dict[str, Any], options: Mapping[str, Any]) -> None:
    from unbraid.studies import Plan

    plan = Plan(method, common.pop("data"), options)
    out, root, as_json = common.pop("out"), common.pop("data_root"), common.pop("json")
    common["quiet"] |= as_json
    try:
        run = plan.run(out, root=root, **common)
    except KeyboardInterrupt as interrupt:  # Typer would print "Aborted!" instead of the message
        print(f"unbraid: {interrupt or 'Stopped.'}", file=sys.stderr)
        raise typer.Exit(130) from None
    _print_run(run, method, as_json)


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


def _format_default(default: Any) -> str:
    return ",".join(map(str, default)) if isinstance(default, tuple) else str(default)
