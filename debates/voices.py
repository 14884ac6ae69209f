"""From a seat to the provider that speaks for it, within one process and its one event loop."""

from __future__ import annotations

from django.conf import settings

from .engine.providers.base import Kind, Provider, ProviderError
from .engine.providers.gate import Gate
from .engine.providers.openai_compatible import OpenAICompatible
from .engine.types import Seat

# How many calls a hosted provider is given at once.
HOSTED_CALLS = 32
# The local server has two slots: one for speakers, so that their shared prefix stays cached, one for all else.
SPEAKING, ELSE = 0, 1


class Voices:
    """Providers by seat, each made once: what an endpoint refused is remembered, and its calls stand in one line."""

    def __init__(self) -> None:
        self._made: dict[tuple[str, str], Provider] = {}
        self._gates: dict[str, dict[int | None, Gate]] = {}

    def of(self, seat: Seat) -> Provider:
        """Raises `ProviderError` where the site has no key or address for the seat's provider any more."""
        key = (seat.provider, seat.model)
        if key not in self._made:
            self._made[key] = self._local(seat) if seat.provider == "local" else self._hosted(seat)
        return self._made[key]

    def _local(self, seat: Seat) -> Provider:
        if not settings.LOCAL_MODEL_URL:
            raise ProviderError(Kind.MODEL_MISSING, sentence="There is no model on this machine any more.")
        gates = self._gates.setdefault("local", {SPEAKING: Gate(1), ELSE: Gate(1)})
        url = settings.LOCAL_MODEL_URL
        return OpenAICompatible(url, "", seat.model, local=True, gates=gates, spare_slot=ELSE)

    def _hosted(self, seat: Seat) -> Provider:
        keys = settings.API_KEYS.get(seat.provider)
        if seat.provider not in settings.BASE_URLS:
            raise ProviderError(Kind.MODEL_MISSING, sentence=f"This site can't speak to {seat.provider}.")
        if not keys:
            raise ProviderError(Kind.KEY_REJECTED, sentence=f"This site has no key for {seat.provider} any more.")
        gates = self._gates.setdefault(seat.provider, {None: Gate(HOSTED_CALLS)})
        return OpenAICompatible(settings.BASE_URLS[seat.provider], keys[0], seat.model, gates=gates)
