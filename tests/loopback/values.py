"""A valid, dull object for a JSON schema, the same for the same seed."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

Schema = Mapping[str, Any]

WORDS = "The point stands because nobody has answered it and the cost of leaving it open falls on those who live there"


def value_for(schema: Schema, seed: str) -> Any:
    """Understands what pydantic writes: objects, arrays, enums, ranges, references, alternatives."""
    return _value(schema, schema.get("$defs", {}), seed)


def _value(schema: Schema, defs: Schema, seed: str) -> Any:
    schema = _resolved(schema, defs)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][_draw(seed) % len(schema["enum"])]
    kind = schema.get("type", "object")
    if kind == "object":
        return {name: _value(sub, defs, f"{seed}.{name}") for name, sub in schema.get("properties", {}).items()}
    if kind == "array":
        return [_value(schema.get("items", {}), defs, f"{seed}.{index}") for index in range(_length(schema))]
    if kind in ("integer", "number"):
        return _number(schema, seed)
    return {"string": _string(schema, seed), "boolean": bool(_draw(seed) % 2)}.get(kind)


def _resolved(schema: Schema, defs: Schema) -> Schema:
    """Without references and alternatives: the first that isn't null."""
    if "$ref" in schema:
        return _resolved(defs[schema["$ref"].rpartition("/")[2]], defs)
    options = schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf")
    if options:
        return _resolved(next((option for option in options if option.get("type") != "null"), options[0]), defs)
    if isinstance(schema.get("type"), list):
        return {**schema, "type": next(kind for kind in schema["type"] if kind != "null")}
    return schema


def _length(schema: Schema) -> int:
    return min(max(1, schema.get("minItems", 1)), schema.get("maxItems", 1_000))


def _number(schema: Schema, seed: str) -> int:
    low = schema.get("minimum", schema.get("exclusiveMinimum", -1) + 1)
    high = schema.get("maximum", schema.get("exclusiveMaximum", low + 11) - 1)
    return int(low) + _draw(seed) % max(1, int(high) - int(low) + 1)


def _string(schema: Schema, seed: str) -> str:
    count = 4 + _draw(seed) % 6
    text = " ".join(WORDS.split()[:count]) + "."
    text += " Again." * max(0, -(-(schema.get("minLength", 0) - len(text)) // len(" Again.")))
    return text[: schema.get("maxLength", len(text))]


def _draw(seed: str) -> int:
    return int.from_bytes(hashlib.sha256(seed.encode()).digest()[:4], "big")
