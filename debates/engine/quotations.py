"""Finds what stands between quote marks of any family, in any script, and takes no apostrophe for one."""

from __future__ import annotations

from dataclasses import dataclass

import regex

from .sentences import DENSE

_CLOSERS = {
    '"': '"”“',
    "“": '”"“',
    "„": '“”"‟',
    "‟": '”"',
    "”": '”"',
    "«": "»",
    "»": "«»",
    "‹": "›",
    "›": "‹›",
    "'": "'’",
    "‘": "’'",
    "‚": "‘’'",
    "‛": "’'",
    "’": "’",
    **dict(zip("「『｢﹁﹃〝＂＇❝❛", "」』｣﹂﹄〞＂＇❞❜", strict=True)),
}
_SINGLE = "'’"
_SPACED_INSIDE = "«»‹›"  # marks with a space on their inner side in French
_EITHER = "\"”'’»›＂＇"  # marks that may open or close; those not here and in _CLOSERS open wherever they stand
_DEEPEST = 8
_MARK = regex.compile(rf"(?P<gap>\n[^\S\n]*\n)|[{''.join(sorted({*_CLOSERS, *''.join(_CLOSERS.values())}))}]")
_LETTER = regex.compile(rf"[[\p{{L}}\p{{N}}]--[{DENSE}]]", regex.VERSION1)
_PREFIXED = regex.compile(r"[\p{Hebrew}\p{Arabic}]")  # scripts whose prefixes are written before the mark: ו"מילה"
_GERSHAYIM = regex.compile(r"(?<=\p{Hebrew})[\"”](?=\p{Hebrew}(?!\p{Hebrew}))")
_ELISION = regex.compile(r"['’‘](?:tis|twas|em|cause|til|till|bout|round|n|[0-9]{2}s?)\b", regex.IGNORECASE)
_PLAIN = "[^'’‘\"“”„«»\\n]*+"
_POSSESSIVE = regex.compile(  # the dogs' home: no closing mark if another one comes that may close
    rf"(?<=[sSxXzZ])['’][ ](?=\p{{L}}{_PLAIN}(?:\p{{L}}['’]\p{{L}}{_PLAIN})*+(?<=\S)['’])"
)


@dataclass(frozen=True, slots=True)
class Quotation:
    """Words between quote marks: `text[start:end]` of the turn, the marks left out. `depth` counts the quotations
    around it."""

    text: str
    start: int
    end: int
    depth: int = 0


def find_quotes(text: str) -> list[Quotation]:
    """Every quotation, in order of its beginning. None goes over the end of a paragraph; a mark without a partner is
    none."""
    found: list[tuple[int, int]] = []
    opened: list[int] = []
    for mark in _MARK.finditer(text):
        at = mark.start()
        if mark["gap"]:
            opened.clear()
        elif _is_apostrophe(text, at):
            continue
        elif (level := _closed(text, at, opened)) is not None:
            found.append((opened[level] + 1, at))
            del opened[level:]
        elif _opens(text, at):
            opened = [*opened[-_DEEPEST + 1 :], at]
    return _quotations(text, sorted(found))


def _quotations(text: str, ranges: list[tuple[int, int]]) -> list[Quotation]:
    quotations: list[Quotation] = []
    around: list[int] = []
    for start, end in ranges:
        around = [outer for outer in around if outer > start]
        words = text[start:end]
        start += len(words) - len(words.lstrip())
        if words.strip():
            quotations.append(Quotation(words.strip(), start, start + len(words.strip()), len(around)))
        around.append(end)
    return quotations


def _is_apostrophe(text: str, at: int) -> bool:
    before, after = text[max(0, at - 1) : at], text[at + 1 : at + 2]
    if text[at] in _SINGLE and _LETTER.match(before) and _LETTER.match(after):
        return True
    return _GERSHAYIM.match(text, at) is not None or _POSSESSIVE.match(text, at) is not None


def _closed(text: str, at: int, opened: list[int]) -> int | None:
    """Which of the open quotations this mark closes."""
    mark, before, after = text[at], text[max(0, at - 1) : at], text[at + 1 : at + 2]
    if mark not in _SPACED_INSIDE and (before in "([{" or (before.isspace() and _LETTER.match(after))):
        return None
    for level in reversed(range(len(opened))):
        opener = text[opened[level]]
        if mark in _CLOSERS[opener]:
            return level if mark != "“" or opener == "„" or not _LETTER.match(after) else None
        if mark in _SINGLE:
            return None
    return None


def _opens(text: str, at: int) -> bool:
    mark, before, after = text[at], text[max(0, at - 1) : at], text[at + 1 : at + 2]
    if mark not in _CLOSERS or not after:
        return False
    if mark in _EITHER and ((after.isspace() and mark not in _SPACED_INSIDE) or _follows_word(before)):
        return False
    return _ELISION.match(text, at) is None


def _follows_word(before: str) -> bool:
    return _LETTER.match(before) is not None and _PREFIXED.match(before) is None
