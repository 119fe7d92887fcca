"""The command line end to end, src/unbraid/cli.py."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.commandline import CommandLine
from tests.small_study import PLANS, small_study
from unbraid.runs import Run

SPRITES = ("--data", "sprites", "--size", 32, "--codes", 3, "--steps", 2, "--batch", 4, "--device", "cpu")


@pytest.fixture
def trained(unbraid: CommandLine, tmp_path: Path) -> Path:
    answer = unbraid("train", "beta-vae", *SPRITES, "--out", tmp_path / "run", "--quiet")
    assert answer.code == 0, answer
    return tmp_path / "run"


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    folder = tmp_path / "pictures"
    folder.mkdir()
    for name, shade in (("a.png", 40), ("b.png", 200)):
        Image.fromarray(np.full((50, 40, 3), shade, np.uint8)).save(folder / name)
    return folder


def test_help_answers_at_once() -> None:
    """The best of three, so that a busy machine does not decide; the limit is half a second."""
    times = []
    for _ in range(3):
        began = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-m", "unbraid", "--help"], capture_output=True, text=True, check=True
        )
        times.append(time.perf_counter() - began)
        assert "train" in done.stdout and "evaluate" in done.stdout
    assert min(times) < 0.5
    modules = subprocess.run(
        [sys.executable, "-c", "import sys, unbraid.cli; print('torch' in sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert modules.stdout.strip() == "False"


def test_a_run_is_exported(unbraid: CommandLine, trained: Path, tmp_path: Path) -> None:
    answer = unbraid("export", trained, "--to", "torchscript", "--json")
    assert answer.code == 0 and answer.json["folder"] == str(trained / "export-torchscript")
    assert answer.json["difference"] < 1e-5 and "encoder.pt" in answer.json["files"]
    plain = unbraid("export", trained, "--to", "safetensors", "--out", tmp_path / "out")
    assert plain.code == 0 and f"Written to {tmp_path / 'out'}" in plain.out


def test_what_cannot_be_exported_is_said(unbraid: CommandLine, trained: Path, tmp_path: Path) -> None:
    (trained / "finished.json").unlink()
    for words, said in (
        ((trained, "--to", "onx"), "did you mean onnx"),
        ((trained, "--to", "safetensors"), "unfinished"),
        ((tmp_path, "--to", "safetensors"), "not a run folder"),
    ):
        assert said in unbraid("export", *words).sentence


def test_list_names_everything(unbraid: CommandLine) -> None:
    found = unbraid("list", "--json").json
    assert set(found) == {"methods", "datasets", "metrics", "recipes"}
    assert {"beta-vae", "annealed-vae", "factor-vae", "dip-vae-i", "dip-vae-ii"} <= set(found["methods"])
    assert {"beta-tcvae", "ada-gvae", "ada-ml-vae"} <= set(found["methods"])
    assert {"sprites", "dsprites", "rooms", "shapes3d", "mpi3d"} <= set(found["datasets"])
    assert "vae-family/sweep" in found["recipes"]
    assert all(summary for kind in found.values() for summary in kind.values())
    assert list(unbraid("list", "recipes", "--json").json) == ["recipes"]
    assert "  beta-vae" in unbraid("list", "methods").out
    assert "no list 'method'; did you mean methods" in unbraid("list", "method").sentence


def test_a_code_that_other_options_size_says_which(unbraid: CommandLine, tmp_path: Path) -> None:
    answer = unbraid("train", "intervention", *SPRITES, "--out", tmp_path / "run")
    assert answer.code == 2 and "the size of its code is given by --features × --dimensions" in answer.err


def test_a_methods_help_lists_its_own_options(unbraid: CommandLine) -> None:
    answer = unbraid("train", "ada-gvae", "--data", "sprites", "--help")
    assert answer.code == 0
    for option in ("--beta", "--rule", "--fixed", "--antialias", "--steps", "--architecture", "--resume"):
        assert option in answer.out
    assert "--antialias" not in unbraid("train", "ada-gvae", "--help").out  # no dataset, no options of one


def test_evaluate_scores_another_part_beside_the_first(unbraid: CommandLine, tmp_path: Path) -> None:
    run, words = tmp_path / "credit", ["--architecture", "mlp", "--steps", 2, "--batch", 8, "--device", "cpu"]
    unbraid("train", "cnn", "--data", "credit", "--observations", 60, *words, "--out", run, "--quiet")
    for words in ([], ["--part", "test"], ["--part=test", "--districts", 3, "--data", "credit"]):
        done = unbraid("evaluate", run, "--metrics", "group_accuracy", "--samples", 0, *words)
        assert done.code == 0 and "group_accuracy.worst" in done.out
    scores = json.loads((run / "scores.json").read_text())
    assert [entry.get("on") for entry in scores if entry["metric"] == "group_accuracy"] == [
        None,
        "credit --part test",
        "credit --part test --districts 3",
    ]
    assert [entry["n"] for entry in scores if entry["metric"] == "group_accuracy"] == [60, 60, 4000]


def test_train_writes_a_run_and_evaluate_scores_it(unbraid: CommandLine, trained: Path) -> None:
    assert Run(trained).finished
    scores = unbraid(
        "evaluate", trained, "--metrics", "reconstruction,kl,mig", "--samples", 60, "--json"
    ).json
    assert [score["metric"] for score in scores][:2] == ["reconstruction", "kl"]
    assert {score["metric"] for score in Run(trained).scores()} >= {"reconstruction", "kl", "mig"}
    shown = unbraid("evaluate", trained, "--metrics", "kl", "--samples", 60)
    assert shown.out.startswith("kl ") and "(n=60" in shown.out


def test_evaluate_leaves_out_what_does_not_apply_unless_it_was_named(
    unbraid: CommandLine, tmp_path: Path
) -> None:
    words = ["--size", 32, "--steps", 1, "--batch", 4, "--device", "cpu", "--quiet"]
    unbraid("train", "infogan", "--data", "sprites", *words, "--out", tmp_path / "gan")
    usual = unbraid("evaluate", tmp_path / "gan", "--samples", 20, "--json")
    assert [score["metric"] for score in usual.json] == ["reconstruction"]
    named = unbraid("evaluate", tmp_path / "gan", "--samples", 20, "--metrics", "kl")
    assert named.code == 2 and "infogan has no posterior" in named.err


class TestExplore:
    """`unbraid explore`, without a browser."""

    @pytest.fixture(autouse=True)
    def opened(self, monkeypatch: pytest.MonkeyPatch) -> list[str]:
        """The addresses that a browser would have been sent to."""
        addresses: list[str] = []
        monkeypatch.setattr("webbrowser.open", addresses.append)
        return addresses

    def test_it_writes_a_page_and_opens_it(
        self, unbraid: CommandLine, trained: Path, tmp_path: Path, opened: list[str]
    ) -> None:
        path = trained / "explorer.html"
        assert unbraid("explore", trained).out == f"Written to {path}.\n"
        assert path.exists() and opened == [path.as_uri()]
        other = tmp_path / "other.html"
        found = unbraid("explore", trained, "--out", other, "--examples", 5, "--json").json
        assert found == {"out": str(other)} and other.exists()
        assert unbraid("explore", trained, "--no-open").code == 0
        assert len(opened) == 1

    def test_mistakes_are_one_sentence(self, unbraid: CommandLine, trained: Path, tmp_path: Path) -> None:
        assert "is not a run folder" in unbraid("explore", tmp_path).sentence
        assert "--serve" in unbraid("explore", trained, "--limit", 0.1).sentence
        assert "above 0 MB" in unbraid("explore", trained, "--limit", 0).sentence
        assert "2 to 128 examples" in unbraid("explore", trained, "--examples", 1000).sentence
        assert "leave out --out" in unbraid("explore", trained, "--serve", "--json").sentence
        assert "--anywhere" in unbraid("explore", trained, "--serve", "--host", "0.0.0.0").sentence
        (trained / "finished.json").unlink()
        assert "--resume" in unbraid("explore", trained).sentence


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of a small study."""
    return small_study(tmp_path_factory.mktemp("cli") / "study", PLANS[:4])


