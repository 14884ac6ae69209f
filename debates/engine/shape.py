"""A speech as a preset has it made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .providers.base import Hints
from .types import Speech


@dataclass(frozen=True, slots=True)
class Shape:
    """The speech with the limits and the question that suit its seat's model, what its endpoint is hinted at, and the
    facts that its prompt file uses beyond those of every speech."""

    speech: Speech
    hints: Hints = field(default_factory=Hints)
    facts: Mapping[str, Any] = field(default_factory=dict)
