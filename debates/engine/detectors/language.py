"""Which language a text is in, and where a speech leaves the language of its debate.

A text too short or too technical to tell is "no signal" (None), which is neither English nor drift. Scripts and small
words tell first; the detector (CLD3: 0.1 ms a speech, 3 MB) is loaded when a text needs it, never with this module.
"""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from threading import Lock
from typing import Any

import regex

from ..folding import is_turkic
from .flags import Flag, Kind, flag
from .lexicon import kin, letters, small_words
from .reading import Reading, Span

SURE = 0.9  # the detector's probability
PIECE = 160  # letters from which it was never wrong on debates in the 27 languages it was tried on
SHORT = 30  # letters from which small words may tell
MOSTLY = 0.7  # of a text's letters
MOST_BYTES = 4_000

_SCRIPTS = {
    "ja": r"[\p{Hiragana}\p{Katakana}]",
    "ko": r"\p{Hangul}",
    "th": r"\p{Thai}",
    "el": r"\p{Greek}",
    "he": r"\p{Hebrew}",
    "hy": r"\p{Armenian}",
    "ka": r"\p{Georgian}",
    "ta": r"\p{Tamil}",
    "te": r"\p{Telugu}",
    "bn": r"\p{Bengali}",
    "km": r"\p{Khmer}",
    "zh": r"\p{Han}",
    "Latin": r"\p{Latin}",
    "Cyrillic": r"\p{Cyrillic}",
    "Arabic": r"\p{Arabic}",
    "Devanagari": r"\p{Devanagari}",
}
_LETTER = regex.compile("|".join(f"(?P<{name}>{pattern})" for name, pattern in _SCRIPTS.items()) + r"|(?P<other>\p{L})")
_SHARED = ("Latin", "Cyrillic", "Arabic", "Devanagari")  # scripts of many languages
_WEIGHTS = {"ja": 3, "zh": 3, "ko": 3, "th": 2, "km": 2, "Devanagari": 2}  # what a letter tells, against a Latin one
_ALSO = frozenset({("he", "yi"), ("bn", "as"), ("zh", "ja")})  # a script's main language, and one it serves too
_KANA_LEAST = 0.1  # of the letters of Japanese are kana, at least
_WORD = regex.compile(r"[\p{L}\p{M}]+")
_TOKEN = regex.compile(r"```.*?(?:```|\Z)|`[^`\n]*+`?|[^\s`\p{Han}\p{Hiragana}\p{Katakana}]++", regex.DOTALL)
_CODE = regex.compile(r"`|[_/\\=(){}<>@|#]|::|\p{N}|\A(?:\p{Lu}\p{M}*+){2,}\Z")  # within a token
_AROUND = "\"'“”‘’«»‹›„‚()[]{}<>.,;:!?…*،؛؟、。"
_CODES = {"iw": "he", "nb": "no", "nn": "no", "zh-Hant": "zh", "zh-TW": "zh", "fil": "tl"}
_LOCK = Lock()


def debate_language(motion: str, earlier: Iterable[str] = (), fallback: str | None = None) -> str | None:
    """The language of a debate, as ISO 639-1: the motion's; where that has no signal, that of the first text that has
    one, of which the first speeches come first; else `fallback`."""
    return next((found for text in (motion, *earlier) if (found := language_of(text))), fallback)


def language_of(text: str) -> str | None:
    """The language of a text, as ISO 639-1, or None where that can't be told."""
    prose = _prose(Reading(text))
    scripts = _scripts(prose)
    script = _main(scripts)
    if script not in _SHARED:
        return script
    return _detected(prose) if _weight(scripts) >= PIECE else _by_small_words(prose)


def drift(reading: Reading, language: str | None) -> Iterator[Flag]:
    """The parts of a turn that are in another language than the debate; quotations, code and names don't count."""
    if language is None:
        return
    prose = _prose(reading)
    for start, end, other in _joined(_strays(reading, prose, language)):
        yield flag(Kind.OTHER_LANGUAGE, reading.text, start, end, expected=language, found=other)


def _strays(reading: Reading, prose: str, language: str) -> Iterator[tuple[int, int, str | None]]:
    for piece in _pieces(reading, prose):
        other = _other(prose[piece.start : piece.end], language)
        yield piece.start, piece.end, other


