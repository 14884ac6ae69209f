"""A preset shapes a speech for a kind of model beyond the words of its prompt: what the endpoint is hinted at, and
facts that its prompt files use. Seats without a preset are left as they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .providers.base import Hints
from .types import Case, Hearing, Speech


@dataclass(frozen=True, slots=True)
class Shape:
    """What a preset adds to one speech."""

    hints: Hints = field(default_factory=Hints)
    facts: Mapping[str, Any] = field(default_factory=dict)


def shape(case: Case, speech: Speech, number: int, instruction: str, hearing: Hearing) -> Shape:
    """The shape of one speech, the same at every resume: whatever is random is drawn from the sitting's seed."""
    return Shape()
