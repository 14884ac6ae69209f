"""A real Chromium before a real Daphne. Rows come from the ORM and frames from a real flusher, in a loop of its own:
the driver of the browser runs one in this thread."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from accounts.models import User
from debates.models import Debate
from tests.live.servers import Daphne, Valkey

from . import made
from .live import Live
from .speaking import Speaking

SWITCHES = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update"),
]
expect.set_options(timeout=15_000)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "/browser/" in str(item.path):
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    chromium = shutil.which("chromium")
    if chromium is None:
        absent = pytest.fail if os.environ.get("CI") == "true" else pytest.skip
        absent("NO CHROMIUM: the tests of the pages can't run. On Debian: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=SWITCHES)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def valkey(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Valkey]:
    valkey = Valkey(tmp_path_factory.mktemp("valkey"))
    valkey.start()
    yield valkey
    valkey.kill()


@pytest.fixture(scope="session")
def server(django_db_setup, valkey: Valkey, tmp_path_factory) -> Iterator[str]:
    """The address of the site, on the tests' database."""
    daphne = Daphne(valkey.url, tmp_path_factory.mktemp("daphne") / "daphne.log")
    daphne.start()
    yield f"http://127.0.0.1:{daphne.port}"
    daphne.stop()


@pytest.fixture
def context(browser: Browser, server: str, transactional_db) -> Iterator[BrowserContext]:
    """A browser's profile. A test in it fails if a page of ours raises, or breaks its own content policy."""
    context = browser.new_context(base_url=server, viewport={"width": 1280, "height": 800})
    troubles: list[str] = []
    context.on("weberror", lambda error: troubles.append(str(error.error)))
    context.on("console", lambda told: troubles.append(told.text) if "Content Security Policy" in told.text else None)
    yield context
    context.close()
    assert not troubles


@pytest.fixture
def page(context: BrowserContext) -> Page:
    return context.new_page()


@pytest.fixture
def alice(transactional_db) -> User:
    return made.user()


def sign_in(page: Page, email: str = "alice@example.org") -> None:
    page.goto("/account/login/")
    page.get_by_label("Email").fill(email)
    page.get_by_label("Password").fill(made.PASSWORD)
    page.get_by_role("main").get_by_role("button", name="Sign in", exact=True).click()
    expect(page.get_by_role("link", name="My debates")).to_be_visible()


@pytest.fixture
def live(valkey: Valkey, settings) -> Iterator[Live]:
    settings.REDIS_URL = valkey.url
    live = Live()
    yield live
    live.stop()


@pytest.fixture
def debate(alice: User) -> Debate:
    return made.debate(alice, visibility="link")


@pytest.fixture
def speaking(live: Live, debate: Debate) -> Speaking:
    return Speaking(live, debate)
