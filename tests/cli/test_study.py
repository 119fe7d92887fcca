"""`unbraid study`, src/unbraid/cli/study.py."""

from pathlib import Path

from tests.commandline import CommandLine


def test_a_study_prints_its_table(unbraid: CommandLine, tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    options = '{"image_size": 32, "latent_dim": 3, "steps": 2, "batch_size": 4, "seed": seed}'
    path.write_text(
        "from unbraid import Plan\n"
        f'runs = [Plan("vae", "sprites", {options}, evaluation={{"num_samples": 20}}) for seed in (0, 1)]\n'
    )
    rows = unbraid("study", path, "--out", tmp_path / "study", "--json").json
    kl = next(row for row in rows if row["metric"] == "kl")
    about = {"method", "data", "settings", "metric", "protocol"}
    assert set(kl) == about | {"mean", "std", "n", "published", "samples", "higher_is_better"}
    assert kl["n"] == 2 and kl["method"] == "vae" and kl["samples"] == 20
    later = ("study", path, "--out", tmp_path / "later", "--json")
    assert unbraid(*later, "--skip-eval").json == []
    assert {row["metric"]: row["mean"] for row in unbraid(*later).json}["kl"] == kl["mean"]
    path.write_text(path.read_text().replace('"latent_dim": 3', '"latent_dim": 3, "likelihood": None'))
    failed = unbraid("study", path, "--out", tmp_path / "study2", "--json")
    assert failed.code == 1 and "2 of 2 runs failed" in failed.err


def test_fewer_seeds_committed_rows_and_evaluation_alone_are_options(
    unbraid: CommandLine, tmp_path: Path
) -> None:
    path, out = tmp_path / "mine.py", tmp_path / "study"
    options = '{"image_size": 32, "latent_dim": 3, "steps": 2, "batch_size": 4, "seed": seed}'
    path.write_text(
        "from unbraid import Plan\n"
        f'runs = [Plan("vae", "sprites", {options}, evaluation={{"num_samples": 20}}) for seed in (0, 1)]\n'
    )
    assert {row["n"] for row in unbraid("study", path, "--out", out, "--seeds", "1", "--json").json} == {1}
    rows = ("--rows", out / "results.csv", "--json")
    both = unbraid("study", path, "--out", tmp_path / "more", *rows).json
    assert {row["n"] for row in both} == {2} and len(list((tmp_path / "more" / "runs").iterdir())) == 1
    only = unbraid("study", path, "--out", out, "--skip-training", "--json").json
    assert {row["n"] for row in only} == {1} and len(list((out / "runs").iterdir())) == 1
    wrong = unbraid("study", path, "--out", tmp_path / "none", "--rows", tmp_path / "mine.py")
    assert wrong.code == 2 and "must have the columns method, data" in wrong.sentence


def test_a_study_file_that_raises(unbraid: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("1 / 0\n")
    assert "ZeroDivisionError" in unbraid("study", tmp_path / "mine.py", "--out", tmp_path / "s").sentence
