"""Who is said to speak: a speaker's own label before its speech is dropped, another bench's label ends the speech."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

import regex

_ROUND = r"(?:[ \t]*\([^()\n]{0,40}\))?"  # Critic (round 2):
_TO = r"(?:[ \t]*(?:→|->|=>)[ \t]*[^\[\]:：\n]{1,40})?"  # [Critic → Builder]
_COLON = "[ \t]*[:：]"


def _one_of(names: Iterable[str]) -> str:
    spaced = ("[ \t]+".join(regex.escape(word) for word in name.split()) for name in names)
    return f"(?:{'|'.join(filter(None, spaced)) or '(?!)'})"


def _bracketed(names: str) -> str:
    return rf"\[[ \t]*{names}{_ROUND}{_TO}[ \t]*\](?:{_COLON}|(?=[ \t]*[^ \t:：]))"


@lru_cache(maxsize=256)
def _own(names: tuple[str, ...]) -> regex.Pattern[str]:
    name = _one_of(names)
    return regex.compile(rf"{_bracketed(name)}|{name}{_ROUND}{_TO}(?:{_COLON}|[ \t]*\n)", regex.IGNORECASE)


@lru_cache(maxsize=256)
def _other(names: tuple[str, ...]) -> regex.Pattern[str]:
    name = _one_of(names)
    return regex.compile(rf"[ \t]*(?:{_bracketed(name)}|{name}{_ROUND}{_TO}{_COLON})", regex.IGNORECASE)


class Labels:
    """Text in, text without labels out; holds back at most a label at the start of a line.

    `cut_at` is the name, as it was given, of the bench whose line ended the speech. At the very start of a speech
    such a label that goes on in lower case is a sentence ("Builder: the pattern from GoF …") and stays; anywhere
    else a line that begins with another bench's name and a colon is that bench's.
    """

    def __init__(self, own_names: Iterable[str] = (), other_names: Iterable[str] = ()) -> None:
        self.cut_at: str | None = None
        self._others = tuple(other_names)
        self._own = _own(tuple(own_names))
        self._other = _other(self._others)
        self._raw = ""
        self._labelled = False  # whether the speaker's own label is dealt with
        self._said = False
        self._line_start = True

    def feed(self, text: str) -> str:
        self._raw += text
        at, said = 0, []
        while self.cut_at is None and at < len(self._raw):
            end, shown = self._read(at)
            if end == at:
                break
            if shown:
                said.append(self._raw[at:end])
            at = end
        self._raw = self._raw[at:]
        return "".join(said)

    def finish(self) -> str:
        said = self.feed("\n")
        label = self._other.match(self._raw) if self._line_start else None
        if label and self.cut_at is None:
            self._cut(label)
        return said + ("" if self.cut_at else self._raw)

    def _read(self, at: int) -> tuple[int, bool]:
        """Where it got to, and whether what it read is shown; it gets nowhere where more must come first."""
        if not self._said and self._raw[at].isspace():
            return at + 1, False
        if not self._labelled:
            return self._read_own_label(at)
        if self._line_start:
            return self._read_line_start(at)
        end = self._raw.find("\n", at) + 1
        self._line_start = end > 0
        return end or len(self._raw), True

    def _read_own_label(self, at: int) -> tuple[int, bool]:
        label = self._own.match(self._raw, at, partial=True)
        if label and label.partial:
            return at, False
        self._labelled = True
        return (label.end(), False) if label else self._read(at)

    def _read_line_start(self, at: int) -> tuple[int, bool]:
        label = self._other.match(self._raw, at, partial=True)
        if label and label.partial:
            return at, False
        if label and not self._said:
            after = self._raw[label.end() :].lstrip()[:1]
            if not after:
                return at, False
            label = None if after.islower() else label
        if label:
            self._cut(label)
            return len(self._raw), False
        self._line_start, self._said = False, True
        return self._read(at)

    def _cut(self, label: regex.Match[str]) -> None:
        spoken = (name for name in self._others if _other((name,)).match(label.string, label.start()))
        self.cut_at = next(spoken, label.group().strip())
