"""Debates out as documents and in again: an import is a finished debate that plays like any other, labelled."""

from __future__ import annotations

from django.db import DataError, IntegrityError, transaction
from pydantic import ValidationError

from accounts.models import User

from .engine.documents import SCHEMA, DebateDocument, SeatPart, TurnPart, VerdictPart, turn_part, unreached
from .engine.formats import all_formats
from .models import Debate, Seat, Sitting, Verdict, verdict_frame
from .recorder import restore

MEBIBYTE = 2**20
LARGEST = 2 * MEBIBYTE
TOO_LARGE = f"This file is too large: {LARGEST // MEBIBYTE} MB is the most."


class Unreadable(Exception):
    """A document that can't be imported; the message is for the person who brought it."""


def export(debate: Debate) -> DebateDocument:
    """The whole debate: every sealed turn, every version of the verdict."""
    sittings = list(debate.sittings.all())
    place = {sitting.pk: index for index, sitting in enumerate(sittings, start=1)}
    verdicts = [_verdict_part(verdict, place[verdict.sitting_id]) for verdict in debate.verdicts.all()]
    failure = sittings[-1].failure if sittings else ""
    return DebateDocument(
        schema=SCHEMA,
        format=debate.format,
        motion=debate.motion,
        rules=debate.rules,
        origin=debate.origin,  # type: ignore[arg-type]
        label=debate.label,
        created=debate.created.isoformat(),
        seats=[SeatPart.model_validate(seat) for seat in debate.seats.all()],
        turns=[turn_part(turn.as_engine(), place[turn.sitting_id]) for turn in debate.turns.all()],
        verdicts=verdicts,
        verdict=verdicts[-1] if verdicts else unreached(failure),
        failure=failure,
    )


def _verdict_part(verdict: Verdict, sitting: int) -> VerdictPart:
    return VerdictPart.model_validate(verdict_frame(verdict) | {"sitting": sitting})


def read(text: str | bytes) -> DebateDocument:
    """Reads a document. Raises `Unreadable` with one sentence."""
    if len(text) > LARGEST:
        raise Unreadable(TOO_LARGE)
    try:
        document = DebateDocument.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "the file"
        raise Unreadable(f"This is not a Crossbench debate: {where}: {first['msg']}.") from error
    _fit(document)
    return document


def _fit(document: DebateDocument) -> None:
    """Whether the format that the document names could have made it."""
    format_ = all_formats().get(document.format)
    if format_ is None:
        raise Unreadable(f"This site does not know the format {document.format}.")
    try:
        format_.rules(**document.rules)
    except (ValidationError, TypeError) as error:
        raise Unreadable("This is not a Crossbench debate: its rules are not those of its format.") from error
    if any(verdict.winner not in (None, *format_.sides) for verdict in document.verdicts):
        raise Unreadable("This is not a Crossbench debate: its winner is none of its sides.")


def store(document: DebateDocument, owner: User | None, origin: str, label: str, token: str = "") -> Debate:
    """Makes a finished debate of a document, under a label that says what it is. Raises `Unreadable`."""
    try:
        return _store(document, owner, origin, label, token)
    except (DataError, IntegrityError) as error:
        raise Unreadable("This file can't be stored: something in it is of no kind that a debate has.") from error


@transaction.atomic
def _store(document: DebateDocument, owner: User | None, origin: str, label: str, token: str = "") -> Debate:
    debate = Debate(owner=owner, format=document.format, motion=document.motion, rules=document.rules)
    debate.origin, debate.label = origin, label
    if token:
        debate.token = token
    debate.save()
    Seat.objects.bulk_create(Seat(debate=debate, **seat.model_dump()) for seat in document.seats)
    sittings = [_sitting(debate, document, place) for place in range(1, _sittings(document) + 1)]
    restore(sittings, document.turns, document.verdicts)
    return debate


def _sittings(document: DebateDocument) -> int:
    numbered: list[TurnPart | VerdictPart] = [*document.turns, *document.verdicts]
    return max((part.sitting for part in numbered), default=1)


def _sitting(debate: Debate, document: DebateDocument, place: int) -> Sitting:
    numbers = [turn.number for turn in document.turns if turn.sitting == place]
    judged = any(verdict.sitting == place for verdict in document.verdicts)
    return Sitting.objects.create(
        debate=debate,
        kind=Sitting.Kind.DEBATE if place == 1 else Sitting.Kind.JUDGEMENT,
        state=Sitting.State.DONE if judged else Sitting.State.STOPPED,
        first_number=min(numbers, default=1),
    )
