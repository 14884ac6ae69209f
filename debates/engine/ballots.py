"""A ballot is one judgement: a score a side, the winner or none, and the words it turns on.

Two ballots see the same transcript with the sides swapped, each under fresh code-names, so that where a side is shown
can't decide. The rules by which ballots are read and added up stand here, and nowhere else:

Reconciliation  The scores decide. The side with the higher score is the ballot's winner, equal scores name none.
                A ballot that named another winner than its scores do is recorded as reconciled, with what it named.
Verdict         Every ballot must be readable, or the debate is unjudged: a missing ballot is never a tie.
                Ballots that name the same side make it the winner, on the mean of the scores. Ballots that disagree,
                or that find no difference, are "too close to call".
Confidence      How often a fresh judgement would name the same winner: Phi(|margin| / (sqrt 2 * SEM)), kept within
                50-95, where SEM = NOISE / sqrt(ballots). NOISE is the standard deviation of one ballot's margin; until
                a judge has been calibrated it is taken to be 8 points, the middle of the 4-12 that were simulated for
                the calibration's design. The confidence that a ballot claims is kept and shown as claimed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import sqrt
from statistics import NormalDist
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, create_model

from .quotes import Match, Quotation, resolve
from .types import Asked, Hearing, Turn, Verdict

NOISE = 8.0
NOBODY = "none"
# Neutral names of about one length; a ballot draws two, so that neither side is first, A, or pro.
CODE_NAMES = ("Alder", "Birch", "Cedar", "Hazel", "Larch", "Maple", "Rowan", "Sorel")

CONTRADICTED = "The judge contradicted itself when the sides were swapped."
NO_DIFFERENCE = "The judge found no difference between the sides."


def confidence(value: Any) -> Any:
    """One scale, 0-100. Reads 0.85, 85, "85 %", "0,85" and "7/10"; refuses 1 to 10 (out of ten, or of a hundred?),
    truth values and words."""
    if isinstance(value, bool):
        raise ValueError("confidence is a number from 50 to 100")
    if isinstance(value, str):
        value = _number(value)
    if isinstance(value, float | int) and 0 < value < 1:
        value = value * 100
    if isinstance(value, float | int) and 1 <= value <= 10:
        raise ValueError("confidence is ambiguous: give a whole number from 50 to 100")
    return round(value) if isinstance(value, float) else value


def _number(text: str) -> float:
    parts = re.fullmatch(r"\s*(\d{1,3}(?:[.,]\d{1,4})?)\s*(?:%|/\s*(10{1,2}))?\s*", text)
    if parts is None:
        raise ValueError("confidence is a number from 50 to 100")
    number = float(parts[1].replace(",", "."))
    return number * 100 / int(parts[2]) if parts[2] else number


Score = Annotated[int, Field(ge=0, le=100)]
Confidence = Annotated[int, Field(ge=50, le=100), BeforeValidator(confidence)]
Words = Annotated[str, Field(min_length=1, max_length=600)]


def ballot(hearing: Hearing) -> Asked:
    """What a judge must answer about the sides under their code-names."""
    names = list(hearing.names.values())
    side_of = {name: side for side, name in hearing.names.items()}
    side: Any = Literal[tuple(names)]
    winner: Any = Literal[(*names, NOBODY)]
    point = create_model("Point", side=(side, ...), quote=(Words, ...))
    scores = create_model("Scores", **{name: (Score, ...) for name in names})  # type: ignore[call-overload]
    schema = create_model(
        "Ballot",
        strongest=(point, ...),
        weakest=(point, ...),
        unsettled=(Words, ...),
        scores=(scores, ...),
        winner=(winner, ...),
        confidence=(Confidence, ...),
    )

    def read(answer: Any) -> dict[str, Any]:
        return _read(answer.model_dump(), side_of, hearing)

    return Asked(schema, read, say)


def _read(raw: dict[str, Any], side_of: Mapping[str, str], hearing: Hearing) -> dict[str, Any]:
    scores = {side_of[name]: score for name, score in raw["scores"].items()}
    named = side_of.get(raw["winner"])
    winner = leader(scores)
    data: dict[str, Any] = {
        "scores": scores,
        "winner": winner,
        "confidence": raw["confidence"],
        "strongest": _point(raw["strongest"], side_of, hearing),
        "weakest": _point(raw["weakest"], side_of, hearing),
        "unsettled": _plainly(raw["unsettled"], side_of),
        "shown": list(hearing.names),
        "raw": raw,
    }
    if named != winner:
        data["reconciled"] = {"from": named or NOBODY, "to": winner or NOBODY, "rule": "the scores decide"}
    return data


def leader(scores: Mapping[str, float]) -> str | None:
    """The side with the higher score; None where they are equal."""
    (side, best), (_, second) = sorted(scores.items(), key=lambda item: -item[1])[:2]
    return side if best > second else None


def _point(point: dict[str, str], side_of: Mapping[str, str], hearing: Hearing) -> dict[str, Any]:
    """A quoted argument, with the turn in which that very side said it; None where it never did."""
    side = side_of[point["side"]]
    said = [(turn.number, turn.text) for turn in hearing.transcript if turn.bench == side]
    quote = point["quote"].strip().strip("\"'“”„«»")
    found = resolve(Quotation(quote, 0, len(quote)), said)
    verbatim = found.match in (Match.EXACT, Match.FOLDED, Match.ELLIPSIS)
    return {"side": side, "quote": quote, "turn": found.turn if verbatim else None}


def _plainly(text: str, side_of: Mapping[str, str]) -> str:
    """The text with code-names put back to sides: readers never saw the code-names."""
    for name, side in side_of.items():
        text = re.sub(rf"\b{name}\b", f"the {side}", text)
    return text


def say(data: dict[str, Any]) -> str:
    """A ballot as one line of text."""
    scores = ", ".join(f"{side} {score}" for side, score in data["scores"].items())
    return f"{data['winner'] or 'Neither side'}: {scores}. Unsettled: {data['unsettled']}"


def verdict(ballots: Sequence[Turn]) -> Verdict:
    """Adds the ballots of one sitting up by the rules above."""
    numbers = tuple(turn.number for turn in ballots)
    missing = next((turn for turn in ballots if turn.data is None), None)
    if missing is not None:
        return Verdict("unjudged", reason=missing.failure, ballots=numbers)
    read = [turn.data for turn in ballots if turn.data is not None]
    scores = {side: sum(one["scores"][side] for one in read) / len(read) for side in read[0]["scores"]}
    winners = {one["winner"] for one in read}
    details = _details(ballots)
    winner = leader(scores) if len(winners) == 1 else None
    if winner is None:
        reason = NO_DIFFERENCE if winners == {None} else CONTRADICTED
        return Verdict("too_close", None, scores, 50, reason, numbers, details)
    return Verdict("winner", winner, scores, sure(scores, len(read)), "", numbers, details)


def sure(scores: Mapping[str, float], ballots: int) -> int:
    """Estimated per cent of fresh judgements that would name the same winner, 50-95."""
    best, second = sorted(scores.values(), reverse=True)[:2]
    sem = NOISE / sqrt(ballots)
    return min(95, max(50, round(100 * NormalDist().cdf((best - second) / (sqrt(2) * sem)))))


def _details(ballots: Sequence[Turn]) -> dict[str, Any]:
    read = [turn.data | {"number": turn.number} for turn in ballots if turn.data is not None]
    shown = ("number", "scores", "winner", "confidence", "shown", "reconciled", "strongest", "weakest")
    return {
        "claimed": [one["confidence"] for one in read],
        "strongest": read[0]["strongest"],
        "weakest": read[0]["weakest"],
        "unsettled": read[0]["unsettled"],
        "ballots": [{name: one.get(name) for name in shown} for one in read],
    }
