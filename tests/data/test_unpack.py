"""Arrays out of files, read or mapped, src/unbraid/data/unpack.py."""

import resource
import zipfile
from pathlib import Path

import h5py
import numpy as np
import pytest
import torch

from unbraid.data import unpack
from unbraid.data.unpack import map_hdf5, map_npz, read_first, read_hdf5, read_npz

SHAPE = (50, 8, 8)
PIXELS = np.random.default_rng(0).integers(0, 256, SHAPE, dtype=np.uint8)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache folder of our own, and every array is a large one."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(unpack, "LARGE", 1)
    return tmp_path / "cache" / "unbraid" / "unpacked"


def packed(folder: Path, array: np.ndarray = PIXELS) -> Path:
    np.savez_compressed(folder / "packed.npz", other=np.arange(3), imgs=array)
    return folder / "packed.npz"


def stored(folder: Path) -> Path:
    np.savez(folder / "stored.npz", other=np.arange(3), imgs=PIXELS)
    return folder / "stored.npz"


def hdf5(folder: Path) -> Path:
    with h5py.File(folder / "some.h5", "w") as file:
        file.create_dataset("imgs", data=PIXELS, chunks=(7, 8, 8), compression="gzip")
        file["labels"] = np.arange(50.0)
    return folder / "some.h5"


def test_a_compressed_npz_is_unpacked_once_and_mapped(tmp_path: Path, cache: Path) -> None:
    path = packed(tmp_path)
    assert torch.equal(map_npz(path, "imgs", SHAPE), torch.from_numpy(PIXELS))
    (kept,) = cache.iterdir()
    before = kept.stat().st_mtime_ns
    assert torch.equal(map_npz(path, "imgs", SHAPE), torch.from_numpy(PIXELS))
    assert kept.stat().st_mtime_ns == before


def test_another_file_of_the_same_name_is_unpacked_anew(tmp_path: Path, cache: Path) -> None:
    map_npz(packed(tmp_path), "imgs", SHAPE)
    path = packed(tmp_path, 255 - PIXELS)
    assert torch.equal(map_npz(path, "imgs", SHAPE), torch.from_numpy(255 - PIXELS))
    assert len(list(cache.iterdir())) == 1


def test_an_uncompressed_npz_is_mapped_from_its_file(tmp_path: Path, cache: Path) -> None:
    assert torch.equal(map_npz(stored(tmp_path), "imgs", SHAPE), torch.from_numpy(PIXELS))
    assert not cache.exists()


def test_writing_into_a_map_leaves_the_file_alone(tmp_path: Path) -> None:
    path = stored(tmp_path)
    map_npz(path, "imgs", SHAPE).zero_()
    assert torch.equal(map_npz(path, "imgs", SHAPE), torch.from_numpy(PIXELS))


def test_hdf5_is_unpacked_once_and_mapped(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unpack, "CHUNK", 640)  # ten pictures at a time
    path = hdf5(tmp_path)
    for _ in range(2):
        assert torch.equal(map_hdf5(path, "imgs", SHAPE), torch.from_numpy(PIXELS))
    assert len(list(cache.iterdir())) == 1
    np.testing.assert_array_equal(read_hdf5(path, "labels"), np.arange(50.0))


@pytest.mark.parametrize("make", [packed, hdf5])
def test_without_a_cache_folder_memory_will_do(tmp_path: Path, cache: Path, make) -> None:  # noqa: ANN001
    cache.parent.parent.write_text("not a folder")
    path = make(tmp_path)
    read = map_npz if path.suffix == ".npz" else map_hdf5
    assert torch.equal(read(path, "imgs", SHAPE), torch.from_numpy(PIXELS))


def test_without_room_on_the_disk_memory_will_do(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unpack.shutil, "disk_usage", lambda path: type("Usage", (), {"free": 10})())
    assert torch.equal(map_npz(packed(tmp_path), "imgs", SHAPE), torch.from_numpy(PIXELS))
    assert list(cache.iterdir()) == []


@pytest.mark.parametrize("make", [packed, hdf5])
def test_a_disk_that_fills_up_leaves_nothing_behind(tmp_path: Path, cache: Path, make) -> None:  # noqa: ANN001
    path = make(tmp_path)
    read = map_npz if path.suffix == ".npz" else map_hdf5
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, hard))  # no file may grow beyond this
    try:
        pixels = read(path, "imgs", SHAPE)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert torch.equal(pixels, torch.from_numpy(PIXELS))
    assert list(cache.iterdir()) == []


def test_small_arrays_are_read(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpack, "LARGE", 1 << 28)
    assert torch.equal(map_npz(packed(tmp_path), "imgs", SHAPE), torch.from_numpy(PIXELS))
    assert torch.equal(map_hdf5(hdf5(tmp_path), "imgs", SHAPE), torch.from_numpy(PIXELS))
    assert not cache.exists()


