"""Where the words that a turn quotes stand in earlier turns. Offsets are code points of the original text.

exact      they stand there character by character
folded     they do but for what `folding` takes for the same
ellipsis   their fragments, parted by "…", stand in this order in one turn, not far from each other
altered    something like them stands there: a word was changed, dropped or added
absent     nothing like them does

A full stop or comma that only the quotation has at its end ("… the cost," you say) is no part of the words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

import regex
from rapidfuzz import fuzz

from .folding import Folded, fold, is_turkic
from .quotations import Quotation, find_quotes
from .speech import count_words

__all__ = ["Match", "Quotation", "Resolved", "check", "counts", "find_quotes", "resolve"]

LEAST_WORDS = 3  # a shorter quotation is a term or a name, and proves nothing either way
LEAST_FRAGMENT = 2  # words in each fragment around an ellipsis
GAP = 300  # characters that one ellipsis may leave out
ALIKE = 75.0  # per cent of the characters: from here words are altered, below they are absent
PROBE = 300  # characters of a long quotation that are compared for likeness

_EDGES = " \t\r\n\u00a0\u2009\u202f\u3000.…,;:!?。，、；：！？،؛؟۔।—–-"
_ELLIPSIS = regex.compile(r"[(\[]\s*(?:\.{3}|…)\s*[)\]]|\.{3,}|…+|(?:\. ){2,}\.")
_EDITED = regex.compile(r"\[(\p{L})\](?=\p{L})")  # [T]he
_NEGATION = regex.compile(
    r"\b(?:not?|never|none|nor|neither|without|hardly|cannot|\p{L}+n't|değil\p{L}*|hiç|asla|yok|nicht|kein\p{L}*|nie"
    r"|pas|jamais|sin|nunca|jamás|non|لا|ليس|ليست|لم|لن|غير)\b|[不没沒無无非]|ない|ません"
)


class Match(StrEnum):
    EXACT = "exact"
    FOLDED = "folded"
    ELLIPSIS = "ellipsis"
    ALTERED = "altered"
    ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class Resolved:
    """What became of a quotation. Unless it is absent, `turn` is the number of the turn, `start` and `end` the range
    there, `parts` the ranges of the fragments (one, but for an ellipsis). `likeness` is in per cent."""

    quotation: Quotation
    match: Match
    turn: int | None = None
    parts: tuple[tuple[int, int], ...] = ()
    likeness: float = 0.0

    @property
    def start(self) -> int | None:
        return self.parts[0][0] if self.parts else None

    @property
    def end(self) -> int | None:
        return self.parts[-1][1] if self.parts else None


Turns = Sequence[tuple[int, Folded]]


def check(text: str, earlier: Sequence[tuple[int, str]]) -> list[Resolved]:
    """Resolves every quotation of a turn that counts. `earlier` are the numbers and texts of the turns it may quote."""
    quotations = [quotation for quotation in find_quotes(text) if counts(quotation)]
    turkic = _is_turkic(text, earlier)
    turns = _fold(earlier, turkic) if quotations else []
    return [_resolve(quotation, turns, turkic) for quotation in quotations]


def counts(quotation: Quotation) -> bool:
    """Whether a quotation is long enough to be checked, and no part of another one."""
    return quotation.depth == 0 and count_words(quotation.text) >= LEAST_WORDS


def resolve(quotation: Quotation, earlier: Sequence[tuple[int, str]]) -> Resolved:
    """Finds one quotation in `earlier`, the latest turn first."""
    turkic = _is_turkic(quotation.text, earlier)
    return _resolve(quotation, _fold(earlier, turkic), turkic)


def _is_turkic(text: str, earlier: Sequence[tuple[int, str]]) -> bool:
    return is_turkic(text) or any(is_turkic(turn) for _, turn in earlier)


def _fold(earlier: Sequence[tuple[int, str]], turkic: bool) -> Turns:
    return [(number, fold(text, turkic)) for number, text in reversed(earlier)]


def _resolve(quotation: Quotation, turns: Turns, turkic: bool) -> Resolved:
    core = quotation.text.strip(_EDGES) or quotation.text
    words = _words(core, turkic)
    if not words:
        return Resolved(quotation, Match.ABSENT)
    return (
        _verbatim(quotation, core, words, turns)
        or _with_ellipsis(quotation, core, turns, turkic)
        or _altered(quotation, words, turns)
        or Resolved(quotation, Match.ABSENT)
    )


def _words(core: str, turkic: bool) -> str:
    return fold(_EDITED.sub(r"\1", core), turkic).text.strip(" ")


def _occurrences(turn: Folded, words: str, start: int = 0) -> Iterator[tuple[int, int]]:
    while (at := turn.text.find(words, start)) >= 0:
        if turn.whole(at, at + len(words)):
            yield at, at + len(words)
        start = at + 1


def _verbatim(quotation: Quotation, core: str, words: str, turns: Turns) -> Resolved | None:
    folded = None
    for number, turn in turns:
        for occurrence in _occurrences(turn, words):
            start, end = turn.range(*occurrence)
            if turn.original[start:end] == core:
                return Resolved(quotation, Match.EXACT, number, ((start, end),), 100.0)
            folded = folded or Resolved(quotation, Match.FOLDED, number, ((start, end),), 100.0)
    return folded


def _with_ellipsis(quotation: Quotation, core: str, turns: Turns, turkic: bool) -> Resolved | None:
    fragments = [fragment.strip(_EDGES) for fragment in _ELLIPSIS.split(core)]
    if len(fragments) < 2 or min(map(count_words, fragments)) < LEAST_FRAGMENT:
        return None
    words = [_words(fragment, turkic) for fragment in fragments]
    for number, turn in turns:
        for first in _occurrences(turn, words[0]):
            if parts := _go_on(turn, first, words[1:]):
                return Resolved(quotation, Match.ELLIPSIS, number, tuple(turn.range(*part) for part in parts), 100.0)
    return None


def _go_on(turn: Folded, first: tuple[int, int], words: list[str]) -> list[tuple[int, int]]:
    """The ranges of all fragments from `first` on, or none."""
    parts = [first]
    for fragment in words:
        end = parts[-1][1]
        following = next(_occurrences(turn, fragment, end), None)
        if following is None or not _honest(turn.text[end : following[0]]):
            return []
        parts.append(following)
    return parts


def _honest(left_out: str) -> bool:
    """An ellipsis mustn't leave out a whole page, nor just the word that turns the sense around."""
    return len(left_out) <= GAP and not (count_words(left_out) <= LEAST_FRAGMENT and _NEGATION.search(left_out))


def _altered(quotation: Quotation, words: str, turns: Turns) -> Resolved | None:
    best, likeness = None, ALIKE
    for number, turn in turns:
        score, start, end = _nearest(words[:PROBE], turn.text, likeness)
        if start < end and (score > likeness or best is None):
            best, likeness = (number, turn, turn.widened(start, end)), score
    if best is None:
        return None
    number, turn, (start, end) = best
    return Resolved(
        quotation, Match.ALTERED, number, (turn.range(start, end),), round(fuzz.ratio(words, turn.text[start:end]), 1)
    )


def _nearest(words: str, text: str, least: float) -> tuple[float, int, int]:
    """How like the likeliest part of `text` is, and where it stands."""
    if len(text) < len(words):
        score = fuzz.ratio(words, text, score_cutoff=least)
        return score, 0, len(text) if score else 0
    found = fuzz.partial_ratio_alignment(words, text, score_cutoff=least)
    return (found.score, found.dest_start, found.dest_end) if found else (0.0, 0, 0)
