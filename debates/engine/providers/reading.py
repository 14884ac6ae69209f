"""Finds the JSON object in what a model wrote, and takes it only as it was asked for. A guess is never an answer."""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Iterator
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

LARGEST = 200_000  # bytes of an answer
DEEPEST = 50  # levels of nesting
CANDIDATES = 16  # objects, counted from the last, that are tried against the schema
DIGITS = 18  # of an integer

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
        if isinstance(candidate, Unreadable):
            reason = str(candidate)
            continue
        try:
            return model.model_validate_json(candidate, strict=True, extra="forbid")
        except ValidationError as error:
            reason = _reason(error)
    raise Unreadable(reason)


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

    Where an object begins and is none, the search goes on at the next brace. No stretch is read more often than
    brackets nest, so hostile text costs a bounded number of passes.
    """
    start = text.find("{")
    while start >= 0:
        try:
            _, end = STRICT.raw_decode(text, start)
            yield text[start:end]
        except Unreadable as error:
            yield error
            end = start + 1
        except ValueError:
            end = start + 1
        start = text.find("{", end)


def _unrepeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    named: dict[str, Any] = {}
    for key, value in pairs:
        if key in named:
            raise Unreadable(f"it names “{key[:40]}” twice")
        named[key] = value
    return named


def _integer(digits: str) -> int:
    if len(digits) > DIGITS:
        raise Unreadable("it holds a number that is too large")
    return int(digits)


def _no_number(word: str) -> Any:
    raise Unreadable(f"it holds {word}, which is no number")


def _fraction(digits: str) -> float:
    value = float(digits)
    if value in (float("inf"), float("-inf")):
        raise Unreadable("it holds a number that is too large")
    return value


STRICT = json.JSONDecoder(
    object_pairs_hook=_unrepeated, parse_int=_integer, parse_float=_fraction, parse_constant=_no_number
)


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
