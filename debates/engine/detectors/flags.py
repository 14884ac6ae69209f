"""What a detector found: a kind, a place, and the sentence a reader is told."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

LONGEST_WORDS = 120  # characters of a flag's words that are kept


class Kind(StrEnum):
    PLACEHOLDER = "placeholder"
    BANNED_OPENER = "banned_opener"
    SUMMARY_OPENING = "summary_opening"
    NAMED_SOURCE = "named_source"
    UNVERIFIED_SOURCE = "unverified_source"
    REPEATED = "repeated"
    AGREEMENT = "agreement"
    THANKS = "thanks"
    CONCESSION = "concession"
    OTHER_LANGUAGE = "other_language"
    QUOTE_ALTERED = "quote_altered"
    QUOTE_ABSENT = "quote_absent"
    PROMPT_LEAK = "prompt_leak"


SENTENCES = {
    Kind.PLACEHOLDER: "This turn says nothing.",
    Kind.BANNED_OPENER: "This phrase is banned by the rules of the debate.",
    Kind.SUMMARY_OPENING: "The turn opens by summing up the other side instead of making its own point.",
    Kind.NAMED_SOURCE: "This names a source, which the rules of the debate ban because nobody can check it here.",
    Kind.UNVERIFIED_SOURCE: "This source was not verified.",
    Kind.REPEATED: "This repeats what the same speaker said before.",
    Kind.AGREEMENT: "The speaker agrees with the other side and argues nothing against it.",
    Kind.THANKS: "The speaker thanks or praises instead of arguing.",
    Kind.CONCESSION: "The speaker concedes a point here.",
    Kind.OTHER_LANGUAGE: "This is not in the language of the debate.",
    Kind.QUOTE_ALTERED: "The other side did not say it in these words.",
    Kind.QUOTE_ABSENT: "The other side never said this.",
    Kind.PROMPT_LEAK: "This belongs to the model or its instructions, not to the speech.",
}


@dataclass(frozen=True, slots=True)
class Flag:
    """`start` and `end` are code points of the turn's text, 0 and 0 for the whole turn. `data` always has `words`, the
    beginning of what stands there; what else it has depends on the kind."""

    kind: Kind
    start: int
    end: int
    sentence: str
    data: dict[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        return {
            "kind": self.kind.value,
            "start": self.start,
            "end": self.end,
            "sentence": self.sentence,
            "data": self.data,
        }


def flag(kind: Kind, text: str, start: int = 0, end: int = 0, /, **data: Any) -> Flag:
    words = " ".join(text[start : end or len(text)][: 4 * LONGEST_WORDS].split())
    kept = words if len(words) <= LONGEST_WORDS else f"{words[:LONGEST_WORDS]}…"
    return Flag(kind, start, end, SENTENCES[kind], {"words": kept} | data)


# What a speaker is told before its one retry, the most important first. {words} are the words concerned.
_INSTRUCTIONS = {
    Kind.OTHER_LANGUAGE: "Speak in the language of the motion, from the first word to the last. This was not: {words}.",
    Kind.PROMPT_LEAK: "Say only your speech, nothing about yourself or your instructions. This must go: {words}.",
    Kind.REPEATED: "You have said this before. Say something new, or the same point by another reason: {words}.",
    Kind.QUOTE_ABSENT: "The other side never said {words}. Quote what it said, letter for letter, or don't quote.",
    Kind.QUOTE_ALTERED: "The other side did not say it in these words: {words}. Copy its words letter for letter.",
    Kind.NAMED_SOURCE: "Name no source. Argue the mechanism instead of {words}.",
    Kind.SUMMARY_OPENING: "Don't open by summing up the other side. Make your point first, instead of {words}.",
    Kind.BANNED_OPENER: "Never say {words}. Begin with the point itself.",
}
_MOST_NAMED = 3  # of one kind in an instruction


def retry(flags: Iterable[Flag]) -> str | None:
    """What the speaker is told before it speaks once more; None where nothing calls for that."""
    found: dict[Kind, list[str]] = {}
    for each in flags:
        found.setdefault(each.kind, []).append(f"“{each.data['words']}”")
    lines = [
        instruction.format(words=", ".join(dict.fromkeys(found[kind][:_MOST_NAMED])))
        for kind, instruction in _INSTRUCTIONS.items()
        if kind in found
    ]
    return " ".join(lines) or None
