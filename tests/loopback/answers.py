"""What the loopback model answers to one request, and how it goes about it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Answer:
    """All fields have their JSON names in script files.

    What: `text`, or `json` (written out as the text), or `frames`: exact events, a dict being the JSON of one event and
    a string the raw text of one, blank line included. `reasoning` is streamed before the text in `reasoning_field`.
    `finish` None: no finish_reason. `usage` None: counted from the words; `usage_with` "text" puts it on the last
    piece of text instead of an event of its own, "" leaves it out.

    When: `delay` seconds to the first token, `rate` tokens a second (0: at once), `comments` seconds between
    keep-alive comments while nothing else is said.

    HTTP: `status`, `headers`, `body` (instead of a stream: a string as it stands, anything else as JSON), `type`.
    `drop` closes the connection without an answer.

    Shape: `newline`, `space` after "data:", `two_lines` (data split over two lines), `bytes_at_once` per write (0: as
    it comes), `content` "text" or "parts" (Mistral's lists).

    Faults, after `after` tokens: "reset" (RST), "close" (the end, without the last chunk), "stall" (silence, until
    released), "drip" (a comment every `drip` seconds for ever), "error" (the event `error`, then the end).
    """

    text: str = ""
    json: Any = None
    frames: list[Any] | None = None
    reasoning: str = ""
    reasoning_field: str = "reasoning_content"
    finish: str | None = "stop"
    done: bool = True
    usage: dict[str, Any] | None = None
    usage_with: str = "end"

    delay: float = 0.0
    rate: float = 0.0
    comments: float = 0.0

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: Any = None
    type: str = ""
    drop: bool = False

    newline: str = "\n"
    space: bool = True
    two_lines: bool = False
    bytes_at_once: int = 0
    content: str = "text"

    after: int = 0
    fault: str = ""
    drip: float = 0.05
    error: dict[str, Any] | None = None


def tokens_of(text: str) -> list[str]:
    """A token here is a word with the space before it."""
    return re.findall(r"\s*\S+|\s+$", text)
