"""The bar is for terminals only, src/unbraid/data/progress.py."""

import pytest

from unbraid.data.progress import progress


def test_nothing_is_shown_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with progress("work", 10) as advance:
        advance(5)
    with progress("work of unknown length", None, 3) as advance:
        advance(5)
    assert capsys.readouterr() == ("", "")
