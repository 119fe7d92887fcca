"""The explorer's server, src/unbraid/explore/server.py, on a real socket."""

import itertools
import random
import re
import signal
import socket
import time
from collections.abc import Callable, Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import torch

from unbraid.explore.server import (
    MAX_CODES,
    application,
    host_of,
    is_local,
    read_codes,
    serve_explorer,
)
from unbraid.runs.folder import Run
from unbraid.runs.model import load
from unbraid.runs.run_dataset import training_dataset

pytest.importorskip("uvicorn", reason="the server needs the extra `serve`")
from benchmarks.faults.hostile_requests import requests
from benchmarks.faults.processes import ForkedCommands
from tests.explore.serving import serving


class Answer(NamedTuple):
    status: int
    body: bytes


@pytest.fixture(scope="module")
def port(run: Run) -> Iterator[int]:
    """Where the run is served."""
    with serving(application(run, examples=4)) as port:
        yield port


def ask(port: int, method: str = "GET", path: str = "/", body: bytes | None = None, **headers: str) -> Answer:
    connection = HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
    answer = connection.getresponse()
    found = Answer(answer.status, answer.read())
    connection.close()
    return found


def decoded(port: int, run: Run, rows: int = 3) -> None:
    """Codes come back as what the library decodes."""
    codes = torch.randn(rows, 4, generator=torch.Generator().manual_seed(1))
    answer = ask(port, "POST", "/decode", codes.numpy().astype("<f4").tobytes())
    assert answer.status == 200
    right = load(run.folder, device="cpu").decode(codes).numpy()
    assert np.allclose(np.frombuffer(answer.body, "<f4").reshape(right.shape), right, atol=1e-6)


def test_it_shows_the_page_and_decodes(port: int, run: Run) -> None:
    page = ask(port)
    assert page.status == 200 and b"connect-src &#39;self&#39;" in page.body and b'"served":true' in page.body
    assert b'"program"' not in page.body
    decoded(port, run)


@pytest.mark.parametrize(
    "path",
    [
        "/run.json",
        "/../run.json",
        "/%2e%2e/%2e%2e/etc/passwd",
        "//etc/passwd",
        "/decode/",
        "/model.safetensors",
    ],
)
def test_no_other_path_leads_anywhere(port: int, path: str) -> None:
    assert ask(port, path=path).status == 404


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "", "[::2]"])
def test_another_host_is_refused(port: int, host: str) -> None:
    assert ask(port, Host=host).status == 421


def test_its_own_names_are_not(port: int) -> None:
    for host in (f"localhost:{port}", f"127.0.0.1:{port}", f"[::1]:{port}", "localhost"):
        assert ask(port, Host=host).status == 200


def test_other_pages_are_refused(port: int) -> None:
    assert ask(port, "POST", "/decode", bytes(16), Origin="http://evil.example").status == 403
    assert ask(port, "POST", "/decode", bytes(16), Origin=f"http://127.0.0.1:{port}").status == 200


def test_bodies_have_a_limit(port: int, run: Run) -> None:
    most = 4 * 4 * MAX_CODES
    assert ask(port, "POST", "/decode", bytes(most)).status == 200
    assert ask(port, "POST", "/decode", bytes(most + 16)).status == 413
    assert ask(port, "POST", "/decode", b"", Content_Length="99999999999999999999").status == 413
    connection = HTTPConnection("127.0.0.1", port, timeout=10)  # one that does not say how much will come
    connection.request("POST", "/decode", iter([bytes(most), bytes(most)]), encode_chunked=True)
    assert connection.getresponse().status == 413
    connection.close()
    decoded(port, run)


@pytest.mark.parametrize("body", [b"", b"abc", bytes(20), np.full(4, np.nan, "<f4").tobytes()])
def test_bodies_that_are_no_codes_are_refused(port: int, body: bytes) -> None:
    assert ask(port, "POST", "/decode", body).status == 400


