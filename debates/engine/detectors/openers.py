"""Phrases that a format bans at a sentence's start, and turns that open by summing up the other side."""

from __future__ import annotations

from collections.abc import Iterator

from .flags import Flag, Kind, flag
from .lexicon import Lexicon
from .reading import Reading


def openers(reading: Reading, words: Lexicon) -> Iterator[Flag]:
    for sentence in reading.sentences:
        if found := words.openers.match(reading.own, sentence.start, sentence.end):
            yield flag(Kind.BANNED_OPENER, reading.text, *found.span())


def summary(reading: Reading, words: Lexicon) -> Iterator[Flag]:
    """A first sentence that says what the other side argued, in the speaker's own words: with a quotation in it, or
    right behind it, it opens an attack instead."""
    if not reading.sentences:
        return
    first = reading.sentences[0]
    quoted = any(quotation.start <= first.end + 2 for quotation in reading.quotations)
    if not quoted and words.summaries.match(reading.own, first.start):
        yield flag(Kind.SUMMARY_OPENING, reading.text, first.start, first.end)
