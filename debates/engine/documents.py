"""A debate as one JSON document: what `argue --json` prints, what a page exports, what can be imported and replayed.

The schema's name carries its version, `crossbench.debate/1` (docs/document.md). A document says where its words come
from; importing one never makes it a live debate.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from . import types as engine

SCHEMA: Literal["crossbench.debate/1"] = "crossbench.debate/1"
Name = Annotated[str, Field(max_length=40, pattern=r"^[a-z][a-z0-9_]*$")]
Text = Annotated[str, Field(max_length=20_000)]
Sentence = Annotated[str, Field(max_length=400)]
Label = Annotated[str, Field(max_length=200)]


class Part(BaseModel):
    model_config = ConfigDict(extra="forbid", from_attributes=True)


class SeatPart(Part):
    bench: Name
    provider: Label
    model: Label
    preset: Label = ""


class UsagePart(Part):
    read: int = 0
    cached: int = 0
    written: int = 0


class TurnPart(Part):
    """A sealed turn. `sitting` counts the document's sittings from 1, `round` the rounds within one."""

    number: int = Field(ge=1)
    sitting: int = Field(default=1, ge=1)
    round: int = Field(ge=1)
    round_name: Label
    bench: Name
    kind: Name
    text: Text
    data: dict[str, Any] | None = None
    failure: Sentence = ""
    model: Label = ""
    prompt: Label = ""
    prompt_hash: Annotated[str, Field(max_length=64)] = ""
    usage: UsagePart = Field(default_factory=UsagePart)
    calls: int = 1


class VerdictPart(Part):
    """A version of the verdict; `ballots` are numbers of turns."""

    version: int = Field(default=1, ge=1)
    sitting: int = Field(default=1, ge=1)
    outcome: engine.Outcome
    winner: Name | None = None
    scores: dict[Name, float] | None = None
    confidence: int | None = Field(default=None, ge=50, le=95)
    reason: Sentence = ""
    ballots: list[int] = Field(default_factory=list)
    details: dict[str, Any] = Field(default_factory=dict)


class DebateDocument(Part):
    """`verdict` is the last of `verdicts`, or, where none was reached, an "unjudged" that says why."""

    schema_: Literal["crossbench.debate/1"] = Field(default=SCHEMA, alias="schema")
    format: Name
    motion: Annotated[str, Field(min_length=1, max_length=400)]
    rules: dict[str, Any] = Field(default_factory=dict)
    origin: Literal["live", "recorded", "written", "imported"] = "live"
    label: Annotated[str, Field(max_length=120)] = ""
    created: str = ""
    seed: Annotated[str, Field(max_length=128)] = ""
    seats: list[SeatPart] = Field(max_length=40)
    turns: list[TurnPart] = Field(max_length=500)
    verdicts: list[VerdictPart] = Field(default_factory=list, max_length=100)
    verdict: VerdictPart
    failure: Sentence = ""

    @model_validator(mode="after")
    def _numbered(self) -> DebateDocument:
        numbers = [turn.number for turn in self.turns]
        if numbers != sorted(set(numbers)):
            raise ValueError("turns must be in the order of their numbers, each once")
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
