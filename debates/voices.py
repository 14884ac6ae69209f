"""From a seat to the provider that speaks for it, within one worker process and its one event loop."""

from __future__ import annotations

from dataclasses import dataclass, field

from django.conf import settings

from .engine.providers.base import Kind, Provider, ProviderError
from .engine.providers.openai_compatible import Capabilities, Gate, OpenAICompatible
from .engine.types import Seat

# How many calls an endpoint answers at once. The local server has two slots: one for speakers, so that their shared
# prefix stays cached, and one for everything else.
HOSTED_CALLS = 32


@dataclass
class Voices:
    """Providers by seat, made once; what an endpoint refused before is remembered for all of them."""

    local_url: str = settings.LOCAL_MODEL_URL
    _made: dict[tuple[str, str, bool], Provider] = field(default_factory=dict)
    _known: dict[tuple[str, str], Capabilities] = field(default_factory=dict)

    def of(self, seat: Seat, speaking: bool = True) -> Provider:
        """Raises `ProviderError` where the site has no key or address for the seat's provider."""
        key = (seat.provider, seat.model, speaking and seat.provider == "local")
        if key not in self._made:
            self._made[key] = self._make(seat)
        return self._made[key]

    def _make(self, seat: Seat) -> Provider:
        local = seat.provider == "local"
        url = self.local_url if local else settings.BASE_URLS.get(seat.provider, "")
        keys = settings.API_KEYS.get(seat.provider, [])
        if not url or not (local or keys):
            raise ProviderError(Kind.KEY_REJECTED, sentence=f"This site has no key for {seat.provider} any more.")
        known = self._known.setdefault((seat.provider, seat.model), Capabilities())
        gate = Gate(1 if local else HOSTED_CALLS)
        return OpenAICompatible(url, "none" if local else keys[0], seat.model, local=local, known=known, gate=gate)
