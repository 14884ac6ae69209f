"""One request to a chat completions endpoint and its answer: sent by the SDK, read here from raw bytes at a fraction of
what the SDK's typed objects cost."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any

import httpx2
from openai import APIStatusError, AsyncOpenAI, OpenAIError

from .alarm import Alarm
from .base import Call, Kind, ProviderError
from .completion import Completion
from .failures import NOT_A_MODEL, Refusal, read_refusal
from .sse import LONGEST, EventReader, Malformed

GRACE = 5.0  # seconds for what may follow the end of the text: usage, [DONE]
DRAIN = 0.5  # seconds for the end of the body after [DONE]; only then can the connection be used again

NO_START = "The model did not begin to answer in time."
SILENCE = "The model fell silent in the middle of its answer."
ENDLESS = "The model took too long over its answer."


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds: to connect, to the first token, between two bytes after it, and for the whole answer."""

    connect: float = 5.0
    first: float = 60.0
    idle: float = 60.0
    total: float = 300.0


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a request got no answer; `unreachable`: nobody listens at that address."""

    error: ProviderError
    refusal: Refusal | None = None
    unreachable: bool = False


class Exchange:
    """`prefill` is what the endpoint continues and doesn't repeat; `key` is kept out of whatever is logged."""

    def __init__(self, timeouts: Timeouts, prefill: str, key: str) -> None:
        self._timeouts, self._prefill, self._key = timeouts, prefill, key
        self._completion, self._reader = Completion(), EventReader()
        self._clock, self._alarm = asyncio.get_running_loop().time, Alarm()
        self._start = self._clock()
        self._head = b""  # all bytes before the first event: the body, if it turns out to be no event stream
        self._chunks: AsyncIterator[bytes]

    async def open(self, client: AsyncOpenAI, body: dict[str, Any], stack: AsyncExitStack) -> Failure | None:
        """Sends; the response is closed with `stack`. Returns why there is none instead of raising it, so that no
        error drags the SDK's, with addresses and bodies, behind it."""
        named = {name: body[name] for name in ("model", "messages", "stream")}
        rest = {name: value for name, value in body.items() if name not in named}
        create: Any = client.chat.completions.with_streaming_response.create
        sending = create(**named, extra_body=rest, timeout=self._waits())
        try:
            response = await self._alarm.wait(stack.enter_async_context(sending), self._deadline())
        except TimeoutError:
            return Failure(self._late())
        except APIStatusError as error:
            refusal = read_refusal(error.response.text, error.status_code, error.response.headers)
            return Failure(refusal.error(self._key), refusal)
        except (OpenAIError, httpx2.HTTPError, httpx2.InvalidURL) as error:
            unreachable = isinstance(error.__cause__, httpx2.ConnectError)
            return Failure(ProviderError(Kind.NETWORK, detail=_named(error)), unreachable=unreachable)
        self._chunks = response.iter_bytes()
        return None

    def _waits(self) -> httpx2.Timeout:
        """Reading is timed here, not there."""
        timeouts = self._timeouts
        return httpx2.Timeout(None, connect=timeouts.connect, write=timeouts.idle, pool=timeouts.first)

    async def pieces(self, call: Call) -> AsyncGenerator[str, None]:
        """Yields the answer; raises `ProviderError` after the last of it if it isn't whole."""
        completion, chunk = self._completion, b"first"
        try:
            while chunk and not completion.done:
                chunk = await self._read()
                if text := self._take(chunk):
                    yield self._prefill + text
                    self._prefill = ""
            await self._drain()
        finally:
            self._alarm.off()
            call.usage, call.cut = completion.usage, completion.cut
        if failure := completion.failure(self._key):
            raise failure

    def _take(self, chunk: bytes) -> str:
        try:
            events = self._reader.feed(chunk) if chunk else self._reader.close()
        except Malformed as error:
            raise ProviderError(Kind.CUT_OFF, detail=str(error)) from None
        if self._reader.began:
            return self._completion.take(events)
        self._head += chunk
        if len(self._head) > LONGEST:
            raise ProviderError(Kind.NETWORK, detail="an endless body that is no stream", sentence=NOT_A_MODEL)
        return "" if chunk else self._completion.take_body(self._head)

    async def _read(self) -> bytes:
        """The next bytes, b"" at the end. Once the text has ended, whatever happens is the end."""
        try:
            return await self._alarm.wait(anext(self._chunks, b""), self._deadline())
        except (TimeoutError, httpx2.HTTPError) as error:
            if self._completion.finish:
                return b""
            raise self._broken(error) from None

    def _broken(self, error: Exception) -> ProviderError:
        if isinstance(error, TimeoutError):
            return self._late()
        return ProviderError(Kind.CUT_OFF if self._completion.began else Kind.NETWORK, detail=_named(error))

    async def _drain(self) -> None:
        try:
            async with asyncio.timeout(DRAIN):
                while await anext(self._chunks, b""):
                    pass
        except (TimeoutError, httpx2.HTTPError):
            pass

    def _deadline(self) -> float:
        """Comments and empty chunks keep a connection alive, but neither the first token nor the end may wait for
        ever. Reasoning that isn't shown counts as a first token."""
        now, timeouts = self._clock(), self._timeouts
        if self._completion.finish:
            return now + GRACE
        first = timeouts.idle + now if self._completion.alive else self._start + timeouts.first
        return min(first, self._start + timeouts.total)

    def _late(self) -> ProviderError:
        if not self._completion.alive:
            return ProviderError(Kind.NETWORK, detail="no first token in time", sentence=NO_START)
        if self._clock() >= self._start + self._timeouts.total:
            return ProviderError(Kind.CUT_OFF, detail="over the total time", sentence=ENDLESS)
        return ProviderError(Kind.CUT_OFF, detail="idle for too long", sentence=SILENCE)


def _named(error: BaseException) -> str:
    """For the log: which error, and the one behind it. Their texts may hold addresses."""
    cause = error.__cause__
    return f"{type(error).__name__} ({type(cause).__name__})" if cause else type(error).__name__
