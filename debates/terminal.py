"""A debate on a terminal: one speech at a time, in the order of their numbers, as it is spoken."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from .engine import events
from .engine.types import Turn, Usage, Verdict

COLOURS = {"proposition": "\x1b[34m", "opposition": "\x1b[31m", "referee": "\x1b[33m", "judge": "\x1b[35m"}
PLAIN, BOLD, DIM = "\x1b[0m", "\x1b[1m", "\x1b[2m"
CLEAR_LINE = "\r\x1b[K"
HEADLINES = {"too_close": "Too close to call", "unjudged": "Unjudged"}


class Terminal:
    """Prints events. Where somebody looks on, in colours and with a line that says what is waited for."""

    def __init__(self, out: Any) -> None:
        self.out = out
        self.seen = out.isatty()
        self.began = time.monotonic()
        self.next = 1
        self.held: dict[int, list[events.Event]] = {}
        self.progress = False

    def show(self, event: events.Event) -> None:
        """Shows an event, or keeps it until the speeches before its own are over."""
        number = event.turn.number if isinstance(event, events.TurnEnded) else getattr(event, "number", self.next)
        if number != self.next:
            self.held.setdefault(number, []).append(event)
            return
        self._show(event)
        while isinstance(event, events.TurnEnded | events.Failed):
            self.next += 1
            kept = self.held.pop(self.next, [])
            for event in kept:
                self._show(event)
            if not kept:
                return

    def close(self, turns: Sequence[Turn]) -> None:
        """Says what it took, whether or not the debate reached its end."""
        usage = sum((turn.usage for turn in turns), Usage())
        calls = sum(turn.calls for turn in turns)
        seconds = time.monotonic() - self.began
        tokens = f"{usage.read} tokens read ({usage.cached} cached), {usage.written} written"
        self._line(f"\n{len(turns)} turns, {calls} calls, {tokens}, {seconds:.0f} s", DIM)

    def _show(self, event: events.Event) -> None:
        match event:
            case events.RoundStarted():
                self._line(f"\n{event.name}", BOLD)
            case events.TurnStarted():
                again = "" if event.attempt == 1 else f" (attempt {event.attempt})"
                self._line(f"\n{event.bench}, {event.kind.replace('_', ' ')}{again}", COLOURS.get(event.bench, BOLD))
                self._wait_for(f"the {event.bench} is thinking")
            case events.Waiting():
                self._wait_for(event.reason)
            case events.Delta():
                self._write(event.text)
            case events.TurnEnded():
                structured = event.turn.data is not None or event.turn.failure
                self._line((event.turn.failure or event.turn.text) if structured else "", PLAIN)
            case events.Failed():
                self._line(f"\nThe {event.bench} could not speak. {event.sentence}", BOLD)
            case events.Ended():
                self._verdict(event.verdict)

    def _verdict(self, verdict: Verdict) -> None:
        self._line(f"\n{HEADLINES.get(verdict.outcome) or f'{verdict.winner} wins'}", BOLD)
        if verdict.scores:
            self._line(", ".join(f"{side} {score:.0f}" for side, score in verdict.scores.items()), PLAIN)
        for note in (verdict.reason, verdict.details.get("unsettled")):
            if note:
                self._line(note, PLAIN)
        if verdict.details.get("small_judge"):
            self._line("This model is too small to judge: take its ballots as noise.", DIM)

    def _wait_for(self, what: str) -> None:
        """A line that goes as soon as there is something to show; where nobody looks on, there is none."""
        if self.seen:
            self._write(f"{DIM}{what} …{PLAIN}")
            self.progress = True

    def _line(self, text: str, style: str) -> None:
        self._write(f"{style}{text}{PLAIN}\n" if self.seen and text else f"{text}\n")

    def _write(self, text: str) -> None:
        self.out.write(f"{CLEAR_LINE}{text}" if self.progress else text, ending="")
        self.out.flush()
        self.progress = False
