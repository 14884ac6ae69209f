"""Speakers for tests of the engine alone: they say what a function of the prompt tells them, and note every call."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncGenerator, Callable
from typing import Any

from debates.engine.formats import find_format
from debates.engine.prompts import todays
from debates.engine.providers.base import Call, Prompt
from debates.engine.types import Case, Seat, Usage
from tests.loopback.values import value_for

MOTION = "Cities should ban private cars from their centres"
Answer = Callable[[Call], str]


def digest(prompt: Prompt) -> str:
    whole = json.dumps([prompt.system, [(message.role, message.text) for message in prompt.messages]])
    return hashlib.sha256(whole.encode()).hexdigest()[:12]


def words(call: Call) -> str:
    """A speech that no other prompt gets."""
    return f"Listen to {digest(call.prompt)}. It carries the point."


def answer(call: Call) -> str:
    """A speech, a ballot, or for any other schema a dull object that fits it."""
    if call.schema is None:
        return words(call)
    if "scores" in call.schema["properties"]:
        return ballot(call)
    return json.dumps(value_for(call.schema, digest(call.prompt)))


def ballot(call: Call, scores: tuple[int, int] = (60, 50), winner: int | None = 0) -> str:
    """A valid ballot; scores and winner go by the order in which the sides are shown."""
    names = list(scores_of(call))
    return json.dumps(
        {
            "strongest": {"side": names[0], "quote": "It carries the point."},
            "weakest": {"side": names[1], "quote": "never said"},
            "unsettled": f"Whether {names[0]} was right.",
            "scores": dict(zip(names, scores, strict=True)),
            "winner": "none" if winner is None else names[winner],
            "confidence": 70,
        }
    )


def scores_of(call: Call) -> dict[str, Any]:
    assert call.schema is not None
    found = call.schema["properties"]["scores"]
    if "$ref" in found:
        found = call.schema["$defs"][found["$ref"].rsplit("/", 1)[1]]
    properties: dict[str, Any] = found["properties"]
    return properties


class Scripted:
    """A provider that answers by a function, in pieces of three characters."""

    def __init__(self, answer: Answer = answer, before: Callable[[Call], Any] | None = None) -> None:
        self.answer = answer
        self.before = before
        self.calls: list[Call] = []

    def of(self, seat: Seat) -> Scripted:
        return self

    async def stream(self, call: Call) -> AsyncGenerator[str, None]:
        self.calls.append(call)
        if self.before is not None:
            await self.before(call)
        text = self.answer(call)
        for start in range(0, len(text), 3):
            await asyncio.sleep(0)
            yield text[start : start + 3]
        call.usage = Usage(read=100, written=len(text) // 3)


def clash(seed: bytes = b"seed", motion: str = MOTION, **rules: Any) -> Case:
    format_ = find_format("clash")
    seats = {bench.name: Seat(bench.name, "scripted", "scripted-1") for bench in format_.benches}
    return Case(format_, motion, format_.rules(**rules), seats, seed, todays("clash"))
