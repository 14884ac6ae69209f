"""A debate played the way a worker plays it: rows first, by the ORM, then frames, by a real flusher."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

from django.db.models import F

from accounts.models import User
from debates.database import in_db
from debates.log import Flusher, Log
from debates.models import Debate, Fragment, Sitting, Turn, Verdict, as_frame, verdict_frame

BENCHES = ("proposition", "opposition")
Fields = dict[str, Any]


def make_debate(owner: User | None = None, visibility: str = Debate.Visibility.LINK) -> Debate:
    owner = owner or User.objects.get_or_create(email="alice@example.org")[0]
    debate = Debate.objects.create(owner=owner, format="clash", motion="It is so", visibility=visibility)
    Sitting.objects.create(debate=debate)
    return debate


def run(test: Coroutine[Any, Any, None], seconds: float = 60) -> None:
    """Runs a test in a loop of its own, with a deadline."""

    async def main() -> None:
        async with asyncio.timeout(seconds):
            await test

    asyncio.run(main())


@contextlib.asynccontextmanager
async def on_stage(debate: Debate) -> AsyncIterator[Stage]:
    """A debate that a worker has claimed."""
    flusher = Flusher()
    flusher.start()
    stage = Stage(debate, flusher)
    await stage.claim()
    try:
        yield stage
    finally:
        await flusher.stop(5)


async def eventually(condition: Callable[[], bool], seconds: float = 10) -> None:
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.01)


class Stage:
    def __init__(self, debate: Debate, flusher: Flusher) -> None:
        self.debate = debate
        self.flusher = flusher
        self.fence = 0
        self.log: Log
        self.open: dict[int, Fields] = {}
        self.sealed: dict[int, str] = {}

    async def claim(self) -> None:
        """Takes the oldest open sitting, under a new fence."""
        self.sitting = await in_db(self._claim)
        self.log = self.flusher.open(self.debate.pk, self.fence)
        self.open = {}
        self.log.write({"t": "state", "sitting": self.sitting.pk, "kind": "debate", "state": "running", "open": []})

    def _claim(self) -> Sitting:
        Debate.objects.filter(pk=self.debate.pk).update(fence=F("fence") + 1)
        self.fence = Debate.objects.get(pk=self.debate.pk).fence
        sitting = Sitting.objects.filter(debate=self.debate).open().earliest("pk")
        Sitting.objects.filter(pk=sitting.pk).update(state=Sitting.State.RUNNING, fence=self.fence)
        return sitting

    def begin_round(self, round: int, numbers: list[int]) -> None:
        slots = [{"number": number, "bench": BENCHES[number % 2], "kind": "opening"} for number in numbers]
        self.log.write({"t": "round", "round": round, "name": f"Round {round}", "instruction": "", "slots": slots})

    def start(self, number: int, attempt: int = 1) -> None:
        round = (number + 1) // 2
        self.open[number] = about = {
            **{"number": number, "attempt": attempt, "bench": BENCHES[number % 2], "kind": "opening"},
            **{"round": round, "round_name": f"Round {round}"},
        }
        self.log.write({"t": "start"} | about)
        about["text"] = ""

    def say(self, number: int, text: str) -> None:
        turn = self.open[number]
        delta = {"number": number, "attempt": turn["attempt"], "offset": len(turn["text"]), "text": text}
        turn["text"] += text
        self.log.write({"t": "delta"} | delta)

    async def keep(self, number: int) -> None:
        """What a worker does once a second for a turn that is being spoken."""
        await self.write_fragment(number)
        self.log.write({"t": "text"} | self.open[number])

    async def write_fragment(self, number: int, reason: str = "") -> None:
        fields = dict(self.open[number]) | {"reason": reason}
        key = {"sitting": self.sitting, "number": fields.pop("number")}
        await in_db(Fragment.objects.update_or_create, defaults=fields, **key)

    async def seal_row(self, number: int) -> Turn:
        """The truth, of which the log isn't told yet."""
        about = self.open.pop(number)
        self.sealed[number] = about["text"]
        return await in_db(self._seal, about)

    def _seal(self, about: Fields) -> Turn:
        fields = {name: about[name] for name in ("number", "round", "round_name", "bench", "kind", "text")}
        Fragment.objects.filter(sitting=self.sitting, number=about["number"]).delete()
        return Turn.objects.create(debate=self.debate, sitting=self.sitting, prompt="p", model="m", **fields)

    def tell_sealed(self, turn: Turn) -> None:
        self.log.write({"t": "turn", "turn": as_frame(turn, excluded=False)})

    async def seal(self, number: int) -> None:
        self.tell_sealed(await self.seal_row(number))

    async def speak(self, number: int, text: str) -> None:
        self.start(number)
        self.say(number, text)
        await self.seal(number)

    async def finish(self, state: str = "done") -> None:
        verdict = await in_db(self._finish, state)
        if verdict is not None:
            self.log.write({"t": "verdict", "verdict": verdict_frame(verdict)})
        self.end(state)

    def end(self, state: str) -> None:
        self.log.write({"t": "end", "sitting": self.sitting.pk, "state": state, "sentence": ""})

    def _finish(self, state: str) -> Verdict | None:
        verdict = None
        if state == Sitting.State.DONE:
            version = Verdict.objects.filter(debate=self.debate).count() + 1
            verdict = Verdict.objects.create(
                debate=self.debate, sitting=self.sitting, version=version, outcome="too_close"
            )
        Sitting.objects.filter(pk=self.sitting.pk).update(state=state)
        return verdict
