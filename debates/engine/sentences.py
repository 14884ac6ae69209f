"""Where sentences end, and a text that broke off trimmed to the last one that is whole."""

from __future__ import annotations

import regex

DENSE = r"\p{Han}\p{Hiragana}\p{Katakana}ー\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"  # scripts without spaces
_END = regex.compile(
    r"(?P<mark>[.!?…؟۔։።।॥။។៕]++|[。！？｡]++)(?P<closers>[\p{Pe}\p{Pi}\p{Pf}\"']*+)(?P<space>\s*+)(?=(?P<next>\S?))"
)
_SPACELESS = regex.compile(rf"[。！？｡{DENSE}]")
_WORD_BEFORE = regex.compile(r"(?:^|(?<=[\s\p{Ps}\p{Pi}\"'—–/-]))[^\s\p{Ps}\p{Pi}\"'—–/-]*\Z")
_DOTTED = regex.compile(r"\p{L}(?:\.\p{L})*")  # an initial, U.S., e.g., z.B.
_ORDINAL = regex.compile(r"[0-9]{1,2}")
_BEFORE_NUMBER = frozenset({"no", "nos", "nr", "fig", "figs", "vol", "p", "pp", "art", "sec", "ch", "eq", "ca", "s"})
_ABBREVIATED = frozenset(
    {"dr", "mr", "mrs", "ms", "mx", "prof", "rev", "hon", "gen", "col", "sgt", "capt", "lt", "gov", "sen", "rep", "st"}
    | {"mt", "ft", "jr", "messrs", "pres", "vs", "cf", "approx", "resp", "viz", "al", "est"}
    | {"bzw", "vgl", "evtl", "ggf", "inkl", "sog", "bspw", "hr", "fr", "frl"}
    | {"bkz", "vb", "vd", "örn", "yrd", "doç", "av", "alb", "sn"}
    | {"mme", "mlle", "mm", "sr", "sra", "srta", "dra", "ud", "uds", "pág", "núm", "ej"}
)
_HALF_WORD = regex.compile(rf"(?r)[^\s{DENSE}]+")  # read from the end
_LOOSE_END = regex.compile(r"(?r)[\s.\p{Ps}\p{Pi}\"',;:，、；：،؛—–\-\u200d]+")


def whole_sentences(text: str) -> str:
    """The longest beginning of `text` that ends with a sentence; "" where none does."""
    end = 0
    for found in _END.finditer(text):
        if _ends(text, found):
            end = found.end("closers")
    return text[:end]


def broken_off(text: str, within_word: bool) -> str:
    """The whole words of a text without a whole sentence, and an ellipsis. `within_word` tells that the last word may
    be cut; it stays only where there is no other."""
    kept = _without_end(text, _HALF_WORD) if within_word else text
    kept = _without_end(kept, _LOOSE_END) or text.rstrip()
    return kept if kept.endswith("…") else f"{kept}…"


def _without_end(text: str, end: regex.Pattern[str]) -> str:
    found = end.match(text)
    return text[: found.start()] if found else text


def _ends(text: str, found: regex.Match[str]) -> bool:
    mark, after = found["mark"], found["next"]
    if _SPACELESS.match(mark):
        return True
    if after.islower() or not (found["space"] or not after or _SPACELESS.match(after)):
        return False
    return mark != "." or not _abbreviates(_word_before(text, found.start()), after or found["space"])


def _word_before(text: str, at: int) -> str:
    found = _WORD_BEFORE.search(text[max(0, at - 20) : at])
    return found.group() if found else ""


def _abbreviates(word: str, after: str) -> bool:
    """Whether the full stop behind `word` belongs to it. A short number may be an ordinal (am 3. Oktober), any number
    at the very end the beginning of a fraction: both are taken as unfinished."""
    if _DOTTED.fullmatch(word) or word.casefold() in _ABBREVIATED or _ORDINAL.fullmatch(word):
        return True
    return (word.casefold() in _BEFORE_NUMBER and after.isdigit()) or (word[-1:].isdigit() and not after)
