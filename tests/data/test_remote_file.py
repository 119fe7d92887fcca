"""Official files from a server on this machine: verified, mirrored, locked. src/unbraid/data/remote_file.py."""

import hashlib
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from filelock import BaseFileLock

from tests.data.file_server import CONTENT, PAGE, FileServer
from unbraid.data import remote_file
from unbraid.data.download import DownloadError, Part
from unbraid.data.registry import DATASETS
from unbraid.data.remote_file import RemoteFile, RemoteFiles
from unbraid.files import acquire_lock
from unbraid.progress import Stopped

SHA256 = f"sha256:{hashlib.sha256(CONTENT).hexdigest()}"
MD5 = f"md5:{hashlib.md5(CONTENT).hexdigest()}"
WRONG = "sha256:" + "0" * 64


def source(
    server: FileServer, *names: str, hashes: tuple[str, ...] = (SHA256,), size: int | None = None
) -> RemoteFile:
    return RemoteFile(
        tuple(server.url(name) for name in names or ("file.bin",)), "set/file.bin", hashes=hashes, size=size
    )


def files(root: Path) -> list[str]:
    return sorted(file.name for file in (root / "set").iterdir())


def test_a_file_is_fetched_once(server: FileServer, tmp_path: Path) -> None:
    path = source(server).fetch(tmp_path)
    assert path == tmp_path / "set" / "file.bin"
    assert path.read_bytes() == CONTENT
    assert source(server).fetch(tmp_path) == path
    assert len(server.asked) == 1
    assert files(tmp_path) == ["file.bin"]


def test_an_interrupted_download_resumes(server: FileServer, tmp_path: Path) -> None:
    server.cut = 30_000
    with pytest.raises(
        DownloadError, match=r"stopped after 30,000 of 102,400 bytes\)\. Run the command again to resume"
    ):
        source(server).fetch(tmp_path)
    assert not (tmp_path / "set" / "file.bin").exists()
    server.cut = None
    assert source(server).fetch(tmp_path).read_bytes() == CONTENT
    assert server.ranges_asked == [None, "bytes=30000-"]
    assert files(tmp_path) == ["file.bin"]


def test_mirrors_are_tried_in_order(server: FileServer, tmp_path: Path) -> None:
    mirrored = source(server, "gone/file.bin", "moved/file.bin", "third/file.bin")
    assert mirrored.fetch(tmp_path).read_bytes() == CONTENT
    assert [path for _, path, _ in server.asked] == ["/gone/file.bin", "/moved/file.bin", "/file.bin"]


def test_a_part_of_one_mirror_is_not_continued_by_another(server: FileServer, tmp_path: Path) -> None:
    server.cut = 30_000
    with pytest.raises(DownloadError):
        source(server, "one/file.bin").fetch(tmp_path)
    server.cut = None
    assert source(server, "two/file.bin", "one/file.bin").fetch(tmp_path).read_bytes() == CONTENT
    assert server.asked[-1] == ("GET", "/two/file.bin", None)
    left = Part.of(tmp_path / "set" / "file.bin", server.url("one/file.bin"))
    assert files(tmp_path) == ["file.bin"] and not left.path.exists()


