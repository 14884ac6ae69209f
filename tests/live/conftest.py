from __future__ import annotations

from collections.abc import Iterator

import pytest

from debates import log
from debates.models import Debate

from .servers import Daphne, Valkey
from .stage import make_debate


@pytest.fixture(scope="session")
def shared_valkey(tmp_path_factory) -> Iterator[Valkey]:
    valkey = Valkey(tmp_path_factory.mktemp("valkey"))
    valkey.start()
    yield valkey
    valkey.kill()


@pytest.fixture(scope="session")
def daphne(django_db_setup, django_db_blocker, shared_valkey, tmp_path_factory) -> Iterator[Daphne]:
    server = Daphne(shared_valkey.url, tmp_path_factory.mktemp("daphne") / "daphne.log")
    server.start()
    yield server
    server.stop()


@pytest.fixture
def valkey(shared_valkey, settings) -> Iterator[Valkey]:
    """A Valkey that may be flushed and killed; it runs again afterwards."""
    settings.REDIS_URL = shared_valkey.url
    log.client.cache_clear()
    yield shared_valkey
    if shared_valkey.process.poll() is not None:
        shared_valkey.start()
    log.client.cache_clear()


@pytest.fixture
def debate(transactional_db, valkey) -> Debate:
    return make_debate()
