"""A worker's part, played from a loop of its own: the browser's driver runs one in the tests' thread."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

from debates.log import Flusher
from debates.models import Debate
from tests.live.stage import Stage

T = TypeVar("T")


class Live:
    """Plays a worker's part. Its methods return once Redis has what they wrote."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()
        self.flusher: Flusher = self.do(self._start())

    async def _start(self) -> Flusher:
        flusher = Flusher()
        flusher.start()
        return flusher

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(30)

    def claim(self, debate: Debate) -> Stage:
        stage = Stage(debate, self.flusher)
        self.do(stage.claim())
        return stage

    def tell(self, stage: Stage, *frames: dict[str, Any]) -> None:
        async def write() -> None:
            for frame in frames:
                stage.log.write(frame)
            assert await stage.log.settled(10)

        self.do(write())

    def stop(self) -> None:
        self.do(self.flusher.stop(5))
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
