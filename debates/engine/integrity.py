"""A whole transcript checked again, turn by turn, against nothing but what had been said before each turn.

earlier   the turns of rounds that ended before; nobody hears the others of its own round
public    a speech; rulings, bench questions and ballots are checked for their language only
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from .detectors import Flag, Policy, check, debate_language, drift_of, failed_quote, quotations_of
from .types import Turn

SOURCES: Mapping[str, Policy] = {"clash": "banned", "panel": "unverified", "review": "allowed"}  # by format

Found = list[tuple[int, tuple[Flag, ...]]]
Pairs = list[tuple[int, str]]


@dataclass(frozen=True, slots=True)
class Heard:
    """A turn, and what had been said when it was spoken."""

    turn: Turn
    own: Pairs
    opponents: Pairs
    bench: list[str]


def inspect(turns: Sequence[Turn], motion: str, policy: Policy, user_texts: Sequence[str] = ()) -> Found:
    """The flags of each turn that has any, by its number."""
    language = debate_language(motion, (turn.text for turn in turns if is_speech(turn)))
    found = ((heard.turn.number, _flags(heard, motion, policy, user_texts, language)) for heard in _heard(turns))
    return [(number, flags) for number, flags in found if flags]


def fidelity(turns: Sequence[Turn], motion: str, user_texts: Sequence[str] = ()) -> dict[str, dict[str, int]]:
    """For each bench that speaks: how many quotations of the other side it made, how many stand there (`exact`, up to
    marks, case and spaces, or with an honest ellipsis), and how many don't (`failed`)."""
    counted = {turn.bench: {"quotes": 0, "exact": 0, "failed": 0} for turn in turns if is_speech(turn)}
    for heard in _heard(turns):
        if is_speech(heard.turn):
            count = counted[heard.turn.bench]
            for quote in quotations_of(heard.turn.text, heard.own, heard.opponents, motion, user_texts, heard.bench):
                count["quotes"] += 1
                count["failed" if failed_quote(quote) else "exact"] += 1
    return counted


def is_speech(turn: Turn) -> bool:
    """Whether a turn was spoken freely. A structured one has data, or says why it has none."""
    return turn.data is None and not turn.failure and bool(turn.text)


def _flags(
    heard: Heard, motion: str, policy: Policy, user_texts: Sequence[str], language: str | None
) -> tuple[Flag, ...]:
    turn = heard.turn
    if not is_speech(turn):
        return drift_of(turn.text, language) if turn.kind in ("ruling", "bench_question") else ()
    return check(
        turn.text,
        kind_of_speech=turn.kind,
        own_earlier=heard.own,
        opponents_earlier=heard.opponents,
        motion=motion,
        user_texts=user_texts,
        sources=policy,
        language=language,
        bench_said=heard.bench,
    )


def _heard(turns: Sequence[Turn]) -> Iterator[Heard]:
    earlier: list[Turn] = []
    for _, group in groupby(turns, key=lambda turn: (turn.round, turn.round_name)):
        together = list(group)
        for turn in together:
            yield Heard(
                turn,
                own=_pairs(each for each in earlier if is_speech(each) and each.bench == turn.bench),
                opponents=_pairs(each for each in earlier if is_speech(each) and each.bench != turn.bench),
                bench=[each.text for each in earlier if not is_speech(each)],
            )
        earlier += together


def _pairs(turns: Iterable[Turn]) -> Pairs:
    return [(turn.number, turn.text) for turn in turns]
