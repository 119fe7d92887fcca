"""Transfers from a server on this machine, src/unbraid/data/download.py."""

import json
import socket
import threading
from pathlib import Path

import pytest

from tests.data.file_server import CONTENT, PAGE, FileServer
from unbraid.data import download
from unbraid.data.download import Part, TransferError, transfer

DATE = "Wed, 21 Oct 2015 07:28:00 GMT"


def part_of(server: FileServer, folder: Path, name: str = "file.bin") -> Part:
    return Part.of(folder / name, server.url(name))


def interrupted(server: FileServer, folder: Path, have: int = 30_000) -> Part:
    """A part that a server began to send and did not finish."""
    part = part_of(server, folder)
    server.cut = have
    with pytest.raises(TransferError, match=rf"^it stopped after {have:,} of 102,400 bytes$"):
        transfer(part, "file.bin")
    server.cut = None
    server.asked.clear()
    return part


def test_a_part_resumes_where_it_ended(server: FileServer, tmp_path: Path) -> None:
    part = interrupted(server, tmp_path)
    transfer(part, "file.bin")
    assert part.path.read_bytes() == CONTENT
    assert server.ranges_asked == ["bytes=30000-"]
    transfer(part, "file.bin")  # complete: nobody is asked
    assert len(server.asked) == 1


def test_the_date_of_the_file_does_where_there_is_no_etag(server: FileServer, tmp_path: Path) -> None:
    server.etag, server.last_modified = None, DATE
    part = interrupted(server, tmp_path)
    transfer(part, "file.bin")
    assert part.path.read_bytes() == CONTENT and server.ranges_asked == ["bytes=30000-"]


@pytest.mark.parametrize("etag", [None, 'W/"weak"'])
def test_a_server_that_cannot_tell_whether_its_file_changed_sends_it_again(
    server: FileServer, tmp_path: Path, etag: str | None
) -> None:
    server.etag = etag
    part = interrupted(server, tmp_path)
    transfer(part, "file.bin")
    assert part.path.read_bytes() == CONTENT and server.ranges_asked == [None]


@pytest.mark.parametrize("offset", [-7, 7])
def test_a_part_at_another_offset_is_not_appended(server: FileServer, tmp_path: Path, offset: int) -> None:
    part = interrupted(server, tmp_path)
    server.offset = offset
    transfer(part, "file.bin")
    assert part.path.read_bytes() == CONTENT
    assert server.ranges_asked == ["bytes=30000-", None]


@pytest.mark.parametrize("if_range", [True, False])
def test_a_file_that_changed_is_not_mixed_with_the_old_one(
    server: FileServer, tmp_path: Path, if_range: bool
) -> None:
    """Also from a server that ignores If-Range and sends the end of the new file."""
    part = interrupted(server, tmp_path)
    server.content, server.etag, server.if_range = CONTENT[::-1], '"two"', if_range
    transfer(part, "file.bin")
    assert part.path.read_bytes() == CONTENT[::-1]


def test_a_file_of_another_size_is_not_mixed_with_the_old_one(server: FileServer, tmp_path: Path) -> None:
    part = interrupted(server, tmp_path)
    server.content = CONTENT[::-1] + b"more"  # under the same ETag
    transfer(part, "file.bin")
    assert part.path.read_bytes() == server.content


def test_a_server_that_ignores_ranges_sends_it_all(server: FileServer, tmp_path: Path) -> None:
    part = interrupted(server, tmp_path)
    server.ranges = False
    transfer(part, "file.bin")
    assert part.path.read_bytes() == CONTENT and server.ranges_asked == ["bytes=30000-"]


def test_a_file_that_became_shorter_is_sent_again(server: FileServer, tmp_path: Path) -> None:
    part = interrupted(server, tmp_path)
    server.content = CONTENT[:20_000]
    transfer(part, "file.bin")
    assert part.path.read_bytes() == CONTENT[:20_000]


def test_parts_of_two_addresses_are_two_files(server: FileServer, tmp_path: Path) -> None:
    one, two = (Part.of(tmp_path / "file.bin", server.url(name)) for name in ("one/file.bin", "two/file.bin"))
    assert one.path != two.path


@pytest.mark.parametrize(
    "record", ["", "{}", "[]", '{"validator": 3, "total": 5}', '{"validator": "\\"one\\"", "total": "x"}']
)
def test_a_part_without_a_sound_record_is_not_resumed(
    server: FileServer, tmp_path: Path, record: str
) -> None:
    part = part_of(server, tmp_path)
    part.path.write_bytes(b"x" * 1_000)
    part.path.with_name(part.path.name + ".json").write_text(record)
    transfer(part, "file.bin")
    assert part.path.read_bytes() == CONTENT and server.ranges_asked == [None]


