"""Hostile requests for the explorer's server: raw bytes, what a client sends before it waits. The same seed gives the
same requests."""

import random
from collections.abc import Iterator

GOOD = b"Host: localhost\r\nConnection: close\r\n"
TLS_HELLO = bytes.fromhex("16030100f1010000ed0303") + bytes(range(64))


def requests(rng: random.Random) -> Iterator[bytes]:
    """Endlessly many requests with something wrong; none may be answered with status 200."""
    while True:
        yield rng.choice(KINDS)(rng)


def _noise(rng: random.Random) -> bytes:
    return rng.randbytes(rng.randrange(200))


def _line(rng: random.Random) -> bytes:
    """A wrong first line."""
    line = rng.choice(
        [
            b"GET / HTTQ/1.1",
            b"GET /",
            b"GET",
            b"GET / HTTP/99",
            b"GET  / HTTP/1.1",
            b"",
            b"\r\n\r\n",
            b"GET / HTTP/1.1 x",
        ]
    )
    return line + b"\r\n" + GOOD + b"\r\n"


def _method(rng: random.Random) -> bytes:
    method = rng.choice(
        [b"PUT", b"DELETE", b"TRACE", b"OPTIONS", b"CONNECT", b"PRI", b"get", b"\x00", b"G" * 5000]
    )
    return method + b" " + _path(rng) + b" HTTP/1.1\r\n" + GOOD + b"\r\n"


def _path(rng: random.Random) -> bytes:
    return rng.choice(
        [
            *(b"/decode", b"/../x", b"/%00", b"*", b"http://x/", b"/run.json", b"/%2e%2e/%2e%2e/etc/passwd"),
            *(
                b"//etc/passwd",
                b"/decode/",
                b"/" + b"a" * rng.choice([10, 70_000]),
                b"/" + _noise(rng).hex().encode(),
            ),
        ]
    )


def _get(rng: random.Random) -> bytes:
    return b"GET " + _path(rng) + b" HTTP/1.1\r\n" + GOOD + b"\r\n"


def _host(rng: random.Random) -> bytes:
    host = rng.choice(
        [
            b"evil.example",
            b"",
            b"127.0.0.1:1:2",
            _noise(rng).hex()[:40].encode(),
            b"[::2]",
            b"localhost.evil.example",
        ]
    )
    return rng.choice(
        [
            b"GET / HTTP/1.1\r\nHost: " + host + b"\r\nConnection: close\r\n\r\n",
            b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n",
            b"GET / HTTP/1.1\r\n" + GOOD + b"Host: localhost\r\n\r\n",
            b"POST /decode HTTP/1.1\r\n"
            + GOOD
            + b"Origin: http://"
            + host
            + b"x\r\nContent-Length: 0\r\n\r\n",
            b"POST /decode HTTP/1.1\r\n" + GOOD + b"Origin: null\r\nContent-Length: 0\r\n\r\n",
        ]
    )


def _headers(rng: random.Random) -> bytes:
    """Headers that are too long, too many, broken or cut off."""
    header = rng.choice(
        [
            b"X: " + b"a" * rng.choice([20_000, 200_000]) + b"\r\n",
            b"".join(b"X-%d: 1\r\n" % number for number in range(rng.choice([5000, 20_000]))),
            b"X\x00: 1\r\n",
            b": 1\r\n",
            b"X : 1\r\n",
            b" folded\r\n",
            b"X: \xff\x00\r\n",
            b"Content-Length: 1\r\nContent-Length: 2\r\n",
        ]
    )
    return b"GET /missing HTTP/1.1\r\n" + GOOD + header + b"\r\n" * rng.randrange(2)


def _body(rng: random.Random) -> bytes:
    length = rng.choice(
        [
            b"-1",
            b"1e9",
            b"99999999",
            b"99999999999999999999",
            b"0x10",
            b"16",
            b"",
            b"7",
            b"+4",
            b"4, 4",
            b"\xb2",
        ]
    )
    return b"POST /decode HTTP/1.1\r\n" + GOOD + b"Content-Length: " + length + b"\r\n\r\n" + _noise(rng)[:15]


def _chunks(rng: random.Random) -> bytes:
    """Chunks that are wrong, never end, or come with a length too."""
    chunks = rng.choice(
        [
            _noise(rng) + b"\r\n",
            b"ffffffffffffffff\r\n",
            b"-1\r\n",
            b"1\r\na" * 5000,
            b"4;" + b"x" * 20_000 + b"\r\n",
            b"3\r\nabcdef\r\n0\r\n\r\n",
            b"0\r\nX: " + b"a" * 70_000,
        ]
    )
    both = rng.choice([b"", b"Content-Length: 4\r\n"])
    coding = rng.choice([b"chunked", b"chunked, chunked", b"gzip", b"xchunked", b"identity"])
    return b"POST /decode HTTP/1.1\r\n" + GOOD + both + b"Transfer-Encoding: " + coding + b"\r\n\r\n" + chunks


def _codes(rng: random.Random) -> bytes:
    body = rng.choice([bytes(15), b"\xff" * 16, b"\x00\x00\xc0\x7f" * 4, b"\x00\x00\x80\x7f" * 4])
    return b"POST /decode HTTP/1.1\r\n" + GOOD + b"Content-Length: %d\r\n\r\n" % len(body) + body


def _pipelined(rng: random.Random) -> bytes:
    return (
        b"GET /missing HTTP/1.1\r\nHost: localhost\r\n\r\n" * rng.choice([1, 50]) + _noise(rng) + b"\r\n\r\n"
    )


def _upgrade(rng: random.Random) -> bytes:
    kind = rng.choice([b"websocket", b"h2c", b"TLS/1.3"])
    key = b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
    return (
        b"GET /missing HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: "
        + kind
        + b"\r\n"
        + key
        + b"\r\n"
    )


KINDS = (
    *(_noise, _line, _method, _get, _host, _headers, _body, _chunks, _codes, _pipelined, _upgrade),
    lambda rng: TLS_HELLO + _noise(rng),
    lambda rng: b"",
    lambda rng: b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + _noise(rng),
    lambda rng: _get(rng)[: rng.randrange(60)],  # cut off
)
