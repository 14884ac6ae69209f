"""One debate that somebody in this process is watching: the board, the newest part of its log as it is to be
forwarded, and its viewers."""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import dataclass
from typing import Any

import redis.asyncio
from django.db.utils import Error as DatabaseError

from . import admission
from .board import START, Board, Mark, Position
from .database import in_db
from .log import encode, log_key
from .snapshots import Past, is_over, read_past
from .viewer import GONE, Viewer

logger = logging.getLogger(__name__)

# Bytes of a log kept in memory: a viewer that falls behind further gets a snapshot.
KEPT = 1_000_000
# Entries per read.
CHUNK = 500
# Seconds until PostgreSQL is asked again, when it didn't answer.
PAUSE = 1.0

Entry = tuple[Position, str, int]  # where it is in the log, the frame, its size in bytes
RawEntry = tuple[bytes, dict[bytes, bytes]]


@dataclass(slots=True)
class Needed:
    """An entry that viewers need; `body` is the frame as it came, until another is added to it."""

    at: Position
    frame: dict[str, Any]
    body: str
    size: int

    def add(self, later: Needed) -> None:
        self.frame["text"] += later.frame["text"]
        self.size += later.size
        self.body = ""

    def as_entry(self) -> Entry:
        return self.at, self.body or encode(self.frame), self.size


def merged(entries: list[Needed]) -> list[Needed]:
    """Deltas of one turn that came in one read become one, under the id of the first: a hub that can't keep pace with
    its viewers sends fewer frames, not late ones. Anything but a delta keeps its place among them."""
    last: dict[int, Needed] = {}
    kept: list[Needed] = []
    for entry in entries:
        if entry.frame["t"] != "delta":
            last.clear()
        elif known := last.get(entry.frame["number"]):
            known.add(entry)
            continue
        else:
            last[entry.frame["number"]] = entry
        kept.append(entry)
    return kept


class Watch:
    """Entries are counted from the first one that was kept; `first` and `end` are such counts. `read` tells that the
    board holds the whole log, `ready` that this is known either way."""

    def __init__(self, debate_pk: int) -> None:
        self.debate_pk = debate_pk
        self.key = log_key(debate_pk)
        self.board = Board()
        self.entries: list[Entry] = []
        self.first = self.size = 0
        self.viewers: set[Viewer] = set()
        self.over = self.read = False
        self.ready = asyncio.Event()
        self.heard = time.monotonic()
        self.loading = asyncio.Lock()
        self.next_past: asyncio.Task[Past] | None = None

    @property
    def at(self) -> str:
        return f"{self.board.at[0]}-{self.board.at[1]}"

    @property
    def end(self) -> int:
        return self.first + len(self.entries)

    def since(self, cursor: int) -> list[Entry]:
        return self.entries[max(cursor - self.first, 0) :]

    def mark(self) -> tuple[Mark, int]:
        """The board, and the count of the entry that follows it."""
        return (self.board.mark() if self.read else Mark()), self.end

    def take(self, entries: list[RawEntry]) -> bool:
        """Keeps what viewers need and wakes them; whether these entries end the sitting."""
        self.heard = time.monotonic()
        was_over = self.board.over
        for entry in merged([entry for raw in entries if (entry := self.absorb(raw))]):
            self.entries.append(entry.as_entry())
            self.size += entry.size
        if self.size > KEPT:
            self.drop_half()
        for viewer in self.viewers:
            viewer.nudge()
        return self.board.over and not was_over

    def absorb(self, raw: RawEntry) -> Needed | None:
        """Moves the board on; the entry, if viewers need it."""
        body = raw[1].get(b"e", b"")
        try:
            frame = self.board.take(raw[0].decode(), body)
        except (ValueError, KeyError, TypeError):
            logger.exception("entry %r of %s is no frame", raw[0], self.key)
            self.board.tear()
            frame = None
        if self.board.anew:
            self.over = self.over and self.board.over
            self.refresh()
        return Needed(self.board.at, frame, body.decode(), len(body)) if frame else None

    def drop_half(self) -> None:
        dropped = 0
        while self.size > KEPT // 2:
            self.size -= self.entries[dropped][2]
            dropped += 1
        del self.entries[:dropped]
        self.first += dropped

    async def fold(self, client: redis.asyncio.Redis) -> None:
        """Reads the log from its start, in chunks, so that other debates go on meanwhile. Raises RedisError."""
        full = True
        while full:
            start = f"({self.at}" if self.board.at != START else "-"
            entries = await client.xrange(self.key, min=start, count=CHUNK)
            for raw in entries:
                self.absorb(raw)
            full = len(entries) == CHUNK
        self.read = True

    def refresh(self) -> None:
        for viewer in self.viewers:
            viewer.refresh()

    async def past(self) -> Past:
        """PostgreSQL's side as it is after this call: one read for all who ask before it begins."""
        if self.next_past is None:
            self.next_past = asyncio.create_task(self.load())
        return await asyncio.shield(self.next_past)

    async def load(self) -> Past:
        async with self.loading:
            self.next_past = None
            return await in_db(read_past, self.debate_pk)

    async def close_after_end(self) -> None:
        """A sitting ended: closes, or shows which one is next."""
        if not await in_db(is_over, self.debate_pk):
            return self.refresh()
        self.over = True
        for viewer in self.viewers:
            viewer.nudge()

    async def close_if_over(self) -> None:
        """The log is silent: if the debate is over, shows how it ended."""
        if await in_db(is_over, self.debate_pk):
            self.over = True
            self.refresh()

    async def check_access(self) -> None:
        """Looks at every viewer's ticket again, and doesn't give up."""
        while self.viewers:
            try:
                refused = await in_db(admission.refused, self.debate_pk, {viewer.ticket for viewer in self.viewers})
            except DatabaseError:
                await asyncio.sleep(PAUSE)
                continue
            for viewer in self.viewers:
                if viewer.ticket in refused:
                    viewer.dismiss(GONE)
            return
