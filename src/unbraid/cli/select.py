"""`unbraid select`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from unbraid.cli.console import AsJSON, DataRoot, Device, EvaluationSeed, aligned, print_json
from unbraid.cli.custom_code import takes_custom_code

if TYPE_CHECKING:
    from unbraid.studies import Selection


@takes_custom_code("method", "data", "architecture")
def select(
    folder: Annotated[Path, typer.Argument(metavar="STUDY", help="Study folder.")],
    by: Annotated[
        str,
        typer.Option(
            help="Criterion: udr, consistency, model-centrality, relative-translation or translation-difficulty."
        ),
    ] = "udr",
    num_samples: Annotated[int, typer.Option(help="Number of observations to encode.")] = 2000,
    seed: EvaluationSeed = 0,
    data_root: DataRoot = None,
    device: Device = "auto",
    as_json: AsJSON = False,
) -> None:
    """Rank the models and settings of a study without labels, best first."""
    from unbraid.studies import select as select_models

    selection = select_models(
        folder, by, num_samples=num_samples, seed=seed, root=data_root, device=device, quiet=as_json
    )
    if as_json:
        rows = {
            name: [entry._asdict() for entry in getattr(selection, name)] for name in ("models", "settings")
        }
        print_json(selection._asdict() | rows)
    else:
        print("\n".join(selection_lines(selection)))


def selection_lines(selection: "Selection") -> list[str]:
    """The ranking as lines of text, per dataset and best first."""
    lines = aligned(
        [
            (
                model.data,
                f"{model.score:.4f}",
                model.method,
                model.settings,
                f"seed {model.seed}",
                model.run,
            )
            for model in selection.models
        ]
    )
    if any(setting.seeds > 1 for setting in selection.settings):
        over_seeds = [
            (
                setting.data,
                f"{setting.mean:.4f}" if setting.std is None else f"{setting.mean:.4f} ± {setting.std:.4f}",
                setting.method,
                setting.settings,
                f"{setting.seeds} seed{'s' if setting.seeds > 1 else ''}",
            )
            for setting in selection.settings
        ]
        lines += ["", "Settings (mean ± standard deviation over seeds):", *aligned(over_seeds)]
    if selection.left_out:
        lines += ["", f"{len(selection.left_out)} runs not ranked:"]
        lines += [f"  {run}: {reason}" for run, reason in selection.left_out.items()]
    return lines