def test_every_failure_is_in_the_sentence(server: FileServer, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        RemoteFile(
            ("http://127.0.0.1:9/file.bin", server.url("gone/file.bin"), server.url()),
            "set/file.bin",
            hashes=(WRONG,),
        ).fetch(tmp_path)
    sentence = str(caught.value)
    assert sentence.startswith(
        "file.bin is missing and could not be downloaded: http://127.0.0.1:9/file.bin failed (it cannot be reached: "
    )
    assert f"{server.url('gone/file.bin')} failed (it answers 404 Not Found)" in sentence
    assert f"{server.url()} did not send the published file (its sha256 is " in sentence
    assert sentence.endswith(
        f"Run the command again, or download it on another machine and put it at {tmp_path / 'set' / 'file.bin'}."
    )
    assert "\n" not in sentence
    assert files(tmp_path) == [".file.bin.lock"]  # wrong bytes are not resumed


@pytest.mark.parametrize("hashes", [(SHA256,), (MD5,), (WRONG, MD5)])
def test_one_published_hash_is_enough(server: FileServer, tmp_path: Path, hashes: tuple[str, ...]) -> None:
    file = source(server, hashes=hashes)
    assert file.verify(file.fetch(tmp_path)) == f"{hashes[-1].split(':')[0]} as published"


@pytest.mark.parametrize(("hashes", "size"), [((), None), ((), len(CONTENT)), ((SHA256,), None)])
def test_a_login_page_is_never_accepted(
    server: FileServer, tmp_path: Path, hashes: tuple[str, ...], size: int | None
) -> None:
    server.content = PAGE[:50]  # too short to be known at its first bytes
    with pytest.raises(DownloadError, match=r"a web page|announces 50 bytes"):
        source(server, hashes=hashes, size=size).fetch(tmp_path)
    assert files(tmp_path) == [".file.bin.lock"]


def test_a_file_of_another_size_is_refused_without_a_hash(tmp_path: Path, server: FileServer) -> None:
    server.send = False
    with pytest.raises(DownloadError, match="it has 102,400 bytes, and the published file has 102,401"):
        source(server, hashes=(), size=len(CONTENT) + 1).fetch(tmp_path)


def test_without_a_hash_the_evidence_says_so(server: FileServer, tmp_path: Path) -> None:
    file = source(server, hashes=())
    assert file.verify(file.fetch(tmp_path)) == "the content only, because no hash is published"
    assert not file.is_certain


def test_a_hash_of_another_copy_leaves_it_to_the_content(tmp_path: Path) -> None:
    def check(path: Path) -> None:
        if path.read_bytes() != CONTENT:
            raise ValueError("its images look like noise")

    file = RemoteFile(("https://example.org/file.bin",), "file.bin", hashes=(WRONG,), check=check)
    path = tmp_path / "file.bin"
    path.write_bytes(CONTENT)
    assert (
        file.verify(path)
        == "the content only, because its sha256 is that of another copy than the published one"
    )
    path.write_bytes(b"noise")
    with pytest.raises(
        ValueError, match=r"is not the published file: its images look like noise. Delete it and run"
    ):
        file.verify(path)


def test_a_wrong_file_is_named_and_kept(server: FileServer, tmp_path: Path) -> None:
    path = tmp_path / "set" / "file.bin"
    path.parent.mkdir()
    path.write_bytes(b"something else")
    with pytest.raises(
        ValueError, match=f"{path} is not the published file: its sha256 is .* Delete it and run"
    ):
        source(server).fetch(tmp_path)
    assert path.read_bytes() == b"something else"


def test_a_folder_without_write_permission_is_named(server: FileServer, tmp_path: Path) -> None:
    (tmp_path / "set").write_text("a file where the folder should be")
    with pytest.raises(DownloadError, match="cannot be written"):
        source(server).fetch(tmp_path)


def test_two_downloads_at_once_are_one(
    server: FileServer,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The second says that it waits, and uses the file of the first. Locks keep threads apart like processes."""
    server.stall, server.cut = threading.Event(), 5_000

    def acquire(path: Path, *, message: str, timeout: float = 0.0) -> BaseFileLock:
        if timeout and server.stall:  # the second download begins to wait
            server.stall.set()
        return acquire_lock(path, message=message, timeout=timeout)

    monkeypatch.setattr(remote_file, "acquire_lock", acquire)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(source(server).fetch, tmp_path)
        assert server.stalls.wait(20)
        second = pool.submit(source(server).fetch, tmp_path)
        assert first.result(20) == second.result(20)
    assert first.result().read_bytes() == CONTENT
    assert len(server.asked) == 1
    assert capsys.readouterr().err == "Waiting for another process that downloads file.bin.\n"
    assert files(tmp_path) == ["file.bin"]


def test_a_lock_that_is_never_released_gets_one_sentence(
    server: FileServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote_file, "WAIT", 0.05)
    (tmp_path / "set").mkdir()
    lock = acquire_lock(tmp_path / "set" / ".file.bin.lock", message="taken")
    with pytest.raises(
        ValueError, match=r"Another process is downloading .*file.bin. Wait until it has finished"
    ):
        source(server).fetch(tmp_path)
    lock.release()


def test_an_interrupt_says_that_the_same_command_resumes(
    server: FileServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(part: Part, name: str, size: int | None) -> None:
        part.begin('"one"', 10)
        part.path.write_bytes(b"x")
        raise Stopped("", signal.SIGTERM)

    monkeypatch.setattr(remote_file, "transfer", interrupted)
    with pytest.raises(
        Stopped, match=r"download of file.bin is interrupted. The same command resumes it."
    ) as stopped:
        source(server).fetch(tmp_path)
    assert stopped.value.number == signal.SIGTERM  # the command ends with the exit code of its signal


def test_a_missing_file_is_named_with_its_address(tmp_path: Path) -> None:
    missing = RemoteFile(("https://example.org/file.bin",), "set/file.bin")
    with pytest.raises(FileNotFoundError) as caught:
        missing.require(tmp_path)
    sentence = str(caught.value)
    assert f"{tmp_path / 'set' / 'file.bin'} is missing: run `unbraid data download set`" in sentence
    assert "https://example.org/file.bin" in sentence


def test_several_files_are_one_folder(server: FileServer, tmp_path: Path) -> None:
    other = RemoteFile(("https://example.org/other.bin",), "set/other.bin")
    several = RemoteFiles((source(server), other))
    several.sources[0].fetch(tmp_path)
    assert not several.is_present(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"other\.bin is missing"):
        several.require(tmp_path)
    (tmp_path / "set" / "other.bin").write_bytes(b"anything")
    assert (
        several.is_present(tmp_path)
        and several.require(tmp_path) == several.fetch(tmp_path) == tmp_path / "set"
    )
    evidence = "sha256 as published, the content only, because no hash is published"
    assert several.verify(tmp_path / "set") == evidence
    several.sources[0].path(tmp_path).write_bytes(b"half")
    with pytest.raises(ValueError, match="is not the published file"):
        several.verify(tmp_path / "set")


def test_every_official_file_states_a_hash_or_that_there_is_none() -> None:
    """The sources without a hash that decides are known by name."""
    uncertain = set()
    for name, entry in DATASETS.items():
        for variant in entry.variants or ("",):
            found = entry.source(**({"variant": variant} if variant else {})) if entry.source else None
            for file in found.sources if isinstance(found, RemoteFiles) else (found,):
                if isinstance(file, RemoteFile):
                    lengths = {"sha256": 64, "md5": 32}
                    for each in file.hashes:
                        algorithm, digest = each.split(":")
                        assert len(digest) == lengths[algorithm] and set(digest) <= set("0123456789abcdef")
                    assert all(url.startswith("https://") for url in file.urls)
                    if not file.is_certain:
                        uncertain.add(name)
    assert uncertain == {"mpi3d", "mouse-protein"}
