"""The user's own images, archives and arrays, src/unbraid/data/files.py."""

import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from torch.testing import assert_close

from unbraid.data.draws import Pairs
from unbraid.data.files import archive, array, folder, image_files, read_image
from unbraid.evaluate import evaluate
from unbraid.methods import VAE
from unbraid.methods.assemble import assemble

RANDOM = np.random.default_rng(0)
GREY = RANDOM.integers(0, 256, (6, 8, 8), dtype=np.uint8)
COLOUR = RANDOM.integers(0, 256, (6, 8, 8, 3), dtype=np.uint8)
ROWS = torch.arange(6)


def paint(
    path: Path, colour: int | tuple[int, ...], *, mode: str = "RGB", size: tuple[int, int] = (8, 8)
) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new(mode, size, colour).save(path)


def pixels(path: Path, **options: Any) -> torch.Tensor:
    """The middle pixel of every image of a folder, in bytes."""
    dataset = folder(path, **options)
    seen = dataset.observe(torch.arange(len(dataset))) * 255
    middle = dataset.shape[1] // 2
    return seen[:, :, middle, middle].round()


def test_a_flat_folder_has_no_factors(tmp_path: Path) -> None:
    paint(tmp_path / "b.png", (1, 2, 3))
    paint(tmp_path / "a.jpg", (200, 200, 200))
    (tmp_path / "notes.txt").write_text("not an image")
    paint(tmp_path / ".hidden.png", (9, 9, 9))
    paint(tmp_path / ".thumbnails" / "c.png", (9, 9, 9))
    dataset = folder(tmp_path, size=4)
    assert dataset.space is None
    assert dataset.shape == (3, 4, 4)
    assert dataset.name == tmp_path.name
    assert_close(pixels(tmp_path, size=4), torch.tensor([[200.0, 200, 200], [1, 2, 3]]))


def test_class_folders_are_labels(tmp_path: Path) -> None:
    for name, value in [("cats/1.png", 10), ("cats/2.png", 11), ("dogs/1.png", 20)]:
        paint(tmp_path / name, value, mode="L")
    dataset = folder(tmp_path, size=8)
    rows = torch.arange(3)
    assert dataset.shape == (1, 8, 8)
    assert_close(dataset.roles(dataset.factors(rows))[0], torch.tensor([0, 0, 1]))
    assert dataset.value_names == {"label": ["cats", "dogs"]}
    assert_close(pixels(tmp_path, size=8)[:, 0], torch.tensor([10.0, 11, 20]))


@pytest.mark.parametrize(
    "names", [["cats/1.png", "cats/2.png"], ["a/1.png", "b/c/2.png"], ["1.png", "a/2.png"]]
)
def test_one_class_or_mixed_depths_give_no_labels(tmp_path: Path, names: list[str]) -> None:
    for name in names:
        paint(tmp_path / name, 5, mode="L")
    assert folder(tmp_path).space is None
    assert len(folder(tmp_path)) == 2


def test_scores_of_classes_are_called_as_their_folders(tmp_path: Path) -> None:
    for name in (f"{kind}/{place}.png" for kind in ("cats", "dogs") for place in range(6)):
        paint(tmp_path / name, len(name), mode="L")
    data = folder(tmp_path, size=8)
    method = assemble(VAE, data.shape, architecture="mlp-small", codes=2, n=12)
    scores = evaluate(method, data, ["class_accuracy"], samples=0, test_samples=0)
    found = {score["metric"] for score in scores if "per_class" in score["metric"]}
    assert found == {"class_accuracy.per_class.cats", "class_accuracy.per_class.dogs"}


def test_one_coloured_image_makes_all_of_them_coloured(tmp_path: Path) -> None:
    paint(tmp_path / "a.png", 7, mode="L")
    paint(tmp_path / "b.png", (1, 2, 3))
    assert_close(pixels(tmp_path, size=4), torch.tensor([[7.0, 7, 7], [1, 2, 3]]))


def test_the_middle_square_is_kept(tmp_path: Path) -> None:
    wide = np.zeros((4, 12), np.uint8)
    wide[:, 4:8] = 255
    Image.fromarray(wide).save(tmp_path / "a.png")
    dataset = folder(tmp_path, size=4)
    assert_close(dataset.observe(torch.tensor([0])), torch.ones(1, 1, 4, 4))


