"""Quotations that the other side never said, or not in these words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..quotes import Match, Resolved, check
from .flags import Flag, Kind, flag
from .reading import Said

FAILED = {Match.ALTERED: Kind.QUOTE_ALTERED, Match.ABSENT: Kind.QUOTE_ABSENT}


def quotations(text: str, opponents_earlier: Sequence[tuple[int, str]], others: Said) -> list[Resolved]:
    """What became of each quotation of the other side. Words of `others` (the motion, the bench, the speaker itself)
    may be quoted too, and don't count; nor does anything while the other side hasn't spoken."""
    if not opponents_earlier:
        return []
    resolved = check(text, opponents_earlier)
    return [each for each in resolved if each.match not in FAILED or not others.have(_core(each))]


def failed_quote(resolved: Resolved) -> bool:
    return resolved.match in FAILED


def failed(text: str, resolved: Sequence[Resolved]) -> Iterator[Flag]:
    for each in resolved:
        if each.match in FAILED:
            quotation = each.quotation
            place = {"turn": each.turn, "start": each.start, "end": each.end, "match": each.match.value}
            yield flag(FAILED[each.match], text, quotation.start, quotation.end, **place, likeness=each.likeness)


def _core(resolved: Resolved) -> str:
    return resolved.quotation.text.strip(" .,;:!?…。、，！？؟،")
