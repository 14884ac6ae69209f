"""Two texts that a reader takes for the same become equal, and every character still knows where it came from.

Folded away: case, width and other compatibility forms, the kind of quote mark and of dash, the kind and number of
spaces (line breaks too, and all around a dash), soft hyphens, zero-width and direction marks, tatweel. No word is: a
dropped or added "not" stays a difference. In Turkish ı and i are different letters: `turkic` pairs I with ı.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field

import regex

from .sentences import DENSE

QUOTES = "\"'`´‘’‚‛“”„‟‹›«»「」『』｢｣﹁﹂﹃﹄〝〞〟＂＇❛❜❝❞′″ʼ"
_GONE = r"\u00ad\u034f\u061c\u0640\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
_DASH = r"\-\u2010-\u2015\u2212\u2e3a\u2e3b\ufe58\ufe63\uff0d"
_JOINING = r"\p{M}\u1100-\u11ff\uff9e\uff9f"  # what may become one character with the one before it
_PLAIN = rf"[[\p{{L}}\p{{M}}\p{{N}}\p{{Po}}\p{{Ps}}\p{{Pe}}\p{{Pc}}\p{{Sm}}\p{{Sc}}]--[{QUOTES}{_DASH}{_GONE}]]"
_PIECE = regex.compile(
    rf"(?P<plain>(?:{_PLAIN}|(?<={_PLAIN})[ ](?={_PLAIN}))++)"
    rf"|[\s{_GONE}]*+(?P<dash>[{_DASH}](?:[\s{_GONE}{_DASH}]*[{_DASH}])?)[\s{_GONE}]*+"
    rf"|(?P<space>[{_GONE}]*+\s[\s{_GONE}]*+)"
    rf"|(?P<gone>[{_GONE}]++)"
    rf"|(?P<quote>[{QUOTES}])"
    r"|(?P<other>.)",
    regex.VERSION1 | regex.DOTALL,
)
_CLUSTER = regex.compile(rf".[{_JOINING}]*+", regex.DOTALL)
_WORD = regex.compile(rf"[[\p{{L}}\p{{M}}\p{{N}}_]--[{DENSE}]]", regex.VERSION1)
_MARK = regex.compile(r"\p{M}")
_HYPHENS = frozenset("-\u2010\u2011")
_TURKIC = regex.compile("[ıİğĞ]")


def is_turkic(text: str) -> bool:
    """Whether a text has letters that only Turkish and its kin use."""
    return _TURKIC.search(text) is not None


@dataclass(slots=True)
class Folded:
    """A folded text. Its character n came from `original[starts[n]:ends[n]]` (offsets in code points)."""

    original: str
    text: str = ""
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)

    def range(self, start: int, end: int) -> tuple[int, int]:
        """The range of the original behind characters `start` to `end`, which mustn't be empty."""
        return self.starts[start], self.ends[end - 1]

    def whole(self, start: int, end: int) -> bool:
        """Whether this range begins and ends between words: "we can" is no part of "we can't", nor "fair" of
        "unfair" or "un-fair", nor 3 of 3.5. Nor may it begin or end inside what was one character."""
        return self._between(start) and self._between(end)

    def widened(self, start: int, end: int) -> tuple[int, int]:
        """This range with the whole of the words it begins and ends in, and without spaces around them."""
        while not self._between(start):
            start -= 1
        while not self._between(end):
            end += 1
        words = self.text[start:end]
        return start + len(words) - len(words.lstrip()), end - len(words) + len(words.rstrip())

    def _between(self, at: int) -> bool:
        if not 0 < at < len(self.text):
            return True
        if self.starts[at] < self.ends[at - 1] or _MARK.match(self.text, at):
            return False
        if self._in_word(at - 1) and self._in_word(at):
            return False
        return not (self._connects(at - 1) or self._connects(at))

    def _in_word(self, at: int) -> bool:
        return _WORD.match(self.text, at) is not None

    def _connects(self, at: int) -> bool:
        """Whether an apostrophe, a hyphen or a decimal mark stands inside a word or a number here."""
        if not 0 < at < len(self.text) - 1 or not (self._in_word(at - 1) and self._in_word(at + 1)):
            return False
        char, before, after = self.text[at], self.text[at - 1], self.text[at + 1]
        if char in ".,":
            return before.isdigit() and after.isdigit()
        tight = self.starts[at] == self.ends[at - 1] and self.starts[at + 1] == self.ends[at]
        return char == "'" or (char == "-" and tight and self.original[self.starts[at]] in _HYPHENS)

    def _add(self, text: str, start: int, end: int) -> str:
        self.starts += [start] * len(text)
        self.ends += [end] * len(text)
        return text


def fold(text: str, turkic: bool = False) -> Folded:
    folded = Folded(text)
    folded.text = "".join(_fold_piece(folded, piece, turkic) for piece in _PIECE.finditer(text))
    return folded


def _fold_piece(folded: Folded, piece: regex.Match[str], turkic: bool) -> str:
    match piece.lastgroup:
        case "plain":
            return _fold_plain(folded, piece.group(), piece.start(), turkic)
        case "dash":
            return folded._add("-", *piece.span("dash"))
        case "space":
            return folded._add(" ", *piece.span())
        case "quote":
            return folded._add("'", *piece.span())
        case "other":
            return folded._add(_fold_letters(piece.group(), turkic), *piece.span())
    return ""


def _fold_plain(folded: Folded, plain: str, start: int, turkic: bool) -> str:
    """Where each character becomes one, they are counted at once; else, cluster by cluster."""
    text = _fold_letters(plain, turkic)
    if len(text) == len(plain) and unicodedata.is_normalized("NFKC", plain) and "i\u0307" not in plain:
        folded.starts += range(start, start + len(plain))
        folded.ends += range(start + 1, start + len(plain) + 1)
        return text
    clusters = _CLUSTER.finditer(plain)
    return "".join(
        folded._add(_fold_letters(cluster.group(), turkic), start + cluster.start(), start + cluster.end())
        for cluster in clusters
    )


def _fold_letters(text: str, turkic: bool) -> str:
    text = unicodedata.normalize("NFKC", text).replace("İ", "i")
    if turkic:
        text = text.replace("I", "ı")
    return text.casefold().replace("i\u0307", "i")
