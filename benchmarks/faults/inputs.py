"""Odd files that users hand over: tables, arrays, images, plans and recipes."""

import io
import random
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.faults.actions import base
from benchmarks.faults.case import Case
from benchmarks.faults.damage import damage_bytes, damage_json
from benchmarks.faults.judge import MARK, Kept

TRAIN = ("--steps", "2", "--batch-size", "4", "--device", "cpu", "--quiet", "--out", "new")
CELLS = (
    "",
    " ",
    "nan",
    "NaN",
    "inf",
    "-inf",
    "1e400",
    "1_000",
    "1,5",
    "1 000",
    "0x10",
    "½",
    "１",
    "β",
    "\x00",
    "'",
    '"',
)
CELLS += (
    "NULL",
    "#N/A",
    "=1+1",
    "1.0.0",
    "1e-320",
    "a" * 10_000,
    "1" * 400,
    "true",
    "\ufeff",
    "\r",
    "<b>x</b>",
    "|",
)
SHAPES: tuple[tuple[int, ...], ...] = (
    (),
    (0,),
    (5,),
    (0, 4),
    (5, 0),
    (3, 16, 16),
    (3, 1, 16, 16),
    (3, 16, 16, 3),
    (2,) * 7,
)
DTYPES = ("u1", "i8", "f2", "f4", ">f8", "c8", "?", "S3", "U2", "M8[s]", "i1", "u8")
SIGNATURE = b"\x89PNG\r\n\x1a\n"


def try_input(case: Case) -> None:
    """One odd file, and one command that reads it."""
    here = case.copy_of(base(case.bench))
    kinds = (_table, _table, _arrays, _arrays, _codes, _images, _images, _plan, _recipe, _archive)
    words = kinds[case.number % len(kinds)](here, case.rng, case)
    before = Kept.of(here)
    case.tried += f"; unbraid {words[0]}"
    case.call(words, here, limit=120.0)
    before.check()
    case.check_files(before)


def _table(here: Path, rng: random.Random, case: Case) -> list[str]:
    """A table with wrong cells, rows, columns or bytes."""
    path = here / "odd.csv"
    rows = [line.split(",") for line in (here / "rows.csv").read_text("utf-8").splitlines()]
    for _ in range(rng.choice((1, 1, 2, 5))):
        row = rng.randrange(len(rows))
        kind = rng.randrange(9)
        if kind <= 3:
            column = rng.randrange(max(len(rows[row]), 1))
            rows[row] = [*rows[row][:column], rng.choice(CELLS), *rows[row][column + 1 :]]
        elif kind == 4:
            rows[row] = rows[row][:-1]
        elif kind == 5:
            rows[row] = [*rows[row], rng.choice(CELLS)]
        elif kind == 6:
            column, cell = rng.randrange(3), rng.choice(("1", *CELLS))
            rows = [[*line[:column], cell, *line[column + 1 :]] for line in rows]
        elif kind == 7:
            rows = rows[: rng.choice((0, 1, 2))] or [[""]]
        else:
            rows[0] = [rows[0][0] if rows[0] else ""] * len(rows[0])
    separator, ending = rng.choice((",", ",", ",", ";", "\t")), rng.choice(("\n", "\n", "\r\n", "\r", ""))
    text = ending.join(separator.join(row) for row in rows) + ending
    content = text.encode(rng.choice(("utf-8", "utf-8", "utf-8-sig", "utf-16")), "replace")
    path.write_bytes(content)
    did = damage_bytes(path, rng) if rng.random() < 0.2 else "odd cells"
    case.tried = f"table: {did}"
    small = ("--architecture", "mlp-small", "--latent-dim", "3", "--likelihood", "normal:1")
    return rng.choice(
        [
            ["train", "vae", "--data", "odd.csv", *small, *TRAIN],
            ["train", "vae", "--data", "rows.csv", "--reference-table", "odd.csv", *small, *TRAIN],
            ["encode", "table", "odd.csv", "--out", "new.npz"],
            ["evaluate", "table", "--data", "odd.csv", "--metrics", "kl", "--num-samples", "10", "--json"],
        ]
    )