def test_transparent_palette_deep_and_rotated_images(tmp_path: Path) -> None:
    paint(tmp_path / "a.png", (200, 100, 50, 0), mode="RGBA")  # wholly transparent: black
    paint(tmp_path / "b.png", (200, 100, 50, 255), mode="RGBA")
    Image.new("RGB", (8, 8), (10, 20, 30)).convert("P", palette=Image.Palette.ADAPTIVE).save(
        tmp_path / "c.png"
    )
    Image.fromarray(np.full((8, 8), 257 * 40, np.uint16)).save(tmp_path / "d.png")
    paint(tmp_path / "e.png", (60, 255), mode="LA")
    assert_close(
        pixels(tmp_path),
        torch.tensor([[0.0, 0, 0], [200, 100, 50], [10, 20, 30], [40, 40, 40], [60, 60, 60]]),
    )
    turned = Image.fromarray(np.kron([[255, 0], [0, 0]], np.ones((4, 4))).astype(np.uint8))
    exif = turned.getexif()
    exif[0x0112] = 6  # to be turned clockwise
    turned.save(tmp_path / "turned.png", exif=exif)
    assert read_image(tmp_path / "turned.png", (1, 8, 8))[0, 0].tolist() == [0] * 4 + [255] * 4


def test_a_broken_image_is_named_and_skipped_only_on_request(tmp_path: Path) -> None:
    paint(tmp_path / "a.png", (1, 2, 3))
    whole = io.BytesIO()
    Image.fromarray(COLOUR[0]).save(whole, "PNG")
    broken = tmp_path / "broken.png"
    for content in (b"nonsense", b"", whole.getvalue()[:-60]):
        broken.write_bytes(content)
        with pytest.raises(ValueError, match=f"^{broken} cannot be read as an image") as caught:
            folder(tmp_path)
        assert "--skip-broken" in str(caught.value)
        assert "\n" not in str(caught.value)
        assert len(folder(tmp_path, skip_broken=True)) == 1


def test_folders_without_images(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="holds no images"):
        folder(tmp_path)
    (tmp_path / "broken.png").write_bytes(b"nonsense")
    with pytest.raises(ValueError, match="holds no images"):
        folder(tmp_path, skip_broken=True)
    with pytest.raises(FileNotFoundError, match="is not a folder"):
        folder(tmp_path / "missing")
    with pytest.raises(ValueError, match="got size=0"):
        folder(tmp_path, size=0)


def test_a_single_image_in_the_shape_a_model_knows(tmp_path: Path) -> None:
    paint(tmp_path / "a.png", (100, 100, 100), size=(20, 10))
    assert_close(read_image(tmp_path / "a.png", (1, 4, 4)), torch.full((1, 4, 4), 100, dtype=torch.uint8))
    paint(tmp_path / "b.png", 30, mode="L")
    assert_close(read_image(tmp_path / "b.png", (3, 4, 4)), torch.full((3, 4, 4), 30, dtype=torch.uint8))
    assert [file.name for file in image_files(tmp_path)] == ["a.png", "b.png"]
    (tmp_path / "c.png").write_bytes(b"nonsense")
    with pytest.raises(ValueError, match=r"c.png cannot be read as an image \(its content is no image\)"):
        read_image(tmp_path / "c.png", (3, 4, 4))
    with pytest.raises(FileNotFoundError, match="does not exist"):
        read_image(tmp_path / "d.png", (3, 4, 4))


@pytest.mark.parametrize(
    ("images", "expected"),
    [
        (GREY, GREY[:, None] / 255),
        (COLOUR, COLOUR.transpose(0, 3, 1, 2) / 255),
        (COLOUR.transpose(0, 3, 1, 2), COLOUR.transpose(0, 3, 1, 2) / 255),
        (COLOUR / 255, COLOUR.transpose(0, 3, 1, 2) / 255),
        (GREY.astype(np.int64), GREY[:, None] / 255),
        (GREY > 100, (GREY > 100)[:, None] * 1.0),
        ((GREY > 100).astype(np.uint8), (GREY > 100)[:, None] * 1.0),
        (torch.from_numpy(GREY), GREY[:, None] / 255),
        (np.zeros((6, 12, 9, 9), np.uint8), np.zeros((6, 12, 9, 9))),
        (np.zeros((6, 9, 9, 12), np.uint8), np.zeros((6, 12, 9, 9))),
        (np.arange(12.0).reshape(6, 2) - 5, np.arange(12.0).reshape(6, 2) - 5),
    ],
)
def test_every_layout_comes_out_the_same(images: Any, expected: np.ndarray) -> None:
    seen = array(images).observe(ROWS)
    assert_close(seen, torch.from_numpy(expected).float())
    assert seen.is_contiguous()


