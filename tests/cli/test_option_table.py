"""The table of options that help reads, src/unbraid/cli/option_table.py."""

import subprocess
import sys

from unbraid.cli.option_table import current_table, listed_options, read_table
from unbraid.studies import plan_options


def test_the_table_is_what_the_constructors_say() -> None:
    """After a change of an option: `make options`."""
    assert read_table() == current_table()


def test_the_table_gives_the_options_of_a_plan() -> None:
    for method, data in (
        ("beta-vae", "sprites"),
        ("contrast-vae", "rooms"),
        ("recon-contrast", "colored-mnist"),
    ):
        listed = listed_options(method, data)
        assert listed is not None
        expected = [(owner, option.listed()) for owner, option in plan_options(method, data)]
        assert sorted(listed[1]) == sorted(expected)


def test_other_names_are_not_in_the_table() -> None:
    assert listed_options("own.py:Mine", "sprites") is None
    assert listed_options("beta-vae", "images/") is None
    assert listed_options("beta-vae", None) is not None


def test_help_imports_no_torch() -> None:
    code = (
        "import sys; sys.argv = ['unbraid', 'train', 'beta-vae', '--data', 'sprites', '--help']\n"
        "from unbraid.cli.main import main\n"
        "try: main()\nexcept SystemExit: print('torch' in sys.modules, file=sys.stderr)"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stderr.strip() == "False" and "--beta" in ended.stdout
