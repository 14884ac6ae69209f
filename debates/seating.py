"""Which model fills which bench: today one for all, the best that the site has been given."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable
from dataclasses import dataclass

from django.conf import settings

from .engine.types import Format
from .models import Seat


class NobodyToSpeak(Exception):
    """The site has neither a provider's key nor a local model."""

    def __str__(self) -> str:
        return "This site has no model to speak with yet. Its operator must add a provider's key or a local model."


@dataclass(frozen=True, slots=True)
class Choice:
    provider: str
    model: str
    preset: str = ""


def choices() -> list[Choice]:
    """What can speak here, in order of preference."""
    models = settings.DEFAULT_MODELS.items()
    hosted = [Choice(name, model) for name, model in models if settings.API_KEYS.get(name)]
    local = [Choice("local", settings.LOCAL_MODEL_NAME, "local")] if settings.LOCAL_MODEL_URL else []
    return hosted + local


def deal(format: Format, seed: bytes) -> list[Seat]:
    """Unsaved seats for every bench. The sides are dealt by the seed: neither model chooses its side."""
    offered = choices()
    if not offered:
        raise NobodyToSpeak
    sides = list(format.sides)
    if hmac.digest(seed, b"sides", hashlib.sha256)[0] % 2:
        sides.reverse()
    benches = sides + [bench.name for bench in format.benches if not bench.side]
    best = offered[0]
    return [Seat(bench=bench, provider=best.provider, model=best.model, preset=best.preset) for bench in benches]


def who_reads(seats: Iterable[Seat]) -> str:
    """One sentence on who gets to see the text."""
    hosted = sorted({f"{seat.provider} ({seat.model})" for seat in seats if seat.provider != "local"})
    if not hosted:
        return "The model runs on this machine: the text doesn't leave it."
    return f"The text is sent to {', '.join(hosted)}."
