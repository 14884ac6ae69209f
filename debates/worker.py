"""A worker process: one asyncio loop that drives all of its debates, however many there are.

Each Celery thread waits for one sitting. A sitting is held by a lease that one heartbeat renews for all of them, and
the same statement brings back who was asked to stop. On shutdown the loop drains: each debate stops at the end of its
turn, after a deadline at once, and is given back to the queue.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from enum import Enum

from django.db import DatabaseError, InterfaceError

from .database import in_db, in_db_at_last
from .engine import types as engine
from .engine.events import TurnEnded
from .engine.formats import find_format
from .engine.run import run
from .log import Flusher
from .models import Sitting, Turn
from .promptfiles import book
from .recorder import Recorder
from .sittings import Claim, Lost, claim, release, renew, requeue
from .voices import Voices

log = logging.getLogger(__name__)
HEARTBEAT = 1.0  # seconds; a stop takes effect within two of these
DRAIN_SECONDS = 8.0
SETTLE_SECONDS = 2.0  # what the log still holds gets this long to leave before the sitting is let go
OUR_FAULT = "Something in Crossbench itself failed. The turns so far are kept."
STOPPED = "Stopped."


class Why(Enum):
    """Why a sitting was broken off."""

    STOPPED = "stopped"
    DRAINED = "drained"
    LOST = "lost"


@dataclass(eq=False)
class Hold:
    """A sitting that this process is conducting."""

    claim: Claim
    recorder: Recorder
    task: asyncio.Task[None] | None = None
    why: Why | None = None

    def break_off(self, why: Why) -> None:
        """Cancels the sitting, unless it is just sealing a turn: then the next beat comes back to it."""
        if self.task is not None and self.why is None and not self.recorder.settling:
            self.why = why
            self.task.cancel()


@dataclass
class Worker:
    """Everything that lives in the process's loop, which starts with the first debate. Threads call `sit`."""

    loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.new_event_loop)
    holds: set[Hold] = field(default_factory=set)
    draining: bool = False
    _starting: threading.Lock = field(default_factory=threading.Lock)

    def _start(self) -> None:
        with self._starting:
            if not self.loop.is_running():
                threading.Thread(target=self.loop.run_forever, name="debates", daemon=True).start()
                asyncio.run_coroutine_threadsafe(self._begin(), self.loop).result()

    async def _begin(self) -> None:
        self.flusher = Flusher()
        self.flusher.start()
        self.voices = Voices()
        self._heart = asyncio.create_task(self._beat())

    def sit(self, debate: int) -> None:
        """Conducts whatever sittings of the debate are open, one after the other. Blocks until then."""
        self._start()
        asyncio.run_coroutine_threadsafe(self._sit(debate), self.loop).result()

    def drain(self) -> None:
        """Called from any thread when the process is told to end."""
        self.loop.call_soon_threadsafe(self._drain)

    def _drain(self) -> None:
        self.draining = True
        self.loop.call_later(DRAIN_SECONDS, self._break_all_off)

    def _break_all_off(self) -> None:
        for hold in self.holds:
            hold.break_off(Why.DRAINED)

    async def _sit(self, debate: int) -> None:
        while not self.draining and (claimed := await in_db(claim, debate)):
            await self._conduct(Hold(claimed, Recorder(claimed, self.flusher.open(claimed.debate, claimed.fence))))

    async def _conduct(self, hold: Hold) -> None:
        """One sitting from its claim to its release, whatever happens in between."""
        hold.task = asyncio.create_task(self._speak(hold))
        self.holds.add(hold)
        writing = asyncio.create_task(self._keep(hold.recorder))
        ended = await asyncio.gather(hold.task, return_exceptions=True)
        writing.cancel()
        await asyncio.gather(writing, return_exceptions=True)
        try:
            await self._close(hold, ended[0])
        finally:
            self.holds.discard(hold)
            await hold.recorder.log.settled(SETTLE_SECONDS)

    async def _close(self, hold: Hold, error: BaseException | None) -> None:
        """Lets go of a sitting as it ended: by itself, broken off, lost, or by a fault of ours."""
        if isinstance(error, asyncio.CancelledError):
            await self._broken_off(hold)
        elif isinstance(error, Lost):
            log.info("debate %s: lost to another worker", hold.claim.debate)
        elif error is not None:
            log.error("debate %s: sitting %s failed", hold.claim.debate, hold.claim.sitting, exc_info=error)
            await self._fail(hold, "", OUR_FAULT)

    async def _speak(self, hold: Hold) -> None:
        recorder = hold.recorder
        case, sealed = await in_db_at_last(load, hold.claim)
        recorder.begin(case.kind)
        async with aclosing(run(case, self.voices.of, sealed)) as happening:
            async for event in happening:
                await recorder.record(event)
                if self.draining and isinstance(event, TurnEnded) and not recorder.open:
                    hold.break_off(Why.DRAINED)
        if recorder.failure is not None:
            await self._fail(hold, recorder.failure.bench, recorder.failure.sentence)

    async def _broken_off(self, hold: Hold) -> None:
        recorder = hold.recorder
        with suppress(DatabaseError, InterfaceError, Lost):
            await recorder.keep(STOPPED if hold.why is Why.STOPPED else "")
        if hold.why is Why.STOPPED:
            if await in_db_at_last(release, hold.claim, Sitting.State.STOPPED):
                recorder.end(Sitting.State.STOPPED)
        elif hold.why is not Why.LOST:
            await in_db_at_last(requeue, hold.claim)

    async def _fail(self, hold: Hold, bench: str, sentence: str) -> None:
        hold.recorder.settling = True
        if await in_db_at_last(release, hold.claim, Sitting.State.FAILED, bench=bench, failure=sentence):
            hold.recorder.end(Sitting.State.FAILED, sentence)

    async def _keep(self, recorder: Recorder) -> None:
        """Writes the text of open turns down once a second."""
        while True:
            await asyncio.sleep(1)
            try:
                await recorder.keep()
            except (DatabaseError, InterfaceError, Lost) as error:
                log.warning("debate %s: text not written: %s", recorder.claim.debate, type(error).__name__)

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(HEARTBEAT)
            holds = list(self.holds)
            try:
                ours = await in_db(renew, [hold.claim for hold in holds])
            except Exception as error:  # the heart of every debate here: nothing may end it
                log.warning("no heartbeat: %r", error)
                continue
            for hold in holds:
                if hold.claim.sitting not in ours:
                    hold.break_off(Why.LOST)
                elif ours[hold.claim.sitting]:
                    hold.break_off(Why.STOPPED)


def load(claim: Claim) -> tuple[engine.Case, dict[int, engine.Turn]]:
    """The case of a claimed sitting, and the turns of it that are sealed already."""
    sitting = Sitting.objects.select_related("debate").get(pk=claim.sitting)
    debate = sitting.debate
    format_ = find_format(debate.format)
    turns = Turn.objects.filter(debate=debate)
    heard = turns.filter(sitting__state=Sitting.State.DONE, sitting__lt=sitting).exclude(kind="ballot")
    case = engine.Case(
        format=format_,
        motion=debate.motion,
        rules=format_.rules(**debate.rules),
        seats={seat.bench: seat.as_engine() for seat in debate.seats.all()},
        seed=bytes(sitting.seed),
        prompts=book(sitting.prompts),
        kind=sitting.kind,
        first=sitting.first_number or 1,
        heard=tuple(turn.as_engine() for turn in heard),
    )
    return case, {turn.number: turn.as_engine() for turn in turns.filter(sitting=sitting)}
