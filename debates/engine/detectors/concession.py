"""Turns that give in, give thanks, or grant a point: the first two end a clash, the last is to a speaker's credit."""

from __future__ import annotations

from collections.abc import Iterator

from .flags import Flag, Kind, flag
from .lexicon import Lexicon
from .reading import Reading


def agreement(reading: Reading, words: Lexicon) -> Iterator[Flag]:
    """One flag at most: a sentence that agrees with all of it, in a turn that holds nothing against it."""
    if words.adversative.search(reading.own):
        return
    for sentence in reading.sentences:
        if words.agreement.match(reading.own, sentence.start):
            yield flag(Kind.AGREEMENT, reading.text, sentence.start, sentence.end)
            return


def thanks(reading: Reading, words: Lexicon) -> Iterator[Flag]:
    """Thanks and praise, where a turn opens or closes."""
    for sentence in dict.fromkeys([*reading.sentences[:1], *reading.sentences[-1:]]):
        if words.thanks.match(reading.own, sentence.start):
            yield flag(Kind.THANKS, reading.text, sentence.start, sentence.end)


def concessions(reading: Reading, words: Lexicon) -> Iterator[Flag]:
    end = 0
    for found in words.concession.finditer(reading.own):
        sentence = reading.sentence_at(found.start())
        if found.start() >= end:
            end = max(found.end(), sentence.end)
            yield flag(Kind.CONCESSION, reading.text, min(found.start(), sentence.start), end)