def _odd_array(rng: random.Random) -> np.ndarray[Any, Any]:
    shape, dtype = rng.choice(SHAPES), rng.choice(DTYPES)
    numbers = np.frombuffer(
        rng.randbytes(8 * max(int(np.prod(shape)), 1) * np.dtype(dtype).itemsize), dtype=dtype
    )
    if dtype == "?":
        numbers = numbers.view("u1") > 127
    return numbers[: int(np.prod(shape))].reshape(shape)


def _saved(array: np.ndarray[Any, Any]) -> bytes:
    file = io.BytesIO()
    np.save(file, array, allow_pickle=False)
    return file.getvalue()


def _odd_npy(rng: random.Random) -> bytes:
    """The bytes of an array: odd, of objects, with a lying header, or damaged."""
    content = _saved(_odd_array(rng))
    kind = rng.randrange(5)
    if kind == 0:
        return b"cposix\nsystem\n(S'touch " + MARK.encode() + b"'\ntR."
    if kind == 1:
        header = b"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }"
        return _npy(header, b"cposix\nsystem\n(S'touch " + MARK.encode() + b"'\ntR.")
    if kind == 2:
        shape = rng.choice(
            (b"(1000000000000,)", b"(-1,)", b"(100000, 100000, 10)", b"(2,) * 3", b"x", b"(1e9,)")
        )
        return _npy(b"{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + b", }", b"\x00" * 64)
    if kind == 3:
        return content[: rng.randrange(len(content))]
    return content


def _npy(header: bytes, data: bytes) -> bytes:
    header += b" " * (117 - len(header)) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data


def _arrays(here: Path, rng: random.Random, case: Case) -> list[str]:
    """An .npy or .npz file with odd arrays under odd names."""
    name = rng.choice(("odd.npy", "odd.npz", "odd.npz"))
    if name.endswith(".npy"):
        (here / name).write_bytes(_odd_npy(rng))
    else:
        names = rng.sample(
            ["images", "x", "observations", "labels", "factors", "background", "../evil", ""], 2
        )
        _zip(here / name, {f"{each}.npy": _odd_npy(rng) for each in names})
    case.tried = f"arrays: {name}"
    small = ("--architecture", "mlp-small", "--latent-dim", "3")
    return rng.choice(
        [["train", "vae", "--data", name, *small, *TRAIN], ["encode", "run", name, "--out", "new.npz"]]
    )


def _codes(here: Path, rng: random.Random, case: Case) -> list[str]:
    """Codes and factors of other tools, odd in one of both."""
    numbers = np.random.default_rng(rng.randrange(1000))
    files = {"codes": numbers.normal(size=(50, 3)), "factors": numbers.integers(3, size=(50, 2))}
    odd = rng.choice(sorted(files))
    for name, array in files.items():
        content = _odd_npy(rng) if name == odd else _saved(array)
        _zip(here / f"{name}.npz", {f"{name}.npy": content})
    case.tried = f"odd {odd}"
    return ["score", "codes.npz", "factors.npz", "--metrics", rng.choice(("mig", "all", "sap,dci")), "--json"]


