"""`unbraid encode`, src/unbraid/cli/encode.py."""

from pathlib import Path

import numpy as np

from tests.commandline import CommandLine


def test_encode_writes_the_codes_of_images(
    unbraid: CommandLine, trained: Path, image_folder: Path, tmp_path: Path
) -> None:
    summary = unbraid("encode", trained, image_folder, "--out", tmp_path / "codes.npz", "--json").json
    assert summary["observations"] == 2 and summary["dimensions"] == 3
    with np.load(tmp_path / "codes.npz", allow_pickle=False) as codes:
        assert codes["codes"].shape == (2, 3) and list(codes["names"]) == ["a.png", "b.png"]
        assert list(codes["strand_codes"]) == [0, 1, 2]
    np.savez(tmp_path / "mine.npz", images=np.zeros((5, 32, 32), np.uint8))
    shown = unbraid("encode", trained, tmp_path / "mine.npz", "--out", tmp_path / "c.npz").out
    assert shown.startswith("5 observations encoded to 3 dimensions")
