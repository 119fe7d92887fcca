"""Connections of the explorer's server, which slow clients cannot keep: requests and answers have a deadline, and a new
connection takes the place of the one that has waited longest."""

import asyncio
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

MAX_CONNECTIONS = 32
MAX_HEADER_BYTES = 16_384
DEADLINE = 5.0  # seconds
TOO_LATE = b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


def server(app: Any, deadline: float = DEADLINE) -> uvicorn.Server:
    """The server of an application.

    Args:
        app: The ASGI application.
        deadline: Seconds for a whole request to arrive, and for any of an answer to be taken.
    """

    class Protocol(Connection):
        seconds = deadline

    config = uvicorn.Config(
        app,
        http=Protocol,
        ws="none",
        log_level="critical",
        server_header=False,
        timeout_graceful_shutdown=1,
        limit_concurrency=4 * MAX_CONNECTIONS,  # `Connection` has the lower limit
        h11_max_incomplete_event_size=MAX_HEADER_BYTES,
    )
    return uvicorn.Server(config)


class Connection(H11Protocol):
    """One connection, which is closed when the client neither completes a request nor takes its answer in time."""

    seconds = DEADLINE
    _check: asyncio.TimerHandle
    _since: float  # when the client was last known to be in time
    _unsent = 0  # bytes of the answer

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._since = self.loop.time()
        self._check_later()
        self._make_room()

    def connection_lost(self, exc: Exception | None) -> None:
        self._check.cancel()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        self._since = self.loop.time()
        super().on_response_complete()

    def send_400_response(self, msg: str) -> None:
        """Answers a malformed request; closes the connection if the answer to an earlier one has begun."""
        if self._can_answer:
            super().send_400_response(msg)
        else:
            self.transport.close()

    def timeout_keep_alive_handler(self) -> None:
        """Does nothing: the deadline holds between requests, too."""

    @property
    def _waits_for_client(self) -> bool:
        """Whether nothing happens until the client sends more of a request, or takes more of an answer."""
        is_answering = (
            self.cycle is not None and not self.cycle.response_complete and not self.cycle.more_body
        )
        return not is_answering or self.transport.get_write_buffer_size() > 0

    @property
    def _can_answer(self) -> bool:
        return self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE)

    def _check_later(self) -> None:
        self._check = self.loop.call_later(self.seconds / 4, self._close_if_late)

    def _close_if_late(self) -> None:
        now, unsent = self.loop.time(), self.transport.get_write_buffer_size()
        if not self._waits_for_client or unsent < self._unsent:
            self._since = now
        self._unsent = unsent
        if now - self._since < self.seconds:
            self._check_later()
            return
        has_begun = bool(self.conn.trailing_data[0]) or self.conn.their_state is not h11.IDLE
        if has_begun and self._can_answer and not self.transport.is_closing():
            self.transport.write(TOO_LATE)
        self.transport.close()
        self._check = self.loop.call_later(self.seconds / 4, self.transport.abort)

    def _make_room(self) -> None:
        """Closes the connection that has waited longest for its client, if there are too many."""
        open_ = [each for each in self.connections if not each.transport.is_closing()]
        waiting = [each for each in open_ if isinstance(each, Connection) and each._waits_for_client]
        if len(open_) > MAX_CONNECTIONS and waiting:
            min(waiting, key=lambda each: each._since).transport.abort()
