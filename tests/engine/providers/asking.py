"""Asks a provider as a worker would, and lets go of the connections afterwards."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from debates.engine.providers.base import Call, Hints, Message, Prompt, ProviderError
from debates.engine.providers.connections import disconnect
from debates.engine.providers.exchange import Timeouts
from debates.engine.providers.openai_compatible import OpenAICompatible
from debates.engine.types import Limits
from tests.loopback import LoopbackModel

T = TypeVar("T")

KEY = "sk-loopback-0123456789"
HURRIED = Timeouts(connect=2.0, first=0.8, idle=0.3, total=1.2)
SCHEMA = {
    "type": "object",
    "properties": {"winner": {"enum": ["a", "b"]}, "score": {"type": "integer", "minimum": 0, "maximum": 100}},
    "required": ["winner", "score"],
    "additionalProperties": False,
}


def run(doing: Coroutine[Any, Any, T]) -> T:
    async def and_let_go() -> T:
        try:
            return await doing
        finally:
            await disconnect()

    return asyncio.run(and_let_go())


def prompt_of(*messages: Message, system: str = "You debate.", hints: Hints | None = None) -> Prompt:
    said = messages or (Message("user", "Should cities ban cars?"),)
    return Prompt(system, said, hints=hints or Hints())


def call_of(*messages: Message, tokens: int = 300, hints: Hints | None = None, **fields: Any) -> Call:
    return Call(prompt_of(*messages, hints=hints), Limits(words=100, tokens=tokens), **fields)


def provider_of(server: LoopbackModel, **options: Any) -> OpenAICompatible:
    return OpenAICompatible(server.url, KEY, "loopback", **options)


def ask(server: LoopbackModel, call: Call | None = None, **options: Any) -> str:
    """The whole answer; raises `ProviderError`."""
    return run(pieces(provider_of(server, **options), call or call_of(), []))


async def pieces(provider: OpenAICompatible, call: Call, heard: list[str]) -> str:
    """Reads to the end; `heard` keeps what came, also if it ends in an error."""
    async for piece in provider.stream(call):
        heard.append(piece)
    return "".join(heard)


def refused(server: LoopbackModel, call: Call | None = None, **options: Any) -> tuple[ProviderError, str]:
    """The error, and the text before it."""
    heard: list[str] = []
    try:
        run(pieces(provider_of(server, **options), call or call_of(), heard))
    except ProviderError as error:
        return error, "".join(heard)
    raise AssertionError(f"nothing went wrong: {''.join(heard)!r}")
