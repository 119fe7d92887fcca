"""`unbraid train METHOD`: one subcommand a method, its options read from the constructors' signatures."""

import inspect
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

if TYPE_CHECKING:
    from unbraid.plan import Plan
    from unbraid.runs import Run

COMMON = {
    "data": (str, ..., "A dataset's name, a folder of images, an .npz, .npy or .csv file."),
    "out": (Path, ..., "The run folder to write."),
    "root": (Path | None, None, "The data root; else UNBRAID_DATA, else the user's cache folder."),
    "device": (str, "auto", "auto, cpu, cuda or mps."),
    "resume": (bool, False, "Go on from the folder's last checkpoint, or start when there is none."),
    "from": (Path | None, None, "A finished run whose weights to begin with."),
    "devices": (int, 1, "Processes on this machine, one a device (needs the extra `distributed`)."),
    "nodes": (int, 1, "Machines that train together."),
    "checkpoint_seconds": (float, 30.0, "Seconds between two checkpoints."),
    "log_every": (int, 50, "Steps between two lines of history."),
    "compiled": (bool | None, None, "Compile losses on a CUDA device; left out, from 50,000 steps."),
    "track": (str | None, None, "Where the history goes too: tensorboard, mlflow or wandb."),
    "quiet": (bool, False, "Show no progress."),
    "json": (bool, False, "Print one JSON value and nothing else."),
}


class MethodCommands(TyperGroup):
    """A command for every method, made when it is asked for."""

    _rest: list[str]

    def list_commands(self, ctx: Any) -> list[str]:
        from unbraid.model import method_classes

        return list(method_classes())

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        self._rest = args[1:]
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        rest = getattr(self, "_rest", [])
        _refuse_codes(cmd_name, rest)
        return method_command(cmd_name, _data_among(rest))


def _refuse_codes(name: str, arguments: list[str]) -> None:
    """Says what sizes the code of a method that has no `--codes`."""
    from unbraid.model import method_class

    method = method_class(name)
    if method.sizes_strands and any(word.partition("=")[0] == "--codes" for word in arguments):
        raise ValueError(
            f"{name} has no --codes: the size of its code is given by {method.sized_by}; see `unbraid train {name} "
            "--help`."
        )


def _data_among(arguments: list[str]) -> str | None:
    """What `--data` is given, so that the dataset's own options can be offered too."""
    for place, argument in enumerate(arguments):
        if argument.startswith("--data="):
            return argument.removeprefix("--data=")
        if argument == "--data" and place + 1 < len(arguments):
            return arguments[place + 1]
    return None


def method_command(name: str, data: str | None) -> Any:
    """The command that trains one method."""
    from unbraid.model import method_class
    from unbraid.naming import summary
    from unbraid.options import usage
    from unbraid.plan import allowed_options

    method = method_class(name)
    options = allowed_options(name, data or "sprites")
    if data is None:
        options = {key: entry for key, entry in options.items() if entry[0] != "data"}
    parameters = [_common(key, *entry) for key, entry in COMMON.items()]
    for key, (group, option) in options.items():
        panel = {"method": name, "data": f"{data}", "draw": "batches"}.get(group, group)
        shown = "" if option.default is None else f" [default: {_shown(option.default)}]"
        if option.kind is bool:
            kind, names = bool | None, f"--{_dashed(key)}/--no-{_dashed(key)}"
        else:
            kind, names = str | None, f"--{_dashed(key)}"
        info = typer.Option(
            names,
            help=option.help + shown,
            rich_help_panel=panel,
            metavar=None if option.kind is bool else usage(option),
            show_default=False,
        )
        parameters.append(_parameter(key, Annotated[kind, info], None))

    def train(**values: Any) -> None:
        common = {key: values.pop(_safe(key)) for key in COMMON}
        given = {key: value for key, value in values.items() if value is not None}
        parsed = {
            key: value if isinstance(value, bool) else options[key][1].parse(value)
            for key, value in given.items()
        }
        _train(name, common, parsed)

    train.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    train.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    train.__doc__ = summary(method)
    single = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    single.command(name)(train)
    return typer.main.get_command(single)


def _train(method: str, common: dict[str, Any], options: dict[str, Any]) -> None:
    from unbraid.plan import Plan

    plan = Plan(method, common["data"], options)
    try:
        run = _run(plan, common)
    except KeyboardInterrupt as interrupt:  # Typer would swallow what it says
        print(f"unbraid: {interrupt or 'Stopped.'}", file=sys.stderr)
        raise typer.Exit(130) from None
    last = next((line for line in reversed(run.history()) if "loss" in line), {})
    if common["json"]:
        print(
            json.dumps({"run": str(run.folder), "identity": run.identity, "method": method, **last}, indent=2)
        )
    else:
        terms = ", ".join(
            f"{name} {value:.4g}" for name, value in last.items() if name not in ("step", "seconds")
        )
        done = f"trained for {last['step']} steps" if last else "fitted"
        print(f"{method} {done} in {run.folder}{f': {terms}' if terms else ''}.")


def _run(plan: "Plan", common: dict[str, Any]) -> "Run":
    return plan.run(
        common["out"],
        root=common["root"],
        device=common["device"],
        resume=common["resume"],
        start_from=common["from"],
        devices=common["devices"],
        nodes=common["nodes"],
        checkpoint_seconds=common["checkpoint_seconds"],
        log_every=common["log_every"],
        compiled=common["compiled"],
        track=common["track"],
        quiet=common["quiet"] or common["json"],
    )


def _chief() -> bool:
    from unbraid.distributed import rank

    return rank() == 0


def _common(key: str, kind: Any, default: Any, text: str) -> inspect.Parameter:
    names = f"--{_dashed(key)}/--no-{_dashed(key)}" if kind == bool | None else f"--{_dashed(key)}"
    info = typer.Option(names, help=text, show_default=default not in (None, False, ...))
    return _parameter(_safe(key), Annotated[kind, info], default)


def _parameter(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    empty = inspect.Parameter.empty
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        annotation=annotation,
        default=empty if default is ... else default,
    )


def _safe(key: str) -> str:
    return key + "_" if key in ("from", "json") else key


def _dashed(key: str) -> str:
    return key.replace("_", "-")


def _shown(default: Any) -> str:
    return ",".join(map(str, default)) if isinstance(default, tuple) else str(default)
