"""One chat completion as it is read: which of it is text, what it cost, how it ended."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from ..types import Usage
from .base import Kind, ProviderError
from .failures import NOT_A_MODEL, Refusal, refusal_in
from .sse import Event

DONE = "[DONE]"
REASONING = ("reasoning", "reasoning_content", "reasoning_text", "reasoning_details")

ONLY_THOUGHT = "The model spent its whole answer on thinking to itself and said nothing."
ONLY_THOUGHT_TO_LIMIT = "The model used up its limit thinking to itself and said nothing."
NOTHING_TO_LIMIT = "The model reached its limit without saying anything."


class Completion:
    """Takes events, gives back their text. Whatever goes wrong is kept until the text before it was handed on."""

    def __init__(self) -> None:
        self.usage = Usage()
        self.finish = ""
        self.done = False  # nothing more will come
        self.began = False  # an answer was opened, if only with its role
        self.alive = False  # something of it came, if only its reasoning
        self.spoke = False
        self.refusal: Refusal | None = None
        self._thought = False
        self._declined = False
        self._broken = False
        self._half = ""  # of a character that was cut between two deltas

    @property
    def cut(self) -> bool:
        return self.finish == "length"

    def take(self, events: Iterable[Event]) -> str:
        """The text of these events."""
        text = "".join([self._event(event) for event in events if not self.done])
        if not text:
            return ""
        text = self._whole_characters(text)
        self.spoke = self.spoke or bool(text.strip())
        return text

    def take_body(self, body: bytes) -> str:
        """The text of an answer that was no event stream: one JSON value, or not even that."""
        text = body.decode(errors="replace").strip()
        try:
            json.loads(text or "null")
        except (ValueError, RecursionError):
            self.refusal = Refusal(200, markup=True)
            return ""
        return self.take([Event("", text)]) if text else ""

    def failure(self, key: str) -> ProviderError | None:
        """Why this is no whole answer, or None. `key` is kept out of what is logged."""
        if self.refusal and self.refusal.markup:
            return ProviderError(Kind.NETWORK, detail="a web page", sentence=NOT_A_MODEL)
        if self.refusal:
            return self.refusal.error(key)
        if self._broken:
            return ProviderError(Kind.CUT_OFF, detail="an event that is not JSON")
        if self._declined or self.finish == "content_filter":
            return ProviderError(Kind.REFUSED, detail=f"finish {self.finish}")
        if self.began and not (self.finish or self.done):
            return ProviderError(Kind.CUT_OFF, detail="ended without a finish")
        return None if self.spoke else self._empty()

    def _empty(self) -> ProviderError:
        if self._thought:
            sentence = ONLY_THOUGHT_TO_LIMIT if self.cut else ONLY_THOUGHT
        else:
            sentence = NOTHING_TO_LIMIT if self.cut else ""
        return ProviderError(Kind.EMPTY, detail=f"finish {self.finish or 'none'}", sentence=sentence)

    def _event(self, event: Event) -> str:
        try:
            data = json.loads(event.data)
        except (ValueError, RecursionError):
            self.done, self._broken = True, event.data.strip() != DONE
            return ""
        if not isinstance(data, dict) or event.name or data.get("error") or data.get("object") == "error":
            return self._odd(event, data)
        return self._chunk(data)

    def _odd(self, event: Event, data: object) -> str:
        """What is no chunk, or may be none."""
        if event.name == "error" or _is_error(data):
            self.refusal, self.done = refusal_in(data), True
            return ""
        return self._chunk(data) if isinstance(data, dict) else ""

    def _chunk(self, data: Mapping[str, Any]) -> str:
        if usage := data.get("usage"):
            self.usage = read_usage(usage)
        for choice in data.get("choices") or ():
            if isinstance(choice, dict) and not choice.get("index"):
                return self._choice(choice)
        return ""

    def _choice(self, choice: Mapping[str, Any]) -> str:
        self.began = True
        if finish := choice.get("finish_reason"):
            self.finish = str(finish)
            if self.finish == "error":
                self.refusal, self.done = Refusal(None), True
        delta = choice.get("delta") or choice.get("message")
        if not isinstance(delta, dict):
            return ""
        content = delta.get("content")
        text = content if isinstance(content, str) else self._parts(content)
        if len(delta) > 1:
            self._thought = self._thought or any(delta.get(name) for name in REASONING)
            self._declined = self._declined or bool(delta.get("refusal"))
        if text or self._thought:
            self.alive = True
        return text

    def _parts(self, content: object) -> str:
        """Mistral's list of typed chunks, of which only the text is public."""
        if not isinstance(content, list):
            return ""
        chunks = [chunk for chunk in content if isinstance(chunk, dict)]
        self._thought = self._thought or any(chunk.get("type") == "thinking" for chunk in chunks)
        return "".join(str(chunk.get("text") or "") for chunk in chunks if chunk.get("type") == "text")

    def _whole_characters(self, text: str) -> str:
        """Joins the halves of a surrogate pair, also over two deltas; a half that stays alone is dropped."""
        text, self._half = self._half + text, ""
        if text.isascii():
            return text
        if "\ud800" <= text[-1] <= "\udbff":
            text, self._half = text[:-1], text[-1]
        try:
            text.encode()
            return text
        except UnicodeEncodeError:
            return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "ignore")


def _is_error(data: object) -> bool:
    """OpenRouter and most others: `error`; vLLM: an object of type "error"; Gemini: a list of one such."""
    if isinstance(data, list):
        return bool(data) and _is_error(data[0])
    return isinstance(data, dict) and bool(data.get("error") or data.get("object") == "error")


def read_usage(usage: Any) -> Usage:
    """Tokens as reported; what is missing or no number counts as zero."""
    if not isinstance(usage, dict):
        return Usage()
    details = usage.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, dict) else usage.get("prompt_cache_hit_tokens")
    return Usage(_count(usage.get("prompt_tokens")), _count(cached), _count(usage.get("completion_tokens")))


def _count(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 0
