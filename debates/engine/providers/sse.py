"""Reads server-sent events from bytes, however the network cut them."""

from __future__ import annotations

from typing import NamedTuple

LONGEST = 1_000_000  # bytes of one line, or of one event's data


class Malformed(ValueError):
    """These bytes are no event stream: an endless line, or characters that are not UTF-8."""


class Event(NamedTuple):
    name: str
    data: str


class EventReader:
    """Feed it bytes as they come; it returns the events that they complete.

    Lines may end in LF, CR or CRLF, the space after the colon may be missing, an event may have several data lines,
    comments and unknown fields are passed over. Lines are decoded whole, so a cut inside a character is none.
    """

    def __init__(self, longest: int = LONGEST) -> None:
        self._longest = longest
        self._parts: list[bytes] = []  # of a line whose end has not come
        self._held = 0  # bytes of those parts
        self._size = 0  # bytes of the data lines so far
        self._after_cr = False
        self._fresh = True
        self.began = False  # an event has come
        self._name = ""
        self._data: list[str] = []

    def feed(self, chunk: bytes) -> list[Event]:
        """Raises `Malformed`."""
        if self.began and not self._pending() and (events := _plain(chunk)):
            return events
        if self._after_cr and chunk:
            chunk = chunk.removeprefix(b"\n")
            self._after_cr = False
        if b"\r" in chunk:
            self._after_cr = chunk.endswith(b"\r")
            chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        *lines, rest = chunk.split(b"\n")
        if lines and self._parts:
            lines[0] = b"".join((*self._parts, lines[0]))
            self._parts.clear()
            self._held = 0
        events = [event for line in lines if (event := self._line(line))]
        if rest:
            self._parts.append(rest)
            self._held += len(rest)
            self._check()
        return events

    def close(self) -> list[Event]:
        """The bytes have ended: the last event counts even if the blank line after it is missing."""
        return self.feed(b"\n\n") if self._parts or self._data else []

    def _line(self, line: bytes) -> Event | None:
        if self._fresh:
            self._fresh = False
            line = line.removeprefix(b"\xef\xbb\xbf")
        if not line:
            return self._dispatch()
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            self._data.append(_decoded(value))
            self._size += len(value)
            self._check()
        elif field == b"event":
            self._name = _decoded(value)
        return None

    def _dispatch(self) -> Event | None:
        event = Event(self._name, "\n".join(self._data)) if self._data else None
        self._name, self._data, self._size = "", [], 0
        self.began = self.began or event is not None
        return event

    def _pending(self) -> bool:
        return bool(self._after_cr or self._parts or self._data or self._name)

    def _check(self) -> None:
        if self._held + self._size > self._longest:
            raise Malformed(f"more than {self._longest} bytes in one event")


def _plain(chunk: bytes) -> list[Event] | None:
    """The short way for what nearly every read brings: whole events of one line of data each."""
    *blocks, rest = chunk.split(b"\n\n")
    if rest or b"\r" in chunk or not all(block.startswith(b"data: ") and b"\n" not in block for block in blocks):
        return None
    return [Event("", _decoded(block[6:])) for block in blocks]


def _decoded(line: bytes) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        raise Malformed("not UTF-8") from error