class TestStudies:
    """What is made of a study and of its runs."""

    def test_report_writes_a_page_about_a_study_and_prints_its_table(
        self, unbraid: CommandLine, folder: Path, tmp_path: Path
    ) -> None:
        out = unbraid("report", folder, "--out", tmp_path / "page.html", "--json").json
        assert out == {"out": str(tmp_path / "page.html")} and (tmp_path / "page.html").exists()
        assert unbraid("report", folder, "--tables", "md").out == (folder / "table.md").read_text()
        assert unbraid("report", folder, "--tables", "latex").out.endswith("\\end{tabular}\n")
        assert unbraid("report", folder, "--tables", "html", "--json").json["table"].startswith("<table")
        assert "no form of a table 'pdf'" in unbraid("report", folder, "--tables", "pdf").sentence
        assert "is not a study's folder" in unbraid("report", tmp_path, "--tables", "md").sentence

    def test_compare_sets_methods_side_by_side(self, unbraid: CommandLine, folder: Path) -> None:
        found = unbraid("compare", folder, "--json").json
        assert {one["metric"] for one in found["comparisons"]} == {"reconstruction", "kl", "mig"}
        assert found["rank_correlations"][0]["runs"] == 4
        shown = unbraid("compare", folder, "--metric", "mig", "--method", "beta-vae beta=1.0").out
        assert shown.startswith("sprites, mig (") and "beta-vae beta=4.0" in shown and "over 2 seeds" in shown
        assert "Spearman" in unbraid("compare", folder).out
        assert "no score of the study 'mgi'" in unbraid("compare", folder, "--metric", "mgi").sentence

    def test_compare_sets_two_runs_side_by_side(self, unbraid: CommandLine, folder: Path) -> None:
        first, second = (folder / "runs" / plan.folder for plan in (PLANS[0], PLANS[2]))
        found = unbraid("compare", first, second, "--json").json
        assert found["settings"] == [["method.arguments.beta", "1.0", "4.0"]] and len(found["scores"]) > 3
        shown = unbraid("compare", first, second).out
        assert "method.arguments.beta" in shown and "kl (" in shown
        assert "The settings are the same." in unbraid("compare", first, first).out
        assert "takes two run folders, or one" in unbraid("compare", first, second, first).sentence
        assert "takes two run folders" in unbraid("compare", first, second, "--metric", "kl").sentence
        assert "is not a study's folder" in unbraid("compare", first).sentence

    def test_select_ranks_models(self, unbraid: CommandLine, folder: Path) -> None:
        words = ("select", folder, "--samples", 60, "--device", "cpu")
        found = unbraid(*words, "--by", "udr", "--json").json
        assert found["by"] == "udr" and len(found["choices"]) == 4 and len(found["settings"]) == 2
        lines = unbraid(*words).out.splitlines()
        assert lines[4:6] == ["", "Settings, over their seeds:"] and len(lines) == 8
        assert all("±" in line and "2 seeds" in line for line in lines[6:])
        assert "no way to choose 'mig'" in unbraid(*words, "--by", "mig").sentence

    def test_a_folder_of_another_version(self, unbraid: CommandLine, tmp_path: Path) -> None:
        (tmp_path / "study.json").write_text('{"format": 2}')
        for words in (["report"], ["report", "--tables", "md"], ["compare"], ["select"]):
            sentence = unbraid(words[0], tmp_path, *words[1:]).sentence
            assert "is in study format 2, and this Unbraid reads 1" in sentence


