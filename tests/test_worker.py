"""How a worker lets go of a sitting when the database is away at that very moment."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from django.db import InterfaceError, OperationalError

from debates import sittings
from debates.models import Sitting
from debates.recorder import Recorder
from debates.worker import Hold, Why, Worker

from .makers import make_debate

pytestmark = pytest.mark.django_db(transaction=True)


class Silent:
    """A log that keeps what it is given."""

    def __init__(self) -> None:
        self.frames: list[dict[str, Any]] = []

    def write(self, frame: dict[str, Any]) -> None:
        self.frames.append(frame)


@pytest.fixture
def hold() -> Hold:
    claim = sittings.claim(make_debate().pk)
    assert claim is not None
    return Hold(claim, Recorder(claim, Silent()))  # type: ignore[arg-type]


@pytest.mark.parametrize(("why", "state"), [(Why.STOPPED, Sitting.State.STOPPED), (Why.DRAINED, Sitting.State.QUEUED)])
@pytest.mark.parametrize("away", [OperationalError, InterfaceError])
def test_a_sitting_is_let_go_although_its_last_words_could_not_be_written(hold, why, state, away, monkeypatch):
    async def keep(reason: str = "") -> None:
        raise away("the server closed the connection unexpectedly")

    monkeypatch.setattr(hold.recorder, "keep", keep)
    hold.why = why
    asyncio.run(Worker()._broken_off(hold))
    sitting = Sitting.objects.get()
    assert (sitting.state, sitting.attempts) == (state, 1 if why is Why.STOPPED else 0)


def test_a_sitting_that_is_being_sealed_is_not_broken_off(hold):
    async def main() -> None:
        hold.task = asyncio.create_task(asyncio.sleep(60))
        hold.recorder.settling = True
        hold.break_off(Why.STOPPED)
        assert hold.why is None
        hold.recorder.settling = False
        hold.break_off(Why.STOPPED)
        await asyncio.gather(hold.task, return_exceptions=True)
        assert hold.task.cancelled()

    asyncio.run(main())


@pytest.mark.parametrize("error", [InterfaceError("gone"), RuntimeError("a fault of ours")])
def test_nothing_ends_the_heartbeat(error, monkeypatch):
    beats: list[int] = []

    async def failing(*_: Any) -> dict[int, bool]:
        beats.append(1)
        if len(beats) == 3:
            raise asyncio.CancelledError
        raise error

    monkeypatch.setattr("debates.worker.in_db", failing)
    monkeypatch.setattr("debates.worker.HEARTBEAT", 0)
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(Worker()._beat())
    assert len(beats) == 3