def test_a_thousand_malformed_requests_do_no_harm(port: int, run: Run) -> None:
    malformed = list(itertools.islice(requests(random.Random(0)), 1000))
    answers = [_sent(port, request) for request in malformed]
    served = [request for request, answer in zip(malformed, answers, strict=True) if b" 200 " in answer[:20]]
    assert not served, served[:3]
    statuses = {match[1] for answer in answers if (match := re.match(rb"HTTP/1.1 (\d+)", answer))}
    assert statuses <= {b"400", b"403", b"404", b"405", b"413", b"421", b"431"} and len(statuses) > 3
    decoded(port, run)


def _sent(port: int, request: bytes) -> bytes:
    """What comes back; nothing where the server hangs up."""
    answer = b""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=5) as link:
            link.sendall(request)
            link.shutdown(socket.SHUT_WR)
            while part := link.recv(65536):
                answer += part
    except OSError:
        pass
    return answer


def test_hosts_are_told_apart() -> None:
    assert all(map(is_local, ("127.0.0.1", "127.8.8.8", "::1", "localhost")))
    assert not any(map(is_local, ("0.0.0.0", "::", "192.168.0.7", "example.org", "")))
    assert [host_of(named) for named in ("a:1", "a", "[::1]:2", "[::1]", ":1")] == [
        "a",
        "a",
        "::1",
        "::1",
        "",
    ]


def test_other_machines_are_kept_out_unless_told(run: Run) -> None:
    with pytest.raises(ValueError, match=r"other machines.*--allow-remote"):
        serve_explorer(run, host="0.0.0.0")


def test_a_port_that_is_taken_is_said(run: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other, pytest.raises(ValueError, match="Choose another"):
        serve_explorer(run, port=other.getsockname()[1])
    with pytest.raises(ValueError, match="0 to 65535"):
        serve_explorer(run, port=70000)


def test_what_cannot_decode_is_not_served(runs: Callable[[str], Run]) -> None:
    with pytest.raises(ValueError, match="no decoder to serve"):
        application(runs("cnn"))


def test_what_is_given_follows_the_codes() -> None:
    body = np.array([1, 2, 3, 4, 0, 9], "<f4").tobytes()
    codes, condition = read_codes(body, 2, 1)
    assert codes.tolist() == [[1, 2], [3, 4]] and condition is not None and condition.tolist() == [[0], [9]]


def test_a_conditional_model_is_served_with_what_it_is_given(runs: Callable[[str], Run]) -> None:
    import asyncio

    run = runs("cvib")
    app, model = application(run, examples=4), load(run.folder, device="cpu")
    codes, condition = torch.randn(1, 4), torch.ones(1, len(training_dataset(run).nuisances))
    sent: list[dict] = []

    async def receive() -> dict:
        return {"type": "http.request", "body": torch.cat([codes, condition], 1).numpy().tobytes()}

    async def send(message: dict) -> None:
        sent.append(message)

    headers = [(b"host", b"localhost")]
    scope = {"type": "http", "method": "POST", "path": "/decode", "headers": headers, "query_string": b""}
    asyncio.run(app(scope, receive, send))
    assert sent[0]["status"] == 200
    right = model.decode(codes, condition=condition.long()).numpy()
    assert np.allclose(np.frombuffer(sent[1]["body"], "<f4"), right.ravel(), atol=1e-6)


def test_the_command_serves_until_it_is_interrupted(run: Run, tmp_path: Path, forked: ForkedCommands) -> None:
    words = ["explore", str(run.folder), "--serve", "--no-open"]
    server = forked.start(words, tmp_path, variables={}, output=tmp_path / "printed")
    try:
        for _ in range(600):  # it names its address before it answers
            found = re.search(r"http://127\.0\.0\.1:(\d+)/", server.err.read_text())
            try:
                if found:
                    assert ask(int(found[1])).status == 200
                    break
            except OSError:
                pass
            time.sleep(0.05)
        else:
            pytest.fail(server.err.read_text())
    finally:
        server.signal(signal.SIGINT)
    ended = server.wait(60)
    assert ended.code == 0 and "Traceback" not in ended.err