def test_a_tracker_that_is_not_installed(
    unbraid: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "wandb", None)
    answer = unbraid("train", "beta-vae", *SPRITES, "--out", tmp_path / "run", "--track", "wandb")
    assert "install it with `pip install wandb`" in answer.sentence
    assert not (tmp_path / "run").exists()


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
        "needs an array `factors`" in unbraid("score", tmp_path / "codes.npz", tmp_path / "two.npz").sentence
    )
    assert "no known" not in unbraid(*words, "--metrics", "kl").sentence


def test_train_prints_json_alone_when_asked(unbraid: CommandLine, tmp_path: Path) -> None:
    answer = unbraid("train", "vae", *SPRITES, "--out", tmp_path / "run", "--json")
    assert answer.json["step"] == 2 and answer.json["method"] == "vae" and answer.err == ""


def test_two_tables_are_target_and_background(unbraid: CommandLine, tmp_path: Path) -> None:
    target, background = tmp_path / "shocked.csv", tmp_path / "plain.csv"
    target.write_text("\ufeffa;b;kind\n1;2;x\n2;3;y\n4;;x\n")
    background.write_text("a;b\n1;2\n2;9\n")
    words = ["train", "principled-contrast", "--data", target, "--background", background, "--label", "kind"]
    words += ["--impute", "mean", "--architecture", "mlp-small", "--likelihood", "normal:1", "--batch", 2]
    answer = unbraid(*words, "--steps", 2, "--device", "cpu", "--out", tmp_path / "run")
    assert answer.code == 0, answer
    scores = unbraid(
        "evaluate", tmp_path / "run", "--metrics", "salient:background_norm", "--samples", 0, "--json"
    )
    assert scores.json[0]["n"] == 2


