"""Database work from an event loop: plain synchronous functions in one small executor of our own.

Channels' and Django's own ways put a whole process into one thread (one slow query stalls every viewer) or
exhaust the connection pool; four threads with a connection each do neither.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from django.conf import settings
from django.db import close_old_connections

P = ParamSpec("P")
T = TypeVar("T")

threads = ThreadPoolExecutor(settings.DATABASE_THREADS, thread_name_prefix="database")


async def in_db(query: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """Runs a synchronous function that uses the ORM, transactions included, and gives its connection back."""

    def call() -> T:
        close_old_connections()
        try:
            return query(*args, **kwargs)
        finally:
            close_old_connections()

    return await asyncio.get_running_loop().run_in_executor(threads, call)
