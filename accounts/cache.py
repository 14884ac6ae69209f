"""The site's cache, which holds the limits of sign-in. While Redis is away each process counts in its own memory:
nobody is locked out, nothing answers 500, and guessing passwords stays slow."""

from __future__ import annotations

import logging
import time
from typing import Any

from django.core.cache.backends.base import DEFAULT_TIMEOUT
from django.core.cache.backends.locmem import LocMemCache
from django.core.cache.backends.redis import RedisCache
from redis.exceptions import RedisError

PAUSE = 5.0  # seconds without asking Redis again: a dead host costs a second a question
log = logging.getLogger(__name__)


class RedisOrMemory(RedisCache):
    away_until = 0.0  # by the monotonic clock, for the whole process

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        super().__init__(server, params)
        self._memory = LocMemCache("while Redis is away", {})

    def _either(self, verb: str, *words: Any, **named: Any) -> Any:
        if time.monotonic() >= RedisOrMemory.away_until:
            try:
                return getattr(super(), verb)(*words, **named)
            except RedisError as error:
                RedisOrMemory.away_until = time.monotonic() + PAUSE
                log.warning("Redis is away, limits are counted in this process: %s", error)
        return getattr(self._memory, verb)(*words, **named)

    def add(self, key: Any, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None) -> bool:
        return self._either("add", key, value, timeout, version)

    def get(self, key: Any, default: Any = None, version: int | None = None) -> Any:
        return self._either("get", key, default, version)

    def set(self, key: Any, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None) -> None:
        self._either("set", key, value, timeout, version)

    def touch(self, key: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None) -> bool:
        return self._either("touch", key, timeout, version)

    def delete(self, key: Any, version: int | None = None) -> bool:
        return self._either("delete", key, version)

    def has_key(self, key: Any, version: int | None = None) -> bool:
        return self._either("has_key", key, version)

    def incr(self, key: Any, delta: int = 1, version: int | None = None) -> int:
        return self._either("incr", key, delta, version)

    def get_many(self, keys: Any, version: int | None = None) -> dict[Any, Any]:
        return self._either("get_many", keys, version)

    def set_many(self, data: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None) -> list[Any]:
        return self._either("set_many", data, timeout, version)

    def delete_many(self, keys: Any, version: int | None = None) -> None:
        self._either("delete_many", keys, version)

    def clear(self) -> None:
        self._either("clear")
