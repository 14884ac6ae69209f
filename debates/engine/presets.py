"""A preset shapes a speech for a kind of model beyond the words of its prompt. Seats without one are left as they are.

A preset is a module: `shape` makes a speech fit the model, `DEFAULTS` are the rules of a debate that it speaks.
"""

from __future__ import annotations

from typing import Any

from . import local
from .shape import Shape
from .types import Case, Hearing, Speech

PRESETS = {"local": local}


def shape(case: Case, speech: Speech, number: int, instruction: str, hearing: Hearing) -> Shape:
    """The shape of one speech, the same at every resume: whatever is random is drawn from the sitting's seed."""
    preset = PRESETS.get(case.seats[speech.bench].preset)
    return preset.shape(case, speech, number, instruction, hearing) if preset else Shape(speech)


def defaults(*presets: str) -> dict[str, Any]:
    """The rules of a debate with seats of these presets, where its author set none."""
    return {rule: value for preset in presets if preset in PRESETS for rule, value in PRESETS[preset].DEFAULTS.items()}
