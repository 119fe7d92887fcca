"""The explorer's file, src/unbraid/explore/page.py; tests/explore/test_browser.py looks at it in a browser."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from unbraid.custom_code import CodeNotNamed, use
from unbraid.explore import page, write_explorer
from unbraid.explore.page import json_for_script_tag, render
from unbraid.runs.folder import Run
from unbraid.studies.plan import Plan


def data_of(path: Path) -> dict:
    found = re.search(r'<script type="application/json" id="content">(.*?)</script>', path.read_text(), re.S)
    assert found is not None
    return json.loads(found[1])


def test_it_lies_in_the_run_unless_told_otherwise(folder: Path, tmp_path: Path) -> None:
    assert write_explorer(folder) == folder / "explorer.html"
    out = write_explorer(Run(folder), tmp_path / "pages" / "mine.html", examples=4)
    assert out == tmp_path / "pages" / "mine.html" and data_of(out)["examples"]["shown"] == 4
    assert data_of(out)["program"]["inputs"] == {"codes": 4}


def test_the_same_run_gives_the_same_page(folder: Path) -> None:
    assert write_explorer(folder).read_bytes() == write_explorer(folder).read_bytes()


def test_small_weights_are_kept_in_sixteen_bits(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    short = write_explorer(folder)
    kinds = ["int16" in constant for constant in data_of(short)["program"]["constants"].values()]
    size = short.stat().st_size
    monkeypatch.setattr(page, "reduced_precision_suffices", lambda *_: False)
    exact = write_explorer(folder)
    assert any(kinds) and exact.stat().st_size > 1.3 * size
    assert not any("int16" in constant for constant in data_of(exact)["program"]["constants"].values())


def test_a_page_that_would_be_wrong_is_not_written(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(*arguments: object) -> object:
        program = page.trace(*arguments)  # type: ignore[arg-type]
        return program._replace(constants={name: 2 * value for name, value in program.constants.items()})

    monkeypatch.setattr(page, "program_of", lambda model, found: wrong(model.method, None))
    with pytest.raises(ValueError, match="would not decode as PyTorch does"):
        write_explorer(folder)
    assert not (folder / "explorer.html").exists()


def test_a_model_too_large_names_the_way_out(runs: Callable[[str], Run], tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"11\.\d MB, more than the 8 MB.*--serve.*--max-size-mb"):
        write_explorer(runs("wide"), tmp_path / "wide.html")
    assert write_explorer(runs("wide"), tmp_path / "wide.html", max_bytes=20_000_000).exists()


def test_an_unfinished_run_and_no_run_are_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="not a run folder"):
        write_explorer(tmp_path)
    (folder / "finished.json").unlink()
    with pytest.raises(ValueError, match=r"unfinished.*--resume"):
        write_explorer(folder)


def test_a_strange_number_of_examples_is_refused(folder: Path) -> None:
    with pytest.raises(ValueError, match="from 2 to 128; got 1"):
        write_explorer(folder, examples=1)


def test_without_a_decoder_there_is_no_program(runs: Callable[[str], Run], tmp_path: Path) -> None:
    path = write_explorer(runs("cnn"), tmp_path / "cnn.html")
    assert "program" not in data_of(path)


def test_without_its_data_a_model_makes_its_examples(folder: Path) -> None:
    _forget_data(folder)
    content = data_of(write_explorer(folder))
    assert "decoded from samples of the prior" in content["note"] and content["factors"] == []


def test_without_data_and_decoder_there_is_nothing_to_explore(
    runs: Callable[[str], Run], tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(runs("cnn").folder, tmp_path / "copy"))
    _forget_data(folder)
    with pytest.raises(ValueError, match="no decoder and its dataset cannot be opened"):
        write_explorer(folder)


def test_no_text_can_break_out_of_the_data() -> None:
    text = json_for_script_tag({"</script><script>alert(1)</script>": "a & b \u2028 <!--"})
    assert not set("<>&\u2028\u2029") & set(text)
    assert json.loads(text) == {"</script><script>alert(1)</script>": "a & b \u2028 <!--"}


def test_the_policy_forbids_every_request(folder: Path) -> None:
    text = write_explorer(folder).read_text()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
    assert policy is not None
    rules = policy[1].replace("&#39;", "'")
    assert "default-src 'none'" in rules and "connect-src 'none'" in rules and "unsafe" not in rules
    assert "connect-src 'self'" in render(data_of(folder / "explorer.html"), served=True).replace(
        "&#39;", "'"
    )


OWN = Path(__file__).parents[1] / "report" / "own_vae.py"


def own_run(folder: Path, name: str) -> Run:
    options = {"architecture": "mlp-small", "latent_dim": 3, "steps": 2, "batch_size": 4}
    return Plan(f"{OWN}:{name}", f"{OWN}:bars", options).run(folder, quiet=True, device="cpu")


def test_a_method_of_ones_own_is_explored_with_and_without_a_decoder(tmp_path: Path) -> None:
    content = data_of(write_explorer(own_run(tmp_path / "decoding", "OwnAutoencoder"), examples=6))
    assert content["title"] == "OwnAutoencoder on bars" and content["program"]["inputs"] == {"codes": 3}
    assert content["sentence"] == "A plain autoencoder with figures of its own."
    content = data_of(write_explorer(own_run(tmp_path / "encoding", "OwnEncoder"), examples=6))
    assert "program" not in content and [factor["name"] for factor in content["factors"]] == [
        "position",
        "width",
    ]


def test_code_that_was_not_named_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = own_run(tmp_path / "run", "OwnAutoencoder")
    monkeypatch.setattr("unbraid.custom_code._named", {})
    with pytest.raises(CodeNotNamed, match=r"--method .*own_vae\.py:OwnAutoencoder"):
        write_explorer(run)
    use(f"{OWN}:OwnAutoencoder")
    with pytest.raises(CodeNotNamed, match=r"--data .*own_vae\.py:bars"):
        write_explorer(run)
    use(f"{OWN}:bars")
    assert write_explorer(run).is_file()


def _forget_data(folder: Path) -> None:
    settings = json.loads((folder / "run.json").read_text())
    settings["data"]["origin"] = None
    (folder / "run.json").write_text(json.dumps(settings))
