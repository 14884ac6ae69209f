"""A debate as one JSON document: what `argue --json` prints, what a page exports, what can be imported and replayed.

The schema's name carries its version, `crossbench.debate/1` (docs/document.md). A document says where its words come
from; importing one never makes it a live debate.
"""

from __future__ import annotations

from math import isfinite
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from . import types as engine
from .answers import BenchQuestion, Ruling

SCHEMA: Literal["crossbench.debate/1"] = "crossbench.debate/1"
# What a site can store: names, labels and sentences as long as its columns, numbers that its integers hold.
Name = Annotated[str, Field(max_length=20, pattern=r"^[a-z][a-z0-9_]*$")]
Text = Annotated[str, Field(max_length=20_000)]
Sentence = Annotated[str, Field(max_length=400)]
Failure = Annotated[str, Field(max_length=300)]
Label = Annotated[str, Field(max_length=200)]
Short = Annotated[str, Field(max_length=20)]
Count = Annotated[int, Field(ge=0, le=1_000_000_000)]
Place = Annotated[int, Field(ge=1, le=1_000_000)]
DEEPEST = 12


class Part(BaseModel):
    model_config = ConfigDict(extra="forbid", from_attributes=True, allow_inf_nan=False)


def storable(value: Any, depth: int = 0) -> Any:
    """Refuses what no row can hold, anywhere inside: NULs, numbers without an end, nesting without one."""
    if depth > DEEPEST:
        raise ValueError("nested too deeply")
    if isinstance(value, str) and "\0" in value:
        raise ValueError("holds a NUL character")
    if isinstance(value, float) and not isfinite(value):
        raise ValueError("holds a number that is none")
    if isinstance(value, dict):
        for key, inner in value.items():
            storable(key, depth + 1)
            storable(inner, depth + 1)
    if isinstance(value, list):
        for inner in value:
            storable(inner, depth + 1)
    return value


class Loose(BaseModel):
    """A structured turn's content as far as pages read it; formats may add to it."""

    model_config = ConfigDict(extra="allow", from_attributes=True, allow_inf_nan=False)


class PointPart(Loose):
    side: Name
    quote: Sentence | Text
    turn: Place | None = None


class ReconciledPart(Loose):
    to: Name
    rule: Label


class BallotPart(Loose):
    scores: dict[Name, float]
    winner: Name | None = None
    confidence: float | None = None
    strongest: PointPart | None = None
    weakest: PointPart | None = None
    unsettled: Text = ""
    shown: list[Name] = Field(default_factory=list, max_length=4)
    reconciled: ReconciledPart | None = None


class TalliedPart(BallotPart):
    """A ballot as a verdict lists it."""

    number: Place


class DetailsPart(Loose):
    claimed: list[float] = Field(default_factory=list, max_length=40)
    strongest: PointPart | None = None
    weakest: PointPart | None = None
    unsettled: Text = ""
    ballots: list[TalliedPart] = Field(default_factory=list, max_length=40)
    judges: list[Label] = Field(default_factory=list, max_length=40)
    small_judge: bool = False


# What the data of these kinds of turn must be; a page reads them.
KINDS: dict[str, type[BaseModel]] = {"ruling": Ruling, "bench_question": BenchQuestion, "ballot": BallotPart}


class SeatPart(Part):
    bench: Name
    provider: Short
    model: Label
    preset: Short = ""


class UsagePart(Part):
    read: Count = 0
    cached: Count = 0
    written: Count = 0


class TurnPart(Part):
    """A sealed turn. `sitting` counts the document's sittings from 1, `round` the rounds within one."""

    number: Place
    sitting: Place = 1
    round: Place
    round_name: Annotated[str, Field(max_length=40)]
    bench: Name
    kind: Name
    text: Text
    data: dict[str, Any] | None = None
    failure: Failure = ""
    model: Label = ""
    prompt: Annotated[str, Field(max_length=80)] = ""
    prompt_hash: Annotated[str, Field(max_length=64)] = ""
    usage: UsagePart = Field(default_factory=UsagePart)
    calls: Count = 1

    @model_validator(mode="after")
    def _readable(self) -> TurnPart:
        if self.data is not None and self.kind in KINDS:
            KINDS[self.kind].model_validate(self.data)
        return self


class VerdictPart(Part):
    """A version of the verdict; `ballots` are numbers of turns."""

    version: Place = 1
    sitting: Place = 1
    outcome: engine.Outcome
    winner: Name | None = None
    scores: dict[Name, float] | None = None
    confidence: int | None = Field(default=None, ge=50, le=95)
    reason: Sentence = ""
    ballots: list[Place] = Field(default_factory=list)
    details: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _readable(self) -> VerdictPart:
        DetailsPart.model_validate(self.details)
        if (self.outcome == "winner") != (self.winner is not None):
            raise ValueError("a winner is named exactly where somebody won")
        if self.winner is not None and self.winner not in (self.scores or {}):
            raise ValueError("the winner has no score")
        return self


class DebateDocument(Part):
    """`verdict` is the last of `verdicts`, or, where none was reached, an "unjudged" that says why."""

    schema_: Literal["crossbench.debate/1"] = Field(default=SCHEMA, alias="schema")
    format: Name
    motion: Annotated[str, Field(min_length=1, max_length=400)]
    rules: dict[str, Any] = Field(default_factory=dict)
    origin: Literal["live", "recorded", "written", "imported"] = "live"
    label: Annotated[str, Field(max_length=120)] = ""
    created: Label = ""
    seed: Annotated[str, Field(max_length=128)] = ""
    seats: list[SeatPart] = Field(max_length=40)
    turns: list[TurnPart] = Field(max_length=1_000)
    verdicts: list[VerdictPart] = Field(default_factory=list, max_length=100)
    verdict: VerdictPart
    failure: Sentence = ""

    @model_validator(mode="before")
    @classmethod
    def _storable(cls, document: Any) -> Any:
        return storable(document) if isinstance(document, dict) else document

    @model_validator(mode="after")
    def _numbered(self) -> DebateDocument:
        numbers = [turn.number for turn in self.turns]
        if numbers != sorted(set(numbers)):
            raise ValueError("turns must be in the order of their numbers, each once")
        sittings = {turn.sitting for turn in self.turns} | {verdict.sitting for verdict in self.verdicts}
        if sittings - set(range(1, len(sittings) + 1)):
            raise ValueError("sittings must be counted from 1, without a gap")
        for name, values in (
            ("version", [verdict.version for verdict in self.verdicts]),
            ("sitting with a verdict", [verdict.sitting for verdict in self.verdicts]),
            ("seat", [seat.bench for seat in self.seats]),
        ):
            if len(values) != len(set(values)):
                raise ValueError(f"there are two of a {name}")
        return self

    def as_dict(self) -> dict[str, Any]:
        return self.model_dump(by_alias=True, mode="json")


def turn_part(turn: engine.Turn, sitting: int = 1) -> TurnPart:
    names = set(TurnPart.model_fields) - {"sitting", "usage"}
    usage = UsagePart(read=turn.usage.read, cached=turn.usage.cached, written=turn.usage.written)
    return TurnPart(sitting=sitting, usage=usage, **{name: getattr(turn, name) for name in names})


def verdict_part(verdict: engine.Verdict, version: int = 1, sitting: int = 1) -> VerdictPart:
    return VerdictPart(version=version, sitting=sitting, **verdict.as_dict() | {"ballots": list(verdict.ballots)})


def unreached(why: str) -> VerdictPart:
    """The verdict of a debate that has none."""
    return verdict_part(engine.Verdict("unjudged", reason=why or "The debate did not reach its end."))
