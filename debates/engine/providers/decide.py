"""Has a model answer with one object of a given shape: asks, reads strictly, asks once more, and never guesses."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import aclosing
from dataclasses import dataclass, field, replace

from pydantic import BaseModel

from ..types import Usage
from .base import Call, Message, Prompt, Provider
from .reading import Unreadable, read
from .schemas import schema_of

QUOTED = 8_000  # characters of an unreadable answer that are shown to the model again

SHORTER = (
    "Your last answer ran into its limit and was cut off. Answer again, shorter: one complete JSON object and nothing "
    "else, with exactly these keys: {keys}. Keep every text in it to one sentence."
)
REPAIR = (
    "Your answer could not be read: {reason}. Answer again with one JSON object and nothing else, with exactly these "
    "keys: {keys}."
)


@dataclass(frozen=True, slots=True)
class Decision:
    """What came of it. Without a `value`, `failure` tells a reader why; `text` is the last answer as it was written.
    `usage` adds up all `calls`."""

    value: BaseModel | None
    text: str
    failure: str = ""
    calls: int = 1
    usage: Usage = field(default_factory=Usage)


async def decide(
    provider: Provider,
    call: Call,
    schema: type[BaseModel],
    on_text: Callable[[str], None],
    *,
    what: str = "The judge's ballot",
    again: Callable[[], None] = lambda: None,
) -> Decision:
    """Asks for an answer that fits `schema`, at most twice; a `ProviderError` passes through.

    `on_text` gets the raw text as it comes; `again` is called before a second answer replaces the first. `what` is
    the subject of the failure's sentence. `call.usage` is what was spent, also if a `ProviderError` was raised.
    """
    first = replace(call, schema=schema_of(schema))
    try:
        text = await _answer(provider, first, on_text)
    finally:
        call.usage = first.usage
    reason = _unread(text, first.cut, schema)
    if isinstance(reason, BaseModel):
        return Decision(reason, text, usage=call.usage)
    again()
    second = _once_more(first, text, reason, schema.model_fields)
    try:
        text = await _answer(provider, second, on_text)
    finally:
        call.usage = first.usage + second.usage
    reason = _unread(text, second.cut, schema)
    if isinstance(reason, BaseModel):
        return Decision(reason, text, calls=2, usage=call.usage)
    return Decision(None, text, f"{what} could not be read: {reason}.", calls=2, usage=call.usage)


async def _answer(provider: Provider, call: Call, on_text: Callable[[str], None]) -> str:
    text = ""
    async with aclosing(provider.stream(call)) as pieces:
        async for piece in pieces:
            text += piece
            on_text(piece)
    return text


def _unread(text: str, cut: bool, schema: type[BaseModel]) -> BaseModel | str:
    """The answer, or why there is none. Of a cut answer nothing is taken: what it holds may be its example."""
    if cut:
        return "it was cut off at its limit"
    try:
        return read(text, schema)
    except Unreadable as error:
        return str(error)


def _once_more(call: Call, text: str, reason: str, keys: Iterable[str]) -> Call:
    """The second request: with more room where the first was cut off, else with what was wrong."""
    listed = ", ".join(keys)
    if call.cut:
        prompt = _asking(call.prompt, Message("user", SHORTER.format(keys=listed)))
        limits = replace(call.limits, tokens=call.limits.tokens * 2)
        return replace(call, prompt=prompt, limits=limits, usage=Usage(), cut=False)
    repair = Message("user", REPAIR.format(reason=reason, keys=listed))
    prompt = _asking(call.prompt, Message("assistant", text[:QUOTED]), repair)
    return replace(call, prompt=prompt, usage=Usage(), cut=False)


def _asking(prompt: Prompt, *more: Message) -> Prompt:
    return replace(prompt, messages=(*prompt.messages, *more))
