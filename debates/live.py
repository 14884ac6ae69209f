"""The reader's side of the debates' logs: one hub a process reads them once, for all viewers (docs/live.md).

The hub starts with the first viewer and ends after the last one; each event loop has its own, so it works under
every server and in every test. Its one reader is supervised: Redis may be away for any length of time.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Coroutine
from typing import Any
from weakref import WeakKeyDictionary

import redis.asyncio
from redis.exceptions import RedisError

from .log import CONTROL, CONTROL_LENGTH, connect, encode
from .viewer import Viewer
from .watch import CHUNK, RawEntry, Watch

logger = logging.getLogger(__name__)

# Milliseconds that one read waits, and the seconds after which even that counts as an outage.
BLOCK = 1000
TIMEOUT = 3
# Seconds between two reads, so that many busy debates share one, and between two attempts in an outage.
PACE = 0.005
PAUSE = 0.5
# Logs that are read from their start at once.
OPENING = 4
# Seconds of silence after which PostgreSQL is asked whether a debate is over, and between two looks for such.
QUIET = 15.0
LOOK = 1.0

OUTAGES = (RedisError, OSError)
hubs: WeakKeyDictionary[asyncio.AbstractEventLoop, Hub] = WeakKeyDictionary()


def hub() -> Hub:
    """The running loop's hub."""
    loop = asyncio.get_running_loop()
    if loop not in hubs:
        hubs[loop] = Hub()
    return hubs[loop]


class Hub:
    """`accesses` grows with whatever may have changed who may see what."""

    def __init__(self) -> None:
        self.watches: dict[int, Watch] = {}
        self.opening = asyncio.Semaphore(OPENING)
        self.reader: asyncio.Task[None] | None = None
        self.tasks: set[asyncio.Task[None]] = set()
        self.control_at = ""
        self.live = self.down = False
        self.accesses = 0
        self.look_at = 0.0

    async def serve(self, debate_pk: int, viewer: Viewer, accesses: int) -> int:
        """A viewer's whole stay; returns the code to close it with. `accesses` is the hub's count from before the
        viewer was admitted: if it has grown, what let it in may be void."""
        watch = self.join(debate_pk, viewer)
        if accesses != self.accesses:
            self.spawn(watch.check_access())
        try:
            return await viewer.run(watch)
        finally:
            self.leave(watch, viewer)

    def join(self, debate_pk: int, viewer: Viewer) -> Watch:
        if self.reader is None:
            self.control_at, self.live = "", False
            self.redis = connect(socket_timeout=TIMEOUT)
            self.reader = asyncio.create_task(self.run(self.redis), name="hub")
        watch = self.watches.get(debate_pk)
        if watch is None:
            watch = self.watches[debate_pk] = Watch(debate_pk)
            self.spawn(self.open(watch))
        watch.viewers.add(viewer)
        return watch

    def leave(self, watch: Watch, viewer: Viewer) -> None:
        watch.viewers.discard(viewer)
        if not watch.viewers and self.watches.get(watch.debate_pk) is watch:
            del self.watches[watch.debate_pk]

    async def open(self, watch: Watch) -> None:
        """Reads a log from its start, as often as it takes; meanwhile viewers see what PostgreSQL knows."""
        while not watch.read and watch.viewers:
            try:
                async with self.opening:
                    await watch.fold(self.redis)
            except OUTAGES as error:
                self.report(error)
                watch.ready.set()
                await asyncio.sleep(PAUSE)
        watch.refresh()
        watch.ready.set()
        await self.wake(watch)

    async def wake(self, watch: Watch) -> None:
        """Ends the read that is waiting now, in which this debate isn't."""
        message = encode({"debate": watch.debate_pk, "what": "wake"})
        try:
            await self.redis.xadd(CONTROL, {"e": message}, maxlen=CONTROL_LENGTH)
        except OUTAGES as error:
            self.report(error)

    async def run(self, client: redis.asyncio.Redis) -> None:
        try:
            while self.watches:
                await self.supervise(client)
                self.look_for_the_quiet()
        finally:
            self.reader = None
            await client.aclose()

    async def supervise(self, client: redis.asyncio.Redis) -> None:
        try:
            if not self.live:
                await self.go_live(client)
            await self.read(client)
            self.report(None)
            await asyncio.sleep(PACE)
        except OUTAGES as error:
            self.report(error)
            await asyncio.sleep(PAUSE)
        except Exception:
            logger.exception("the hub stumbled and goes on")
            await asyncio.sleep(PAUSE)

    async def go_live(self, client: redis.asyncio.Redis) -> None:
        """Finds the end of `control`; what was told before is made up for by looking at every ticket again."""
        newest = await client.xrevrange(CONTROL, count=1)
        self.control_at = self.control_at or (newest[0][0].decode() if newest else "0-0")
        self.live = True
        self.accesses += 1
        for watch in self.watches.values():
            self.spawn(watch.check_access())

    async def read(self, client: redis.asyncio.Redis) -> None:
        asked = {watch.key.encode(): watch for watch in self.watches.values() if watch.read}
        ends: dict[Any, Any] = {CONTROL: self.control_at} | {key: watch.at for key, watch in asked.items()}
        for key, entries in await client.xread(ends, count=CHUNK, block=BLOCK):
            if key not in asked:
                self.hear(entries)
            elif asked[key].take(entries):
                self.spawn(asked[key].close_after_end())

    def hear(self, entries: list[RawEntry]) -> None:
        for entry, fields in entries:
            self.control_at = entry.decode()
            try:
                message = json.loads(fields[b"e"])
                if message["what"] == "access":
                    self.look_again(int(message["debate"]))
            except (ValueError, KeyError, TypeError):
                logger.warning("entry %s of %s is no message", self.control_at, CONTROL)

    def look_again(self, debate_pk: int) -> None:
        self.accesses += 1
        if watch := self.watches.get(debate_pk):
            self.spawn(watch.check_access())

    def look_for_the_quiet(self) -> None:
        now = time.monotonic()
        if now < self.look_at:
            return
        self.look_at = now + LOOK
        for watch in self.watches.values():
            if not watch.over and now - watch.heard > QUIET:
                watch.heard = now
                self.spawn(watch.close_if_over())

    def report(self, outage: Exception | None) -> None:
        """One line when an outage begins, one when it ends."""
        if outage and not self.down:
            logger.warning("Redis is away, viewers see what PostgreSQL knows: %s", outage)
        if not outage and self.down:
            logger.info("Redis is back")
        self.down = outage is not None
        self.live = self.live and not self.down

    def spawn(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(self.guarded(work))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def guarded(self, work: Coroutine[None, None, None]) -> None:
        try:
            await work
        except Exception:
            logger.exception("a task of the hub failed")