def test_options_reach_the_run(unbraid: CommandLine, tmp_path: Path) -> None:
    words = ("--capacity", "linear:0:5:10", "--optimiser", "adam:0.01", "--no-antialias", "--clip", 1.5)
    assert unbraid("train", "annealed-vae", *SPRITES, *words, "--out", tmp_path / "run").code == 0
    settings = Run(tmp_path / "run").settings
    assert settings["method"]["arguments"]["capacity"] == {"plain": "linear:0.0:5.0:10"}
    assert settings["training"]["optimiser"]["plain"].startswith("adam:0.01")
    assert settings["training"]["clip"] == 1.5
    assert settings["data"]["origin"]["options"] == {"size": 32, "antialias": False}


def test_encode_writes_the_codes_of_ones_own_images(
    unbraid: CommandLine, trained: Path, pictures: Path, tmp_path: Path
) -> None:
    summary = unbraid("encode", trained, pictures, "--out", tmp_path / "codes.npz", "--json").json
    assert summary["observations"] == 2 and summary["codes"] == 3
    with np.load(tmp_path / "codes.npz", allow_pickle=False) as codes:
        assert codes["codes"].shape == (2, 3) and list(codes["names"]) == ["a.png", "b.png"]
        assert list(codes["strand_codes"]) == [0, 1, 2]
    np.savez(tmp_path / "mine.npz", images=np.zeros((5, 32, 32), np.uint8))
    assert (
        "5 observations" in unbraid("encode", trained, tmp_path / "mine.npz", "--out", tmp_path / "c.npz").out
    )


def test_edit_writes_a_sheet(unbraid: CommandLine, trained: Path, pictures: Path, tmp_path: Path) -> None:
    both = (pictures / "a.png", pictures / "b.png")
    edits = (
        "--swap",
        "codes",
        "--swap",
        1,
        "--set",
        "2=1.5",
        "--set",
        "codes=0,1,2",
        "--zero",
        0,
        "--sweep",
        1,
    )
    answer = unbraid("edit", trained, *both, *edits, "--out", tmp_path / "sheet.png", "--json")
    assert answer.json["rows"][:4] == ["images", "reconstructed", "swap codes", "swap 1"]
    with Image.open(tmp_path / "sheet.png") as sheet:
        assert min(sheet.size) > 64


def test_report_writes_a_page(unbraid: CommandLine, trained: Path) -> None:
    assert unbraid("report", trained).code == 0
    assert (trained / "report.html").read_text().lstrip().lower().startswith("<!doctype html>")


