"""How many calls an endpoint is given at once. The others wait in the order in which they came, and are told so."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

Told = Callable[[str], None]


class Gate:
    """Lets `places` calls through at once, first come, first served. One gate belongs to one event loop."""

    def __init__(self, places: int) -> None:
        self._free = places
        self._line: deque[tuple[asyncio.Future[None], Told]] = deque()

    @asynccontextmanager
    async def passage(self, waiting: Told) -> AsyncIterator[None]:
        """A place for the time of the block; `waiting` hears of one's place in line whenever it changes."""
        await self._enter(waiting)
        try:
            yield
        finally:
            self._leave()

    async def _enter(self, waiting: Told) -> None:
        if self._free and not self._line:
            self._free -= 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._line.append((turn, waiting))
        waiting(in_line(len(self._line)))
        try:
            await turn
        except asyncio.CancelledError:
            self._give_up(turn, waiting)
            raise

    def _give_up(self, turn: asyncio.Future[None], waiting: Told) -> None:
        if not turn.cancelled():
            self._leave()  # the place was given at the moment at which it was given up
        elif (turn, waiting) in self._line:
            self._line.remove((turn, waiting))
            self._tell()

    def _leave(self) -> None:
        while self._line:
            turn, _ = self._line.popleft()
            if not turn.cancelled():
                turn.set_result(None)
                self._tell()
                return
        self._free += 1

    def _tell(self) -> None:
        for place, (_, waiting) in enumerate(self._line, start=1):
            waiting(in_line(place))


def in_line(place: int) -> str:
    """A reader's words for a place in line, 1 being the next."""
    suffix = "th" if place % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(place % 10, "th")
    return f"{place}{suffix} in line for this model."
