"""What code can see in a turn without understanding it: each finding is a `Flag` with a place and a reader's sentence.

A false flag insults a speaker and its reader, so each detector would rather miss something than be wrong. They are
pure functions of the texts, and take linear time whatever is in them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..quotes import Resolved
from ..speech import placeholder
from .concession import agreement, concessions, thanks
from .flags import Flag, Kind, flag, retry
from .language import debate_language, drift, language_of
from .leaks import leaks
from .lexicon import Lexicon, lexicon
from .openers import openers, summary
from .quoting import failed, failed_quote, quotations
from .reading import Reading, Said
from .repetition import repeated
from .sources import Policy, named_sources

__all__ = [
    "Flag",
    "Kind",
    "Policy",
    "check",
    "debate_language",
    "drift_of",
    "failed_quote",
    "language_of",
    "quotations_of",
    "retry",
]

Earlier = Sequence[tuple[int, str]]  # numbers and texts of turns
FIRST = "opening"  # a kind of speech that has nobody to sum up


def check(
    text: str,
    *,
    kind_of_speech: str,
    own_earlier: Earlier = (),
    opponents_earlier: Earlier = (),
    motion: str = "",
    user_texts: Sequence[str] = (),
    sources: Policy = "banned",
    language: str | None = None,
    bench_said: Sequence[str] = (),
) -> tuple[Flag, ...]:
    """All that is to be said of a turn, in order of its places.

    The earlier turns are those of earlier rounds. `user_texts` are notes and files; like the motion they may be named
    and quoted. `bench_said` are the words of referee and judge, which may be quoted. `language` is the debate's.
    """
    if placeholder(text):
        return (flag(Kind.PLACEHOLDER, text),)
    reading, words = Reading(text), lexicon(language or language_of(text))
    users, opponents = Said([motion, *user_texts]), Said([turn for _, turn in opponents_earlier])
    found = [
        *_said(reading, kind_of_speech, words),
        *named_sources(reading, words, sources, users, opponents),
        *repeated(reading, own_earlier),
        *drift(reading, language),
        *leaks(reading),
        *failed(text, quotations_of(text, own_earlier, opponents_earlier, motion, user_texts, bench_said)),
    ]
    return tuple(sorted(found, key=lambda each: (each.start, each.end, each.kind)))


def drift_of(text: str, language: str | None) -> tuple[Flag, ...]:
    """Where a referee's or a judge's words leave the language of the debate."""
    return tuple(drift(Reading(text), language))


def quotations_of(
    text: str,
    own_earlier: Earlier,
    opponents_earlier: Earlier,
    motion: str = "",
    user_texts: Sequence[str] = (),
    bench_said: Sequence[str] = (),
) -> list[Resolved]:
    """What became of each quotation of the other side, as `check` sees it. What the motion, the users, the bench or
    the speaker itself said may be quoted too, and doesn't count."""
    others = Said([motion, *user_texts, *bench_said, *(turn for _, turn in own_earlier)])
    return quotations(text, opponents_earlier, others)


def _said(reading: Reading, kind_of_speech: str, words: Lexicon) -> Iterator[Flag]:
    yield from openers(reading, words)
    if kind_of_speech != FIRST:
        yield from summary(reading, words)
    yield from agreement(reading, words)
    yield from thanks(reading, words)
    yield from concessions(reading, words)