def test_factors_need_not_cover_the_grid() -> None:
    factors = np.array([[0, 0], [0, 2], [1, 2], [1, 2], [2, 0], [0, 2]])
    dataset = array(GREY, factors, ["colour", "digit"], "own")
    assert dataset.space.sizes == (3, 3)
    assert len(dataset.space) == 4
    assert_close(dataset.factors(ROWS), torch.from_numpy(factors))
    batch = Pairs("exactly", k=1)(dataset, 200, torch.Generator().manual_seed(0), torch.tensor(0))
    assert_close((batch.factors != batch.factors2).sum(1), torch.ones(200, dtype=torch.long))


def test_labels_are_one_more_factor() -> None:
    labels = np.array([0, 1, 1, 0, 2, 2])
    dataset = array(GREY, labels=labels)
    assert dataset.space.names == ("label",)
    assert_close(dataset.roles(dataset.factors(ROWS))[0], torch.from_numpy(labels))
    both = array(GREY, np.arange(6)[:, None] % 2, labels=labels)
    assert both.space.names == ("factor_0", "label")
    named = array(GREY, labels[:, None], ["label"])
    assert named.label == "label"


def test_an_archive_holds_the_same(tmp_path: Path) -> None:
    factors, labels = np.arange(12).reshape(6, 2) % 4, np.arange(6) % 3
    path = tmp_path / "mine.npz"
    np.savez(path, images=COLOUR, factors=factors, names=np.array(["a", "b"]), labels=labels, extra=labels)
    dataset = archive(path)
    assert dataset.name == "mine"
    assert dataset.space.names == ("a", "b", "label")
    assert_close(dataset.factors(ROWS), torch.from_numpy(np.concatenate([factors, labels[:, None]], 1)))
    np.savez(path, images=GREY)
    assert archive(str(path)).space is None


NAN = np.where(np.arange(64).reshape(1, 8, 8) == 3, np.nan, 0.5).repeat(6, 0)
MISTAKES: dict[str, tuple[dict[str, Any], str]] = {
    "nan": (
        {"images": NAN},
        "has pixels that are not finite .* first in row 0: mend or take out such images",
    ),
    "infinite rows": ({"images": np.array([[1.0], [np.inf]])}, "not finite .* in row 1: .*--impute mean"),
    "range": ({"images": COLOUR * 1.0}, "floats from 0 to 1; got float64 from"),
    "negative": ({"images": GREY.astype(int) - 300}, "from 0 to 255 or floats"),
    "shape": ({"images": np.zeros(5)}, r"got \(5,\)"),
    "deep": ({"images": np.zeros((2, 2, 2, 2, 2))}, r"got \(2, 2, 2, 2, 2\)"),
    "empty": ({"images": np.zeros((0, 8, 8))}, r"got \(0, 8, 8\)"),
    "text": ({"images": np.array([["a"]])}, "must hold numbers"),
    "too few factors": ({"images": GREY, "factors": np.zeros((5, 2), int)}, r"shape \(6, k\)"),
    "flat factors": ({"images": GREY, "factors": np.zeros(6, int)}, r"shape \(6, k\)"),
    "float factors": ({"images": GREY, "factors": np.zeros((6, 1))}, "whole numbers from 0 on; got float64"),
    "negative factors": ({"images": GREY, "factors": np.full((6, 1), -1)}, "whole numbers from 0 on"),
    "huge factors": ({"images": GREY, "factors": np.full((6, 2), 2**40)}, "too many combinations"),
    "no factors": ({"images": GREY, "factors": np.zeros((6, 0), int)}, r"shape \(6, k\)"),
    "names": ({"images": GREY, "factors": np.zeros((6, 2), int), "names": ["a"]}, "2 different names"),
    "same names": ({"images": GREY, "factors": np.zeros((6, 2), int), "names": ["a", "a"]}, "2 different"),
    "labels": ({"images": GREY, "labels": np.zeros((6, 2), int)}, "one label for each"),
    "few factors with labels": (
        {"images": GREY, "factors": np.zeros((5, 2), int), "labels": np.zeros(6, int)},
        r"shape \(6, k\)",
    ),
}
mistakes = pytest.mark.parametrize(("arrays", "sentence"), MISTAKES.values(), ids=MISTAKES)


