"""Finds the JSON object in what a model wrote, and takes it only as it was asked for. A guess is never an answer."""

from __future__ import annotations

import json
import re
from collections import Counter, deque
from collections.abc import Iterator
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

LARGEST = 200_000  # bytes of an answer
DEEPEST = 50  # levels of nesting
BRACES = 500  # places where an object seems to begin
CANDIDATES = 16  # objects, counted from the last, that are tried against the schema
FAR = 10**18  # from zero, that no number may be

BEGINNING = re.compile(r'\{(?=\s*["}])')

Answer = TypeVar("Answer", bound=BaseModel)


class Unreadable(ValueError):
    """The answer can't be taken. Its text says why, as the end of a sentence: "it names “winner” twice"."""


def read(text: str, model: type[Answer]) -> Answer:
    """The last object in the text that fits; raises `Unreadable`. Takes time linear in the text's length."""
    if len(text.encode(errors="replace")) > LARGEST:
        raise Unreadable(f"it is longer than {LARGEST // 1000} KB")
    if _depth(text) > DEEPEST:
        raise Unreadable(f"it is nested deeper than {DEEPEST} levels")
    reason = "there is no JSON object in it"
    for candidate in reversed(deque(_objects(text), CANDIDATES)):
        try:
            return _fitting(candidate, model)
        except ValidationError as error:
            reason = _reason(error)
        except Unreadable as error:
            reason = str(error)
    raise Unreadable(reason)


def _fitting(candidate: str | Unreadable, model: type[Answer]) -> Answer:
    if isinstance(candidate, Unreadable):
        raise candidate
    return model.model_validate_json(candidate, strict=True, extra="forbid")


def _depth(text: str) -> int:
    """How deep brackets nest, those in strings and in prose included: an upper bound, found in one pass."""
    depth = deepest = 0
    for bracket in re.finditer(r"[][{}]", text):
        if bracket[0] in "[{":
            depth += 1
            deepest = max(deepest, depth)
        else:
            depth = max(0, depth - 1)
    return deepest


def _objects(text: str) -> Iterator[str | Unreadable]:
    """Whole JSON objects from left to right, whatever stands around them; one inside another counts as part of it.

    Where an object seems to begin and doesn't, the search goes on right behind.
    """
    end = 0
    for _ in range(BRACES):
        if not (found := BEGINNING.search(text, end)):
            return
        end = found.end()
        try:
            value, end = STRICT.raw_decode(text, found.start())
            yield Unreadable("it holds a number that is too large") if _too_large(value) else text[found.start() : end]
        except Unreadable as error:
            yield error
        except ValueError:
            continue
    raise Unreadable("there are too many braces in it")


def _unrepeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    named = dict(pairs)
    if len(named) < len(pairs):
        [(twice, _)] = Counter(key for key, _ in pairs).most_common(1)
        raise Unreadable(f"it names “{twice[:40]}” twice")
    return named


def _no_number(word: str) -> Any:
    raise Unreadable(f"it holds {word}, which is no number")


STRICT = json.JSONDecoder(object_pairs_hook=_unrepeated, parse_constant=_no_number)


def _too_large(value: Any) -> bool:
    if isinstance(value, dict):
        return any(_too_large(item) for item in value.values())
    if isinstance(value, list):
        return any(_too_large(item) for item in value)
    return isinstance(value, int | float) and not -FAR < value < FAR


def _reason(error: ValidationError) -> str:
    return ", and ".join(_complaint(detail) for detail in error.errors(include_url=False, include_input=False)[:3])


def _complaint(detail: ErrorDetails) -> str:
    """pydantic's words, with what they are about in front."""
    name = f"“{'.'.join(str(part) for part in detail['loc'])[:60]}”"
    if detail["type"] == "missing":
        return f"{name} is missing"
    if detail["type"] == "extra_forbidden":
        return f"{name} was not asked for"
    words = detail["msg"].removeprefix("Input ").removeprefix("Value error, ")
    return f"{name} {words[:120]}"
