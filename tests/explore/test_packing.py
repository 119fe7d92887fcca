"""Numbers within a page, src/unbraid/explore/packing.py."""

import base64

import numpy as np
import torch
from torch.testing import assert_close

from unbraid.explore.packing import pack_constants, pack_float32, pack_int16, pack_table, round_to_int16


def read(text: str, kind: str) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), dtype=kind)


def test_floats_come_back() -> None:
    array = pack_float32(torch.tensor([[0.5, -2.0, 3.25]]))
    assert array["shape"] == [1, 3]
    assert read(array["numbers"], "<f4").tolist() == [0.5, -2.0, 3.25]


def test_each_row_is_counted_in_its_own_measure() -> None:
    """The largest of a row is 32767; half of it rounds to 16384, half to even."""
    matrix = pack_int16(torch.tensor([[1.0, -0.5], [1000.0, 0.0]]))
    assert read(matrix["int16"], "<i2").tolist() == [32767, -16384, 32767, 0]
    assert np.allclose(read(matrix["scale"], "<f4"), [1 / 32767, 1000 / 32767])


def test_only_a_table_of_very_many_numbers_is_rounded() -> None:
    assert "numbers" in pack_table(torch.ones(10, 10)) and "int16" in pack_table(torch.ones(300, 300))


def test_a_row_of_zeros_stays_one() -> None:
    assert read(pack_int16(torch.zeros(2, 3))["int16"], "<i2").tolist() == [0] * 6


def test_only_large_matrices_are_rounded_and_by_little() -> None:
    constants = {"large": torch.randn(64, 64), "small": torch.randn(3, 3), "bias": torch.randn(5000)}
    found = round_to_int16(constants)
    assert found["small"] is constants["small"] and found["bias"] is constants["bias"]
    assert not torch.equal(found["large"], constants["large"])
    most = constants["large"].abs().amax(1, keepdim=True)
    assert ((found["large"] - constants["large"]).abs() <= 0.51 * most / 32767).all()
    kinds = {name: "int16" in array for name, array in pack_constants(constants, exact=False).items()}
    assert kinds == {"large": True, "small": False, "bias": False}
    assert all("numbers" in array for array in pack_constants(constants, exact=True).values())


def test_what_is_rounded_is_what_is_packed() -> None:
    matrix = torch.randn(64, 64)
    array = pack_int16(matrix)
    wholes = torch.tensor(read(array["int16"], "<i2").copy()).view(64, 64)
    worth = torch.tensor(read(array["scale"], "<f4").copy())
    assert_close(wholes * worth[:, None], round_to_int16({"m": matrix})["m"])
