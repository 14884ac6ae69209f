"""What all tests share. Servers come from `manage.py services`, or from the environment."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from .site import Site, Visitor

# The browser tests' driver runs an event loop in the main thread, beside which Django's checks would refuse the ORM.
os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "1")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Slow things last: what is quick to tell should be told first. The browser's driver keeps an event loop running
    in this thread, so nothing that runs one of its own may follow it."""
    items.sort(key=lambda item: [item.get_closest_marker(name) is not None for name in ("browser", "faults")])


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The whole site as real processes, started once; a test that breaks something mends it."""
    site = Site(tmp_path_factory.mktemp("site"))
    try:
        site.start()
        yield site
    finally:
        site.stop()


@pytest.fixture(scope="session")
def alice(site: Site) -> Visitor:
    return Visitor(site).sign_up("alice@example.org")
