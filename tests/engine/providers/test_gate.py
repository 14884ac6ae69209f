"""A gate is fair, and no place is ever lost, whoever leaves when."""

import asyncio

import pytest

from debates.engine.providers.gate import Gate, in_line


@pytest.mark.parametrize(
    ("place", "words"),
    [(1, "1st"), (2, "2nd"), (3, "3rd"), (4, "4th"), (11, "11th"), (12, "12th"), (21, "21st"), (113, "113th")],
)
def test_a_place_in_line_reads_well(place: int, words: str) -> None:
    assert in_line(place) == f"{words} in line for this model."


class Caller:
    """Goes through a gate and stays inside until told to leave."""

    def __init__(self, gate: Gate, name: str, log: list[str]) -> None:
        self.told: list[str] = []
        self.leave = asyncio.Event()
        self._gate, self._name, self._log = gate, name, log
        self.task = asyncio.create_task(self._pass())

    async def _pass(self) -> None:
        async with self._gate.passage(self.told.append):
            self._log.append(self._name)
            await self.leave.wait()


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def lined_up(places: int, count: int) -> tuple[list[Caller], list[str]]:
    gate, log = Gate(places), list[str]()
    callers = [Caller(gate, str(number), log) for number in range(count)]
    await settle()
    return callers, log


def test_callers_pass_in_the_order_in_which_they_came() -> None:
    async def play() -> None:
        callers, log = await lined_up(places=2, count=5)
        assert log == ["0", "1"]
        for number in (1, 0, 2, 3, 4):
            callers[number].leave.set()
            await settle()
        assert log == ["0", "1", "2", "3", "4"]

    asyncio.run(play())


def test_one_who_gives_up_in_line_moves_the_others_up() -> None:
    async def play() -> None:
        callers, log = await lined_up(places=1, count=4)
        callers[1].task.cancel()
        await settle()
        assert callers[3].told[-1] == in_line(2)
        callers[0].leave.set()
        await settle()
        assert log == ["0", "2"]

    asyncio.run(play())


@pytest.mark.parametrize("order", ["given, then cancelled", "cancelled, then given", "cancelled while it is given"])
def test_a_place_given_to_one_who_is_just_leaving_goes_to_the_next(order: str) -> None:
    """All within one turn or two of the loop."""

    async def play() -> None:
        callers, log = await lined_up(places=1, count=3)
        if order == "cancelled, then given":
            callers[1].task.cancel()
        callers[0].leave.set()
        if order == "given, then cancelled":
            await asyncio.sleep(0)
        callers[1].task.cancel()
        await settle()
        assert log == ["0", "2"]
        callers[2].leave.set()
        await settle()
        another = Caller(callers[2]._gate, "another", log)
        await settle()
        assert log[-1] == "another"
        another.leave.set()
        await another.task

    asyncio.run(play())


def test_the_first_error_of_a_caller_gives_its_place_back() -> None:
    async def play() -> None:
        gate = Gate(1)
        for _ in range(3):
            with pytest.raises(ZeroDivisionError):
                async with gate.passage(lambda reason: None):
                    raise ZeroDivisionError

    asyncio.run(play())
