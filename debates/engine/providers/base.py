"""One interface to every model: a provider yields strings and raises one error, which says whether the same call
may be tried again."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from ..types import Limits, Usage


class Kind(StrEnum):
    THROTTLED = "throttled"
    OUT_OF_QUOTA = "out_of_quota"
    KEY_REJECTED = "key_rejected"
    MODEL_MISSING = "model_missing"
    OVERLOADED = "overloaded"
    WAKING = "waking"  # a local server that is still loading its weights
    REFUSED = "refused"
    TOO_LONG = "too_long"
    BAD_REQUEST = "bad_request"
    CUT_OFF = "cut_off"
    NETWORK = "network"
    EMPTY = "empty"


AGAIN = frozenset(
    {Kind.THROTTLED, Kind.OVERLOADED, Kind.WAKING, Kind.CUT_OFF, Kind.NETWORK, Kind.EMPTY},
)

SENTENCES: Mapping[Kind, str] = {
    Kind.THROTTLED: "The model's provider is limiting how often it may be asked.",
    Kind.OUT_OF_QUOTA: "The account at the model's provider ran out of quota.",
    Kind.KEY_REJECTED: "The model's provider rejected the key.",
    Kind.MODEL_MISSING: "The provider does not offer this model.",
    Kind.OVERLOADED: "The model's provider is overloaded.",
    Kind.WAKING: "The model on this machine is still loading.",
    Kind.REFUSED: "The model refused to speak.",
    Kind.TOO_LONG: "The debate has grown too long for this model.",
    Kind.BAD_REQUEST: "The provider did not accept the request.",
    Kind.CUT_OFF: "The model's answer broke off.",
    Kind.NETWORK: "The model could not be reached.",
    Kind.EMPTY: "The model answered with nothing.",
}


class ProviderError(Exception):
    """A call failed. `str(error)` is a sentence for readers: no key, address or response body is ever in it.

    `retry_after` is in seconds, where the provider named a time. `detail` is for logs only.
    """

    def __init__(self, kind: Kind, *, retry_after: float | None = None, detail: str = "", sentence: str = "") -> None:
        super().__init__(sentence or SENTENCES[kind])
        self.kind = kind
        self.retry_after = retry_after
        self.detail = detail

    @property
    def again(self) -> bool:
        """Whether the same call may be tried again."""
        return self.kind in AGAIN


@dataclass(frozen=True, slots=True)
class Message:
    role: str  # "user" or "assistant"
    text: str


@dataclass(frozen=True, slots=True)
class Hints:
    """What an endpoint may use if it can, and drops, once refused, without a loss that code doesn't mend:
    llama.cpp's grammar (GBNF), the slot whose cached prefix fits, sampling fields, and the words that the answer
    starts with. A prefill is part of the answer: the provider yields it first."""

    grammar: str = ""
    slot: int | None = None
    sampling: Mapping[str, Any] = field(default_factory=dict)
    prefill: str = ""


@dataclass(frozen=True, slots=True)
class Prompt:
    """What is sent: the same system text for all speeches of a debate first, so that it stays cached. `name` and
    `hash` say which prompt file, in which wording."""

    system: str
    messages: tuple[Message, ...]
    name: str = ""
    hash: str = ""
    hints: Hints = field(default_factory=Hints)


@dataclass(slots=True)
class Call:
    """One request to a model, filled in while it is answered.

    `schema` is a JSON schema: the answer must be one JSON object that fits it (the caller still validates it).
    `cut` tells that the token limit ended the answer. `waiting` is told, in a reader's words, what is waited for.
    """

    prompt: Prompt
    limits: Limits
    schema: Mapping[str, Any] | None = None
    waiting: Callable[[str], None] = lambda reason: None
    usage: Usage = field(default_factory=Usage)
    cut: bool = False


class Provider(Protocol):
    """A model at an endpoint. Stopping the iteration early (`aclose`) closes the connection at once."""

    def stream(self, call: Call) -> AsyncGenerator[str, None]:
        """Yields the answer as it comes; raises `ProviderError`. An answer is whole only if nothing is raised."""
        ...
