"""The explorer in a browser, opened from disk: what it shows is what PyTorch decodes, and nothing leaves it."""

import base64
import io
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from unbraid.data.dataset import Dataset
from unbraid.data.factors import FactorSpace
from unbraid.explore import write_explorer
from unbraid.explore.examples import examples_from_data
from unbraid.explore.page import SCRIPTS
from unbraid.explore.server import application
from unbraid.runs.folder import Run
from unbraid.runs.model import load
from unbraid.runs.run_dataset import training_dataset

playwright = pytest.importorskip("playwright.sync_api", reason="tests in a browser need playwright")
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")
DECODE = """async ([codes, condition]) => {
  const frames = [];
  for (let row = 0; row < codes.length; row++) {
    frames.push(await decode(Float32Array.from(codes[row]), Float32Array.from(condition[row] ?? [])));
  }
  const bytes = frames.flatMap((frame) => [...new Uint8Array(frame.buffer)]);
  return btoa(bytes.map((byte) => String.fromCharCode(byte)).join(""));
}"""
FIRST, SECOND = ("[data-slot=first] .live", "[data-slot=second] .live")
SETTLED = "() => delays.size === 0 && (!queue || (!queue.busy && queue.waiting.size === 0))"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def paths(
    runs: Callable[[str], Run], run: Run, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], Path]:
    """The page of a run by its name, written once."""
    folder, written = tmp_path_factory.mktemp("pages"), {}

    def path(name: str) -> Path:
        if name not in written:
            written[name] = write_explorer(runs(name), folder / f"{name}.html", examples=12)
        return written[name]

    return path


@pytest.fixture
def opened(browser: Any, paths: Callable[[str], Path]) -> Iterator[Callable[..., Any]]:
    """Opens a page; at the end, none may have complained or asked for anything."""
    pages, complaints = [], []

    def open_(name: str | Path, fragment: str = "", **how: Any) -> Any:
        page = browser.new_page(**how)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda message: complaints.append(message.text))
        page.on("dialog", lambda dialog: complaints.append(dialog.message))
        page.on("request", lambda request: complaints.append(request.url) if _outside(request.url) else None)
        path = paths(name) if isinstance(name, str) else name
        page.goto(path.as_uri() + fragment)
        page.wait_for_function(SETTLED)
        pages.append(page)
        return page

    yield open_
    for page in pages:
        page.close()
    assert complaints == []


def picture(page: Any, selector: str) -> np.ndarray:
    """The pixels of a canvas, red, green and blue."""
    text = page.evaluate("(selector) => document.querySelector(selector).toDataURL()", selector)
    file = io.BytesIO(base64.b64decode(text.partition(",")[2]))
    return np.asarray(Image.open(file).convert("RGB")).astype(int)


def _outside(url: str) -> bool:
    return not url.startswith(("file:///", "blob:null/", "data:image/"))


@pytest.mark.parametrize("name", ["beta-vae", "contrast", "layer-norm", "cvib", "flow"])
def test_a_hundred_codes_decode_as_in_pytorch(
    opened: Callable[..., Any], runs: Callable[[str], Run], name: str
) -> None:
    page, run = opened(name), runs(name)
    model = load(run.folder, device="cpu")
    generator = torch.Generator().manual_seed(0)
    codes = torch.randn(100, model.strands.size, generator=generator)
    condition = None
    if model.method.conditions_on == "nuisances":
        dataset = training_dataset(run)
        condition = examples_from_data(model, dataset, size=100).condition
    right = model.decode(codes, condition=condition).numpy()
    rows = [[]] * 100 if condition is None else condition.tolist()
    found = np.frombuffer(base64.b64decode(page.evaluate(DECODE, [codes.tolist(), rows])), "<f4")
    found = found.reshape(right.shape)
    assert np.abs(found - right).max() < 1 / 255


VALUES = "() => [...document.querySelectorAll('.values')].map((list) => list.innerText.split(/\\s+/))"


