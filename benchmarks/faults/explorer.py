"""The explorer's server under hostile requests and slow clients."""

import random
import re
import socket
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.faults.actions import base
from benchmarks.faults.case import Bench, Case
from benchmarks.faults.hostile_requests import requests
from benchmarks.faults.judge import FORBIDDEN, DidNotSurvive
from benchmarks.faults.processes import Running

GOOD = b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
PATIENCE = 10.0  # seconds until an honest visitor must have the page
SLOW = 40  # each so many-th case is a crowd of slow clients
STATUSES = (
    range(400, 500),
    range(501, 506),
)  # what a hostile request may be answered with: never 200, never 500


@dataclass
class Served:
    """The server, and the lock that gives it to one case."""

    running: Running
    port: int
    lock: threading.Lock


def try_request(case: Case) -> None:
    """One hostile request, or a crowd of slow clients; an honest visitor still gets the page."""
    if case.number % SLOW == SLOW - 1:
        _try_slow_clients(case)
        return
    request = next(requests(random.Random(case.name)))
    case.tried = repr(request[:80])
    served = _served(case.bench)
    with served.lock:
        answer = _answer_to(served.port, request)
        if answer is None:
            raise DidNotSurvive("kept a hostile client waiting for more than its patience", case.tried)
        status = _status(answer)
        if status is not None and not any(status in allowed for allowed in STATUSES):
            raise DidNotSurvive(f"answered a hostile request with status {status}", repr(answer[:300]))
        _check_alive(served)


def _try_slow_clients(case: Case) -> None:
    """Forty clients send half a request and then a byte now and then."""
    case.tried = "slow clients"
    served = _served(case.bench)
    with served.lock:
        halves = [
            b"GET / HTTP/1.1\r\nHost: localhost\r\nX: ",
            b"G",
            b"",
            b"POST /decode HTTP/1.1\r\nHost: localhost\r\n",
        ]
        halves.append(b"POST /decode HTTP/1.1\r\nHost: localhost\r\nContent-Length: 12\r\n\r\nab")
        connections = []
        try:
            for _ in range(40):
                connection = socket.create_connection(("127.0.0.1", served.port), timeout=5)
                connection.sendall(case.rng.choice(halves))
                connections.append(connection)
            end = time.monotonic() + PATIENCE
            while True:
                _send_a_byte(connections)
                answer = _answer_to(served.port, GOOD)
                if answer is not None and _status(answer) == 200:
                    break
                if time.monotonic() > end:
                    raise DidNotSurvive(
                        f"did not serve its page for {PATIENCE:.0f} s, because of slow clients"
                    )
                time.sleep(0.5)
        finally:
            for connection in connections:
                connection.close()
        _check_alive(served)


def _send_a_byte(connections: list[socket.socket]) -> None:
    for connection in connections:
        try:
            connection.sendall(b"a")
        except OSError:  # the server has hung up
            continue


def _served(bench: Bench) -> Served:
    served = bench.once("explorer", lambda folder: _serve(bench, folder))
    if not served.running.is_running:
        raise DidNotSurvive("the server has ended", served.running.err.read_text("utf-8", "replace")[-2000:])
    return served


def _serve(bench: Bench, folder: Path) -> Served:
    words = ["explore", "run", "--serve", "--port", "0", "--no-open", "--examples", "4"]
    variables = {"HOME": str(folder)}
    running = bench.forked.start(words, base(bench), variables=variables, output=folder / "server")
    end = time.monotonic() + 60
    while time.monotonic() < end and running.is_running:
        if found := re.search(r"http://127\.0\.0\.1:(\d+)/", running.err.read_text("utf-8")):
            return Served(running, int(found[1]), threading.Lock())
        time.sleep(0.05)
    raise DidNotSurvive("the server did not start", running.err.read_text("utf-8")[-2000:])


def _answer_to(port: int, request: bytes) -> bytes | None:
    """What the server sends until it hangs up; None if it does not within its limit."""
    answer = bytearray()
    end = time.monotonic() + PATIENCE
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as connection:
            connection.sendall(request)
            connection.shutdown(socket.SHUT_WR)  # as a client that has nothing more to say
            while part := connection.recv(1 << 16):
                answer += part
                if time.monotonic() > end:
                    return None
    except TimeoutError:
        return None
    except OSError:  # it hung up before it had read everything
        return bytes(answer)
    return bytes(answer)


def _status(answer: bytes) -> int | None:
    """The status of the first response; None if there is none."""
    found = re.match(rb"HTTP/1\.[01] (\d{3}) ", answer)
    return int(found[1]) if found else None


def _check_alive(served: Served) -> None:
    answer = _answer_to(served.port, GOOD)
    if answer is None or _status(answer) != 200:
        raise DidNotSurvive("no longer serves its page", repr((answer or b"")[:300]))
    printed = served.running.err.read_text("utf-8", "replace")
    if any(words in printed for words in FORBIDDEN):
        raise DidNotSurvive("the server printed a traceback", printed[-2000:])
