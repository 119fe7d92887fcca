"""The command line that reproduces a run, from the plan in the run's folder."""

import shlex
from collections.abc import Mapping
from typing import Any

from unbraid.options import to_cli_args
from unbraid.runs import Run
from unbraid.settings import from_json, to_json
from unbraid.studies import plan_options

ALWAYS = ("steps", "batch_size", "seed")  # written even at their defaults


def command_of(run: Run, out: str = "RUN") -> str:
    """The command that reproduces the run. Options at their defaults are left out, except steps, batch size and seed.

    For your own code that was not named in this process, all options are written, because its defaults are unknown.

    Raises:
        ValueError: The run has no plan: its method, networks or dataset were created in Python.
    """
    plan = run.plan
    if plan is None:
        raise ValueError("it was trained from Python")
    words = ["unbraid", "train", plan["method"], "--data", plan["data"]]
    if plan["draw"] is not None:
        words += ["--draw", plan["draw"]]
    for name, value in _written_options(plan).items():
        words += to_cli_args(name, from_json(value))
    if run.settings.get("init_from"):
        words += ["--init-from", f"RUN-{run.settings['init_from']}"]
    return shlex.join([*words, "--out", out])


def _written_options(plan: Mapping[str, Any]) -> dict[str, Any]:
    """The options that the command sets, by the shortest name that only one owner has."""
    owners: dict[str, dict[str, Any]] = plan["options"]
    defaults = _defaults(plan)
    written = {}
    for owner, options in owners.items():
        for name, value in options.items():
            is_default = name in defaults.get(owner, {}) and value == defaults[owner][name]
            if value is None or (is_default and name not in ALWAYS):
                continue
            is_unique = sum(name in others for others in owners.values()) == 1
            written[name if is_unique else f"{owner}.{name}"] = value
    return written


def _defaults(plan: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The default of each option by owner; empty if the plan names code that is not known in this process."""
    try:
        options = plan_options(plan["method"], plan["data"], plan["draw"])
    except ValueError:
        return {}
    defaults: dict[str, dict[str, Any]] = {}
    for owner, option in options:
        defaults.setdefault(owner, {})[option.name] = to_json(option.default)
    return defaults
