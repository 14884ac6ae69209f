"""JSON schemas as endpoints want them: in one piece, every object closed, every key required."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

DROPPED = frozenset({"$defs", "title", "default", "discriminator"})  # what strict endpoints refuse or don't need


def schema_of(model: type[BaseModel]) -> dict[str, Any]:
    """A model's schema without references, for strict structured output. A model must not contain itself."""
    schema = model.model_json_schema()
    inlined = _inlined(schema, schema.get("$defs", {}), ())
    assert isinstance(inlined, dict)
    return inlined


def _inlined(schema: Any, defs: Mapping[str, Any], within: tuple[str, ...]) -> Any:
    if isinstance(schema, list):
        return [_inlined(item, defs, within) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        if name in within:
            raise TypeError(f"{name} contains itself: it can't be written out as a schema")
        beside = {key: value for key, value in schema.items() if key != "$ref"}
        return _inlined(defs[name] | beside, defs, (*within, name))
    written = {
        key: _inlined(value, defs, within) for key, value in schema.items() if key not in DROPPED | {"properties"}
    }
    if "properties" in schema:
        written["properties"] = {name: _inlined(sub, defs, within) for name, sub in schema["properties"].items()}
        written |= {"required": list(schema["properties"]), "additionalProperties": False}
    return written
