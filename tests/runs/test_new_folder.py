"""The folder of a new run, src/unbraid/runs/new_folder.py."""

from pathlib import Path

import pytest

from unbraid.runs.new_folder import check_new_folder, create_folder


def test_a_folder_with_other_files_is_refused_and_hidden_ones_do_not_count(tmp_path: Path) -> None:
    check_new_folder(tmp_path / "new")
    (tmp_path / ".lock").write_text("")
    check_new_folder(tmp_path)
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(ValueError, match="is not empty and is not a run folder"):
        check_new_folder(tmp_path)
    with pytest.raises(ValueError, match="is a file"):
        check_new_folder(tmp_path / "thesis.tex")


def test_a_folder_that_cannot_be_created_is_said_in_one_sentence(tmp_path: Path) -> None:
    create_folder(tmp_path / "deep" / "run")
    assert (tmp_path / "deep" / "run").is_dir()
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match=r"cannot be created \(Not a directory\)\. Choose another folder"):
        create_folder(tmp_path / "file" / "run")
