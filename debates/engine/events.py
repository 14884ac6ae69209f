"""What happens in a sitting, as a closed set of events, in the order in which it happens.

For each turn: `TurnStarted`, any number of `Delta` and `Waiting`, then `TurnEnded` or `Failed`. A new attempt at
the same turn starts with another `TurnStarted` and replaces what the last one said. `Ended` is the last event of
a sitting that reached its verdict; a sitting that failed has none.
"""

from __future__ import annotations

from dataclasses import dataclass

from .types import Turn, Verdict


@dataclass(frozen=True, slots=True)
class Slot:
    """A speech that is to come: its turn number, and who makes it."""

    number: int
    bench: str
    kind: str


@dataclass(frozen=True, slots=True)
class RoundStarted:
    """A round begins. `slots` lists all its speeches in display order, sealed ones included."""

    round: int
    name: str
    slots: tuple[Slot, ...]
    instruction: str = ""


@dataclass(frozen=True, slots=True)
class TurnStarted:
    number: int
    attempt: int
    bench: str
    kind: str
    round: int
    round_name: str


@dataclass(frozen=True, slots=True)
class Waiting:
    """Nothing is being said, for a reason that a reader may be told in these words."""

    number: int
    reason: str


@dataclass(frozen=True, slots=True)
class Delta:
    """More of a turn: `text` starts at character `offset` (code points) of this attempt's text."""

    number: int
    attempt: int
    offset: int
    text: str


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """A turn is whole. The one that completes the sitting carries the verdict, to be sealed with it."""

    turn: Turn
    verdict: Verdict | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    """A speech could not be had. `kind` is a `providers.base.Kind`; `sentence` is for the reader."""

    number: int
    bench: str
    kind: str
    sentence: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class Ended:
    verdict: Verdict


Event = RoundStarted | TurnStarted | Waiting | Delta | TurnEnded | Failed | Ended