@pytest.mark.parametrize("large", [1, 1 << 28])
@pytest.mark.parametrize("make", [packed, stored, hdf5])
@pytest.mark.parametrize("part", [0.0, 0.4, 0.95])
def test_a_file_cut_short_gets_one_sentence(
    tmp_path: Path,
    cache: Path,
    make,  # noqa: ANN001
    part: float,
    large: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(unpack, "LARGE", large)
    path = make(tmp_path)
    content = path.read_bytes()
    path.write_bytes(content[: int(part * len(content))])
    read = map_npz if path.suffix == ".npz" else map_hdf5
    with pytest.raises(ValueError, match=f"^{path} is damaged, cut short or of another kind") as caught:
        read(path, "imgs", SHAPE)
    assert "\n" not in str(caught.value)
    assert not cache.exists() or list(cache.iterdir()) == []


def test_damage_in_the_middle_is_found_by_the_checksum(tmp_path: Path, cache: Path) -> None:
    path = packed(tmp_path)
    with zipfile.ZipFile(path) as archive:
        start = archive.getinfo("imgs.npy").header_offset
    content = bytearray(path.read_bytes())
    content[start + 1_500] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(ValueError, match="is damaged, cut short or of another kind"):
        map_npz(path, "imgs", SHAPE)
    assert not cache.exists() or list(cache.iterdir()) == []


def test_wrong_shapes_and_types_are_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"shape \(60, 8, 8\) in uint8, but has \(50, 8, 8\) in uint8"):
        map_npz(packed(tmp_path), "imgs", (60, 8, 8))
    with pytest.raises(ValueError, match=r"some.h5 should hold `labels` .* has \(50,\) in float64"):
        map_hdf5(hdf5(tmp_path), "labels", SHAPE)
    with pytest.raises(ValueError, match="in float32"):
        map_npz(packed(tmp_path, PIXELS.astype(np.float32)), "imgs", SHAPE)


def test_a_missing_array_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="images"):
        map_npz(packed(tmp_path), "images", SHAPE)
    with pytest.raises(ValueError, match="images"):
        map_hdf5(hdf5(tmp_path), "images", SHAPE)


def test_pickles_are_never_read(tmp_path: Path) -> None:
    np.savez(tmp_path / "evil.npz", imgs=np.array([{}], dtype=object))
    with pytest.raises(ValueError, match="it holds Python objects, not numbers"):
        read_npz(tmp_path / "evil.npz", "imgs")
    with pytest.raises(ValueError, match="it holds Python objects, not numbers"):
        map_npz(tmp_path / "evil.npz", "imgs", SHAPE)


def test_the_first_rows_of_a_packed_array(tmp_path: Path) -> None:
    np.testing.assert_array_equal(read_first(packed(tmp_path), "imgs", SHAPE, rows=3), PIXELS[:3])
    with pytest.raises(ValueError, match=r"shape \(60, 8, 8\) in uint8, but has \(50, 8, 8\)"):
        read_first(packed(tmp_path), "imgs", (60, 8, 8), rows=3)


def test_an_hdf5_file_cannot_point_at_other_files(tmp_path: Path) -> None:
    secret = hdf5(tmp_path).rename(tmp_path / "secret.h5")
    with h5py.File(tmp_path / "some.h5", "w") as file:
        file["link"] = h5py.ExternalLink(secret, "imgs")
        file.create_dataset("raw", (8,), "u1", external=[(str(secret), 0, 8)])
        layout = h5py.VirtualLayout(SHAPE, "u1")
        layout[:] = h5py.VirtualSource(str(secret), "imgs", SHAPE)
        file.create_virtual_dataset("virtual", layout)
        file["text"] = "some text"
        file.create_group("group")
    for member, reason in (
        ("link", "is a link to another file"),
        ("raw", "is stored in other files"),
        ("virtual", "is stored in other files"),
        ("text", "is no array of numbers"),
        ("group", "is no array of numbers"),
    ):
        with pytest.raises(ValueError, match=reason):
            read_hdf5(tmp_path / "some.h5", member)
        with pytest.raises(ValueError, match=reason):
            map_hdf5(tmp_path / "some.h5", member, SHAPE)


def test_arrays_beyond_the_bound_are_not_said_to_be_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = hdf5(tmp_path)
    monkeypatch.setenv("UNBRAID_MAX_READ", "100B")
    for read in (lambda: read_hdf5(path, "labels"), lambda: read_npz(packed(tmp_path), "imgs")):
        with pytest.raises(ValueError, match="more than the 100 bytes of UNBRAID_MAX_READ") as caught:
            read()
        assert "delete it" not in str(caught.value)
