"""`unbraid score`, src/unbraid/cli/score.py."""

from pathlib import Path

import numpy as np

from tests.commandline import CommandLine


def test_score_takes_arrays_from_anywhere(unbraid: CommandLine, tmp_path: Path) -> None:
    factors = np.random.default_rng(0).integers(0, 4, (600, 2))
    np.savez(tmp_path / "codes.npz", codes=factors[:, ::-1] * 1.0)
    np.save(tmp_path / "factors.npy", factors)
    words = ("score", tmp_path / "codes.npz", tmp_path / "factors.npy")
    scores = {entry["metric"]: entry for entry in unbraid(*words, "--json").json}
    assert {"mig", "sap", "dci", "irs", "modularity", "explicitness", "mcc"} <= set(scores)
    assert scores["mig"]["value"] > 0.99 and scores["dci"]["value"] > 0.99
    assert (scores["dci"]["n"], scores["dci"]["n_test"]) == (400, 200)
    shown = unbraid(*words, "--metrics", "mig,sap")
    assert shown.out.startswith("mig ") and "tested on 200" in shown.out
    np.save(tmp_path / "few.npy", factors[:10])
    assert "must match row by row" in unbraid("score", tmp_path / "codes.npz", tmp_path / "few.npy").sentence
    np.savez(tmp_path / "two.npz", a=factors, b=factors)
    assert (
        "it has no array `factors`, only a, b"
        in unbraid("score", tmp_path / "codes.npz", tmp_path / "two.npz").sentence
    )
    assert "no known" not in unbraid(*words, "--metrics", "kl").sentence


def test_a_single_number_is_neither_codes_nor_factors(unbraid: CommandLine, tmp_path: Path) -> None:
    np.save(tmp_path / "number.npy", np.array(3.0))
    np.save(tmp_path / "array.npy", np.zeros((20, 2), dtype=int))
    for files in (("number.npy", "array.npy"), ("array.npy", "number.npy")):
        result = unbraid("score", *(tmp_path / name for name in files))
        assert result.sentence.endswith("number.npy holds a single number: save one row per observation.")
