"""A wait ends at its deadline, not before, and a cancellation from elsewhere stays one."""

import asyncio

import pytest

from debates.engine.providers.alarm import Alarm


def test_it_rings_at_the_deadline_and_can_be_used_again() -> None:
    async def play() -> None:
        alarm, now = Alarm(), asyncio.get_running_loop().time
        for _ in range(2):
            deadline = now() + 0.05
            with pytest.raises(TimeoutError):
                await alarm.wait(asyncio.Event().wait(), deadline)
            assert now() >= deadline
        assert await alarm.wait(asyncio.sleep(0, "fine"), now() + 10) == "fine"
        alarm.off()

    asyncio.run(play())


def test_a_deadline_that_was_put_off_does_not_ring_and_an_earlier_one_does() -> None:
    async def play() -> None:
        alarm, now = Alarm(), asyncio.get_running_loop().time
        await alarm.wait(asyncio.sleep(0), now() + 0.02)
        await alarm.wait(asyncio.sleep(0.05), now() + 10)
        await asyncio.sleep(0.05)
        async with asyncio.timeout(5):
            with pytest.raises(TimeoutError):
                await alarm.wait(asyncio.Event().wait(), now() + 0.02)

    asyncio.run(play())


def test_a_cancellation_from_elsewhere_is_not_taken_for_the_deadline() -> None:
    async def play() -> None:
        deadline = asyncio.get_running_loop().time() + 10
        waiting = asyncio.create_task(Alarm().wait(asyncio.Event().wait(), deadline))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    asyncio.run(play())


def test_it_rings_inside_a_task_whose_cancellation_was_refused_before() -> None:
    async def stubborn() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            with pytest.raises(TimeoutError):
                await Alarm().wait(asyncio.Event().wait(), 0.0)

    async def play() -> None:
        task = asyncio.create_task(stubborn())
        await asyncio.sleep(0)
        task.cancel()
        await task

    asyncio.run(play())
