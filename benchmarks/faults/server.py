"""A local server that publishes a small file, well or badly."""

import hashlib
import http.server
import io
import threading
import time
import zipfile
from functools import cache
from typing import Any, ClassVar

FILE = "dsprites_ndarray_co1sh3sc6or40x32y32_64x64.npz"
CHUNK = 8_192


@cache
def content() -> bytes:
    """An archive of 400 KB, always the same."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name in ("imgs.npy", "latents_classes.npy"):
            numbers = b"".join(hashlib.sha256(b"%d" % number).digest() for number in range(6_000))
            header = b"{'descr': '|u1', 'fortran_order': False, 'shape': (%d,), }" % len(numbers)
            header += b" " * (118 - 1 - len(header)) + b"\n"
            entry = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
            archive.writestr(
                entry, b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + numbers
            )
    return file.getvalue()


def published_hash() -> str:
    """The hash of the file."""
    return hashlib.sha256(content()).hexdigest()


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers a path with what it names: `/file.npz` is the file, every other path does something wrong.

    A name in `now` stands for what it does at the moment, so that one address can change its behavior.
    """

    now: ClassVar[dict[str, str]] = {}

    protocol_version = "HTTP/1.1"
    timeout = 30

    def do_GET(self) -> None:
        name = self.path.strip("/").partition("?")[0]
        name = self.now.get(name, name)
        method = vars(Handler).get(f"send_{name.replace('-', '_').replace('.', '_')}")
        self.close_connection = True
        try:
            self.send_error(404) if method is None else method(self)
        except (BrokenPipeError, ConnectionResetError, TimeoutError):
            return

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def send_file_npz(self) -> None:
        self._send(content(), pause=0.002)

    def send_login(self) -> None:
        """A page that asks for a password, with status 200."""
        self._send(b"<!DOCTYPE html><html><body>Sign in</body></html>" * 20, kind="text/html")

    def send_empty(self) -> None:
        self._send(b"")

    def send_other(self) -> None:
        """A file of the right length with other bytes."""
        self._send(bytes(len(content())))

    def send_longer(self) -> None:
        """More bytes than were announced."""
        self._head(200, len(content()))
        self.wfile.write(content() + b"more" * 1_000)

    def send_cut(self) -> None:
        """Hangs up in the middle."""
        self._head(200, len(content()))
        self.wfile.write(content()[: len(content()) // 2])

    def send_cut_without_length(self) -> None:
        """Hangs up in the middle of an answer without a length."""
        self._head(200, None)
        self.wfile.write(content()[: len(content()) // 2])

    def send_wrong_range(self) -> None:
        """Answers a range with another one."""
        if "Range" not in self.headers:
            self.send_cut()
            return
        part = content()[:1_000]
        self.send_response(206)
        self.send_header("Content-Range", f"bytes 0-{len(part) - 1}/{len(content())}")
        self.send_header("Content-Length", str(len(part)))
        self.end_headers()
        self.wfile.write(part)

    def send_broken_range(self) -> None:
        """A Content-Range that is no range."""
        self.send_response(206)
        self.send_header("Content-Range", "bytes x-y/z")
        self.send_header("Content-Length", str(len(content())))
        self.end_headers()
        self.wfile.write(content())

    def send_huge_length(self) -> None:
        """Announces an exabyte."""
        self._head(200, 10**18)
        self.wfile.write(content()[:1_000])

    def send_bad_length(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "many")
        self.end_headers()
        self.wfile.write(content()[:1_000])

    def send_loop(self) -> None:
        """Redirects to itself."""
        self.send_response(302)
        self.send_header("Location", self.path)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def send_redirect_to_file(self) -> None:
        """Redirects to a file of this computer."""
        self.send_response(302)
        self.send_header("Location", "file:///etc/passwd")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def send_server_error(self) -> None:
        self.send_error(500)

    def send_unavailable(self) -> None:
        self.send_response(503)
        self.send_header("Retry-After", "99999")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def send_noise(self) -> None:
        """No HTTP at all."""
        self.wfile.write(bytes(range(256)) * 20)

    def send_headers_without_end(self) -> None:
        """Headers for longer than anybody reads them."""
        self.wfile.write(b"HTTP/1.1 200 OK\r\n")
        for number in range(2_000):
            self.wfile.write(b"X-%d: %s\r\n" % (number, b"a" * 1_000))

    def send_compressed(self) -> None:
        """Bytes that claim to be compressed."""
        self.send_response(200)
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(content())))
        self.end_headers()
        self.wfile.write(content())

    def send_pickle(self) -> None:
        """An archive whose array runs code if it is unpickled."""
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("imgs.npy", b"cposix\nsystem\n(S'touch code-ran'\ntR.")
        self._send(file.getvalue())

    def _head(self, status: int, length: int | None, kind: str = "application/octet-stream") -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        if length is not None:
            self.send_header("Content-Length", str(length))
        self.end_headers()

    def _send(self, body: bytes, *, kind: str = "application/octet-stream", pause: float = 0.0) -> None:
        """The body, or the range of it that was asked for."""
        asked = self.headers.get("Range", "")
        tag, condition = f'"{hashlib.sha256(body).hexdigest()[:16]}"', self.headers.get("If-Range")
        start = 0
        if asked.startswith("bytes=") and condition in (None, tag):
            start = int(asked.removeprefix("bytes=").partition("-")[0])
        if start and start >= len(body):
            self.send_response(416)
            self.send_header("Content-Range", f"bytes */{len(body)}")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
        self.send_header("Content-Type", kind)
        self.send_header("ETag", tag)
        self.send_header("Content-Length", str(len(body) - start))
        self.end_headers()
        for position in range(start, len(body), CHUNK):
            self.wfile.write(body[position : min(position + CHUNK, len(body))])
            time.sleep(pause)


BEHAVIORS = tuple(
    name.removeprefix("send_").replace("_", "-")
    for name in vars(Handler)
    if name.startswith("send_") and name != "send_file_npz"
)


def serving() -> int:
    """Starts the server, for as long as this process runs; returns its port."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True).start()
    return server.server_port
