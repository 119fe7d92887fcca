"""The report, src/unbraid/report/page.py."""

import json
import re
from functools import partial
from html.parser import HTMLParser
from pathlib import Path

import pytest
import torch

from tests.run_files import score_entry
from unbraid.custom_code import CodeNotNamed, use
from unbraid.data.arrays import from_arrays
from unbraid.evaluation.evaluate import evaluate
from unbraid.methods.base import build_method
from unbraid.methods.beta_vae import BetaVAE
from unbraid.objectives import MLPTranslator, Normal
from unbraid.report import strand_charts
from unbraid.report.page import PageText, write_report
from unbraid.runs.folder import Run
from unbraid.runs.model import load
from unbraid.runs.run_dataset import training_dataset
from unbraid.studies.plan import Plan
from unbraid.training.train import train

VOID = {"meta", "img", "source", "br"}


class Checker(HTMLParser):
    """Fails on a tag left open or closed twice, on a doubled id, and on an image without words."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.sources: list[str] = []
        self.feed(page)
        assert self.open == []
        assert len(self.ids) == len(set(self.ids))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        if tag not in VOID:
            self.open.append(tag)
        if (name := attributes.get("id")) is not None:
            self.ids.append(name)
        self.sources += [value for key in ("src", "srcset", "href") if (value := attributes.get(key))]
        assert tag != "img" or attributes.get("alt")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_one_run_is_reported_in_its_folder(folder: Path) -> None:
    path = write_report([folder])
    page = path.read_text()
    checker = Checker(page)
    assert path == folder / "report.html"
    assert all(source.startswith("data:image/") for source in checker.sources) and checker.sources
    assert {"scores", "reconstructions", "traversals", "swaps", "dimensions", "curves", "again"} <= set(
        checker.ids
    )
    assert "unbraid train beta-vae" in re.sub(r"</?span>", "", page)
    assert "β-VAE" in page and "Higgins et al., 2017" in page and "n&nbsp;=&nbsp;200" in page
    assert "<script" not in page and "prefers-color-scheme: dark" in page and "@media print" in page
    names = {file.name for file in (folder / "figures").iterdir()}
    assert {"reconstructions.png", "traversals.png", "swaps.png", "curve-loss.png", "kl.png"} <= names


def test_the_same_run_gives_the_same_page(folder: Path) -> None:
    assert write_report([folder]).read_bytes() == write_report([Run(folder)]).read_bytes()


def test_several_runs_stand_side_by_side(run: Run, folder: Path, tmp_path: Path) -> None:
    path = write_report([run, folder], tmp_path / "pages" / "both.html", title="Two of a kind")
    page = path.read_text()
    Checker(page)
    assert "<title>Two of a kind</title>" in page
    assert "beta-vae, run" in page and "beta-vae, copy" in page
    with pytest.raises(ValueError, match="needs an output file"):
        write_report([run, folder])


def test_names_cannot_inject_script(folder: Path) -> None:
    settings = json.loads((folder / "run.json").read_text())
    factors = settings["data"]["factors"]
    settings["data"]["factors"] = {"<script>alert(1)</script>": factors.pop("shape"), **factors}
    settings["data"]["name"] = '"><script>alert(2)</script>'
    (folder / "run.json").write_text(json.dumps(settings))
    page_text = PageText(["<script>3</script>"], {"scores": "<b>"}, [("<i>", "echo '<script>4</script>'")])
    page = write_report([folder], page_text=page_text).read_text()
    assert "<script" not in page and "&lt;script&gt;alert(1)" in page
    Checker(page)


def test_an_unfinished_run_is_refused(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    with pytest.raises(ValueError, match="Continue its training with --resume"):
        write_report([folder])
    assert not (folder / "report.html").exists()


def test_no_runs_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="at least one run"):
        write_report([], tmp_path / "page.html")


def test_arrays_of_ones_own_are_reported_without_pictures(tmp_path: Path) -> None:
    dataset = from_arrays(torch.rand(8, 1, 28, 28))
    method = build_method(BetaVAE, dataset.shape, n=8, latent_dim=2, architecture="mlp")
    run = train(method, dataset, out=tmp_path / "run", steps=1, batch_size=4, quiet=True, device="cpu")
    page = write_report([run]).read_text()
    Checker(page)
    assert "No figures for this run." in page
    assert "No command line reproduces this run: it was trained from Python." in page
    assert "No scores yet" in page


def test_rows_are_reported_without_pictures(tmp_path: Path) -> None:
    dataset = from_arrays(torch.rand(8, 5))
    method = build_method(
        BetaVAE, dataset.shape, n=8, latent_dim=2, architecture="mlp", likelihood=Normal(1.0)
    )
    run = train(method, dataset, out=tmp_path / "run", steps=1, batch_size=4, quiet=True, device="cpu")
    assert "rows, not images" in write_report([run]).read_text()


def test_data_that_changed_are_not_shown(folder: Path) -> None:
    settings = json.loads((folder / "run.json").read_text())
    settings["data"]["fingerprint"] = "another"
    (folder / "run.json").write_text(json.dumps(settings))
    assert "its observations or their distribution differ" in write_report([folder]).read_text()


def test_a_method_without_a_decoder_is_reported(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from unbraid.methods.autoencoder import Autoencoder
    from unbraid.methods.base import Method

    monkeypatch.setattr(Autoencoder, "decode", Method.decode)
    page = write_report([folder]).read_text()
    Checker(page)
    assert "could not be drawn" not in page
    assert 'id="traversals"' not in page and 'id="curves"' in page


def test_strands_of_a_predictor_are_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strand_charts, "strand_maps", partial(strand_charts.strand_maps, count=40))
    monkeypatch.setattr(strand_charts, "dim_changes", partial(strand_charts.dim_changes, count=32))
    options = {
        "digits": "bundled",
        "architecture": "mlp-small",
        "steps": 1,
        "batch_size": 4,
        "nuisance_dim": 4,
    }
    run = Plan("recon-contrast", "rotation-colored-mnist", options).run(tmp_path / "run", quiet=True)
    score = score_entry("kl", 1.0, n=5, on="x --split test")
    method, dataset = load(run.folder, device="cpu").method, training_dataset(run)
    run.add_scores([score, *evaluate(method, dataset, ["strand_probes"], num_samples=200)])
    page = write_report([run]).read_text()
    checker = Checker(page)
    assert {"strands", "swaps", "probes", "changes-1-0", "maps-2-0"} <= set(checker.ids)
    assert "noise for predictive" in page and "colored by angle" in page and "On x --split test." in page
    names = {file.name for file in (run.folder / "figures").iterdir()}
    assert {"strands.png", "changes.png", "maps.png"} <= names


def test_correlated_factors_and_features_of_several_codes_are_shown(tmp_path: Path) -> None:
    """The joint distribution, DCI's importances, quantiles and neighbors, each in its file and on the page."""
    options = {
        "image_size": 16,
        "correlate": ("pos_x", "scale"),
        "train_size": 300,
        "architecture": "mlp-small",
    }
    options |= {
        "num_features": 2,
        "feature_dim": 2,
        "translator": MLPTranslator(width=1, steps=1),
        "steps": 1,
        "batch_size": 8,
    }
    run = Plan("intervention", "sprites", options).run(tmp_path / "run", quiet=True, device="cpu")
    evidence = {"importances": [[0.2] * 5, [0.1] * 5]}
    run.add_scores([score_entry("dci", 0.5, protocol="infogan_cr", evidence=evidence)])
    page = write_report([run]).read_text()
    for name in ("joint", "importance", "quantiles", "neighbors"):
        assert (run.folder / "figures" / f"{name}.png").stat().st_size > 1000
    for words in (
        "values of pos_x and scale in training",
        "Red: correlated factors.",
        "Nearest neighbors by strand",
    ):
        assert words in page


