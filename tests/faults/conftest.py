from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.site import Site, Visitor


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    site = Site(tmp_path_factory.mktemp("site"))
    try:
        site.start()
        yield site
    finally:
        site.stop()


@pytest.fixture(scope="module")
def alice(site: Site) -> Visitor:
    return Visitor(site).sign_up("alice@example.org")
