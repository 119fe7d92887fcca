"""Settings side by side, src/unbraid/report/settings.py."""

from pathlib import Path

from unbraid.report.settings import format_value, settings_of, side_by_side
from unbraid.runs.folder import Run


def test_settings_are_words(run: Run) -> None:
    found = settings_of(run)
    assert found["method"] == "beta-vae" and found["beta"] == "0.1" and found["shape"] == "1×32×32"
    assert found["observations"] == "737,280" and "origin" not in found and found["image_size"] == "32"


def test_a_name_that_two_owners_have_is_written_in_full(folder: Path) -> None:
    run = Run(folder)
    run.settings["data"]["origin"]["options"] |= {"beta": 0.5, "observations": 7}
    found = settings_of(run)
    assert found["data.beta"] == "0.5" and found["method.beta"] == "0.1" and "beta" not in found
    assert found["observations"] == "737,280"  # what the run recorded, not what was asked for


def test_each_kind_of_value_is_written_as_people_write_it() -> None:
    assert (
        format_value(None) == "none" and format_value(True) == "True" and format_value([0.5, "a"]) == "0.5, a"
    )
    assert (
        format_value({"network": "MLPEncoder", "arguments": {"latent_dim": 4}}) == "MLPEncoder (latent_dim 4)"
    )
    assert (
        format_value({"spec": "adam:0.001"}) == "adam:0.001"
        and format_value({"custom": "mine.Net"}) == "mine.Net"
    )


def test_what_differs_is_marked() -> None:
    rows = side_by_side(
        {"a": {"beta": "1", "latent_dim": "4"}, "b": {"beta": "2", "latent_dim": "4", "lr_schedule": "3"}}
    )
    assert rows == [
        ("beta", ["1", "2"], True),
        ("latent_dim", ["4", "4"], False),
        ("lr_schedule", ["–", "3"], True),
    ]