def own_run(folder: Path, name: str = "OwnAutoencoder") -> Run:
    file = Path(__file__).parent / "own_vae.py"
    options = {"architecture": "mlp-small", "latent_dim": 3, "steps": 2, "batch_size": 4}
    return Plan(f"{file}:{name}", f"{file}:bars", options).run(folder, quiet=True, device="cpu")


def forget_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in another process, in which no code was named."""
    monkeypatch.setattr("unbraid.custom_code._named", {})


def test_a_run_of_somebodys_own_code_has_its_figures_and_its_command(tmp_path: Path) -> None:
    page = write_report([own_run(tmp_path / "run")]).read_text()
    checker = Checker(page)
    assert "OwnAutoencoder on bars" in page and "A plain autoencoder with figures of its own." in page
    assert {"reconstructions", "figure-sorted_images"} <= set(checker.ids)
    assert "traversals" not in checker.ids and "Images sorted by their first dimension" in page
    assert (tmp_path / "run" / "figures" / "sorted_images.png").is_file()
    command = re.sub(r"</?span>", "", page)
    assert "unbraid train own_vae.py:OwnAutoencoder --data own_vae.py:bars" in command


def test_a_method_of_ones_own_without_a_decoder_has_a_page(tmp_path: Path) -> None:
    page = write_report([own_run(tmp_path / "run", "OwnEncoder")]).read_text()
    Checker(page)
    assert "could not be drawn" not in page and 'id="reconstructions"' not in page


def test_code_that_was_not_named_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = own_run(tmp_path / "run")
    forget_code(monkeypatch)
    with pytest.raises(CodeNotNamed, match=r"--method .*own_vae\.py:OwnAutoencoder"):
        write_report([run])
    use(f"{Path(__file__).parent / 'own_vae.py'}:OwnAutoencoder")
    with pytest.raises(CodeNotNamed, match=r"--data .*own_vae\.py:bars"):
        write_report([run])
    assert not (run.folder / "report.html").exists()


def test_figures_that_are_asked_for_are_drawn(folder: Path) -> None:
    own = f"{Path(__file__).parent / 'own_vae.py'}:sorted_images"
    checker = Checker(write_report([folder], figures=("swaps", own, "salient-grid")).read_text())
    assert "swaps" in checker.ids and "figure-sorted_images" in checker.ids
    assert not {"traversals", "reconstructions"} & set(checker.ids)
    with pytest.raises(ValueError, match="no figure 'swap'"):
        write_report([folder], figures=("swap",))
