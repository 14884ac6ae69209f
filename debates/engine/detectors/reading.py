"""A turn as the detectors read it: its sentences, and what of it the speaker says in its own words."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import regex

from ..folding import Folded, fold
from ..quotations import find_quotes
from ..sentences import DENSE

_END = regex.compile(
    r"(?P<mark>[.!?…؟۔।॥]++[\p{Pe}\p{Pi}\p{Pf}\"']*+(?:(?=\s)|\Z)|[。！？｡]++[\p{Pe}\p{Pf}\"']*+)\s*+|[\s--\n]*+\n\s*+",
    regex.VERSION1,
)
_LEAD = regex.compile(r"[\s\p{Ps}\p{Pi}\p{Pf}\p{Pd}\"'…]*+")
_WORD = regex.compile(rf"[{DENSE}]|[\p{{L}}\p{{N}}][^\s{DENSE}]*+")


@dataclass(frozen=True, slots=True)
class Span:
    start: int
    end: int


@dataclass(frozen=True)
class Reading:
    text: str

    @cached_property
    def quotations(self) -> list[Span]:
        return [Span(each.start, each.end) for each in find_quotes(self.text) if each.depth == 0]

    @cached_property
    def own(self) -> str:
        """The text with what is quoted blanked out; places stay the same."""
        parts, at = [], 0
        for quotation in self.quotations:
            parts += [self.text[at : quotation.start], " " * (quotation.end - quotation.start)]
            at = quotation.end
        return "".join(parts) + self.text[at:]

    @cached_property
    def sentences(self) -> list[Span]:
        """Where sentences stand, from their first letter to the mark that ends them; a line's end ends one too."""
        spans, at = [], 0
        for stop, following in [*map(_stop, _END.finditer(self.own)), (len(self.own), len(self.own))]:
            lead = _LEAD.match(self.own, at)
            start = lead.end() if lead else at
            if start < stop:
                spans.append(Span(start, stop))
            at = max(at, following)
        return spans

    @cached_property
    def _starts(self) -> list[int]:
        return [sentence.start for sentence in self.sentences]

    def sentence_at(self, at: int) -> Span:
        """The sentence around a place."""
        return self.sentences[max(bisect_right(self._starts, at) - 1, 0)] if self.sentences else Span(0, len(self.text))

    def quoted(self, at: int) -> bool:
        return self.own[at] != self.text[at]

    def words(self) -> int:
        return sum(1 for _ in _WORD.finditer(self.text))


@dataclass(frozen=True)
class Said:
    """Texts that somebody said, to look up words in."""

    texts: Sequence[str]

    @cached_property
    def _folded(self) -> list[Folded]:
        return [fold(text) for text in self.texts]

    @cached_property
    def _known(self) -> dict[str, bool]:
        return {}

    def have(self, words: str) -> bool:
        """Whether these words stand in one of the texts, as whole words, but for case, marks and spaces."""
        if words not in self._known:
            wanted = fold(words).text.strip()
            self._known[words] = bool(wanted) and any(_stands(wanted, text) for text in self._folded)
        return self._known[words]


def _stop(end: regex.Match[str]) -> tuple[int, int]:
    """Where a sentence stops, and where what follows starts."""
    return (end.end("mark") if end["mark"] else end.start()), end.end()


def _stands(wanted: str, said: Folded) -> bool:
    at = said.text.find(wanted)
    while at >= 0:
        if said.whole(at, at + len(wanted)):
            return True
        at = said.text.find(wanted, at + 1)
    return False
