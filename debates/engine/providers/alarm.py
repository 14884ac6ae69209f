"""A time limit on waiting that costs next to nothing to put off: one timer per answer, moved only when it rings early.
`asyncio.timeout` sets and drops a timer for every read, a tenth of what reading a token costs."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

T = TypeVar("T")


class Alarm:
    """Belongs to one event loop; one wait at a time."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._deadline = 0.0
        self._waiting: asyncio.Task[object] | None = None
        self._rang = False

    async def wait(self, doing: Awaitable[T], deadline: float) -> T:
        """Raises `TimeoutError` at the deadline, in the loop's time; what was being done is cancelled."""
        self._deadline, self._rang = deadline, False
        if self._timer is None or deadline < self._timer.when():
            self._set(deadline)
        self._waiting = task = asyncio.current_task()
        assert task is not None
        cancelling = task.cancelling()
        try:
            return await doing
        except asyncio.CancelledError:
            if self._rang and task.uncancel() <= cancelling:
                raise TimeoutError from None
            raise
        finally:
            self._waiting = None

    def off(self) -> None:
        if self._timer:
            self._timer.cancel()

    def _set(self, when: float) -> None:
        self.off()
        self._timer = self._loop.call_at(when, self._ring)

    def _ring(self) -> None:
        self._timer = None
        if self._waiting is None:
            return
        if self._loop.time() < self._deadline:
            self._set(self._deadline)
            return
        self._rang = True
        self._waiting.cancel()
