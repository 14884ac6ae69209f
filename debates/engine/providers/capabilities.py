"""What a model at an endpoint takes, learned from what it refused: asked once, remembered, asked differently."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from .failures import Refusal

RANGES = frozenset(
    {
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "minLength",
        "maxLength",
        "pattern",
        "format",
        "minItems",
        "maxItems",
        "uniqueItems",
    }
)

LIMITS = ("max_tokens", "max_completion_tokens")

# Names in `refused` beside those of fields of the request's body.
SCHEMA_RANGES = "schema ranges"
JSON_SCHEMA = "json_schema"
JSON_OBJECT = "json_object"
SYSTEM = "system"
PREFILL = "prefill"


class Capabilities:
    """Of one model at one endpoint. `refused` is all there is to store."""

    def __init__(self, refused: Iterable[str] = ()) -> None:
        self.refused = set(refused)

    def takes(self, name: str) -> bool:
        return name not in self.refused

    @property
    def limit(self) -> str | None:
        """The name of the field that caps the answer."""
        return next((name for name in LIMITS if self.takes(name)), None)

    @property
    def form(self) -> str | None:
        """How JSON can be asked for; None: by the prompt alone."""
        return next((form for form in (JSON_SCHEMA, JSON_OBJECT) if self.takes(form)), None)

    def learn(self, refusal: Refusal, body: Mapping[str, Any]) -> set[str]:
        """Returns what is worth remembering beyond this call: a grammar with a slip says nothing about the next."""
        found = refused_by(refusal, body)
        self.refused |= found
        return found - {"grammar"} if "parse" in refusal.message else found


def refused_by(refusal: Refusal, body: Mapping[str, Any]) -> set[str]:
    """What of this body the endpoint refused; empty where it doesn't say so in words that we know."""
    if refusal.param in body and refusal.param not in ("response_format", "messages", "model"):
        return {refusal.param}
    for reading in (_form, _roles):
        if name := reading(refusal, body):
            return {name}
    optional = set(body) - {"model", "messages", "stream", "response_format"}
    return {name for name in optional if re.search(rf"\b{re.escape(name)}\b", refusal.message)}


def _form(refusal: Refusal, body: Mapping[str, Any]) -> str | None:
    form = body.get("response_format")
    words = f"{refusal.param} {refusal.message}"
    if not form or not re.search(r"response.?format|json.?mode|json.?object|schema|grammar", words, re.IGNORECASE):
        return None
    if form["type"] == JSON_OBJECT:
        return JSON_OBJECT
    schema = form["json_schema"]["schema"]
    blamed = any(re.search(rf"\b{word}\b", words) for word in RANGES if word != "format")
    return SCHEMA_RANGES if blamed and without_ranges(schema) != schema else JSON_SCHEMA


def _roles(refusal: Refusal, body: Mapping[str, Any]) -> str | None:
    words = f"{refusal.param} {refusal.message}".lower()
    messages = body["messages"]
    if messages[-1]["role"] == "assistant" and re.search(r"prefill|last (role|message)|end with a user", words):
        return PREFILL
    system = (
        r"messages?\W{0,2}0\b.{0,10}role|system.{0,3} (role|message|prompt|instruction)|role.{0,30}system|'system'"
        r"|only user and assistant|(must|should) alternate"
    )
    return SYSTEM if messages[0]["role"] == "system" and re.search(system, words) else None


def without_ranges(schema: Any) -> Any:
    """The same schema for endpoints that refuse ranges; code checks them anyhow."""
    if isinstance(schema, list):
        return [without_ranges(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {key: value for key, value in schema.items() if key not in RANGES}
    return {key: _properties(value) if key == "properties" else without_ranges(value) for key, value in kept.items()}


def _properties(schemas: Mapping[str, Any]) -> dict[str, Any]:
    """Here the keys are names that somebody chose, not keywords."""
    return {name: without_ranges(schema) for name, schema in schemas.items()}
