"""Downloads from a local server: complete, interrupted, wrong, unreachable. src/unbraid/data/download.py."""

import hashlib
import http.server
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from unbraid.data import download
from unbraid.data.download import DownloadError, RemoteFile, RemoteFiles

CONTENT = bytes(range(256)) * 4_000  # 1,024,000 bytes
HASH = hashlib.sha256(CONTENT).hexdigest()


class Server(http.server.ThreadingHTTPServer):
    """Serves CONTENT; `ranges` says whether it honors a range, `cut` after how many bytes it hangs up."""

    ranges, cut = True, None
    asked: list[str | None]


class Handler(http.server.BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        wanted = self.headers.get("Range")
        self.server.asked.append(wanted)
        if self.path != "/file.bin":
            self.send_error(404)
            return
        start = int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted and self.server.ranges else 0
        if start >= len(CONTENT):
            self.send_response(416)
            self.send_header("Content-Range", f"bytes */{len(CONTENT)}")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(CONTENT) - start))
        self.end_headers()
        self.wfile.write(CONTENT[start : self.server.cut])

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server(("127.0.0.1", 0), Handler)
    server.asked = []
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def source(server: Server, *, sha256: str | None = HASH, name: str = "file.bin") -> RemoteFile:
    return RemoteFile(f"http://127.0.0.1:{server.server_port}/{name}", sha256, "set/file.bin")


def test_a_file_is_fetched_once(server: Server, tmp_path: Path) -> None:
    path = source(server).fetch(tmp_path)
    assert path == tmp_path / "set" / "file.bin"
    assert path.read_bytes() == CONTENT
    assert source(server).fetch(tmp_path) == path
    assert server.asked == [None]
    assert [file.name for file in path.parent.iterdir()] == ["file.bin"]


def test_a_download_that_broke_off_goes_on(server: Server, tmp_path: Path) -> None:
    server.cut = 300_000
    with pytest.raises(DownloadError, match=r"stopped after 300000 of 1024000 bytes: run the command again"):
        source(server).fetch(tmp_path)
    assert not (tmp_path / "set" / "file.bin").exists()
    server.cut = None
    assert source(server).fetch(tmp_path).read_bytes() == CONTENT
    assert server.asked == [None, "bytes=300000-"]


def test_a_server_without_ranges_sends_it_all_again(server: Server, tmp_path: Path) -> None:
    server.ranges = False
    part = tmp_path / "set" / "file.bin.part"
    part.parent.mkdir()
    part.write_bytes(b"old")
    assert source(server).fetch(tmp_path).read_bytes() == CONTENT


def test_a_complete_partial_download_is_used(server: Server, tmp_path: Path) -> None:
    part = tmp_path / "set" / "file.bin.part"
    part.parent.mkdir()
    part.write_bytes(CONTENT)
    assert source(server).fetch(tmp_path).read_bytes() == CONTENT


def test_a_partial_download_that_is_too_long_is_deleted(server: Server, tmp_path: Path) -> None:
    part = tmp_path / "set" / "file.bin.part"
    part.parent.mkdir()
    part.write_bytes(CONTENT + b"more")
    assert source(server).fetch(tmp_path).read_bytes() == CONTENT


def test_wrong_bytes_are_refused_and_not_kept(server: Server, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="is not the published file"):
        source(server, sha256="0" * 64).fetch(tmp_path)
    assert list((tmp_path / "set").iterdir()) == []


def test_a_partial_download_of_another_file_is_detected(server: Server, tmp_path: Path) -> None:
    part = tmp_path / "set" / "file.bin.part"
    part.parent.mkdir()
    part.write_bytes(b"x" * 1_000)
    with pytest.raises(ValueError, match="is not the published file"):
        source(server).fetch(tmp_path)
    assert source(server).fetch(tmp_path).read_bytes() == CONTENT


def test_a_wrong_file_is_named(server: Server, tmp_path: Path) -> None:
    path = tmp_path / "set" / "file.bin"
    path.parent.mkdir()
    path.write_bytes(b"something else")
    with pytest.raises(ValueError, match=f"{path} is not the published file .* delete it"):
        source(server).fetch(tmp_path)
    assert path.read_bytes() == b"something else"


def test_without_a_hash_the_length_is_what_is_checked(server: Server, tmp_path: Path) -> None:
    assert source(server, sha256=None).fetch(tmp_path).read_bytes() == CONTENT


def test_an_unreachable_address_says_what_to_put_where(tmp_path: Path) -> None:
    nowhere = RemoteFile("http://127.0.0.1:9/file.bin", None, "set/file.bin")
    with pytest.raises(FileNotFoundError) as caught:
        nowhere.fetch(tmp_path)
    sentence = str(caught.value)
    assert sentence.startswith("file.bin is missing and http://127.0.0.1:9/file.bin cannot be reached (")
    assert sentence.endswith(f"put it at {tmp_path / 'set' / 'file.bin'}.")
    assert "\n" not in sentence


def test_a_page_that_is_gone_says_so(server: Server, tmp_path: Path) -> None:
    with pytest.raises(DownloadError, match="Not Found"):
        source(server, name="gone.bin").fetch(tmp_path)


def test_a_server_that_falls_silent_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import socket

    monkeypatch.setattr(download, "TIMEOUT", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        mute = RemoteFile(f"http://127.0.0.1:{silent.getsockname()[1]}/file.bin", None, "set/file.bin")
        with pytest.raises(DownloadError, match="timed out"):
            mute.fetch(tmp_path)


def test_a_folder_without_write_permission_is_named(server: Server, tmp_path: Path) -> None:
    (tmp_path / "set").write_text("a file where the folder should be")
    with pytest.raises(DownloadError, match="cannot be written"):
        source(server).fetch(tmp_path)


def test_a_missing_file_is_named_with_its_address(tmp_path: Path) -> None:
    missing = RemoteFile("https://example.org/file.bin", None, "set/file.bin")
    with pytest.raises(FileNotFoundError) as caught:
        missing.require(tmp_path)
    sentence = str(caught.value)
    assert f"{tmp_path / 'set' / 'file.bin'} is missing: run `unbraid data download set`" in sentence
    assert "https://example.org/file.bin" in sentence


def test_several_files_are_one_folder(server: Server, tmp_path: Path) -> None:
    files = RemoteFiles((source(server), RemoteFile("https://example.org/other.bin", None, "set/other.bin")))
    files.sources[0].fetch(tmp_path)
    assert not files.is_present(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"other\.bin is missing"):
        files.require(tmp_path)
    (tmp_path / "set" / "other.bin").write_bytes(b"anything")
    assert files.is_present(tmp_path) and files.require(tmp_path) == files.fetch(tmp_path) == tmp_path / "set"
    files.verify(tmp_path / "set")
    files.sources[0].path(tmp_path).write_bytes(b"half")
    with pytest.raises(ValueError, match="is not the published file"):
        files.verify(tmp_path / "set")
