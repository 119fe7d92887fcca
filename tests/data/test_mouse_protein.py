"""Proteins of shocked mice against unshocked ones, src/unbraid/data/mouse_protein.py."""

from pathlib import Path

import numpy as np
import pytest
import torch

from unbraid.data.mouse_protein import SOURCE, mouse_protein
from unbraid.data.root import data_root

HEADER = "MouseID,A_N,B_N,Genotype,Treatment,Behavior,class"
ROWS = [
    "1_1,1.0,4.0,Control,Saline,S/C,c-SC-s",
    "2_1,2.0,,Ts65Dn,Saline,S/C,t-SC-s",
    "3_1,9.0,9.0,Control,Memantine,S/C,c-SC-m",
    "4_1,3.0,6.0,Control,Saline,C/S,c-CS-s",
    "5_1,9.0,9.0,Ts65Dn,Saline,C/S,t-CS-s",
]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    path = tmp_path / SOURCE.file
    path.parent.mkdir()
    path.write_text(
        "\ufeff" + "\n".join([HEADER, *ROWS]) + "\n"
    )  # with a byte-order mark, as the published file
    return tmp_path


def test_target_and_background_are_those_of_contrastive_pcas_paper(root: Path) -> None:
    data = mouse_protein(root, standardize="no", missing="zero")
    assert data.background is not None
    assert data.observe(torch.arange(2)).tolist() == [[1.0, 4.0], [2.0, 0.0]]
    assert data.combinations.tolist() == [0, 1] and data.value_names["genotype"] == ("control", "trisomic")  # type: ignore[union-attr]
    assert data.background.observe(torch.arange(1)).tolist() == [[3.0, 6.0]]
    assert (
        mouse_protein(root, standardize="no").observe(torch.arange(2))[1, 1] == 7.0
    )  # the mean of 4, 9, 6 and 9


def test_mice_with_the_drug_are_others(root: Path) -> None:
    path = root / SOURCE.file
    path.write_text(path.read_text() + "6_1,5.0,5.0,Control,Memantine,C/S,c-CS-m\n")
    data = mouse_protein(root, treatment="memantine", standardize="no")
    assert data.name == "mouse-protein-memantine" and data.background is not None
    assert data.observe(torch.arange(1)).tolist() == [[9.0, 9.0]]
    assert data.background.observe(torch.arange(1)).tolist() == [[5.0, 5.0]]


def test_proteins_are_brought_to_one_scale_in_each_or_over_both(root: Path) -> None:
    path = root / SOURCE.file
    path.write_text(path.read_text() + "7_1,5.0,2.0,Control,Saline,C/S,c-CS-s\n")
    data, both = (
        mouse_protein(root, missing="zero"),
        mouse_protein(root, missing="zero", standardize="together"),
    )
    assert data.background is not None and both.background is not None
    rows = torch.arange(2)
    for values in (
        data.observe(rows),
        data.background.observe(rows),
        torch.cat([both.observe(rows), both.background.observe(rows)]),
    ):
        np.testing.assert_allclose(values.numpy().mean(0), 0, atol=1e-6)
        np.testing.assert_allclose(values.numpy().std(0), 1, atol=1e-6)


def test_a_missing_file_is_named_with_its_source(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="unbraid data download mouse-protein"):
        mouse_protein(tmp_path / "nowhere")


@pytest.mark.skipif(
    not (data_root() / SOURCE.file).is_file(), reason="the mouse proteins are not in the data root"
)
def test_the_published_table() -> None:
    data = mouse_protein()
    assert data.shape == (77,) and len(data) == 270 and len(data.background or []) == 135
    assert data.combinations.bincount().tolist() == [135, 135]  # type: ignore[union-attr]
