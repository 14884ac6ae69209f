"""The HTTP connections of a process: one pool per event loop, shared by all providers, so that a debate's calls reuse
open connections and no call pays for a new TLS context."""

from __future__ import annotations

import asyncio
import ssl
from functools import cache
from weakref import WeakKeyDictionary

import httpx2

IDLE = {True: 4.0, False: 30.0}  # seconds; llama.cpp's server closes what idles for 5

_pools: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[bool, httpx2.AsyncClient]] = WeakKeyDictionary()


def connections(direct: bool) -> httpx2.AsyncClient:
    """The running loop's pool; a `direct` one goes past the proxies that the environment names.

    Redirects are not followed: a key must not travel on to where somebody else points.
    """
    pools = _pools.setdefault(asyncio.get_running_loop(), {})
    if direct not in pools:
        pools[direct] = httpx2.AsyncClient(
            limits=httpx2.Limits(max_connections=1000, max_keepalive_connections=100, keepalive_expiry=IDLE[direct]),
            follow_redirects=False,
            trust_env=not direct,
            headers={"Accept-Encoding": "identity"},
            verify=_tls(),
            event_hooks={"response": [_answered]},
        )
    return pools[direct]


@cache
def _tls() -> ssl.SSLContext:
    """Reading the certificates takes tens of milliseconds, so once in a process."""
    return httpx2.create_ssl_context()


async def disconnect() -> None:
    """Closes the running loop's pools; the next call opens new ones."""
    for pool in _pools.pop(asyncio.get_running_loop(), {}).values():
        await pool.aclose()


async def _answered(response: httpx2.Response) -> None:
    """Tells the SDK to retry only what got no answer at all. Whether a refused call is tried again, with which key
    and when, is not for the SDK to decide."""
    if response.status_code >= 400:
        response.headers["x-should-retry"] = "false"