@mistakes
def test_mistakes_in_arrays_get_one_sentence(arrays: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence) as caught:
        array(**arrays)
    assert "\n" not in str(caught.value)


@mistakes
def test_mistakes_in_archives_name_the_file(tmp_path: Path, arrays: dict[str, Any], sentence: str) -> None:
    np.savez(tmp_path / "mine.npz", **arrays)
    with pytest.raises(ValueError, match=sentence) as caught:
        archive(tmp_path / "mine.npz")
    assert "mine" in str(caught.value)
    assert "\n" not in str(caught.value)


def _pickled(path: Path) -> None:
    np.savez(path, images=np.array([{}], dtype=object))


def _cut(path: Path) -> None:
    np.savez(path, images=GREY)
    path.write_bytes(path.read_bytes()[:200])


def _no_images(path: Path) -> None:
    np.savez(path, pictures=GREY)


def _one_array(path: Path) -> None:
    with path.open("wb") as file:
        np.save(file, GREY)


def _other_zip(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("images.npy", b"nonsense")


def _damaged(path: Path) -> None:
    np.savez_compressed(path, images=GREY)
    content = bytearray(path.read_bytes())
    content[200:210] = bytes(10)
    path.write_bytes(content)


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (_pickled, "Python objects"),
        (_cut, "mine.npz is no .npz file, or cut short"),
        (_no_images, "no array `images`, only pictures"),
        (_one_array, "mine.npz is no .npz file"),
        (_other_zip, "its entries are no arrays"),
        (_damaged, "mine.npz cannot be read as an .npz of images"),
        (lambda path: path.write_bytes(b""), "mine.npz is no .npz file"),
        (lambda path: path.write_text("hello"), "mine.npz is no .npz file"),
    ],
)
def test_files_that_are_no_archives(tmp_path: Path, spoil: Callable[[Path], None], reason: str) -> None:
    spoil(tmp_path / "mine.npz")
    with pytest.raises(ValueError, match=reason) as caught:
        archive(tmp_path / "mine.npz")
    assert "\n" not in str(caught.value)
    assert "allow_pickle" not in str(caught.value)


def test_an_npy_file_is_images_or_rows_alone(tmp_path: Path) -> None:
    path = tmp_path / "mine.npy"
    for content in (GREY, np.arange(6.0).reshape(3, 2)):
        np.save(path, content)
        assert_close(archive(path).observe(torch.arange(3)), array(content).observe(torch.arange(3)))
    assert archive(path).name == "mine"
    np.save(path, np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match=r"mine\.npy cannot be read as an \.npy.*Python objects"):
        archive(path)
    for spoil in (_cut, lambda path: path.write_bytes(b"")):
        spoil(path)
        with pytest.raises(ValueError, match=r"mine\.npy cannot be read as an \.npy"):
            archive(path)


def test_a_missing_archive(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="does not exist"):
        archive(tmp_path / "missing.npz")


def test_rows_with_nuisances_from_an_archive(tmp_path: Path) -> None:
    rows, labels, nuisances = np.arange(8.0).reshape(4, 2), np.array([0, 1, 1, 0]), np.array([2, 0, 1, 1])
    np.savez(tmp_path / "table.npz", rows=rows, labels=labels, nuisances=nuisances)
    dataset = archive(tmp_path / "table.npz")
    assert (dataset.label, dataset.nuisances) == ("label", ("nuisance",))
    found = dataset.roles(dataset.factors(torch.arange(4)))
    assert found[0].tolist() == labels.tolist() and found[1][:, 0].tolist() == nuisances.tolist()
    two = array(rows, nuisances=np.stack([labels, nuisances], 1))
    assert two.nuisances == ("nuisance_0", "nuisance_1") and two.label is None
    with pytest.raises(ValueError, match=r"nuisances of shape \(4,\) or \(4, m\)"):
        array(rows, nuisances=nuisances[:2])
    np.savez(tmp_path / "both.npz", rows=rows, images=rows)
    with pytest.raises(ValueError, match="both `images` and `rows`"):
        archive(tmp_path / "both.npz")
