"""One socket's place in a debate's log: a snapshot, then the log from there, at the pace of what it acknowledges."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from .admission import Ticket
from .board import START, Position

if TYPE_CHECKING:
    from .watch import Watch

GONE, TOO_SLOW, MALFORMED, FINISHED, BROKEN = 4404, 4408, 4400, 1000, 1011
# Bytes that may be on their way, unacknowledged; the hub waits beyond the first and goes on below the second.
BUDGET = 512 * 1024
CAUGHT_UP = BUDGET // 2
# Bytes between two places whose acknowledgement is told apart: it bounds what is remembered of each viewer.
STRIDE = 16 * 1024
# Seconds without an acknowledgement, where one is due, or for one write where the server gives back-pressure.
PATIENCE = 30.0
# Seconds that a first snapshot waits for a log to be read; after that it is sent without.
FIRST = 1.0

Send = Callable[[str], Awaitable[None]]


class Viewer:
    """`run` is its whole life; everything else only marks it and nudges."""

    def __init__(self, send: Send, ticket: Ticket, after: int) -> None:
        self.write = send
        self.ticket = ticket
        self.after = after
        self.cursor = 0
        self.stale = True
        self.code = 0
        self.nudged = asyncio.Event()
        self.last: Position = START
        self.sent = self.acked = 0
        self.marks: deque[tuple[Position, int]] = deque()

    def nudge(self) -> None:
        self.nudged.set()

    def refresh(self) -> None:
        """What it has may be wrong: it needs a snapshot."""
        self.stale = True
        self.nudged.set()

    def dismiss(self, code: int) -> None:
        self.code = code
        self.nudged.set()

    def ack(self, at: Position) -> None:
        """It has everything up to there. What wasn't sent here can't be acknowledged."""
        if at > self.last:
            return
        while self.marks and self.marks[0][0] <= at:
            self.acked = self.marks.popleft()[1]
        if at == self.last:
            self.acked = self.sent
        self.nudged.set()

    @property
    def full(self) -> bool:
        return self.sent - self.acked >= BUDGET

    async def run(self, watch: Watch) -> int:
        """Serves the socket until nothing more will come; returns the code to close it with."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(watch.ready.wait(), FIRST)
        try:
            while not self.code:
                await self.serve(watch)
        except TimeoutError:
            return TOO_SLOW
        return self.code

    async def serve(self, watch: Watch) -> None:
        """One round: what there is to send, then a wait for more."""
        self.nudged.clear()
        if self.full:
            await self.catch_up(watch)
        async with asyncio.timeout(PATIENCE):
            if self.stale and not self.code:
                await self.show(watch)
            await self.forward(watch)
        if watch.over and self.cursor == watch.end and not self.stale:
            self.code = self.code or FINISHED
        if not (self.code or self.stale or self.full):
            await self.nudged.wait()

    async def catch_up(self, watch: Watch) -> None:
        """Waits for acknowledgements; what was missed meanwhile comes as a snapshot."""
        while self.sent - self.acked > CAUGHT_UP and not self.code:
            acked = self.acked
            async with asyncio.timeout(PATIENCE):
                while self.acked == acked and not self.code:
                    await self.nudged.wait()
                    self.nudged.clear()
        self.stale = self.stale or self.cursor < watch.end

    async def show(self, watch: Watch) -> None:
        """First the mark, then PostgreSQL: see `snapshots`."""
        self.stale = False
        mark, self.cursor = watch.mark()
        past = await watch.past()
        for frame in past.frames(mark, self.after):
            if self.code:
                return
            await self.send(mark.at or self.last, frame, len(frame))
        self.after = past.reach(self.after)
        if mark.at is None:
            self.acked = self.sent  # there is no id by which it could be acknowledged
            self.marks.clear()
        if past.over:
            self.code = self.code or FINISHED

    async def forward(self, watch: Watch) -> None:
        if self.cursor < watch.first:
            self.stale = True
        for entry in watch.since(self.cursor):
            if self.code or self.stale or self.full:
                return
            self.cursor += 1
            await self.send(*entry)

    async def send(self, at: Position, frame: str, size: int) -> None:
        await self.write(frame)
        self.sent += size
        self.last = at
        if self.sent - (self.marks[-1][1] if self.marks else self.acked) >= STRIDE:
            self.marks.append((at, self.sent))
