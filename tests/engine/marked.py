"""A speaker whose every answer holds a word of its own, so that a prompt shows whom it heard."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator
from dataclasses import dataclass, replace
from typing import Any

from debates.engine.events import Ended, Event, TurnEnded
from debates.engine.formats import find_format
from debates.engine.presets import defaults
from debates.engine.prompts import todays
from debates.engine.providers.base import Call
from debates.engine.run import run
from debates.engine.types import Case, Seat, Turn

MOTION = "Cities should ban private cars from their centres"
WORD = re.compile(r"quokka[a-z]+")


def case_of(slug: str, preset: str = "", motion: str = MOTION, seed: bytes = b"seed", **rules: Any) -> Case:
    format_ = find_format(slug)
    seats = {bench.name: Seat(bench.name, "scripted", "scripted-1", preset) for bench in format_.benches}
    checked = format_.rules(**defaults(preset) | rules)
    return Case(format_, motion, checked, seats, seed, todays(slug))


@dataclass(frozen=True)
class Heard:
    """One call: the round in which it was made, what it was for, and all that was sent."""

    round: int
    bench: str
    kind: str
    call: Call

    @property
    def text(self) -> str:
        prompt = self.call.prompt
        return "\n".join([prompt.system, *(message.text for message in prompt.messages), prompt.hints.prefill])

    @property
    def brief(self) -> str:
        return self.call.prompt.messages[-1].text


class Marked:
    """Says a plain sentence with its own word; where an object is asked for, fills it. `said` goes into each."""

    def __init__(self, said: str = "", to: str = "both") -> None:
        self.said, self.to = said, to
        self.calls: list[Call] = []

    def of(self, seat: Seat) -> Marked:
        return self

    async def stream(self, call: Call) -> AsyncGenerator[str, None]:
        word = "quokka" + "".join(chr(ord("a") + int(digit)) for digit in str(len(self.calls)))
        self.calls.append(call)
        await asyncio.sleep(0)
        yield json.dumps(self._filled(call.schema, call.schema, word)) if call.schema else self._sentence(word)

    def _sentence(self, word: str) -> str:
        return f"Everybody knows that {word} carries all the weight here{self.said}."

    def _filled(self, schema: Any, whole: Any, word: str) -> Any:
        if "$ref" in schema:
            return self._filled(whole["$defs"][schema["$ref"].rsplit("/", 1)[1]], whole, word)
        if "enum" in schema:
            return self.to if self.to in schema["enum"] else schema["enum"][-1]
        if "const" in schema:
            return schema["const"]
        if schema["type"] == "object":
            return {name: self._filled(value, whole, word) for name, value in schema["properties"].items()}
        return {"boolean": True, "integer": 50}.get(schema["type"], self._sentence(word))


@dataclass(frozen=True)
class Played:
    turns: list[Turn]
    heard: list[Heard]
    ended: bool


def play(case: Case, provider: Marked | None = None) -> Played:
    provider = provider or Marked()

    async def collect() -> list[Event]:
        return [event async for event in run(case, provider.of, None)]

    events = asyncio.run(collect())
    turns = sorted((event.turn for event in events if isinstance(event, TurnEnded)), key=lambda turn: turn.number)
    return Played(turns, _matched(turns, provider.calls), isinstance(events[-1], Ended))


def _matched(turns: list[Turn], calls: list[Call]) -> list[Heard]:
    """Calls in the order of their turns: within a round they are made in display order, one a turn."""
    assert sum(turn.calls for turn in turns) == len(calls) == len(turns)
    return [Heard(turn.round, turn.bench, turn.kind, call) for turn, call in zip(turns, calls, strict=True)]


def seated(case: Case, **presets: str) -> Case:
    """The case with other presets on some benches."""
    seats = {name: replace(seat, preset=presets.get(name, seat.preset)) for name, seat in case.seats.items()}
    return replace(case, seats=seats)
