"""Slow and hostile clients of the explorer's server, src/unbraid/explore/connections.py, on a real socket."""

import asyncio
import random
import re
import resource
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from http.client import HTTPConnection
from typing import Any

import pytest

pytest.importorskip("uvicorn", reason="the server needs the extra `serve`")
from benchmarks.faults.hostile_requests import requests
from tests.explore.serving import serving
from unbraid.explore.connections import MAX_CONNECTIONS

SOON = 0.2  # seconds: the deadline in these tests
HALVES = {
    "nothing": b"",
    "a header": b"GET / HTTP/1.1\r\nHost: x\r\nX: ",
    "a body": b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabc",
    "a chunk": b"POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc",
    "a body that is refused": b"POST /refuse HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc",
    "a second request": b"GET / HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHo",
    "TLS": bytes.fromhex("16030100f1010000ed0303"),
}


async def app(scope: Any, receive: Any, send: Any) -> None:
    """Reads the whole body, except for /refuse; answers /large with 30 MB, and all else with two letters."""
    if scope["type"] != "http":
        return
    while scope["path"] != "/refuse":
        message = await receive()
        if message["type"] == "http.disconnect" or not message.get("more_body"):
            break
    if scope["path"] == "/slow":
        await asyncio.sleep(3 * SOON)
    body = bytes(30_000_000) if scope["path"] == "/large" else b"ok"
    headers = [(b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """Where the application is served with a short deadline."""
    with serving(app, SOON) as port:
        yield port


def answered(port: int, path: str = "/") -> float:
    """The seconds that an honest client waits."""
    start = time.monotonic()
    connection = HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("POST", path, b"body")
    answer = connection.getresponse()
    assert (answer.status, answer.read()) == (200, b"ok")
    connection.close()
    return time.monotonic() - start


def connected(port: int, content: bytes = b"") -> socket.socket:
    link = socket.create_connection(("127.0.0.1", port), timeout=5)
    link.sendall(content)
    return link


def received(link: socket.socket) -> bytes:
    """What comes until the server hangs up."""
    content = b""
    try:
        while part := link.recv(65536):
            content += part
    except ConnectionError:
        pass
    return content


@pytest.mark.parametrize("half", HALVES.values(), ids=HALVES)
def test_half_a_request_is_closed(port: int, half: bytes) -> None:
    with connected(port, half) as link:
        start = time.monotonic()
        content = received(link)
    assert time.monotonic() - start < 3 * SOON
    assert (b"408 Request Timeout" in content) == (half[:1] in (b"G", b"P") and b"refuse" not in half)


def test_a_client_that_sends_a_byte_now_and_then_is_closed(port: int) -> None:
    with connected(port, b"GET / HTTP/1.1\r\nHost: x\r\nX: ") as link, pytest.raises(OSError):
        for _ in range(50):
            time.sleep(SOON / 10)
            link.sendall(b"a")


def test_an_answer_that_is_not_taken_is_given_up(port: int) -> None:
    with connected(port, b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n") as link:
        time.sleep(3 * SOON)
        assert 0 < len(received(link)) < 30_000_000


def test_slow_answers_are_waited_for(port: int) -> None:
    assert answered(port, "/slow") > 2 * SOON
    with connected(port, b"GET /large HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n") as link:
        start, count = time.monotonic(), 0
        while part := link.recv(1_000_000):  # taken slowly, for longer than the deadline
            count += len(part)
            time.sleep(SOON / 20)
    assert count > 30_000_000 and time.monotonic() - start > SOON


@pytest.mark.parametrize("half", HALVES.values(), ids=HALVES)
def test_many_half_sent_requests_keep_nobody_waiting(half: bytes) -> None:
    with serving(app, 60.0) as port, ExitStack() as links:
        for number in range(3 * MAX_CONNECTIONS):
            links.enter_context(connected(port, half))
            if number % 16 == 0:
                assert answered(port) < 1
        assert answered(port) < 1


def test_hostile_requests_do_no_harm(port: int, caplog: pytest.LogCaptureFixture) -> None:
    dice = random.Random(1)
    generator = requests(dice)
    for round_ in range(2):
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for _ in range(150):
            try:
                with connected(port, next(generator)) as link:
                    if dice.random() < 0.9:
                        link.shutdown(socket.SHUT_WR)
                        content = received(link)
                        assert re.match(rb"HTTP/1\.1 [245]\d\d |$", content), content[:100]
            except OSError:  # closed by the server
                pass
        if round_:
            assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000  # KiB
    assert answered(port) < 1
    assert not caplog.records


def test_garbage_after_an_answer_has_begun_closes_the_connection(
    port: int, caplog: pytest.LogCaptureFixture
) -> None:
    refused = b"POST /refuse HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    with connected(port, refused) as link:
        assert b" 200 " in link.recv(1000)
        link.sendall(b"no chunk\r\n")
        received(link)
    assert not caplog.records
