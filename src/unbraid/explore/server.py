"""The explorer for models too large for a page: the same page, decoded in Python on this machine.

The server gives out one page and decodes codes, nothing else. It answers only requests that name it as their host,
so that no other page in the same browser can reach it under a name of its own, and it reads no body beyond its limit.
"""

import contextlib
import ipaddress
import socket
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from unbraid.data.dataset import Dataset
from unbraid.explore.page import decodes, explored, render
from unbraid.model import Model
from unbraid.runs import Run

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

MOST_CODES = 32  # that one request may ask for
SETTINGS: dict[str, Any] = {  # of the server
    "http": "h11",
    "ws": "none",
    "log_level": "critical",
    "server_header": False,
    "timeout_keep_alive": 5,
    "limit_concurrency": 32,
    "h11_max_incomplete_event_size": 16_384,
}
LOCAL = ("localhost", "127.0.0.1", "::1")
HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
}


def serve_explorer(
    run: Run | Path | str,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    anywhere: bool = False,
    examples: int = 36,
    dataset: Dataset | None = None,
    root: Path | str | None = None,
    ready: Callable[[str], None] = lambda address: None,
) -> None:
    """Serves the explorer of a run until it is interrupted.

    Args:
        run: A finished run.
        host: Where to listen.
        port: The port; 0 for a free one.
        anywhere: Whether the host may be one that other machines reach.
        examples: How many observations to offer as a start.
        dataset: Where they come from; the run's own dataset by default.
        root: The data root, for runs on official files.
        ready: Called with the page's address once it can be opened.
    """
    try:
        import uvicorn
    except ModuleNotFoundError:
        raise ValueError("--serve needs the extra `serve`: pip install 'unbraid[serve]'.") from None
    if not anywhere and not is_local(host):
        raise ValueError(
            f"{host} can be reached from other machines, and the server has no password: use 127.0.0.1, or say "
            "--anywhere if that is meant."
        )
    if not 0 <= port <= 65535:
        raise ValueError(f"A port is a number from 0 to 65535; got {port}.")
    app = application(run, host=host, examples=examples, dataset=dataset, root=root)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family)
    except OSError as error:
        raise ValueError(
            f"Nothing can listen at {host}, port {port} ({error.strerror or error}): choose another --host or --port."
        ) from None
    with listening:
        name = f"[{host}]" if ":" in host else host
        ready(f"http://{name}:{listening.getsockname()[1]}/")
        with contextlib.suppress(KeyboardInterrupt):
            uvicorn.Server(uvicorn.Config(app, **SETTINGS)).run(sockets=[listening])


def is_local(host: str) -> bool:
    """Whether only this machine can reach a host by this name."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def application(
    run: Run | Path | str,
    *,
    host: str = "127.0.0.1",
    examples: int = 36,
    dataset: Dataset | None = None,
    root: Path | str | None = None,
) -> "Guard":
    """What is served: the page at `/`, and `/decode`, which takes codes in float32 and answers with observations."""
    from starlette.applications import Starlette
    from starlette.concurrency import run_in_threadpool
    from starlette.requests import ClientDisconnect
    from starlette.responses import HTMLResponse, Response
    from starlette.routing import Route

    opened = run if isinstance(run, Run) else Run(run)
    content, model, found = explored(opened, examples=examples, dataset=dataset, root=root)
    if not decodes(model):
        raise ValueError(f"{opened.folder} has no decoder to serve: leave out --serve.")
    beside = 0 if found.given is None or not model.method.conditional else found.given.shape[1]
    page = render(content, served=True)
    most = 4 * MOST_CODES * (model.strands.size + beside)

    async def show(request: "Request") -> "Response":
        return HTMLResponse(page, headers=HEADERS)

    async def decode(request: "Request") -> "Response":
        try:
            body = await bounded(request, most)
            codes, given = read_codes(body, model.strands.size, beside)
        except ClientDisconnect:
            return _refused(400, "The request broke off.")
        except OverflowError:
            return _refused(413, f"A request may have {most} bytes.")
        except ValueError as error:
            return _refused(400, str(error))
        decoded = await run_in_threadpool(decoded_bytes, model, codes, given)
        return Response(decoded, media_type="application/octet-stream", headers=HEADERS)

    app = Starlette(routes=[Route("/", show, methods=["GET"]), Route("/decode", decode, methods=["POST"])])
    app.router.redirect_slashes = False
    return Guard(app, {*LOCAL, host} if is_local(host) else None)


class Guard:
    """Lets only requests through that name this server as their host, and come from its own page if from a page."""

    def __init__(self, app: Any, hosts: set[str] | None) -> None:
        self.app, self.hosts = app, hosts  # None where any host may be named

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send) if scope["type"] == "lifespan" else None
            return
        named = [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"]
        origins = [value.decode("latin-1") for name, value in scope["headers"] if name == b"origin"]
        if len(named) != 1 or (self.hosts is not None and host_of(named[0]) not in self.hosts):
            await _refused(421, "This server answers only to its own name.")(scope, receive, send)
        elif any(origin != f"http://{named[0]}" for origin in origins):
            await _refused(403, "This server answers only to its own page.")(scope, receive, send)
        else:
            await self.app(scope, receive, send)


def host_of(named: str) -> str:
    """The host of `host:port`, `[::1]:port` or either without a port."""
    if named.startswith("["):
        return named[1:].partition("]")[0]
    return named.rpartition(":")[0] if ":" in named else named


async def bounded(request: "Request", most: int) -> bytes:
    """The body of a request; OverflowError once it is longer than allowed, whatever its header says."""
    said = request.headers.get("content-length", "0")
    if not said.isdecimal() or int(said[:12]) > most:
        raise OverflowError
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > most:
            raise OverflowError
    return bytes(body)


def read_codes(body: bytes, size: int, beside: int) -> tuple[torch.Tensor, torch.Tensor | None]:
    """The codes of a request, and what is given with them: all rows of codes first, in float32."""
    row = 4 * (size + beside)
    if not body or len(body) % row:
        raise ValueError(f"The body must be codes in float32, {row} bytes each; got {len(body)}.")
    numbers = np.frombuffer(body, dtype="<f4").astype(np.float32)
    if not np.isfinite(numbers).all():
        raise ValueError("The codes must be finite numbers.")
    rows = len(body) // row
    codes, given = np.split(numbers, [rows * size])
    values = np.clip(given, 0, 2**31).astype(np.int64).reshape(rows, beside)
    return torch.from_numpy(codes.reshape(rows, size)), torch.from_numpy(values) if beside else None


def decoded_bytes(model: Model, codes: torch.Tensor, given: torch.Tensor | None) -> bytes:
    """The observations of the codes in float32."""
    return model.decode(codes, given=given).numpy().astype("<f4").tobytes()


def _refused(status: int, sentence: str) -> "Response":
    from starlette.responses import PlainTextResponse

    return PlainTextResponse(sentence, status_code=status, headers=HEADERS)