def _joined(pieces: Iterable[tuple[int, int, str | None]]) -> list[tuple[int, int, str]]:
    joined: list[tuple[int, int, str]] = []
    before = None
    for start, end, other in pieces:
        if other and other == before:
            start = joined.pop()[0]
        if other:
            joined.append((start, end, other))
        before = other
    return joined


def _pieces(reading: Reading, prose: str) -> list[Span]:
    """Sentences put together until there are letters enough to tell their language; what is left over at the end goes
    with what came before it."""
    pieces: list[Span] = []
    start, weight = None, 0
    for sentence in reading.sentences:
        start = sentence.start if start is None else start
        weight += _weight(_scripts(prose[sentence.start : sentence.end]))
        if weight >= PIECE:
            pieces.append(Span(start, sentence.end))
            start, weight = None, 0
    if start is not None:
        end = reading.sentences[-1].end
        pieces.append(Span(pieces.pop().start if pieces and weight < SHORT else start, end))
    return pieces


def _weight(scripts: Counter[str]) -> int:
    """Letters, as many Latin ones as would tell as much."""
    return sum(_WEIGHTS.get(script, 1) * letters_ for script, letters_ in scripts.items())


def _other(prose: str, language: str) -> str | None:
    """The language of a piece, if it is surely not that of the debate."""
    scripts = _scripts(prose)
    script = _main(scripts)
    weight = _weight(scripts)
    if script is None or script == language or weight < SHORT:
        return None
    if script not in _SHARED and (script, language) not in _ALSO:
        return script
    found = _detected(prose) if weight >= PIECE else _by_small_words(prose, least=3)
    if found is None or found in kin(language) or not _believed(prose, found, language, weight):
        return None
    return found


def _believed(prose: str, found: str, language: str, weight: int) -> bool:
    """Whether the small words bear it out. A short text in a language whose small words aren't known shows nothing."""
    known = small_words()
    expected = _points(prose, language) if language in known else 0
    if found in known:
        told = language in known or language in _SCRIPTS or weight >= PIECE
        return told and 2 * _points(prose, found) > max(3 * expected, 2)
    return expected <= 1


def _scripts(prose: str) -> Counter[str]:
    return Counter(found.lastgroup or "other" for found in _LETTER.finditer(prose))


def _main(scripts: Counter[str]) -> str | None:
    """The script that most letters are of; Japanese from a few kana on, since most of it may be Han, and with more
    Latin in it than other scripts have, since its own letters are fewer."""
    letters_ = scripts.total()
    if not letters_:
        return None
    east = scripts["ja"] + scripts["zh"]
    if east >= MOSTLY * letters_ or (east >= 4 and 3 * east >= MOSTLY * (letters_ + 2 * east)):
        return "ja" if scripts["ja"] >= _KANA_LEAST * east else "zh"
    script, most = scripts.most_common(1)[0]
    return script if most >= MOSTLY * letters_ and script != "other" else None


def _prose(reading: Reading) -> str:
    """What tells a language: neither quotations, code, addresses, numbers nor abbreviations. Places stay the same."""
    return _TOKEN.sub(lambda found: _if_prose(found.group()), reading.own)


def _if_prose(token: str) -> str:
    return " " * len(token) if _CODE.search(token.strip(_AROUND)) else token


def _detected(prose: str) -> str | None:
    text = " ".join(prose.split()).encode()[:MOST_BYTES].decode(errors="ignore")
    with _LOCK:
        found = _detector().FindLanguage(text)
    if not found.is_reliable or found.probability < SURE or found.language.endswith("-Latn"):
        return None
    return _CODES.get(found.language, found.language)


@cache
def _detector() -> Any:
    return importlib.import_module("gcld3").NNetLanguageIdentifier(0, MOST_BYTES)


def _by_small_words(prose: str, least: int = 2) -> str | None:
    """The language that clearly more of the words belong to than to any other."""
    points = Counter({language: _points(prose, language) for language in small_words()})
    (first, most), (_, second) = points.most_common(2)
    return first if most >= least and most > second else None


def _points(prose: str, language: str) -> int:
    """A point for each small word, two for each letter that few others have."""
    words = _WORD.findall(prose)
    small, own = small_words()[language], letters().get(language, frozenset())
    points = sum(_lowered(word, language) in small for word in set(words))
    return points + 2 * len(own.intersection(prose))


def _lowered(word: str, language: str) -> str:
    return word.replace("I", "ı").replace("İ", "i").lower() if language == "tr" and is_turkic(word) else word.lower()
