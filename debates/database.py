"""Database work from an event loop: plain synchronous functions in one small executor of our own.

Channels' and Django's own ways put a whole process into one thread (one slow query stalls every viewer) or
exhaust the connection pool; four threads with a connection each do neither.
"""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from django.conf import settings
from django.db import InterfaceError, OperationalError, close_old_connections

P = ParamSpec("P")
T = TypeVar("T")

PATIENCE = 30.0  # seconds that a restart of the database may take

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


async def in_db_at_last(query: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """The same for a write that must not be lost to a restart of the database: tried again for half a minute.

    The query must bear being run twice: a commit may have happened although its answer was lost.
    """
    until = time.monotonic() + PATIENCE
    while True:
        try:
            return await in_db(query, *args, **kwargs)
        except (OperationalError, InterfaceError):
            if time.monotonic() > until:
                raise
            await asyncio.sleep(0.25)
