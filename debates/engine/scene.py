"""What a preset's speech is made from: the case, the transcript of earlier rounds, and what can be quoted of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TypeVar

from .fence import without
from .stance import stance
from .types import Case, Hearing, Speech, Turn

T = TypeVar("T")

SHORTEST, LONGEST = 4, 24  # words of a sentence that is worth quoting
MARKS = re.compile(r"[\"“”„‟«»‹›「」『』<>{}\[\]|*_#`\\]")  # a sentence with one of these can't stand in a quote


@dataclass(frozen=True, slots=True)
class Scene:
    """One speech about to be made. Nothing here depends on other speeches of its round."""

    case: Case
    speech: Speech
    number: int
    instruction: str
    hearing: Hearing

    @property
    def sides(self) -> tuple[str, ...]:
        return self.case.format.sides

    @property
    def opponent(self) -> str:
        return next(side for side in self.sides if side != self.speech.bench)

    @property
    def stance(self) -> str:
        return self.stances()[self.speech.bench]

    def stances(self) -> dict[str, str]:
        """Each side's stance; the first side is the one that is for the motion."""
        motion = without(self.case.motion, self.case.delimiter)
        return {side: stance(motion, opposed=place > 0) for place, side in enumerate(self.sides)}

    def turns_of(self, bench: str) -> list[Turn]:
        return [turn for turn in self.hearing.transcript if turn.bench == bench and turn.text]

    def said(self) -> str:
        """What the sides said and what the bench asked, a line each, as one text that only grows; "" at the start."""
        shown = [turn for turn in self.hearing.transcript if turn.text and (turn.bench in self.sides or _asked(turn))]
        return "\n".join(f"{turn.bench.capitalize()}: {' '.join(turn.text.split())}" for turn in shown)

    def heard(self) -> dict[str, str]:
        """What a ballot weighs: each side's first and last speech; its stance where it made none."""
        spoken = {side: [turn.text for turn in self.turns_of(side)] for side in self.sides}
        ends = {side: list(dict.fromkeys(texts[:1] + texts[-1:])) for side, texts in spoken.items()}
        return {side: "\n".join(texts) or self.stances()[side] for side, texts in ends.items()}

    def sentences_of(self, side: str) -> list[str]:
        """What a side said that can be quoted, letter for letter. What comes first in a speech, where a small model is
        still on its side, comes first here."""
        texts = [without(turn.text, self.case.delimiter) for turn in self.turns_of(side)]
        found = [sentences(text) for text in texts]
        first, then = [some[:1] for some in found], [some[1:] for some in found]
        return list(dict.fromkeys(chain(*first, *then)))

    def quotable(self) -> list[str]:
        """The opponent's sentences that this speech may attack: the one that the instruction names, else the first two
        that the speaker hasn't quoted yet."""
        offered = self.sentences_of(self.opponent)
        quoted = "\n".join(turn.text for turn in self.turns_of(self.speech.bench))
        named = [sentence for sentence in offered if sentence in self.instruction]
        fresh = [sentence for sentence in offered if f"“{sentence}”" not in quoted]
        return named or fresh[:2] or offered

    def dealt(self, purpose: str, decks: Mapping[str, Sequence[T]], kinds: Iterable[str]) -> T:
        """The speaker's next card: none comes twice before all of its deck have come. `kinds` are the speeches that
        take one of these cards."""
        deck = self.shuffled(f"{purpose} of {self.speech.bench}", decks[self.speech.bench])
        taken = sum(turn.kind in kinds for turn in self.turns_of(self.speech.bench))
        return deck[taken % len(deck)]

    def shuffled(self, purpose: str, things: Sequence[T]) -> list[T]:
        """In an order drawn from the sitting's seed. At most 32 are told apart by it; the rest follow as they are."""
        drawn = self.case.draw(purpose)
        order = sorted(range(min(len(things), len(drawn))), key=lambda place: drawn[place])
        return [things[place] for place in order] + list(things[len(drawn) :])


def _asked(turn: Turn) -> bool:
    return turn.kind == "bench_question" and bool(turn.data)


def sentences(text: str) -> list[str]:
    """The statements in a text that can be quoted: letter for letter, without their end mark, and of those that give a
    reason only the reason, which leaves a repeated stance out. No questions."""
    found = re.finditer(r"([^.!?…。！？\n\r]+)([.!?…。！？]|[\n\r]|$)", text)
    plain = [match[1].strip() for match in found if match[2] not in ("?", "？")]
    return [one for one in map(_reason, plain) if one and not MARKS.search(one)]


def _reason(sentence: str) -> str:
    """What follows a "because", or else the sentence; "" where that is too short or too long to quote."""
    for one in (sentence.partition(" because ")[2], sentence):
        if SHORTEST <= len(one.split()) <= LONGEST:
            return one
    return ""
