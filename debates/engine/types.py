"""The engine's words. It knows no database, no queue, no settings and no clock.

motion      what is debated
format      the rules: a generator of rounds that returns a verdict
bench       a place in a format: proposition, opposition, judge
seat        a bench in one debate, with the model that fills it
round       speeches made from the same state: nobody in a round hears the others of that round
speech      one slot in a round: who speaks, in which manner, within which limits
turn        a speech as delivered: numbered and sealed
transcript  the turns so far
case        what one sitting is about: all that the engine is handed
verdict     what a sitting's ballots add up to
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Generator, Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel

if TYPE_CHECKING:
    from .prompts import PromptBook


@dataclass(frozen=True, slots=True)
class Limits:
    """How long a speech may be: `words` is asked of the speaker and cut by code, `tokens` caps the call."""

    words: int
    tokens: int
    temperature: float = 0.8


@dataclass(frozen=True, slots=True)
class Hearing:
    """What a structured speech is about: the turns that count, and the code-name of each side, in the order in which
    the sides are shown (none where the prompt uses no code-names)."""

    transcript: tuple[Turn, ...]
    names: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Asked:
    """What a structured speech must answer: a schema, how a valid answer becomes the turn's data, and how that data
    reads as text."""

    schema: type[BaseModel]
    read: Callable[[Any], dict[str, Any]]
    say: Callable[[dict[str, Any]], str]


@dataclass(frozen=True, slots=True)
class Speech:
    """One slot in a round. `kind` names its prompt, `facts` are what that prompt must be told beyond the transcript.

    `asks` makes the speech structured. `shown` is the order in which a ballot shows the sides, under code-names. The
    failure of an `optional` speech is a turn without data, not the end of the sitting.
    """

    bench: str
    kind: str
    limits: Limits
    asks: Callable[[Hearing], Asked] | None = None
    shown: tuple[str, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Bench:
    """A place in a format, and the speeches it can make."""

    name: str
    side: bool = False

    def says(self, kind: str, limits: Limits, **facts: Any) -> Speech:
        return Speech(self.name, kind, limits, facts=facts)

    def decides(self, kind: str, asks: Callable[[Hearing], Asked], limits: Limits, **facts: Any) -> Speech:
        """A structured speech whose failure the format deals with."""
        return Speech(self.name, kind, limits, asks, facts=facts, optional=True)


@dataclass(frozen=True, slots=True)
class Round:
    """Speeches made from the same state. `instruction` is given to each of its speakers."""

    name: str
    speeches: tuple[Speech, ...]
    instruction: str = ""


@dataclass(slots=True)
class Usage:
    """Tokens of one call as the provider reported them; `cached` is the part of `read` that cost less."""

    read: int = 0
    cached: int = 0
    written: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(self.read + other.read, self.cached + other.cached, self.written + other.written)


@dataclass(frozen=True, slots=True)
class Turn:
    """A speech as delivered. `data` is a structured turn's validated content; where there is none, `failure`
    says why in one sentence. `usage` adds up every call the turn took, `calls` counts them."""

    number: int
    round: int
    round_name: str
    bench: str
    kind: str
    text: str
    data: dict[str, Any] | None = None
    failure: str = ""
    prompt: str = ""
    prompt_hash: str = ""
    model: str = ""
    usage: Usage = field(default_factory=Usage)
    calls: int = 1


@dataclass(frozen=True, slots=True)
class Seat:
    """A bench with the model that fills it. `preset` picks prompts written for a kind of model ("local")."""

    bench: str
    provider: str
    model: str
    preset: str = ""


Outcome = Literal["winner", "too_close", "unjudged"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a sitting's ballots add up to. `scores` and `winner` name benches; `confidence` is 50-95 or None;
    `ballots` are the numbers of the turns it comes from; `details` holds what the format wants shown."""

    outcome: Outcome
    winner: str | None = None
    scores: dict[str, float] | None = None
    confidence: int | None = None
    reason: str = ""
    ballots: tuple[int, ...] = ()
    details: dict[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


Rounds = Generator[Round, list[Turn], Verdict]


@dataclass(frozen=True)
class Format:
    """The rules of one kind of debate. `sittings` maps a sitting's kind to what is spoken in it."""

    slug: str
    name: str
    benches: tuple[Bench, ...]
    rules: type[BaseModel]
    sittings: Mapping[str, Callable[[Any], Rounds]]

    @property
    def sides(self) -> tuple[str, ...]:
        return tuple(bench.name for bench in self.benches if bench.side)


@dataclass(frozen=True)
class Case:
    """All that a sitting is about. `heard` are the turns of earlier sittings that count; `first` is the number
    of this sitting's first turn; whatever is random is drawn from `seed`."""

    format: Format
    motion: str
    rules: Any
    seats: Mapping[str, Seat]
    seed: bytes
    prompts: PromptBook
    kind: str = "debate"
    first: int = 1
    heard: tuple[Turn, ...] = ()

    def draw(self, purpose: str, turn: int = 0, call: int = 0) -> bytes:
        """32 bytes that are the same at every resume: `call` counts repairs and retries, never claims."""
        return hmac.digest(self.seed, f"{purpose}:{turn}:{call}".encode(), hashlib.sha256)

    @property
    def delimiter(self) -> str:
        """What fences every text that a user or a model wrote; nobody who writes such a text can guess it."""
        return self.draw("delimiter").hex()[:16]