def test_a_part_that_is_longer_than_the_file_is_not_resumed(server: FileServer, tmp_path: Path) -> None:
    part = interrupted(server, tmp_path)
    part.path.write_bytes(CONTENT + b"more")
    transfer(part, "file.bin")
    assert part.path.read_bytes() == CONTENT


def test_the_record_says_what_the_server_said(server: FileServer, tmp_path: Path) -> None:
    part = interrupted(server, tmp_path)
    record = json.loads(part.path.with_name(part.path.name + ".json").read_text())
    assert record == {"url": server.url(), "validator": '"one"', "total": len(CONTENT)}


def test_a_server_that_announces_too_much_is_named(server: FileServer, tmp_path: Path) -> None:
    server.announced = 5
    with pytest.raises(TransferError, match=r"it stopped after 102,400 of 102,405 bytes"):
        transfer(part_of(server, tmp_path), "file.bin")


def test_another_size_than_the_published_is_refused_before_the_first_byte(
    server: FileServer, tmp_path: Path
) -> None:
    server.announced = -100
    part = part_of(server, tmp_path)
    with pytest.raises(TransferError, match="it announces 102300 bytes, and the published file has 102400"):
        transfer(part, "file.bin", size=len(CONTENT))
    assert not part.path.exists()


def test_a_body_without_a_length_is_read_to_its_end(server: FileServer, tmp_path: Path) -> None:
    server.send = False
    part = part_of(server, tmp_path)
    transfer(part, "file.bin")
    assert part.path.read_bytes() == CONTENT


def test_a_body_that_was_packed_without_being_asked_for_is_unpacked(
    server: FileServer, tmp_path: Path
) -> None:
    server.encoding = "gzip"
    part = part_of(server, tmp_path)
    transfer(part, "file.bin")
    assert part.path.read_bytes() == CONTENT
    server.cut = 150
    with pytest.raises(TransferError, match="it stopped after"):
        transfer(part, "file.bin")
    assert part.resume() is None  # an offset in packed bytes means nothing


def test_a_gzip_file_that_is_taken_for_an_encoding_stays_packed(server: FileServer, tmp_path: Path) -> None:
    import gzip

    server.encoding, server.content = "named", gzip.compress(CONTENT)
    part = part_of(server, tmp_path, "file.csv.gz")
    transfer(part, "file.csv.gz")
    assert part.path.read_bytes() == server.content


def test_a_login_page_is_refused_at_its_first_bytes(server: FileServer, tmp_path: Path) -> None:
    server.content = PAGE
    part = part_of(server, tmp_path, "file.npz")
    with pytest.raises(TransferError, match="it is a web page titled 'Sign in', not a zip archive"):
        transfer(part, "file.npz")
    assert part.size == 0


def test_a_server_that_falls_silent_is_given_up_and_keeps_what_came(
    server: FileServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(download, "TIMEOUT", 0.2)
    server.stall, server.cut = threading.Event(), 5_000
    part = part_of(server, tmp_path)
    with pytest.raises(TransferError, match=r"it stopped after 5,000 of 102,400 bytes: .*timed out"):
        transfer(part, "file.bin")
    assert part.size == 5_000
    server.stall.set()
    server.stall, server.cut = None, None
    transfer(part, "file.bin")
    assert part.path.read_bytes() == CONTENT and server.ranges_asked[-1] == "bytes=5000-"


def test_a_server_that_never_answers_is_unreachable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "TIMEOUT", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        part = Part.of(tmp_path / "file.bin", f"http://127.0.0.1:{silent.getsockname()[1]}/file.bin")
        with pytest.raises(TransferError, match=r"cannot be reached: .*timed out") as caught:
            transfer(part, "file.bin")
    assert caught.value.is_unreachable


def test_a_page_that_is_gone_is_no_missing_network(server: FileServer, tmp_path: Path) -> None:
    with pytest.raises(TransferError, match="it answers 404 Not Found") as caught:
        transfer(part_of(server, tmp_path, "gone.bin"), "gone.bin")
    assert not caught.value.is_unreachable


def test_a_redirect_is_followed(server: FileServer, tmp_path: Path) -> None:
    part = Part.of(tmp_path / "file.bin", server.url("moved/file.bin"))
    transfer(part, "file.bin")
    assert part.path.read_bytes() == CONTENT


def test_a_disk_without_room_is_known_before_the_first_byte(
    server: FileServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(download.shutil, "disk_usage", lambda path: type("Usage", (), {"free": 1_000})())
    with pytest.raises(OSError, match="it needs 102,400 more bytes, and 1,000 are free"):
        transfer(part_of(server, tmp_path), "file.bin")
