"""The writer's side of a debate's log (docs/live.md): frames go to Redis in one pipelined round trip about every
25 ms, for all debates of a process at once.

Writing is memory only. An outage of Redis is the flusher's business: what a failed flush held is sent again under the
same ids, and what is written meanwhile waits, deltas of one turn merged, so that it stays about as large as the text.
No frame comes near the 256 KB that a socket takes: a delta is what a model says in 25 ms, `text` and `turn` are
bounded by a speech's limits (some hundred words).
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import time
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Literal

import redis.asyncio
from django.conf import settings
from redis.asyncio.retry import Retry as PatientRetry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError, ResponseError
from redis.retry import Retry

logger = logging.getLogger(__name__)

Frame = dict[str, Any]

CONTROL = "control"
CONTROL_LENGTH = 1000
# Seconds: between two flushes, between two attempts in an outage, a log's life after its last event, and how often
# that is renewed.
INTERVAL = 0.025
PAUSE = 0.5
LIFE = 3600
RENEWAL = 60

# Python's own encoder is built anew at each call of json.dumps with options.
encode: Callable[[Any], str] = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=str).encode


def log_key(debate_pk: int) -> str:
    return f"debate:{debate_pk}:log"


def connect(socket_timeout: float) -> redis.asyncio.Redis:
    """A client that neither retries nor sleeps by itself: whoever holds it is supervised."""
    return redis.asyncio.Redis.from_url(
        settings.REDIS_URL, retry=PatientRetry(NoBackoff(), 0), socket_timeout=socket_timeout, socket_connect_timeout=1
    )


@cache
def client() -> redis.Redis:
    retry = Retry(NoBackoff(), 1)
    return redis.Redis.from_url(settings.REDIS_URL, retry=retry, socket_timeout=1, socket_connect_timeout=1)


def tell(debate_pk: int, what: Literal["wake", "access"]) -> None:
    """Tells every web process; call it once the change is committed. A lost message is logged: each process looks
    again at who may see what when its own connection to Redis comes back."""
    try:
        client().xadd(CONTROL, {"e": encode({"debate": debate_pk, "what": what})}, maxlen=CONTROL_LENGTH)
    except (RedisError, OSError) as error:
        logger.warning("could not tell of %s for debate %s: %s", what, debate_pk, error)


class Log:
    """One claim's part of a debate's log. Use it in its flusher's loop only."""

    def __init__(self, key: str, fence: int, flusher: Flusher) -> None:
        self.key = key
        self.fence = fence
        self.flusher = flusher
        self.n = 0
        self.written = self.taken = self.sent = 0
        self.waiting: dict[int, Frame] = {}
        self.deltas: dict[int, Frame] = {}
        self.latest: dict[tuple[str, int], int] = {}
        self.sending: list[tuple[str, bytes]] = []
        self.renew_at = 0.0

    def write(self, frame: Mapping[str, Any]) -> None:
        """Takes a frame without its id, of the shapes of docs/live.md; it never blocks and never raises."""
        self.written += 1
        if frame["t"] != "delta":
            self.put(dict(frame))
        elif not self.merged(frame):
            self.deltas[frame["number"]] = self.waiting[self.written] = dict(frame)
        self.flusher.notice(self)

    def merged(self, delta: Mapping[str, Any]) -> bool:
        """Whether the delta went into the one of its turn and attempt that waits and ends where it starts."""
        last = self.deltas.get(delta["number"])
        if not last or last["attempt"] != delta["attempt"] or last["offset"] + len(last["text"]) != delta["offset"]:
            return False
        last["text"] += delta["text"]
        return True

    def put(self, frame: Frame) -> None:
        """A `text` or `wait` says all that an older one of its turn said. Later deltas stay behind it."""
        if frame["t"] == "end":
            self.renew_at = 0.0
        if frame["t"] in ("text", "wait"):
            place = (frame["t"], frame["number"])
            self.waiting.pop(self.latest.get(place, 0), None)
            self.latest[place] = self.written
            self.deltas.pop(frame["number"], None)
        self.waiting[self.written] = frame

    def take(self) -> list[tuple[str, bytes]]:
        """What to send now: first, alone, and with the same ids, what a failed flush held."""
        if not self.sending:
            self.sending = [self.numbered(frame) for frame in self.waiting.values()]
            self.waiting, self.deltas, self.latest = {}, {}, {}
            self.taken = self.written
        return self.sending

    def numbered(self, frame: Frame) -> tuple[str, bytes]:
        self.n += 1
        entry = f"{self.fence}-{self.n}"
        return entry, encode({"id": entry, **frame}).encode("utf-8", "replace")

    def settle(self, answers: list[Any]) -> Exception | None:
        """Keeps what Redis didn't take, and returns why. "Equal or smaller" means that the entry had arrived, or that
        a younger claim writes this log now."""
        kept = [(entry, answer) for entry, answer in zip(self.sending, answers, strict=True) if refused(answer)]
        self.sending = [entry for entry, answer in kept]
        if not kept:
            self.sent = self.taken
        return kept[0][1] if kept else None

    def renewal(self, now: float) -> bool:
        """Whether the log's life has to be renewed: once a minute, and with the last event of a sitting."""
        if now < self.renew_at:
            return False
        self.renew_at = now + RENEWAL
        return True

    async def settled(self, timeout: float) -> bool:
        """Waits until all that was written so far is sent; False if that takes longer than `timeout` seconds."""
        target = self.written
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout):
                while self.sent < target:
                    await self.flusher.flushed.wait()
        return self.sent >= target


