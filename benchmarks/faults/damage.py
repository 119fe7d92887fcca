"""Damage to files, from a seed: what a bad disk, a bad copy or a bad intention leaves behind.

Each function changes one file in place and returns what it did in a few words.
"""

import json
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

HUGE = 10**30
# Values that a key of another type may have after an edit or in a file written by other software.
STRANGE: tuple[Any, ...] = (
    *(None, True, -1, 0, 1.5, -(10**9), 10**9, HUGE, 1e308),
    *("", "x", "../../etc/passwd", "unbraid.nn:Critic", "\x00", "é" * 50),
    *([], [[]], [None], [-1], [10**9, 10**9], {}, {"a": 1}, {"spec": "adam"}, {"network": "MLPEncoder"}),
)


def damage_bytes(path: Path, rng: random.Random) -> str:
    """Flips a bit, or cuts, empties, zeroes, extends, deletes or replaces the file by a folder."""
    content = bytearray(path.read_bytes())
    position = rng.randrange(max(len(content), 1))
    kind = rng.choices(
        ("flip", "cut", "zeros", "extend", "empty", "delete", "folder"), (6, 4, 2, 2, 1, 1, 1)
    )[0]
    if kind == "delete":
        path.unlink()
        return "deleted"
    if kind == "folder":
        path.unlink()
        path.mkdir()
        return "replaced by a folder"
    if kind == "flip" and content:
        bit = rng.randrange(8)
        content[position] ^= 1 << bit
        did = f"flipped bit {bit} of byte {position}"
    elif kind == "zeros":
        size = min(rng.randint(1, 512), len(content) - position)
        content[position : position + size] = bytes(size)
        did = f"zeroed {size} bytes from byte {position}"
    elif kind == "extend":
        content += rng.randbytes(rng.randint(1, 64))
        did = "extended by random bytes"
    else:
        del content[0 if kind == "empty" else position :]
        did = f"cut to {len(content)} bytes"
    path.write_bytes(content)
    return did


def damage_json(path: Path, rng: random.Random) -> str:
    """Changes one value of a JSON file (or of one line of JSON lines), or the text itself."""
    changes: tuple[Callable[[Any, random.Random], str], ...] = (
        *(_drop, _drop, _replace, _replace, _replace, _exchange_type),
        *(_add_key, _repeat, _nest),
    )
    texts = (damage_bytes, _not_utf8, _not_a_number, _deep, _other_document)
    text = path.read_text("utf-8")
    lines = text.splitlines()
    chosen = rng.randrange(max(len(lines), 1)) if path.suffix == ".jsonl" else None
    if rng.random() < 0.25 or not lines:
        return rng.choice(texts)(path, rng)
    content = [
        json.loads(text if chosen is None else lines[chosen])
    ]  # in a list, so that the whole is a value
    did = rng.choice(changes)(content, rng)
    changed = json.dumps(content[0], indent=None if chosen is not None else 2, ensure_ascii=False)
    if chosen is not None:
        changed = "\n".join([*lines[:chosen], changed, *lines[chosen + 1 :]])
    path.write_text(changed + "\n", "utf-8")
    return did


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every container with one of its keys or indices, from the outside in."""
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield value, key
        yield from _places(value[key])


def _choose(content: Any, rng: random.Random) -> tuple[Any, Any]:
    """A random place; large ones and small ones have the same chance per depth."""
    return rng.choice(list(_places(content)))


def _drop(content: Any, rng: random.Random) -> str:
    inner = [place for place in _places(content) if place[0] is not content]
    if not inner:
        return _replace(content, rng)
    container, key = rng.choice(inner)
    del container[key]
    return f"dropped {key!r}"


def _replace(content: Any, rng: random.Random) -> str:
    container, key = _choose(content, rng)
    container[key] = rng.choice(STRANGE)
    return f"set {key!r} to {container[key]!r:.40}"


def _exchange_type(content: Any, rng: random.Random) -> str:
    """The same value in another type: 3 as "3", a list as its first entry, an object as the list of its keys."""
    container, key = _choose(content, rng)
    value = container[key]
    if isinstance(value, dict | list):
        container[key] = list(value) if isinstance(value, dict) else (value or [None])[0]
    elif isinstance(value, str):
        container[key] = [value]
    else:
        container[key] = str(value)
    return f"changed the type of {key!r}"


def _add_key(content: Any, rng: random.Random) -> str:
    objects = [container[key] for container, key in _places(content) if isinstance(container[key], dict)]
    if not objects:
        return _replace(content, rng)
    rng.choice(objects)[rng.choice(("", "self", "cls", "__class__", "folder", "x"))] = rng.choice(STRANGE)
    return "added a key"


def _repeat(content: Any, rng: random.Random) -> str:
    container, key = _choose(content, rng)
    container[key] = [container[key]] * rng.choice((2, 100))
    return f"repeated {key!r}"


def _nest(content: Any, rng: random.Random) -> str:
    container, key = _choose(content, rng)
    depth = rng.choice((1, 50, 400))
    for _ in range(depth):
        container[key] = [container[key]] if rng.random() < 0.5 else {"a": container[key]}
    return f"nested {key!r} {depth} times"


def _not_utf8(path: Path, rng: random.Random) -> str:
    text = path.read_bytes()
    position = rng.randrange(len(text) + 1)
    path.write_bytes(text[:position] + rng.choice((b"\xff", b"\xc3\x28", b"\x00")) + text[position:])
    return f"put bytes that are not UTF-8 text at {position}"


def _not_a_number(path: Path, rng: random.Random) -> str:
    text, digits = path.read_text("utf-8"), [str(digit) for digit in range(10)]
    places = [index for index, letter in enumerate(text) if letter in digits]
    if not places:
        return _deep(path, rng)
    position, word = rng.choice(places), rng.choice(("NaN", "Infinity", "-Infinity", "1e999", "9" * 5000))
    path.write_text(text[:position] + word + text[position + 1 :], "utf-8")
    return f"put {word:.10} at {position}"


def _deep(path: Path, rng: random.Random) -> str:
    depth = rng.choice((1_000, 100_000))
    path.write_text("[" * depth + "]" * depth, "utf-8")
    return f"replaced by {depth} brackets"


def _other_document(path: Path, rng: random.Random) -> str:
    path.write_text(json.dumps(rng.choice(STRANGE)), "utf-8")
    return "replaced by another document"


def restore(path: Path, original: Path) -> None:
    """Puts the original file back."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    shutil.copy2(original, path)
