"""The body of a chat completion request: what the prompt says, in the form that this model takes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from .base import Call, Hints, Message
from .capabilities import JSON_OBJECT, JSON_SCHEMA, PREFILL, SCHEMA_RANGES, SYSTEM, Capabilities, without_ranges

OPENING, GOING_ON = "Begin.", "Go on."


def body_of(call: Call, model: str, takes: Capabilities, local: bool, spare_slot: int | None = None) -> dict[str, Any]:
    """Everything that is sent. Hints go to local endpoints only, and of them what was not refused."""
    form = takes.form if call.schema else None
    body: dict[str, Any] = {"model": model, "messages": messages_of(call, takes, local, form)}
    body["stream"] = True
    body["stream_options"] = {"include_usage": True}
    body["temperature"] = call.limits.temperature
    if takes.limit:
        body[takes.limit] = call.limits.tokens
    if call.schema and form:
        body["response_format"] = _response_format(call.schema, form, takes)
    if local:
        body |= _hinted(call.prompt.hints, call.schema is not None, spare_slot)
    if not takes.takes("stream"):
        body["stream"] = False
        del body["stream_options"]
    return {name: value for name, value in body.items() if name == "stream" or takes.takes(name)}


def _response_format(schema: Mapping[str, Any], form: str, takes: Capabilities) -> dict[str, Any]:
    if form == JSON_OBJECT:
        return {"type": JSON_OBJECT}
    plain = dict(schema) if takes.takes(SCHEMA_RANGES) else without_ranges(schema)
    return {"type": JSON_SCHEMA, "json_schema": {"name": "answer", "strict": True, "schema": plain}}


def _hinted(hints: Hints, structured: bool, spare_slot: int | None) -> dict[str, Any]:
    """llama.cpp's own fields. A grammar and a schema exclude each other there."""
    slot = spare_slot if hints.slot is None else hints.slot
    fields = dict(hints.sampling)
    if hints.grammar and not structured:
        fields["grammar"] = hints.grammar
    if slot is not None:
        fields |= {"id_slot": slot, "cache_prompt": True}
    return fields


def prefill_of(call: Call, takes: Capabilities, local: bool) -> str:
    """The words that the endpoint continues and doesn't repeat; empty where it would not."""
    wanted = local and call.schema is None and takes.takes(PREFILL)
    return call.prompt.hints.prefill if wanted else ""


def messages_of(call: Call, takes: Capabilities, local: bool, form: str | None) -> list[dict[str, str]]:
    """The strictest endpoints' order: system, then user and assistant by turns, the first and the last a user's
    (a prefill comes after). Neighbours of one role are one message."""
    prompt = call.prompt
    system = prompt.system if takes.takes(SYSTEM) else ""
    turns = [Message("user", prompt.system), *prompt.messages] if not takes.takes(SYSTEM) else [*prompt.messages]
    if call.schema and form != JSON_SCHEMA:
        turns.append(Message("user", _asking_for(call.schema)))
    merged = _alternating(turns)
    if system:
        merged.insert(0, Message("system", system))
    if prefill := prefill_of(call, takes, local):
        merged.append(Message("assistant", prefill))
    return [{"role": message.role, "content": message.text} for message in merged]


def _alternating(messages: Iterable[Message]) -> list[Message]:
    merged: list[Message] = []
    for message in messages:
        if not message.text:
            continue
        if merged and merged[-1].role == message.role:
            message = Message(message.role, f"{merged.pop().text}\n\n{message.text}")
        merged.append(message)
    if not merged or merged[0].role != "user":
        merged.insert(0, Message("user", OPENING))
    if merged[-1].role != "user":
        merged.append(Message("user", GOING_ON))
    return merged


def _asking_for(schema: Mapping[str, Any]) -> str:
    """Where the endpoint can't be given the schema, the prompt carries it."""
    written = json.dumps(schema, ensure_ascii=False)
    return f"Answer with one JSON object and nothing else. It must fit this JSON schema: {written}"