def test_data_check_says_that_rendered_data_needs_nothing(unbraid: CommandLine, tmp_path: Path) -> None:
    assert "nothing is needed" in unbraid("data", "check", "sprites").out
    assert unbraid("data", "get", "rooms", "--json").json == {"name": "rooms", "path": None}
    assert "dsprites" in unbraid("data", "check", "dsprites", "--root", tmp_path).sentence
    assert "mpi3d_toy" in unbraid("data", "check", "mpi3d", "--variant", "toy", "--root", tmp_path).sentence
    assert "no option variant" in unbraid("data", "check", "dsprites", "--variant", "toy").sentence


def test_a_study_prints_its_table(unbraid: CommandLine, tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    options = '{"size": 32, "codes": 3, "steps": 2, "batch": 4, "seed": seed}'
    path.write_text(
        "from unbraid import Plan\n"
        f'runs = [Plan("vae", "sprites", {options}, scoring={{"samples": 20}}) for seed in (0, 1)]\n'
    )
    rows = unbraid("study", path, "--out", tmp_path / "study", "--json").json
    kl = next(row for row in rows if row["metric"] == "kl")
    about = {"method", "data", "settings", "metric", "protocol"}
    assert set(kl) == about | {"mean", "std", "n", "published", "samples"}
    assert kl["n"] == 2 and kl["method"] == "vae" and kl["samples"] == 20
    path.write_text(path.read_text().replace('"codes": 3', '"codes": 3, "likelihood": None'))
    failed = unbraid("study", path, "--out", tmp_path / "study2", "--json")
    assert failed.code == 1 and "2 of 2 runs failed" in failed.err


class TestBadInput:
    """One clear sentence, exit code 2, and nothing lost."""

    def test_an_unknown_method(self, unbraid: CommandLine) -> None:
        assert (
            "no method 'beta-vea'; did you mean beta-vae"
            in unbraid("train", "beta-vea", "--data", "x").sentence
        )

    def test_an_unknown_dataset(self, unbraid: CommandLine, tmp_path: Path) -> None:
        answer = unbraid("train", "vae", "--data", "spritez", "--steps", 1, "--out", tmp_path / "run")
        assert "spritez" in answer.sentence and "sprites" in answer.sentence
        assert not (tmp_path / "run").exists()

    def test_a_negative_weight(self, unbraid: CommandLine, tmp_path: Path) -> None:
        answer = unbraid("train", "beta-vae", *SPRITES, "--beta", -1, "--out", tmp_path / "run")
        assert "beta must be" in answer.sentence and "-1" in answer.sentence
        assert not (tmp_path / "run").exists()

    def test_a_number_that_is_none(self, unbraid: CommandLine, tmp_path: Path) -> None:
        answer = unbraid("train", "beta-vae", *SPRITES, "--beta", "four", "--out", tmp_path / "run")
        assert "--beta: 'four' is not a number" in answer.sentence

    def test_a_missing_data_file(self, unbraid: CommandLine, tmp_path: Path) -> None:
        words = ("--data", "dsprites", "--root", tmp_path, "--steps", 1, "--out", tmp_path / "run")
        assert str(tmp_path) in unbraid("train", "vae", *words).sentence
        assert "does not exist" in unbraid("train", "vae", "--data", tmp_path / "no.npz", *words[4:]).sentence

    def test_a_truncated_data_file(self, unbraid: CommandLine, tmp_path: Path) -> None:
        np.savez(tmp_path / "mine.npz", images=np.zeros((100, 32, 32), np.uint8))
        whole = (tmp_path / "mine.npz").read_bytes()
        (tmp_path / "mine.npz").write_bytes(whole[: len(whole) // 2])
        words = ("--data", tmp_path / "mine.npz", "--steps", 1, "--out", tmp_path / "run")
        assert "mine.npz" in unbraid("train", "vae", *words).sentence

    @pytest.mark.parametrize(
        ("images", "sentence"),
        [
            (np.zeros((10, 32), object), "mine.npz"),
            (np.zeros(10), "mine needs images"),
            (np.zeros((10, 1, 2, 3, 4)), "mine needs images"),
            (np.full((10, 32, 32), np.nan), "not finite (NaN or ∞), the first in row 0"),
        ],
        ids=["objects", "one dimension", "five dimensions", "NaN pixels"],
    )
    def test_arrays_that_are_no_images(
        self, unbraid: CommandLine, tmp_path: Path, images: np.ndarray, sentence: str
    ) -> None:
        np.savez(tmp_path / "mine.npz", images=images)
        words = ("--data", tmp_path / "mine.npz", "--steps", 1, "--out", tmp_path / "run")
        assert sentence in unbraid("train", "vae", *words).sentence
        assert not (tmp_path / "run").exists()

    def test_a_size_no_network_takes(self, unbraid: CommandLine, tmp_path: Path) -> None:
        np.savez(tmp_path / "mine.npz", images=np.zeros((10, 37, 37), np.uint8))
        words = ("--data", tmp_path / "mine.npz", "--steps", 1, "--out", tmp_path / "run")
        assert "37" in unbraid("train", "vae", *words).sentence

    def test_a_folder_with_a_broken_image(self, unbraid: CommandLine, pictures: Path, tmp_path: Path) -> None:
        (pictures / "broken.png").write_bytes(b"not a picture")
        words = ("--data", pictures, "--size", 32, "--steps", 1, "--batch", 2, "--out", tmp_path / "run")
        assert "broken.png" in unbraid("train", "vae", *words).sentence
        assert unbraid("train", "vae", *words, "--skip-broken").code == 0

    def test_pairs_on_data_without_factors(
        self, unbraid: CommandLine, pictures: Path, tmp_path: Path
    ) -> None:
        words = ("--data", pictures, "--size", 32, "--steps", 1, "--out", tmp_path / "run")
        assert "no known factors" in unbraid("train", "ada-gvae", *words).sentence
        assert not (tmp_path / "run").exists()

    def test_a_background_that_does_not_fit(
        self, unbraid: CommandLine, pictures: Path, tmp_path: Path
    ) -> None:
        """Other shapes, fewer images than a batch, an empty folder, no background, tables with holes or text."""
        empty, holes, text = tmp_path / "empty", tmp_path / "holes.csv", tmp_path / "text.csv"
        empty.mkdir()
        holes.write_text("a,b\n1,\n2,3\n")
        text.write_text("a,b\n1,x\n2,y\n")
        rows = tmp_path / "rows.csv"
        rows.write_text("\ufeffa,b\n1,2\n2,3\n")  # a byte-order mark is no fault

        def said(data: object, background: object, *more: object) -> str:
            words = ["train", "principled-contrast", "--data", data, *more, "--steps", 2, "--device", "cpu"]
            words += [] if background is None else ["--background", background]
            return unbraid(*words, "--out", tmp_path / "run").sentence

        assert "give images for both, or rows for both" in said(pictures, rows)
        assert "give a smaller batch" in said(pictures, pictures, "--batch", 64)
        assert "holds no images" in said(pictures, empty)
        assert "comes without a background: name one with --background" in said(pictures, None)
        table = ("--architecture", "mlp-small", "--likelihood", "normal:1", "--batch", 2)
        assert "--impute mean" in said(rows, holes, *table)
        assert "--drop b" in said(text, rows, *table)
        assert "take a normal one (--likelihood normal:1)" in said(rows, rows, "--architecture", "mlp-small")
        assert "give a smaller batch" in said(rows, rows, *table[:-1], 3)
        assert not (tmp_path / "run").exists()

    def test_subembeddings_that_cannot_be(self, unbraid: CommandLine, tmp_path: Path) -> None:
        """Sizes that do not divide, a batch of one, factors that no variant has, a temperature of zero."""
        words = [
            "train",
            "subinfomax",
            "--data",
            "mnist-stl10",
            "--digits",
            "bundled",
            "--pairs",
            20,
            "--size",
            32,
        ]
        words += ["--backgrounds", "textures", "--steps", 1, "--device", "cpu", "--out", tmp_path / "run"]

        def said(*more: object) -> str:
            return unbraid(*words, *more).sentence

        assert "15 dimensions of the embedding do not divide into 2 equal" in said("--embedding", 15)
        assert "256 dimensions of the features do not divide" in said("--embedding", 15, "--subembeddings", 3)
        assert said("--batch", 1) == "batch must be at least 2; got 1."
        assert "'dc-xx' is none of dc-bc, dc-dl, bc-dl" in said("--variant", "dc-xx")
        assert "temperature must be above 0" in said("--temperature", 0)
        many = said("--embedding", 160, "--directions", 60)
        assert "at least 121 different labels" in many and "ask for fewer directions" in many
        assert not (tmp_path / "run").exists()

    def test_a_folder_that_holds_another_run(self, unbraid: CommandLine, trained: Path) -> None:
        before = (trained / "model.safetensors").read_bytes()
        assert (
            "already holds a finished run"
            in unbraid("train", "beta-vae", *SPRITES, "--out", trained).sentence
        )
        other = unbraid("train", "beta-vae", *SPRITES, "--beta", 9, "--out", trained, "--resume")
        assert "differs in method.arguments.beta" in other.sentence
        assert (trained / "model.safetensors").read_bytes() == before

    def test_a_full_disk_while_checkpointing(
        self, unbraid: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        words = ("train", "beta-vae", *SPRITES, "--out", tmp_path / "run", "--quiet")
        real = os.fsync
        writes = []

        def full(file: int) -> None:
            writes.append(file)
            if len(writes) == 6:  # within the second checkpoint
                raise OSError(28, "No space left on device")
            real(file)

        monkeypatch.setattr(os, "fsync", full)
        sentence = unbraid(*words, "--checkpoint-seconds", 0).sentence
        assert "No space left on device" in sentence and "--resume" in sentence
        assert (tmp_path / "run" / "checkpoint.safetensors").exists()
        monkeypatch.setattr(os, "fsync", real)
        assert unbraid(*words, "--resume").code == 0

    def test_a_folder_that_is_no_run(self, unbraid: CommandLine, tmp_path: Path) -> None:
        for command in (["evaluate"], ["report"]):
            assert "is not a run folder" in unbraid(*command, tmp_path).sentence

    def test_an_unknown_metric(self, unbraid: CommandLine, trained: Path) -> None:
        assert (
            "no metric 'mgi'; did you mean mig" in unbraid("evaluate", trained, "--metrics", "mgi").sentence
        )

    def test_edits_that_cannot_be(
        self, unbraid: CommandLine, trained: Path, pictures: Path, tmp_path: Path
    ) -> None:
        one, out = pictures / "a.png", ("--out", tmp_path / "sheet.png")
        assert "Nothing to edit" in unbraid("edit", trained, one, *out).sentence
        assert "between two images" in unbraid("edit", trained, one, "--swap", 0, *out).sentence
        assert "no strand 'salient'" in unbraid("edit", trained, one, "--zero", "salient", *out).sentence
        assert "its 3 values" in unbraid("edit", trained, one, "--set", "codes=1,2", *out).sentence
        assert "does not exist" in unbraid("edit", trained, tmp_path / "c.png", "--zero", 0, *out).sentence

    @pytest.mark.parametrize(
        ("words", "sentence"),
        [
            (("--log-every", 0), "log_every=0"),
            (("--device", "cpu:foo"), "no device 'cpu:foo'"),
            (("--precision", "float16"), "none of float32, bf16"),
            (("--clip", "nan"), "clip must be at least 0; got nan"),
            (("--validation", 0.9999999), "leaves nothing"),
        ],
    )
    def test_numbers_that_make_no_sense(
        self, unbraid: CommandLine, tmp_path: Path, words: tuple[object, ...], sentence: str
    ) -> None:
        answer = unbraid("train", "vae", *SPRITES, "--out", tmp_path / "run", *words)
        assert sentence in answer.sentence
        assert not (tmp_path / "run").exists()

    @pytest.mark.parametrize(
        ("words", "sentence"),
        [
            (("--angles", ""), "The list of angles is empty: give at least one angle in degrees."),
            (("--test-angles", ""), "The list of test_angles is empty"),
            (("--inks", ""), "The list of inks is empty: give at least one colour as RRGGBB."),
            (("--backgrounds", ""), "The list of backgrounds is empty"),
            (("--angles", "nan"), "The list of angles must hold finite numbers of degrees; got nan."),
            (("--angles", "10,10"), "The list of angles names an angle twice: 10, 10."),
            (("--no-same-class",), "both must be of one class: leave out --no-same-class"),
            (("--predictive", 0), "at least 1 predictive dimension"),
        ],
    )
    def test_digits_in_colour_that_cannot_be(
        self, unbraid: CommandLine, tmp_path: Path, words: tuple[object, ...], sentence: str
    ) -> None:
        data = ("--data", "rotation-colored-mnist", "--digits", "bundled", "--steps", 1, "--device", "cpu")
        assert sentence in unbraid("train", "recon-contrast", *data, "--out", tmp_path, *words).sentence

    def test_more_factors_than_can_change(self, unbraid: CommandLine, tmp_path: Path) -> None:
        words = ("train", "sw-vae", *SPRITES, "--out", tmp_path / "run")
        answer = unbraid(*words, "--difficulty", "linear:1:9:10")
        assert "sprites can change 1 to 5 factors; got linear:1.0:9.0:10, which goes" in answer.sentence
        assert not (tmp_path / "run").exists()

    def test_samples_that_are_none(self, unbraid: CommandLine, trained: Path) -> None:
        assert "at least one observation" in unbraid("evaluate", trained, "--samples", -1).sentence
        assert (
            "'protocl'; did you mean protocol" in unbraid("evaluate", trained, "--protocl", "fast").sentence
        )
        assert "--size needs a value" in unbraid("evaluate", trained, "--size").sentence
        assert "'kl' is no option" in unbraid("evaluate", trained, "kl").sentence
        assert "fewer than 0" in unbraid("evaluate", trained, "--test-samples", -1).sentence

    def test_a_folder_inside_a_file(self, unbraid: CommandLine, tmp_path: Path) -> None:
        (tmp_path / "file").touch()
        assert (
            "cannot be made" in unbraid("train", "vae", *SPRITES, "--out", tmp_path / "file" / "run").sentence
        )

    def test_a_study_file_that_raises(self, unbraid: CommandLine, tmp_path: Path) -> None:
        (tmp_path / "mine.py").write_text("1 / 0\n")
        assert "ZeroDivisionError" in unbraid("study", tmp_path / "mine.py", "--out", tmp_path / "s").sentence

    def test_a_fault_of_our_own_is_no_traceback_either(
        self, unbraid: CommandLine, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("unbraid.commands.catalogue.catalogue", lambda what: {}["gone"])
        answer = unbraid("list")
        assert answer.code == 1 and "a fault in Unbraid" in answer.err and "Traceback" not in answer.err

    def test_an_unfinished_run(self, unbraid: CommandLine, trained: Path) -> None:
        (trained / "model.safetensors").unlink()
        assert "unfinished" in unbraid("evaluate", trained).sentence

    def test_damaged_weights(self, unbraid: CommandLine, trained: Path) -> None:
        (trained / "model.safetensors").write_bytes(b"junk")
        assert "not a whole safetensors file" in unbraid("evaluate", trained).sentence

    def test_a_damaged_setting(self, unbraid: CommandLine, trained: Path) -> None:
        settings = json.loads((trained / "run.json").read_text())
        settings["method"]["arguments"]["encoder"]["network"] = "os.system"
        (trained / "run.json").write_text(json.dumps(settings))
        assert "os.system" in unbraid("evaluate", trained).sentence
