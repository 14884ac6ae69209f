"""Sources that a turn names: studies, authors, institutions, identifiers, addresses, statistics that somebody found.

What the users wrote is theirs to name, and so is what the other side named first: attacking it is no citation.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import regex

from .flags import Flag, Kind, flag
from .lexicon import Lexicon, universal
from .reading import Reading, Said

Policy = Literal["banned", "unverified", "allowed"]

MOST = 50  # sources flagged in one turn
BEFORE = 200  # characters in which a sentence may take back what it goes on to say

_KINDS = {"banned": Kind.NAMED_SOURCE, "unverified": Kind.UNVERIFIED_SOURCE}
_LETTERS = regex.compile(r"[\p{L}'’-]+")


def named_sources(reading: Reading, words: Lexicon, policy: Policy, users: Said, opponents: Said) -> Iterator[Flag]:
    if policy == "allowed":
        return
    end = count = 0
    for start, stop in sorted([*_named(reading, words, users, opponents), *_vague(reading, words, users)]):
        if start >= end and count < MOST:
            yield flag(_KINDS[policy], reading.text, start, stop)
            end, count = stop, count + 1


def _named(reading: Reading, words: Lexicon, users: Said, opponents: Said) -> Iterator[tuple[int, int]]:
    known = universal()
    bracketed = known.bracketed if words.brackets else known.bracketed_several
    for pattern in (*known.named, *bracketed, *words.named):
        for found in pattern.finditer(reading.text):
            who = found["who"].rstrip(".,;:!?")
            if known.no_authors.isdisjoint(_LETTERS.findall(who)) and not (users.have(who) or opponents.have(who)):
                yield found.span()


def _vague(reading: Reading, words: Lexicon, users: Said) -> Iterator[tuple[int, int]]:
    for pattern in words.vague:
        for found in pattern.finditer(reading.text):
            at = found.start()
            if not (reading.quoted(at) or users.have(found.group()) or _unclaimed(reading, words, at)):
                yield found.span()


def _unclaimed(reading: Reading, words: Lexicon, at: int) -> bool:
    """Whether the words before say that there is no such source, ask for one or make one up on purpose."""
    sentence = reading.sentence_at(at)
    asked = reading.text.endswith(("?", "؟", "？"), sentence.start, sentence.end)
    return asked or words.unclaimed.search(reading.text, max(sentence.start, at - BEFORE), at) is not None