def refused(answer: Any) -> bool:
    arrived = isinstance(answer, ResponseError) and "equal or smaller" in str(answer)
    return isinstance(answer, Exception) and not arrived


class Flusher:
    """The one writer of a worker process, in its one event loop; it sleeps while there is nothing to send."""

    def __init__(self) -> None:
        self.full: dict[Log, None] = {}
        self.something = asyncio.Event()
        self.flushed = asyncio.Event()
        self.task: asyncio.Task[None] | None = None
        self.redis: redis.asyncio.Redis | None = None
        self.down = False

    def open(self, debate_pk: int, fence: int) -> Log:
        return Log(log_key(debate_pk), fence, self)

    def notice(self, log: Log) -> None:
        self.full[log] = None
        self.something.set()

    def start(self) -> None:
        self.redis = connect(socket_timeout=2)
        self.task = asyncio.create_task(self.run(self.redis), name="flusher")

    async def stop(self, timeout: float) -> None:
        """Sends what waits, for at most `timeout` seconds."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout):
                while self.full:
                    await self.flushed.wait()
        if self.task:
            self.task.cancel()
            await asyncio.gather(self.task, return_exceptions=True)
        if self.redis:
            await self.redis.aclose()

    async def run(self, client: redis.asyncio.Redis) -> None:
        while True:
            await self.something.wait()
            try:
                failure = await self.flush(client)
            except Exception as error:  # an outage has many faces, and a debate must survive each
                failure = error
            self.report(failure)
            await asyncio.sleep(PAUSE if failure else INTERVAL)

    async def flush(self, client: redis.asyncio.Redis) -> Exception | None:
        """One round trip for all logs. Whatever it raises or returns, nothing is lost: it is sent again."""
        now, logs = time.monotonic(), list(self.full)
        pipe = client.pipeline(transaction=False)
        for log in logs:
            for entry, body in log.take():
                pipe.execute_command("XADD", log.key, entry, "e", body)
        for log in logs:
            if log.renewal(now):
                pipe.execute_command("EXPIRE", log.key, LIFE)
        answers = iter(await pipe.execute(raise_on_error=False))
        failures = [log.settle([next(answers) for _ in log.sending]) for log in logs]
        self.rest(logs)
        return next((failure for failure in failures if failure), None)

    def rest(self, logs: list[Log]) -> None:
        """Forgets the logs that have nothing more to send, and wakes whoever waits for that."""
        for log in logs:
            if not log.sending and not log.waiting:
                self.full.pop(log, None)
        if not self.full:
            self.something.clear()
        self.flushed.set()
        self.flushed = asyncio.Event()

    def report(self, failure: Exception | None) -> None:
        """One line when an outage begins, one when it ends."""
        if failure and not self.down:
            logger.warning("Redis does not take the debates' logs, they wait: %s", failure)
        if not failure and self.down:
            logger.info("Redis takes the debates' logs again")
        self.down = failure is not None