def _images(here: Path, rng: random.Random, case: Case) -> list[str]:
    """A folder of images with an odd one."""
    kinds: dict[str, Callable[[], bytes]] = {
        "random bytes": lambda: rng.randbytes(300),
        "empty": lambda: b"",
        "cut": lambda: _png(16, 16)[: rng.randrange(60)],
        "huge header": lambda: _png(16, 16, claimed=(rng.choice((60_000, 2**31 - 1)), 60_000)),
        "flat bomb": lambda: _png(20_000, 20_000, real=False),
        "one pixel": lambda: _png(1, 1),
        "no pixel": lambda: _png(16, 16, claimed=(0, 0)),
        "a line": lambda: _png(5_000, 1),
        "text": lambda: b"<html></html>",
        "other": lambda: b"GIF89a" + rng.randbytes(50),
    }
    kind = rng.choice(sorted(kinds))
    name = rng.choice(("c.png", "c.PNG", "c.jpg", "c.gif", "β c.png", "c.tiff"))
    (here / "images" / name).write_bytes(kinds[kind]())
    if rng.random() < 0.3:
        for other in ("a.png", "b.png"):
            (here / "images" / other).unlink()
    case.tried = f"images: {kind} as {name}"
    small = ("--image-size", "16", "--architecture", "mlp-small", "--latent-dim", "3")
    return rng.choice(
        [
            ["train", "vae", "--data", "images", *small, *TRAIN],
            ["encode", "run", "images", "--out", "new.npz"],
            ["encode", "run", f"images/{name}", "--out", "new.npz"],
            ["edit", "run", f"images/{name}", "--zero", "0", "--out", "new.png"],
        ]
    )


def _plan(here: Path, rng: random.Random, case: Case) -> list[str]:
    """A plan with something changed."""
    path = here / "odd.json"
    path.write_bytes((here / "run" / "plan.json").read_bytes())
    case.tried = f"plan: {damage_json(path, rng)}"
    return ["train", "--config", "odd.json", *TRAIN]


def _recipe(here: Path, rng: random.Random, case: Case) -> list[str]:
    """A recipe with a line or some letters lost."""
    lines = (here / "recipe.py").read_text("utf-8").replace('"steps": 40', '"steps": 2').splitlines()
    for _ in range(rng.choice((1, 2))):
        index = rng.randrange(len(lines))
        letters = [number for number, letter in enumerate(lines[index]) if not letter.isdecimal()]
        if rng.random() < 0.4 or not letters:
            del lines[index]
        else:
            position = rng.choice(letters)
            lines[index] = (
                lines[index][:position] + rng.choice(("", "x", "(", "é")) + lines[index][position + 1 :]
            )
    (here / "odd.py").write_text("\n".join(lines), "utf-8")
    case.tried = "recipe"
    return ["study", "odd.py", "--out", "new", "--device", "cpu"]


def _archive(here: Path, rng: random.Random, case: Case) -> list[str]:
    """A small archive that unpacks to gigabytes, or is none."""
    path = here / "odd.npz"
    kind = rng.choice(("bomb", "twice", "damaged", "empty"))
    if kind == "bomb":
        header = b"{'descr': '|u1', 'fortran_order': False, 'shape': (2000000000,), }"
        with (
            zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
            archive.open("images.npy", "w") as file,
        ):
            file.write(_npy(header, b""))
            for _ in range(rng.choice((20, 2000))):
                file.write(bytes(1_000_000))
    else:
        _zip(path, {} if kind == "empty" else {"images.npy": _saved(np.zeros((5, 16, 16), "u1"))})
    if kind == "damaged":
        kind = damage_bytes(path, rng)
    if kind == "twice":
        path.write_bytes(path.read_bytes() * 2)
    case.tried = f"archive: {kind}"
    small = ("--architecture", "mlp-small", "--latent-dim", "3")
    return rng.choice(
        [
            ["train", "vae", "--data", "odd.npz", *small, *TRAIN],
            ["encode", "run", "odd.npz", "--out", "new.npz"],
        ]
    )


def _zip(path: Path, entries: dict[str, bytes]) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in entries.items():
            archive.writestr(name, content)


def _png(width: int, height: int, *, claimed: tuple[int, int] | None = None, real: bool = True) -> bytes:
    """A gray image, perhaps with another size in its header, or with hardly any data."""
    size = claimed or (width, height)
    rows = b"".join(b"\x00" + bytes([row % 256] * width) for row in range(height)) if real else bytes(1_000)
    header = struct.pack(">II", *size) + b"\x08\x00\x00\x00\x00"
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    return SIGNATURE + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )
