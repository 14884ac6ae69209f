"""An answer as OpenAI's server would put it on the wire: events, or one JSON object."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .answers import Answer, tokens_of
from .scripts import Request


@dataclass(frozen=True)
class Piece:
    """Bytes to send. `token` counts those that are tokens, reasoning included: they wait for their time."""

    data: bytes
    token: int | None = None


def pieces(request: Request, answer: Answer) -> Iterator[Piece]:
    """The events of a streamed answer, faults aside."""
    if answer.frames is not None:
        for number, frame in enumerate(answer.frames):
            raw = frame.encode("utf-8", "surrogatepass") if isinstance(frame, str) else _event(frame, answer)
            yield Piece(raw, number)
        return
    yield Piece(_event(_chunk(request, {"role": "assistant", "content": ""}), answer))
    spoken = _spoken(request, answer)
    for number, delta in enumerate(spoken.deltas):
        chunk = _chunk(request, delta)
        if answer.usage_with == "text" and number == len(spoken.deltas) - 1:
            chunk |= {"usage": spoken.usage}
        yield Piece(_event(chunk, answer), number)
    if spoken.finish:
        yield Piece(_event(_chunk(request, {}, spoken.finish), answer))
    if answer.usage_with == "end" and (request.body.get("stream_options") or {}).get("include_usage"):
        yield Piece(_event(_chunk(request, None) | {"choices": [], "usage": spoken.usage}, answer))
    if answer.done:
        yield Piece(_framed("[DONE]", answer))


def whole(request: Request, answer: Answer) -> dict[str, Any]:
    """The answer to a request that asked for no stream."""
    spoken = _spoken(request, answer)
    message = {"role": "assistant", "content": spoken.text}
    choice = {"index": 0, "message": message, "finish_reason": spoken.finish}
    return _head(request, "chat.completion") | {"choices": [choice], "usage": spoken.usage}


def error_event(answer: Answer) -> bytes:
    return _event(answer.error or {"error": {"code": "server_error", "message": "upstream gone"}}, answer)


@dataclass(frozen=True)
class Spoken:
    text: str
    deltas: list[dict[str, Any]]
    finish: str | None
    usage: dict[str, Any]


def _spoken(request: Request, answer: Answer) -> Spoken:
    """What is said within the request's token limit."""
    text = answer.text if answer.json is None else json.dumps(answer.json, ensure_ascii=False)
    thoughts, tokens = tokens_of(answer.reasoning), tokens_of(text)
    limit = request.limit or 1_000_000
    cut = len(thoughts) + len(tokens) > limit
    thoughts, tokens = thoughts[:limit], tokens[: max(0, limit - len(thoughts))]
    deltas = [_thought(token, answer) for token in thoughts] + [_said(token, answer) for token in tokens]
    finish = "length" if cut and answer.finish == "stop" else answer.finish
    read = sum(len(str(message.get("content", "")).split()) for message in request.messages)
    usage = answer.usage or {
        "prompt_tokens": read,
        "completion_tokens": len(deltas),
        "total_tokens": read + len(deltas),
        "prompt_tokens_details": {"cached_tokens": 0},
    }
    return Spoken("".join(tokens), deltas, finish, usage)


def _thought(token: str, answer: Answer) -> dict[str, Any]:
    if answer.content == "parts":
        return {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": token}]}]}
    return {answer.reasoning_field: token, "content": None}


def _said(token: str, answer: Answer) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": token}] if answer.content == "parts" else token}


def _chunk(request: Request, delta: dict[str, Any] | None, finish: str | None = None) -> dict[str, Any]:
    choices = [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}]
    return _head(request, "chat.completion.chunk") | {"choices": choices}


def _head(request: Request, kind: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-{request.number}", "object": kind, "created": 1700000000, "model": request.model}


def _event(data: Any, answer: Answer) -> bytes:
    return _framed(json.dumps(data, ensure_ascii=False, indent=1 if answer.two_lines else None), answer)


def _framed(data: str, answer: Answer) -> bytes:
    colon = "data: " if answer.space else "data:"
    lines = [colon + line for line in data.split("\n")]
    return "".join(line + answer.newline for line in (*lines, "")).encode()