def test_rows_are_shown_in_the_units_of_their_table(
    opened: Callable[..., Any], tabular: Run, tmp_path: Path
) -> None:
    page = opened(write_explorer(tabular, tmp_path / "page.html", examples=4))
    codes = torch.tensor(page.evaluate("['first', 'second'].map((slot) => [...state.codes[slot]])"))
    right = load(tabular.folder, device="cpu").decode(codes).tolist()
    for (first, income, second, rate), row in zip(page.evaluate(VALUES), right, strict=True):
        assert (first, second) == ("income", "rate")
        assert [float(income), float(rate)] == pytest.approx(row, rel=1e-3)


def test_moving_a_slider_changes_the_picture(opened: Callable[..., Any], run: Run) -> None:
    page = opened("beta-vae")
    before, second = picture(page, FIRST), picture(page, SECOND)
    code = page.evaluate("state.dim")
    page.locator(f"input[data-code='{code}']").fill(str(page.evaluate(f"ranges[size + {code}]")))
    page.wait_for_function(SETTLED)
    after = picture(page, FIRST)
    assert (before != after).any() and (picture(page, SECOND) == second).all()
    codes = torch.tensor(page.evaluate("[...state.codes.first]"))
    right = (load(run.folder, device="cpu").decode(codes)[0, 0] * 255).numpy()
    assert np.abs(after[..., 0] - right).max() <= 1


def test_swap_and_zero_are_those_of_the_library(
    opened: Callable[..., Any], runs: Callable[[str], Run]
) -> None:
    page, model = opened("contrast"), load(runs("contrast").folder, device="cpu")

    def codes() -> list[torch.Tensor]:
        return [torch.tensor([page.evaluate(f"[...state.codes.{slot}]")]) for slot in ("first", "second")]

    a, b = codes()
    for strand in ("salient", "common"):
        page.select_option("#strand", strand)
        page.click("[data-do=swap]")
        a, b = model.strands.swap(a, b, strand)
        assert [part.tolist() for part in codes()] == [a.tolist(), b.tolist()]
        page.click("[data-do=zero]")
        a = model.strands.zero(a, strand)
        assert codes()[0].tolist() == a.tolist()
    page.click("[data-do=reset]")
    page.wait_for_function(SETTLED)
    assert codes()[0].tolist() != a.tolist()
    assert "Example 1" in page.locator("#examples button").first.get_attribute("aria-label")


def test_averages_and_draws_change_one_strand(opened: Callable[..., Any], runs: Callable[[str], Run]) -> None:
    run = runs("contrast")
    page, model = opened("contrast"), load(run.folder, device="cpu")
    examples = examples_from_data(model, training_dataset(run))
    position = next(i for i, factor in enumerate(examples.factors) if factor.name == examples.label)
    groups = torch.as_tensor(examples.factors[position].value_index)
    known = groups >= 0
    right = model.strands.average(examples.codes[known], "salient", groups[known])[0]
    page.select_option("#strand", "salient")
    page.select_option("#over", str(position))
    page.click("[data-do=average]")
    assert np.allclose(page.evaluate("[...state.codes.first]"), right.numpy(), atol=1e-5)
    page.click("[data-do=randomize]")
    drawn_codes = np.array(page.evaluate("[...state.codes.first]"))
    common, salient = list(model.strands["common"]), list(model.strands["salient"])
    assert np.allclose(drawn_codes[common], right.numpy()[common])
    assert (drawn_codes[salient] != right.numpy()[salient]).all()


def test_neighbors_are_the_nearest_in_a_strand(
    opened: Callable[..., Any], runs: Callable[[str], Run]
) -> None:
    run = runs("contrast")
    page, model = opened("contrast"), load(run.folder, device="cpu")
    codes = examples_from_data(model, training_dataset(run)).codes[:48]
    for strand in ("common", "salient"):
        page.select_option("#near", strand)
        own = codes[:, list(model.strands[strand])]
        right = torch.cdist(own[:1], own)[0].argsort()[1:11]  # itself left out
        shown = page.locator("#neighbors button").evaluate_all(
            "all => all.map(one => Number(one.dataset.row))"
        )
        assert shown == right.tolist()


