"""Turns that say again what the same speaker said, and turns that go round in circles."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterator, Sequence

from rapidfuzz import fuzz

from .flags import Flag, Kind, flag
from .reading import Reading, Span

ALIKE = 95.0  # per cent of the characters
LEAST_WORDS = 8  # a shorter turn may well come twice ("No, I don't.")
LONGEST = 20_000  # characters that are compared
LEAST_SENTENCE = 5  # words: a shorter sentence said again is a figure of speech
OFTEN = 3
LOOP_FROM = 300  # characters
LOOP = 0.14  # a loop shrinks to less than this part of itself; prose and lists stay above 0.3


def repeated(reading: Reading, own_earlier: Sequence[tuple[int, str]]) -> Iterator[Flag]:
    """One flag at most. `data` tells the turn it is like, or how often a sentence came."""
    if reading.words() >= LEAST_WORDS and (like := _like(reading.text, own_earlier)):
        yield flag(Kind.REPEATED, reading.text, turn=like[0], likeness=like[1])
    elif often := _again_and_again(reading):
        sentence, times = often
        yield flag(Kind.REPEATED, reading.text, sentence.start, sentence.end, times=times)
    elif _loops(reading.text):
        yield flag(Kind.REPEATED, reading.text)


def _like(text: str, earlier: Sequence[tuple[int, str]]) -> tuple[int, float] | None:
    flat = _flat(text)
    for number, said in reversed(earlier):
        if likeness := fuzz.ratio(flat, _flat(said), score_cutoff=ALIKE):
            return number, round(likeness, 1)
    return None


def _flat(text: str) -> str:
    return " ".join(text[:LONGEST].casefold().split())


def _again_and_again(reading: Reading) -> tuple[Span, int] | None:
    """The last place of a sentence that came too often, and how often it did."""
    said = {span: _flat(reading.text[span.start : span.end]) for span in reading.sentences}
    counted = Counter(words for words in said.values() if _long(words))
    for words, times in counted.most_common(1):
        if times > OFTEN or (times == OFTEN and times * len(words) * 2 > len(reading.text)):
            return max((span for span, each in said.items() if each == words), key=lambda span: span.start), times
    return None


def _long(words: str) -> bool:
    return Reading(words).words() >= LEAST_SENTENCE


def _loops(text: str) -> bool:
    whole = text[:LONGEST].encode(errors="replace")
    return len(text) >= LOOP_FROM and len(zlib.compress(whole)) < LOOP * len(whole)
