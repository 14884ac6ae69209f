"""Referee and judge for a model too small to write what they say: it picks sentences that were said, code writes.

Every list to pick from is shuffled, since such a model leans to what comes first. What is picked is shown as what it
is: a choice that is plausible, not a judgement.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, create_model

from . import ballots
from .answers import BenchQuestion, Ruling
from .scene import Scene
from .types import Asked, Hearing

OFFERED = 4  # sentences of a side
NOTE = "The model on this machine picked these two sentences. It can't tell when a dispute is settled."


def ruling(scene: Scene) -> Asked:
    """The two sentences, one a side, that contradict each other most. The dispute is taken to be live."""
    schema = _model("Pair", {side: _one_of(_offered(scene, side)) for side in scene.sides})

    def read(pair: Any) -> dict[str, Any]:
        said = " ".join(f"The {side} says “{getattr(pair, side)}”." for side in scene.sides)
        return Ruling(note=NOTE, live=True, tension=f"{said} Which of you is wrong?").model_dump()

    return Asked(schema, read, lambda data: Ruling.model_validate(data).say())


def bench_question(scene: Scene) -> Asked:
    """The claim that stands most in need of a reason; its side is asked for one."""
    owners = {sentence: side for side in scene.sides for sentence in _offered(scene, side)}
    schema = _model("Claim", {"claim": _one_of(scene.shuffled("claims", list(owners)))})

    def read(choice: Any) -> dict[str, Any]:
        question = f"You said “{choice.claim}”. Why should anyone believe it?"
        return BenchQuestion.model_validate({"to": owners[choice.claim], "question": question}).model_dump()

    return Asked(schema, read, lambda data: BenchQuestion.model_validate(data).say())


def ballot(scene: Scene) -> Asked:
    """A ballot in which whatever is quoted is picked. Its scores are this model's: see the judge's own measure."""
    whole = ballots.ballot(scene.hearing)
    owners = {sentence: side for side in scene.hearing.names for sentence in _offered(scene, side)}
    picked = _one_of(scene.shuffled(f"ballot {scene.number}", list(owners)))
    names = list(scene.hearing.names.values())
    scores = {name: Annotated[int, Field(ge=0, le=100)] for name in names}
    fields = {"strongest": picked, "weakest": picked, "unsettled": _one_of(_questions(scene)), **scores}
    schema = _model("Ballot", fields | {"confidence": Annotated[int, Field(ge=50, le=95)]})

    def read(choice: Any) -> dict[str, Any]:
        return whole.read(whole.schema.model_validate(_written_out(choice, owners, scene.hearing)))

    return Asked(schema, read, whole.say)


def _written_out(choice: Any, owners: Mapping[str, str], hearing: Hearing) -> dict[str, Any]:
    """A picked ballot in the form of any other."""
    scores = {name: getattr(choice, name) for name in hearing.names.values()}
    quoted = {
        field: {"side": hearing.names[owners[getattr(choice, field)]], "quote": getattr(choice, field)}
        for field in ("strongest", "weakest")
    }
    winner = ballots.leader(scores) or ballots.NOBODY
    rest = {"unsettled": choice.unsettled, "confidence": choice.confidence}
    return {**quoted, **rest, "scores": scores, "winner": winner}


def _offered(scene: Scene, side: str) -> list[str]:
    """A few of a side's sentences to pick from; its stance where it said nothing to quote."""
    said = scene.sentences_of(side)[:OFFERED]
    return scene.shuffled(f"sentences of {side}", said or [scene.stances()[side]])


def _questions(scene: Scene) -> list[str]:
    """Questions that were asked; the motion, put as one, where there were none."""
    asked = [turn.text for turn in scene.hearing.transcript if turn.kind == "question" and turn.text]
    put = [text.rpartition("”. ")[2] for text in asked]
    return list(dict.fromkeys(put)) or ["Whether the motion holds."]


def _one_of(texts: Sequence[str]) -> Any:
    return Literal[tuple(texts)]


def _model(name: str, fields: Mapping[str, Any]) -> type[BaseModel]:
    given: dict[str, Any] = {field: (kind, ...) for field, kind in fields.items()}
    return create_model(name, **given)