def test_a_traversal_shows_where_a_dimension_acts(opened: Callable[..., Any]) -> None:
    page = opened("beta-vae")
    frames = [picture(page, f"#strip button:nth-child({index}) canvas") for index in (1, 5, 9)]
    assert (frames[0] != frames[1]).any() and (frames[1] != frames[2]).any()
    assert "% of the image" in page.inner_text("#heat-note")
    page.click("#strip button:nth-child(9)")
    assert page.evaluate("state.codes.first[state.dim]") == pytest.approx(page.evaluate("valueAt(8)"))


def test_the_heat_is_where_pixels_differ(opened: Callable[..., Any]) -> None:
    """One of four pixels moves between 0 and 1: spread one half there, none elsewhere."""
    found = opened("beta-vae").evaluate("affected([[0, 1, 1, 1], [1, 1, 1, 1]], [1, 2, 2])")
    assert list(found["heat"]) == [1, 0, 0, 0]
    assert found["share"] == 0.25 and found["max"] == 0.5


def test_it_can_be_used_by_keys_alone(opened: Callable[..., Any]) -> None:
    page = opened("contrast")
    page.focus("#examples button")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    assert page.evaluate("state.example.first") == 2
    page.keyboard.press("2")
    assert page.evaluate("state.editing") == "second"
    page.focus("input[type=range]")
    code = page.evaluate("state.dim")
    before = page.evaluate(f"state.codes.second[{code}]")
    page.keyboard.press("ArrowRight")
    assert page.evaluate(f"state.codes.second[{code}]") > before
    page.keyboard.press("]")
    assert page.evaluate("state.dim") != code
    page.keyboard.press("z")
    assert all(page.evaluate("dimsOf(state.strand).map(code => state.codes.second[code] === 0)"))
    assert page.inner_text("#message").startswith("Strand salient of the second image set to zero")


def test_a_link_restores_the_state(opened: Callable[..., Any]) -> None:
    page = opened("contrast")
    page.click("#examples button:nth-child(5)")
    page.keyboard.press("2")
    page.locator("input[type=range]").nth(1).fill("1.5")
    page.select_option("#strand", "common")
    page.select_option("#near", "salient")
    page.wait_for_function(SETTLED)
    state = page.evaluate("JSON.stringify([state, find('near').value])")
    other = opened("contrast", "#" + page.url.partition("#")[2])
    assert json.loads(other.evaluate("JSON.stringify([state, find('near').value])")) == json.loads(state)
    assert (picture(other, SECOND) == picture(page, SECOND)).all()


def test_a_link_that_makes_no_sense_does_no_harm(opened: Callable[..., Any]) -> None:
    page = opened(
        "beta-vae", "#first=999&second=-1&dim=x&strand=none&first-codes=9:1,0:nan,1:0.5,&edit=third"
    )
    assert page.evaluate("state.example") == {"first": 0, "second": 1}
    assert page.evaluate("state.codes.first[1]") == 0.5 and page.evaluate("state.editing") == "first"


def test_cells_are_explained(opened: Callable[..., Any]) -> None:
    page = opened("beta-vae")
    page.hover("#matrix tbody tr:nth-child(2) td:nth-child(3)")
    sentence, dim = page.inner_text("#cell"), page.inner_text("#matrix tbody tr:nth-child(2) th")
    assert sentence.startswith(f"Dimension {dim}: ") and "% of the importance for scale" in sentence
    page.focus("#matrix button")
    page.keyboard.press("ArrowDown")
    sentence = page.inner_text("#cell")
    assert sentence.startswith(f"Dimension {dim}: ") and "% of the importance for shape" in sentence
    assert "kl" in page.inner_text("#score-list")


