"""A server on this machine with the good and bad habits of servers that hold datasets."""

import gzip
import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

CONTENT = bytes(range(256)) * 400  # 102,400 bytes
PAGE = b"<!DOCTYPE html><html><head><title>Sign in</title></head><body>Please sign in.</body></html>" * 3


class FileServer(http.server.ThreadingHTTPServer):
    """Serves `content` at every path but /gone; its attributes are its habits."""

    daemon_threads = True
    content = CONTENT
    ranges = True  # honors a range
    if_range = True  # honors If-Range
    etag: str | None = '"one"'
    last_modified: str | None = None
    offset = 0  # a partial answer starts so many bytes off
    send = True  # Content-Length
    announced = 0  # added to Content-Length
    cut: int | None = None  # hangs up after so many bytes of the body
    stall: threading.Event | None = None  # falls silent after `cut` bytes, until the event
    stalls: threading.Event  # is set as soon as it falls silent
    encoding = ""  # packs the body with gzip, or only says so
    content_type = "application/octet-stream"
    refuses_head = False

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.stalls = threading.Event()
        self.asked: list[tuple[str, str, str | None]] = []  # method, path, range

    def url(self, name: str = "file.bin") -> str:
        return f"http://127.0.0.1:{self.server_port}/{name}"

    @property
    def ranges_asked(self) -> list[str | None]:
        return [wanted for _, _, wanted in self.asked]


class Handler(http.server.BaseHTTPRequestHandler):
    server: FileServer

    def do_HEAD(self) -> None:
        if self.server.refuses_head:
            self.server.asked.append(("HEAD", self.path, None))
            self.send_error(405)
        else:
            self.answer(body=False)

    def do_GET(self) -> None:
        self.answer(body=True)

    def answer(self, *, body: bool) -> None:
        server, wanted = self.server, self.headers.get("Range")
        server.asked.append((self.command, self.path, wanted))
        if self.path.startswith("/gone"):
            self.send_error(404)
            return
        if self.path.startswith("/moved/"):
            self.send_response(302)
            self.send_header("Location", self.path.removeprefix("/moved"))
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        start, is_part = self.start(wanted)
        if start > 0 and start >= len(server.content):
            self.send_response(416)
            self.send_header("Content-Range", f"bytes */{len(server.content)}")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        if is_part:
            start += server.offset
        content = server.content[start:]
        if is_part and wanted == "bytes=0-0":
            content = content[:1]
        if server.encoding == "gzip":
            content = gzip.compress(content)
        self.send_response(206 if is_part else 200)
        if is_part:
            last = start + len(content) - 1
            self.send_header("Content-Range", f"bytes {start}-{last}/{len(server.content)}")
        if server.send:
            self.send_header("Content-Length", str(len(content) + server.announced))
        for name, value in (
            ("ETag", server.etag),
            ("Last-Modified", server.last_modified),
            ("Content-Type", server.content_type),
            ("Content-Encoding", "gzip" if server.encoding else None),
        ):
            if value:
                self.send_header(name, value)
        self.end_headers()
        if body:
            self.wfile.write(content[: server.cut])
            if server.stall:
                server.stalls.set()
                server.stall.wait(20)
                with suppress(OSError):  # the client has gone
                    self.wfile.write(content[server.cut :])

    def start(self, wanted: str | None) -> tuple[int, bool]:
        """The first byte to send, and whether the answer is a part."""
        server = self.server
        validator = self.headers.get("If-Range")
        changed = server.if_range and validator not in (None, server.etag, server.last_modified)
        if not wanted or not server.ranges or changed:
            return 0, False
        return int(wanted.removeprefix("bytes=").split("-")[0]), True

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def serving() -> Iterator[FileServer]:
    """A server that runs while the context lasts."""
    server = FileServer()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        if server.stall:
            server.stall.set()
        server.shutdown()
        thread.join()
        server.server_close()
