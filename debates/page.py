"""What the debate's page shows, out of its rows. Everything is loaded here, in a fixed number of queries: templates
run none."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from . import seating, words
from .card import card, finding
from .engine.formats import find_format
from .models import MOST_VERDICTS, Debate, Fragment, Sitting, Turn, as_frame, verdict_frame
from .snapshots import LOST, OPEN, current, fragment_frame, state_frame, superseded


@dataclass
class Round:
    """A round with its turns in display order; `key` names it on the page."""

    key: str
    name: str
    turns: list[dict[str, Any]] = field(default_factory=list)
    excluded: bool = False


def load(debate: Debate, autoplay: bool = False) -> dict[str, Any]:
    """The context of the page, whoever looks at it. With `autoplay` a finished debate plays as soon as it is seen."""
    format = find_format(debate.format)
    sides = format.sides
    sittings = list(debate.sittings.all())
    sealed = list(debate.turns.all())
    fragments = list(Fragment.objects.filter(sitting__debate=debate))
    verdicts = [verdict_frame(verdict) for verdict in debate.verdicts.all()]
    seats = list(debate.seats.all())
    passed = superseded(sittings)
    turns = [as_shown(as_frame(turn, turn.sitting_id in passed), sides) for turn in sealed]
    under_way = {sitting.pk for sitting in sittings if sitting.state in OPEN}
    turns += [
        as_broken_off(fragment, fragment.sitting_id in passed, fragment.sitting_id not in under_way, sides)
        for fragment in fragments
    ]
    turns = sorted((turn for turn in turns if turn["kind"] not in words.UNSPOKEN), key=lambda turn: turn["number"])
    numbers = {turn["number"] for turn in turns if turn["sealed"]}
    state = state_frame(current(sittings), sittings)
    return {
        "debate": debate,
        "format": format.name,
        "direction": direction(debate.motion),
        "rounds": in_rounds(turns),
        "cards": [card(verdict, sides, numbers) for verdict in reversed(verdicts)],
        "state": state,
        "sentence": state["sentence"] or words.STATES[state["state"]],
        "open": state["state"] in OPEN,
        "broken_off": state["state"] in LOST and debate.is_live,
        "may_be_judged": 0 < len(verdicts) < MOST_VERDICTS and debate.is_live and state["state"] not in OPEN,
        "took": took(sittings),
        "reads": seating.who_reads(seats) if debate.is_live else "",
        "local": debate.is_live and all(seat.preset == "local" for seat in seats),
        "models": sorted({seat.model for seat in seats}),
        "data": for_script(debate, sides, state, sealed, fragments, passed) | {"autoplay": autoplay},
    }


def row(debate: Debate) -> dict[str, Any]:
    """A debate in a list; its sittings and verdicts are loaded already."""
    verdict = next(reversed([verdict_frame(verdict) for verdict in debate.verdicts.all()]), None)
    now = current(list(debate.sittings.all()))
    state = now.state if now else Sitting.State.QUEUED
    return {
        "debate": debate,
        "state": state,
        "card": card(verdict, find_format(debate.format).sides, ()) if verdict else None,
        "briefly": words.BRIEFLY[state],
    }


def direction(text: str) -> str:
    """Which way a text runs, by its first letter that has a direction."""
    strong = (unicodedata.bidirectional(character) for character in text)
    first = next((kind for kind in strong if kind in ("L", "R", "AL")), "L")
    return "ltr" if first == "L" else "rtl"


def as_shown(frame: dict[str, Any], sides: tuple[str, ...]) -> dict[str, Any]:
    """A turn's frame with what its template needs besides."""
    bench = frame["bench"]
    return frame | {
        "sealed": True,
        "note": "",
        "finding": finding(frame),
        "side": sides.index(bench) + 1 if bench in sides else 0,
        "label": words.bench(bench),
        "kind_label": words.kind(frame["kind"]),
    }


def as_broken_off(fragment: Fragment, excluded: bool, over: bool, sides: tuple[str, ...]) -> dict[str, Any]:
    """What was said of a turn that is being spoken, or, once its sitting is over, of one that was broken off."""
    told = fragment_frame(fragment) | {
        "sitting": fragment.sitting_id,
        "data": None,
        "failure": "",
        "excluded": excluded,
    }
    note = f"{words.LIVE['unsealed']} {fragment.reason}".strip() if over or fragment.reason else ""
    return as_shown(told, sides) | {"sealed": False, "note": note}


def in_rounds(turns: list[dict[str, Any]]) -> list[Round]:
    rounds: dict[str, Round] = {}
    for turn in turns:
        key = f"{turn['sitting']}-{turn['round']}"
        rounds.setdefault(key, Round(key, turn["round_name"], excluded=turn["excluded"])).turns.append(turn)
    return list(rounds.values())


def took(sittings: list[Sitting]) -> str:
    """How long the debate itself took, once it is over."""
    first = sittings[0]
    return duration(first.ended - first.started) if first.started and first.ended else ""


def duration(span: timedelta) -> str:
    minutes, seconds = divmod(max(0, round(span.total_seconds())), 60)
    return f"{minutes} min {seconds} s" if minutes else f"{seconds} s"


def for_script(
    debate: Debate,
    sides: tuple[str, ...],
    state: dict[str, Any],
    sealed: list[Turn],
    fragments: list[Fragment],
    passed: set[int],
) -> dict[str, Any]:
    """What the page's script starts from: all that the page shows but the texts, which it reads there."""
    turns = [without_text(as_frame(turn, False)) for turn in sealed if turn.sitting_id not in passed]
    unsealed = [without_text(fragment_frame(one)) for one in fragments if one.sitting_id not in passed]
    return {
        "token": debate.token,
        "state": state,
        "turns": turns,
        "open": unsealed,
        "sides": sides,
        "unspoken": words.UNSPOKEN,
        "structured": words.STRUCTURED,
        "words": words.for_script(),
    }


def without_text(frame: dict[str, Any]) -> dict[str, Any]:
    """A ballot's content stands in the verdict card, and nowhere else on the page."""
    return frame | {"text": ""} | ({"data": None} if frame["kind"] in words.UNSPOKEN else {})