def test_an_encoder_alone_shows_neighbors(opened: Callable[..., Any], runs: Callable[[str], Run]) -> None:
    page, run = opened("cnn"), runs("cnn")
    assert page.locator("#neighbors button").count() == 10 and not page.is_visible("#codes")
    page.click("#examples button:nth-child(4)")
    page.wait_for_function(SETTLED)
    codes = examples_from_data(load(run.folder, device="cpu"), training_dataset(run)).codes[:48]
    right = torch.cdist(codes[3:4], codes)[0].argsort()[1:11]
    shown = page.locator("#neighbors button").evaluate_all("all => all.map(one => Number(one.dataset.row))")
    assert shown == right.tolist()


def test_names_cannot_inject_script(
    opened: Callable[..., Any], run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from unbraid.methods.autoencoder import Autoencoder
    from unbraid.strands import Strands

    bad = '<img src=x onerror="alert(1)"><script>alert(2)</script>'
    images = torch.randint(0, 256, (6, 1, 32, 32), dtype=torch.uint8)
    dataset = Dataset(
        images,
        name=bad,
        factor_space=FactorSpace({bad: 2, "b</script>": 3}),
        value_names={bad: [bad, "</script><script>alert(3)</script>"]},
        label=bad,
    )
    monkeypatch.setattr(Autoencoder, "strands", Strands({bad: range(4)}, size=4))
    folder = Path(shutil.copytree(run.folder, tmp_path / "copy"))
    settings = json.loads((folder / "run.json").read_text())
    settings["data"]["name"] = bad
    (folder / "run.json").write_text(json.dumps(settings))
    (folder / "scores.json").unlink()
    page = opened(write_explorer(folder, dataset=dataset))
    assert page.locator("img").count() == 0 and page.locator("script").count() == 1 + len(SCRIPTS)
    page.click("[data-do=average]")
    assert bad in page.inner_text("#message") and bad in page.inner_text("h1")
    assert bad in page.inner_text("#groups summary")


@pytest.mark.parametrize("name", ["beta-vae", "contrast", "cnn", "flow"])
def test_nothing_is_wider_than_the_window(opened: Callable[..., Any], name: str) -> None:
    page = opened(name, color_scheme="dark")
    heights = "all => all.filter(one => one.offsetParent).map(one => one.offsetHeight)"
    for width in (1440, 800, 390):
        page.set_viewport_size({"width": width, "height": 844})
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        assert min(page.locator("button, select").evaluate_all(heights)) >= 20


def test_a_served_page_decodes_by_its_server(browser: Any, run: Run) -> None:
    pytest.importorskip("uvicorn", reason="the server needs the extra `serve`")
    from tests.explore.serving import serving

    complaints: list[str] = []
    page = browser.new_page()
    with serving(application(run, examples=4)) as port:
        address = f"http://127.0.0.1:{port}/"
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda message: complaints.append(message.text))
        page.on("request", lambda request: complaints.append(request.url))
        page.goto(address)
        page.wait_for_function(SETTLED)
        codes = torch.tensor(page.evaluate("[...state.codes.first]"))
        right = (load(run.folder, device="cpu").decode(codes)[0, 0] * 255).numpy()
        assert np.abs(picture(page, FIRST)[..., 0] - right).max() <= 1
    page.click("[data-do=zero]")
    page.wait_for_function("() => find('message').textContent.startsWith('The server did not answer')")
    page.close()
    complaints = [one for one in complaints if "ERR_CONNECTION_REFUSED" not in one]
    assert [one for one in complaints if not one.startswith((address, "data:image/"))] == []
    assert f"{address}decode" in complaints


def test_everything_has_a_name_for_screen_readers(opened: Callable[..., Any]) -> None:
    nameless = """() => [...document.querySelectorAll('button, input, select, canvas[role=img], section, [role=group]')]
      .filter(one => one.offsetParent && !one.getAttribute('aria-label') && !one.getAttribute('aria-labelledby')
        && !one.closest('label') && !one.textContent.trim())
      .map(one => one.outerHTML.slice(0, 120))"""
    assert opened("contrast").evaluate(nameless) == []
