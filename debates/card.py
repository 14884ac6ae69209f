"""A verdict as the page's card shows it. `static/js/debate/card.js` makes the same of a verdict that arrives live;
tests/browser holds the two together. Any field of a verdict's details may be missing."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from . import words

SAY, LIVE = words.VERDICT, words.LIVE
MIDDLE = 100  # where the two score bars meet, in the drawing's units


def card(verdict: dict[str, Any], sides: Sequence[str], linkable: Collection[int]) -> dict[str, Any]:
    """Words and numbers for a verdict frame (docs/live.md); `linkable` are the turns that the page shows."""
    details = verdict["details"] or {}
    return {
        "version": verdict["version"],
        "outcome": verdict["outcome"],
        "winner": verdict["winner"] or "",
        "heading": SAY["heading"] if verdict["version"] == 1 else SAY["version"].format(n=verdict["version"]),
        "headline": headline(verdict),
        "reason": verdict["reason"],
        "bars": bars(verdict["scores"] or {}, sides),
        "sure": sure(verdict),
        "claimed": claimed(details.get("claimed") or []),
        "strongest": point(details.get("strongest"), linkable),
        "weakest": point(details.get("weakest"), linkable),
        "unsettled": details.get("unsettled") or "",
        "ballots": [ballot(one, sides, linkable) for one in details.get("ballots") or []],
        "judged_by": judged_by(details.get("judges") or []),
        "small": SAY["small"] if details.get("small_judge") else "",
    }


def headline(verdict: dict[str, Any]) -> str:
    if verdict["outcome"] != "winner":
        return SAY[verdict["outcome"]]
    side, confidence = words.bench(verdict["winner"]), verdict["confidence"]
    if confidence is None:
        return SAY["winner_bare"].format(side=side)
    return SAY["winner"].format(side=side, how=SAY[in_word(confidence)])


def in_word(confidence: float) -> str:
    if confidence < 65:
        return "leaning"
    return "clear" if confidence < 80 else "strong"


def sure(verdict: dict[str, Any]) -> str:
    if verdict["outcome"] != "winner" or verdict["confidence"] is None:
        return ""
    return SAY["sure"].format(n=int(verdict["confidence"] / 10 + 0.5))


def claimed(numbers: list[int]) -> str:
    return SAY["claimed"].format(numbers=", ".join(map(str, numbers))) if numbers else ""


def judged_by(models: list[str]) -> str:
    return SAY["judged_by"].format(models=", ".join(models)) if models else ""


def bars(scores: dict[str, float], sides: Sequence[str]) -> list[dict[str, Any]]:
    """Two bars that grow from the middle; none unless both sides have a score."""
    if len(sides) != 2 or not all(side in scores for side in sides):
        return []
    lengths = [min(MIDDLE, max(0, scores[side])) for side in sides]
    starts = [MIDDLE - lengths[0], MIDDLE]
    return [
        {
            "bench": side,
            "label": words.bench(side),
            "score": number(scores[side]),
            "x": number(x),
            "width": number(width),
        }
        for side, x, width in zip(sides, starts, lengths, strict=True)
    ]


def number(value: float) -> str:
    """At most one decimal, and none where it is .0."""
    return f"{int(value * 10 + 0.5) / 10:g}"


def point(told: dict[str, Any] | None, linkable: Collection[int]) -> dict[str, str] | None:
    """A quoted argument, with a link to its turn where that is known and on the page."""
    if not told or not told.get("quote"):
        return None
    turn, side = told.get("turn"), told.get("side") or ""
    return {
        "bench": side,
        "label": words.bench(side) if side else "",
        "quote": told["quote"],
        "href": f"#turn-{turn}" if turn in linkable else "",
    }


def ballot(told: dict[str, Any], sides: Sequence[str], linkable: Collection[int]) -> dict[str, Any]:
    """One judgement in a few sentences."""
    given = told.get("scores") or {}
    scores = ", ".join(f"{words.bench(side)} {number(given[side])}" for side in sides if side in given)
    sentences = [f"{scores}." if scores else "", named(told), reconciled(told.get("reconciled"))]
    if shown := told.get("shown"):
        sentences.append(SAY["read_first"].format(side=words.bench(shown[0]).lower()))
    return {
        "title": SAY["ballot"].format(n=told.get("number", "")).strip(),
        "line": " ".join(filter(None, sentences)),
        "strongest": point(told.get("strongest"), linkable),
        "weakest": point(told.get("weakest"), linkable),
    }


def named(told: dict[str, Any]) -> str:
    if told.get("confidence") is None:
        return ""
    if not told.get("winner"):
        return SAY["named_none"].format(n=told["confidence"])
    return SAY["named"].format(side=words.bench(told["winner"]).lower(), n=told["confidence"])


def reconciled(note: dict[str, str] | None) -> str:
    if not note:
        return ""
    if note["from"] == "none":
        return SAY["reconciled_none"]
    return SAY["reconciled"].format(side=words.bench(note["from"]).lower())


def finding(turn: dict[str, Any]) -> dict[str, str] | None:
    """What a referee or a judge said in a structured turn; None for a speech."""
    data = turn["data"] or {}
    if turn["failure"]:
        return {"lead": "", "words": turn["failure"], "aside": ""}
    if turn["kind"] == "ruling" and data:
        lead = LIVE["live"] if data.get("live") else LIVE["settled"]
        return {"lead": lead, "words": data.get("tension") or "", "aside": data.get("note") or ""}
    if turn["kind"] == "bench_question" and data:
        return {"lead": addressed(data.get("to") or "none"), "words": data.get("question") or "", "aside": ""}
    return None


def addressed(to: str) -> str:
    if to in ("both", "none"):
        return LIVE[f"to_{to}"]
    return LIVE["to"].format(bench=words.bench(to).lower())
