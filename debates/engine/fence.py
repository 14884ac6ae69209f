"""The fence around texts that a user or a model wrote: a delimiter that nobody who writes one can guess.

It is taken out of every text before that is fenced, and out of every speech, so it can neither be closed nor learned.
"""

from __future__ import annotations

import re


def fence(text: str, delimiter: str) -> str:
    """The text between two lines with the delimiter. An empty one is a fault of the format: nothing was said."""
    inner = without(text, delimiter).replace("\0", "").strip()
    if not inner:
        raise ValueError("an empty text can't be given to a speaker")
    return f"<<{delimiter}\n{inner}\n{delimiter}>>"


def without(text: str, delimiter: str) -> str:
    """Taken out again and again: what is left of two halves may not join to a whole one."""
    while delimiter in text:
        text = re.sub(rf"<{{0,2}}{delimiter}>{{0,2}}", "", text)
    return text


class Unfenced:
    """A stream without the delimiter, wherever its pieces are cut. Holds back at most one delimiter's length."""

    def __init__(self, delimiter: str) -> None:
        self._delimiter = delimiter
        self._held = ""

    def feed(self, piece: str) -> str:
        text = without(self._held + piece, self._delimiter)
        keep = next((n for n in range(min(len(text), len(self._delimiter) + 1), 0, -1) if self._opens(text[-n:])), 0)
        self._held = text[len(text) - keep :]
        return text[: len(text) - keep]

    def finish(self) -> str:
        held, self._held = self._held, ""
        return held

    def _opens(self, tail: str) -> bool:
        return f"<<{self._delimiter}".startswith(tail) or self._delimiter.startswith(tail.lstrip("<"))
