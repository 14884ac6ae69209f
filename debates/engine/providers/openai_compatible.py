"""OpenAI, OpenRouter, Mistral, Ollama, llama.cpp, vLLM: whatever speaks the chat completions format."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, aclosing
from typing import Any

from openai import AsyncOpenAI

from .base import Call, Kind, ProviderError
from .capabilities import Capabilities
from .connections import connections
from .exchange import Exchange, Failure, Timeouts
from .gate import Gate
from .request import body_of, prefill_of

REMOTE = Timeouts()
LOCAL = Timeouts(first=180.0, total=600.0)

KNOCK = 0.5  # seconds between two tries at a local server that does not listen yet
LOOK = 1.0  # seconds between two looks at a server that is loading its model
TEACHING = frozenset({400, 422, 500})  # statuses that may hide a field which the model does not take; 500 is
UNCLEAR = frozenset({Kind.BAD_REQUEST, Kind.OVERLOADED})  # llama.cpp's where its chat template refuses


class OpenAICompatible:
    """A model at an endpoint.

    `local` endpoints get the prompt's hints, are waited for while they start (`knocking` seconds), and are reached
    past proxies. `gates` are the in-flight limits by slot; a call that names no slot uses `spare_slot`.
    `patience` is how many seconds a server may take to load its model. `capabilities` are what was learned before.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str,
        model: str,
        *,
        local: bool = False,
        capabilities: Capabilities | None = None,
        gates: Mapping[int | None, Gate] | None = None,
        spare_slot: int | None = None,
        timeouts: Timeouts | None = None,
        patience: float = 900.0,
        knocking: float = 20.0,
    ) -> None:
        self._base_url, self._key, self._model, self._local = base_url, api_key, model, local
        self.capabilities = capabilities or Capabilities()
        self._gates, self._spare_slot = gates or {}, spare_slot
        self._timeouts = timeouts or (LOCAL if local else REMOTE)
        self._patience, self._knocking = patience, knocking

    async def stream(self, call: Call) -> AsyncGenerator[str, None]:
        """Yields the answer as it comes, several tokens together where they came together; raises `ProviderError`."""
        if not (self._key.isascii() and self._key.isprintable()):
            raise ProviderError(Kind.KEY_REJECTED, detail="a key that no header can carry")
        async with AsyncExitStack() as stack:
            if gate := self._gate(call):
                await stack.enter_async_context(gate.passage(call.waiting))
            exchange = await self._opened(call, stack)
            async with aclosing(exchange.pieces(call)) as pieces:
                async for piece in pieces:
                    yield piece

    def _gate(self, call: Call) -> Gate | None:
        slot = call.prompt.hints.slot if self._local else None
        return self._gates.get(self._spare_slot if slot is None else slot)

    async def _opened(self, call: Call, stack: AsyncExitStack) -> Exchange:
        """An answer that has begun: the server is up, and the request is one that the model takes."""
        clock = asyncio.get_running_loop().time
        start, told, takes = clock(), "", Capabilities(self.capabilities.refused)
        while True:
            body = self._body(call, takes)
            exchange = Exchange(self._timeouts, prefill_of(call, takes, self._local), self._key)
            failure = await exchange.open(self._client(), body, stack)
            if failure is None:
                return exchange
            if self._learned(failure, body, takes) and self._body(call, takes) != body:
                continue
            pause = self._pause(failure, clock() - start)
            if pause is None:
                raise failure.error
            if (words := self._waking(failure)) != told:
                call.waiting(told := words)
            await asyncio.sleep(pause)

    def _body(self, call: Call, takes: Capabilities) -> dict[str, Any]:
        return body_of(call, self._model, takes, self._local, self._spare_slot)

    def _client(self) -> AsyncOpenAI:
        """Cheap to make: the connections are shared. It must be of the running loop."""
        pool = connections(direct=self._local)
        client = AsyncOpenAI(base_url=self._base_url, api_key=self._key or "none", http_client=pool, max_retries=1)
        if client.base_url.host != "api.openai.com":
            client.organization = client.project = None  # the SDK takes them from the environment, for any address
        return client

    def _learned(self, failure: Failure, body: Mapping[str, Any], takes: Capabilities) -> bool:
        """Whether something was. What is refused only grows, so corrections end."""
        refusal = failure.refusal
        if refusal is None or refusal.status not in TEACHING or failure.error.kind not in UNCLEAR:
            return False
        self.capabilities.refused |= takes.learn(refusal, body)
        return True

    def _pause(self, failure: Failure, waited: float) -> float | None:
        """Seconds until the next look at a server that is coming up; None: no use."""
        if failure.error.kind is Kind.WAKING and waited < self._patience:
            return LOOK
        if failure.unreachable and self._local and waited < self._knocking:
            return KNOCK
        return None

    def _waking(self, failure: Failure) -> str:
        who = "The model on this machine" if self._local else "The model"
        share = re.search(r"(\d{1,3})(?:\.\d+)? ?%", failure.refusal.message) if failure.refusal else None
        return f"{who} is waking: {share[1]} %." if share else f"{who} is waking."
