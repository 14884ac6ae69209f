"""Words and patterns by language, from the files in `words/`. Each is compiled once, when it is first needed."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import regex

Pattern = regex.Pattern[str]

FOLDER = Path(__file__).parent / "words"
LANGUAGES = ("en", "tr", "de", "fr", "es", "ar", "ja")
_NEVER = regex.compile(r"(?!)")
_NAME = r"\p{Lu}[\p{L}'’-]{1,30}(?<!['’]s)"
_YEAR = r"(?:19|20)[0-9]{2}"


@dataclass(frozen=True, slots=True)
class Lexicon:
    """One language's patterns. Those of `openers`, `summaries`, `agreement` and `thanks` are matched where a sentence
    starts, the others are searched for. `vague` sources count only where `unclaimed` doesn't stand before them."""

    openers: Pattern
    summaries: Pattern
    agreement: Pattern
    thanks: Pattern
    adversative: Pattern
    concession: Pattern
    named: tuple[Pattern, ...]
    vague: tuple[Pattern, ...]
    unclaimed: Pattern
    brackets: bool = True


@dataclass(frozen=True, slots=True)
class Universal:
    named: tuple[Pattern, ...]
    bracketed: tuple[Pattern, ...]
    bracketed_several: tuple[Pattern, ...]
    no_authors: frozenset[str]
    leaks: Pattern
    confessions: Pattern


@cache
def lexicon(language: str | None) -> Lexicon:
    """The patterns of a language; of one without a file, patterns that never match."""
    if language not in LANGUAGES:
        return Lexicon(_NEVER, _NEVER, _NEVER, _NEVER, _NEVER, _NEVER, (), (), _NEVER)
    words = _read(language)
    blanks = {"institution": _any(words["institutions"]), "finds": words["finds"]}
    return Lexicon(
        openers=_starting(words["openers"]),
        summaries=_starting(words["summaries"]),
        agreement=_starting(words["agreement"]),
        thanks=_starting(words["thanks"]),
        adversative=regex.compile(words["adversative"], regex.IGNORECASE),
        concession=regex.compile(_any(words["concession"])),
        named=_searched(words["named"], blanks),
        vague=_searched(words["vague"], blanks),
        unclaimed=regex.compile(words["unclaimed"], regex.IGNORECASE),
        brackets=words.get("brackets", True),
    )


@cache
def universal() -> Universal:
    words = _read("universal")
    return Universal(
        named=_searched(words["named"], {}),
        bracketed=_searched(words["bracketed"], {}),
        bracketed_several=_searched(words["bracketed_several"], {}),
        no_authors=frozenset(words["no_authors"].split()),
        leaks=regex.compile(_any(words["leaks"]), regex.MULTILINE),
        confessions=_starting(_fill(pattern, {"model": words["model"]}) for pattern in words["confessions"]),
    )


@cache
def small_words() -> dict[str, frozenset[str]]:
    return {language: frozenset(words.split()) for language, words in _read("small")["words"].items()}


@cache
def letters() -> dict[str, frozenset[str]]:
    return {language: frozenset(found) for language, found in _read("small")["letters"].items()}


@cache
def kin(language: str) -> frozenset[str]:
    """Languages that pass for this one, itself among them."""
    groups = [set(group.split()) for group in _read("small")["kin"]["groups"]]
    return frozenset({language}.union(*(group for group in groups if language in group)))


@cache
def _read(name: str) -> dict[str, Any]:
    return tomllib.loads((FOLDER / f"{name}.toml").read_text("utf-8"))


def _any(patterns: Iterable[str]) -> str:
    return f"(?:{'|'.join(patterns)})"


def _starting(patterns: Iterable[str]) -> Pattern:
    return regex.compile(_any(patterns), regex.IGNORECASE)


def _searched(patterns: Iterable[str], blanks: dict[str, str]) -> tuple[Pattern, ...]:
    calendar = _read("universal")["calendar"]
    filled = blanks | {"name": _NAME, "year": _YEAR, "calendar": calendar}
    return tuple(regex.compile(_fill(_fill(pattern, filled), filled)) for pattern in patterns)


def _fill(pattern: str, blanks: dict[str, str]) -> str:
    """Puts patterns in for their names between % marks; an institution's may hold a %name% itself."""
    return regex.sub(r"%(\p{Ll}+)%", lambda blank: blanks[blank[1]], pattern)
