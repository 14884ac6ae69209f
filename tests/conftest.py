"""What all tests share. Servers come from `manage.py services`, or from the environment."""

import os

import pytest

# The browser tests' driver runs an event loop in the main thread, beside which Django's checks would refuse the ORM.
os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "1")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Slow things last: what is quick to tell should be told first."""
    items.sort(key=lambda item: [item.get_closest_marker(name) is not None for name in ("faults", "browser")])
