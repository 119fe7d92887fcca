"""Image files and folders, src/unbraid/data/image_folder.py."""

import io
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from torch.testing import assert_close

from unbraid.data.image_folder import image_files, image_folder, read_image
from unbraid.evaluation.evaluate import evaluate
from unbraid.methods import VAE
from unbraid.methods.base import build_method

COLOR = np.random.default_rng(0).integers(0, 256, (8, 8, 3), dtype=np.uint8)


def paint(
    path: Path, color: int | tuple[int, ...], *, mode: str = "RGB", size: tuple[int, int] = (8, 8)
) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new(mode, size, color).save(path)


def pixels(path: Path, **options: Any) -> torch.Tensor:
    """The middle pixel of every image of a folder, in bytes."""
    dataset = image_folder(path, **options)
    seen = dataset.observe(torch.arange(len(dataset))) * 255
    middle = dataset.shape[1] // 2
    return seen[:, :, middle, middle].round()


def test_a_flat_folder_has_no_factors(tmp_path: Path) -> None:
    paint(tmp_path / "b.png", (1, 2, 3))
    paint(tmp_path / "a.jpg", (200, 200, 200))
    (tmp_path / "notes.txt").write_text("not an image")
    paint(tmp_path / ".hidden.png", (9, 9, 9))
    paint(tmp_path / ".thumbnails" / "c.png", (9, 9, 9))
    dataset = image_folder(tmp_path, image_size=4)
    assert dataset.factor_space is None
    assert dataset.shape == (3, 4, 4)
    assert dataset.name == tmp_path.name
    assert_close(pixels(tmp_path, image_size=4), torch.tensor([[200.0, 200, 200], [1, 2, 3]]))


def test_class_folders_are_labels(tmp_path: Path) -> None:
    for name, value in [("cats/1.png", 10), ("cats/2.png", 11), ("dogs/1.png", 20)]:
        paint(tmp_path / name, value, mode="L")
    dataset = image_folder(tmp_path, image_size=8)
    rows = torch.arange(3)
    assert dataset.shape == (1, 8, 8)
    assert_close(dataset.labels_and_nuisances(dataset.factors(rows))[0], torch.tensor([0, 0, 1]))
    assert dataset.value_names == {"label": ["cats", "dogs"]}
    assert_close(pixels(tmp_path, image_size=8)[:, 0], torch.tensor([10.0, 11, 20]))


@pytest.mark.parametrize(
    "names", [["cats/1.png", "cats/2.png"], ["a/1.png", "b/c/2.png"], ["1.png", "a/2.png"]]
)
def test_one_class_or_mixed_depths_give_no_labels(tmp_path: Path, names: list[str]) -> None:
    for name in names:
        paint(tmp_path / name, 5, mode="L")
    assert image_folder(tmp_path).factor_space is None
    assert len(image_folder(tmp_path)) == 2


def test_scores_of_classes_are_called_as_their_folders(tmp_path: Path) -> None:
    for name in (f"{kind}/{index}.png" for kind in ("cats", "dogs") for index in range(6)):
        paint(tmp_path / name, len(name), mode="L")
    data = image_folder(tmp_path, image_size=8)
    method = build_method(VAE, data.shape, architecture="mlp-small", latent_dim=2, n=12)
    scores = evaluate(method, data, ["class_accuracy"], num_samples=0, num_test_samples=0)
    found = {score["metric"] for score in scores if "per_class" in score["metric"]}
    assert found == {"class_accuracy.per_class.cats", "class_accuracy.per_class.dogs"}


def test_one_colored_image_makes_all_of_them_colored(tmp_path: Path) -> None:
    paint(tmp_path / "a.png", 7, mode="L")
    paint(tmp_path / "b.png", (1, 2, 3))
    assert_close(pixels(tmp_path, image_size=4), torch.tensor([[7.0, 7, 7], [1, 2, 3]]))


def test_the_middle_square_is_kept(tmp_path: Path) -> None:
    wide = np.zeros((4, 12), np.uint8)
    wide[:, 4:8] = 255
    Image.fromarray(wide).save(tmp_path / "a.png")
    dataset = image_folder(tmp_path, image_size=4)
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
    Image.fromarray(COLOR).save(whole, "PNG")
    broken = tmp_path / "broken.png"
    for content in (b"nonsense", b"", whole.getvalue()[:-60]):
        broken.write_bytes(content)
        with pytest.raises(ValueError, match=f"^{broken} cannot be read as an image") as caught:
            image_folder(tmp_path)
        assert "--skip-broken" in str(caught.value)
        assert "\n" not in str(caught.value)
        assert len(image_folder(tmp_path, skip_broken=True)) == 1


def test_folders_without_images(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="holds no images"):
        image_folder(tmp_path)
    (tmp_path / "broken.png").write_bytes(b"nonsense")
    with pytest.raises(ValueError, match="holds no images"):
        image_folder(tmp_path, skip_broken=True)
    with pytest.raises(FileNotFoundError, match="is not a folder"):
        image_folder(tmp_path / "missing")
    with pytest.raises(ValueError, match="got image_size=0"):
        image_folder(tmp_path, image_size=0)


def test_a_single_image_in_a_given_shape(tmp_path: Path) -> None:
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


def bomb(path: Path, side: int) -> None:
    """A PNG of a kilobyte that announces side² pixels."""

    def chunk(name: bytes, content: bytes) -> bytes:
        return (
            struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))
        )

    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    pixels = zlib.compress(bytes(1_000))
    path.write_bytes(
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")
    )


def test_an_image_that_announces_too_many_pixels_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bomb(tmp_path / "bomb.png", 20_000)
    with pytest.raises(
        ValueError, match=r"bomb.png cannot be read as an image \(it announces more than 178,956,970 pixels"
    ):
        image_folder(tmp_path)
    bomb(tmp_path / "bomb.png", 10_000)  # Pillow only warns
    with pytest.raises(ValueError, match=r"bomb.png cannot be read as an image \(image file is truncated"):
        image_folder(tmp_path)
    monkeypatch.setenv("UNBRAID_MAX_READ", "500MB")
    with pytest.raises(
        ValueError, match=r"takes 800.0 MB in memory, more than the 500.0 MB of UNBRAID_MAX_READ"
    ):
        read_image(tmp_path / "bomb.png", (3, 8, 8))
