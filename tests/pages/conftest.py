"""People at the site, which has a model to speak with and a broker that nobody listens to."""

from __future__ import annotations

import pytest
from django.core.cache import cache
from django.test import Client

from accounts.models import User
from debates import sittings, views
from tests.browser import made

from .reading import browser_of


@pytest.fixture(autouse=True)
def site(settings) -> None:
    """A site that has a model to speak with, and limits that no other test has used up."""
    settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
    cache.clear()
    settings.LOCAL_MODEL_URL = "http://127.0.0.1:9/v1"
    settings.API_KEYS = {name: [] for name in settings.API_KEYS}


@pytest.fixture(autouse=True)
def hints(monkeypatch) -> list[int]:
    sent: list[int] = []
    monkeypatch.setattr(sittings, "send_hint", sent.append)
    return sent


@pytest.fixture(autouse=True)
def told(monkeypatch) -> list[tuple[int, str]]:
    heard: list[tuple[int, str]] = []
    monkeypatch.setattr(views, "tell", lambda debate, what: heard.append((debate, what)))
    return heard


@pytest.fixture
def alice(db) -> User:
    return made.user("alice@example.org")


@pytest.fixture
def owner(alice) -> Client:
    return browser_of(alice)


@pytest.fixture
def bob(db) -> Client:
    return browser_of(made.user("bob@example.org"))


@pytest.fixture
def visitor(db) -> Client:
    return Client()
