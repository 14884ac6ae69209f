"""What belongs to the model or its instructions: template tokens, fences, tool calls, "As an AI language model"."""

from __future__ import annotations

from collections.abc import Iterator

from .flags import Flag, Kind, flag
from .lexicon import universal
from .reading import Reading


def leaks(reading: Reading) -> Iterator[Flag]:
    known = universal()
    for found in known.leaks.finditer(reading.text):
        yield flag(Kind.PROMPT_LEAK, reading.text, *found.span())
    for sentence in reading.sentences:
        if confessed := known.confessions.match(reading.own, sentence.start):
            yield flag(Kind.PROMPT_LEAK, reading.text, *confessed.span())
