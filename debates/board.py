"""What a debate's log says about now: a pure fold over its entries (docs/live.md), the same for every viewer.

It knows when it can't know: after a hole in the log the turns then open have a hole too, and take no delta until a
`text` frame heals them; the board is whole again with the next claim's `state`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

Position = tuple[int, int]
START: Position = (0, 0)
ABOUT_A_TURN = ("number", "attempt", "bench", "kind", "round", "round_name")


def position(entry: str) -> Position:
    """`"7-12"` as numbers, so that entries can be compared."""
    fence, _, n = entry.partition("-")
    return int(fence), int(n)


class OpenTurn:
    """A turn being spoken: its text so far, in the pieces in which it came, and whether a piece is missing."""

    __slots__ = ("about", "hole", "length", "pieces", "reason")

    def __init__(self, frame: dict[str, Any], text: str = "") -> None:
        self.about = {name: frame[name] for name in ABOUT_A_TURN}
        self.pieces = [text]
        self.length = len(text)
        self.reason = ""
        self.hole = False

    def add(self, delta: dict[str, Any]) -> bool:
        """Whether the delta fits: it does if it starts where the text ends."""
        if self.hole or delta["attempt"] != self.about["attempt"] or delta["offset"] != self.length:
            self.hole = True
            return False
        self.pieces.append(delta["text"])
        self.length += len(delta["text"])
        self.reason = ""
        return True

    def lacks(self, text: dict[str, Any]) -> bool:
        """Whether a `text` frame says more than is known here."""
        newer = text["attempt"] - self.about["attempt"]
        return newer > 0 or (newer == 0 and (self.hole or len(text["text"]) > self.length))

    def as_frame(self) -> dict[str, Any]:
        self.pieces = ["".join(self.pieces)]
        return self.about | {"text": self.pieces[0], "reason": self.reason}


@dataclass(frozen=True, slots=True)
class Mark:
    """The board at one position of the log. `at` is None where no log could be read; `holes` are the open turns
    whose text isn't all there; a mark that isn't `whole` may lack turns that are open."""

    at: Position | None = None
    whole: bool = True
    round: dict[str, Any] | None = None
    open: tuple[dict[str, Any], ...] = ()
    holes: frozenset[int] = frozenset()


@dataclass(slots=True)
class Board:
    at: Position = START
    whole: bool = True
    over: bool = False
    anew: bool = False  # the entry taken last outdates what viewers have: each needs a snapshot
    round: dict[str, Any] | None = None
    open: dict[int, OpenTurn] = field(default_factory=dict)

    def take(self, entry: str, body: bytes) -> dict[str, Any] | None:
        """The entry's frame if viewers need it. Raises ValueError, KeyError or TypeError for what isn't one."""
        at = position(entry)
        if at <= self.at:
            return None
        self.anew = False
        if at[1] != (self.at[1] + 1 if at[0] == self.at[0] else 1):
            self.tear(claimed_anew=at[0] != self.at[0])
        self.at = at
        frame = json.loads(body)
        return frame if self.apply(frame) else None

    def tear(self, claimed_anew: bool = False) -> None:
        """Entries are missing: a seal, a start or a round may have been among them."""
        self.whole, self.round, self.anew = False, None, True
        if claimed_anew:
            self.open.clear()
        for turn in self.open.values():
            turn.hole = True

    def apply(self, frame: dict[str, Any]) -> bool:
        """Whether viewers need it."""
        match frame["t"]:
            case "state":
                self.open.clear()
                self.round, self.over = None, False
                self.whole = self.anew = True
            case "round":
                self.round = {name: frame[name] for name in ("round", "name", "instruction", "slots")}
            case "start":
                self.open[frame["number"]] = OpenTurn(frame)
            case "wait" if turn := self.open.get(frame["number"]):
                turn.reason = frame["reason"]
            case "delta":
                turn = self.open.get(frame["number"])
                return turn is not None and turn.add(frame)
            case "text":
                return self.heal(frame)
            case "turn":
                self.open.pop(frame["turn"]["number"], None)
            case "failed":
                self.fail(frame)
            case "end":
                self.over = True
        return True

    def heal(self, text: dict[str, Any]) -> bool:
        """Whether the text was lacking. On a whole board a turn that isn't open is sealed."""
        turn = self.open.get(text["number"])
        if (self.whole and turn is None) or (turn is not None and not turn.lacks(text)):
            return False
        self.open[text["number"]] = OpenTurn(text, text["text"])
        return True

    def fail(self, frame: dict[str, Any]) -> None:
        """What was said stays open, with the reason why there won't be more. The frame's `kind` is the failure's."""
        known = self.open.get(frame["number"])
        about = known.about if known else frame | {"attempt": 0, "kind": "", "round": 0, "round_name": ""}
        turn = self.open[frame["number"]] = OpenTurn(about, frame["text"])
        turn.reason = frame["sentence"]

    def mark(self) -> Mark:
        holes = frozenset(number for number, turn in self.open.items() if turn.hole)
        at = self.at if self.at != START else None
        return Mark(at, self.whole, self.round, tuple(turn.as_frame() for turn in self.open.values()), holes)
