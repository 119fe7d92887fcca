"""The explorer for models too large for a page: the same page, decoded by a local Python server.

The server has two routes: the page and `/decode`. It rejects requests with another Host or Origin header, so that other
pages in the same browser cannot use it, and bodies beyond its limit. `connections.py` closes the connections of clients
that are too slow.
"""

import contextlib
import ipaddress
import socket
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from unbraid.data import Dataset
from unbraid.explore.page import decodes, load_page_inputs, render
from unbraid.runs import Model, Run

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

MAX_CODES = 32  # per request
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
    allow_remote: bool = False,
    examples: int = 36,
    dataset: Dataset | None = None,
    root: Path | str | None = None,
    on_ready: Callable[[str], None] = lambda address: None,
) -> None:
    """Serves the explorer of a run until it is interrupted.

    Args:
        run: A finished run.
        host: Host name or address to listen on.
        port: Port; 0 for a free one.
        allow_remote: Whether the host may be reachable from other machines.
        examples: Number of example observations, 2 to 128.
        dataset: Source of the examples. Default: the training dataset.
        root: Data root, for runs on official files.
        on_ready: Called with the URL of the page once the server listens.
    """
    try:
        from unbraid.explore.connections import server
    except ModuleNotFoundError:
        raise ValueError("--serve needs the extra `serve`. Run pip install 'unbraid[serve]'.") from None
    if not allow_remote and not is_local(host):
        raise ValueError(
            f"{host} is reachable from other machines, and the server has no password. Use 127.0.0.1, or pass "
            "--allow-remote."
        )
    if not 0 <= port <= 65535:
        raise ValueError(f"port must be from 0 to 65535; got {port}.")
    app = application(run, host=host, examples=examples, dataset=dataset, root=root)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family)
    except OSError as error:
        raise ValueError(
            f"Cannot listen on {host}, port {port} ({error.strerror or error}). Choose another --host or --port."
        ) from None
    with listener:
        name = f"[{host}]" if ":" in host else host
        on_ready(f"http://{name}:{listener.getsockname()[1]}/")
        with contextlib.suppress(KeyboardInterrupt):
            server(app).run(sockets=[listener])


def is_local(host: str) -> bool:
    """Whether a host is reachable from this machine only."""
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
) -> "HostCheckMiddleware":
    """The application: the page at `/`, and `/decode`, which maps float32 codes to observations."""
    from starlette.applications import Starlette
    from starlette.concurrency import run_in_threadpool
    from starlette.requests import ClientDisconnect
    from starlette.responses import HTMLResponse, Response
    from starlette.routing import Route

    opened = run if isinstance(run, Run) else Run(run)
    content, model, sampled = load_page_inputs(opened, examples=examples, dataset=dataset, root=root)
    if not decodes(model):
        raise ValueError(f"{opened.folder} has no decoder to serve. Drop --serve.")
    conditional = sampled.condition is not None and model.method.conditions_on == "nuisances"
    conditions = sampled.condition.shape[1] if conditional else 0  # type: ignore[union-attr]
    page = render(content, served=True).encode()
    max_bytes = 4 * MAX_CODES * (model.strands.size + conditions)

    async def show(request: "Request") -> "Response":
        return HTMLResponse(page, headers=HEADERS)

    async def decode(request: "Request") -> "Response":
        try:
            body = await read_body(request, max_bytes)
            codes, condition = read_codes(body, model.strands.size, conditions)
        except ClientDisconnect:
            return _reject(400, "The request was cut off.")
        except OverflowError:
            return _reject(413, f"A request may have at most {max_bytes} bytes.")
        except ValueError as error:
            return _reject(400, str(error))
        decoded = await run_in_threadpool(decoded_bytes, model, codes, condition)
        return Response(decoded, media_type="application/octet-stream", headers=HEADERS)

    app = Starlette(routes=[Route("/", show, methods=["GET"]), Route("/decode", decode, methods=["POST"])])
    app.router.redirect_slashes = False
    return HostCheckMiddleware(app, {*LOCAL, host} if is_local(host) else None)


class HostCheckMiddleware:
    """Rejects requests with another Host header, or with an Origin header of another page."""

    def __init__(self, app: Any, hosts: set[str] | None) -> None:
        self.app, self.hosts = app, hosts  # None: any host

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send) if scope["type"] == "lifespan" else None
            return
        host = [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"]
        origins = [value.decode("latin-1") for name, value in scope["headers"] if name == b"origin"]
        if len(host) != 1 or (self.hosts is not None and host_of(host[0]) not in self.hosts):
            await _reject(421, "The Host header must name this server.")(scope, receive, send)
        elif any(origin != f"http://{host[0]}" for origin in origins):
            await _reject(403, "Requests from other pages are rejected.")(scope, receive, send)
        else:
            await self.app(scope, receive, send)


def host_of(address: str) -> str:
    """The host of `host:port`, `[::1]:port` or either without a port."""
    if address.startswith("["):
        return address[1:].partition("]")[0]
    return address.rpartition(":")[0] if ":" in address else address


async def read_body(request: "Request", max_bytes: int) -> bytes:
    """The body of a request.

    Raises:
        OverflowError: The body is longer than allowed, whatever its header states.
    """
    length = request.headers.get("content-length", "0")
    if not length.isdecimal() or int(length[:12]) > max_bytes:
        raise OverflowError
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > max_bytes:
            raise OverflowError
    return bytes(body)


def read_codes(body: bytes, size: int, conditions: int) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Codes and conditions of a request: all rows of codes, then all rows of conditions, in float32."""
    row = 4 * (size + conditions)
    if not body or len(body) % row:
        raise ValueError(f"The body must hold float32 codes of {row} bytes each; got {len(body)} bytes.")
    numbers = np.frombuffer(body, dtype="<f4").astype(np.float32)
    if not np.isfinite(numbers).all():
        raise ValueError("The codes must be finite.")
    rows = len(body) // row
    codes, condition = np.split(numbers, [rows * size])
    values = np.clip(condition, 0, 2**31).astype(np.int64).reshape(rows, conditions)
    return torch.from_numpy(codes.reshape(rows, size)), torch.from_numpy(values) if conditions else None


def decoded_bytes(model: Model, codes: torch.Tensor, condition: torch.Tensor | None) -> bytes:
    """The observations of the codes in float32."""
    return model.decode(codes, condition=condition).numpy().astype("<f4").tobytes()


def _reject(status: int, sentence: str) -> "Response":
    from starlette.responses import PlainTextResponse

    return PlainTextResponse(sentence, status_code=status, headers=HEADERS)
