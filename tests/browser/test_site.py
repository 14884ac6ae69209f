"""From the front page to a verdict, on the whole site: every process is real, only the model is scripted."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.site import MOTION, PASSWORD, Site, code_in, letter_to

pytestmark = pytest.mark.faults


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    site = Site(tmp_path_factory.mktemp("site"))
    try:
        site.start()
        yield site
    finally:
        site.stop()


def arrive(browser: Browser, site: Site, pace: str) -> Page:
    page = browser.new_context(base_url=site.url).new_page()
    page.goto("/")
    page.evaluate("pace => localStorage.setItem('pace', pace)", pace)
    return page


def sign_up(page: Page, site: Site, email: str) -> None:
    page.goto("/account/signup/")
    page.get_by_label("Email").fill(email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("main").get_by_role("button", name="Sign up").click()
    expect(page.get_by_role("heading", name="Confirm your address")).to_be_visible()
    page.get_by_label("Code", exact=True).fill(code_in(letter_to(email, site.var / "mail")))
    page.get_by_role("button", name="Confirm", exact=True).click()
    expect(page.get_by_role("link", name="My debates")).to_be_visible()


def argue(page: Page, length: str, claim: str = MOTION) -> str:
    """Starts a debate that anyone with the link can see; its token."""
    page.goto("/new/")
    page.get_by_label(length).check()
    page.get_by_label("What should be argued?").fill(claim)
    page.get_by_label("Anyone with the link can see it").check()
    page.get_by_role("button", name="Let them argue").click()
    expect(page.get_by_role("heading", name=claim)).to_be_visible()
    return page.url.split("/d/")[1].strip("/")


def test_two_browsers_end_with_the_same_text(browser: Browser, site: Site):
    alice, visitor = arrive(browser, site, "4"), arrive(browser, site, "instant")
    sign_up(alice, site, "alice@example.org")
    token = argue(alice, "Whole")
    expect(alice.locator("#turn-1 .said")).not_to_be_empty(timeout=40_000)
    visitor.goto(f"/d/{token}/")
    for page in (alice, visitor):
        expect(page.locator("#verdicts .verdict")).to_be_visible(timeout=60_000)
    texts = [page.locator("#transcript").inner_text() for page in (alice, visitor)]
    assert texts[0] == texts[1]
    for number, text in site.turns(token):
        if alice.locator(f"#turn-{number} .speech").is_visible():
            assert text in texts[0]
    alice.get_by_role("link", name="My debates").click()
    expect(alice.get_by_role("link", name=MOTION)).to_be_visible()
    for page in (alice, visitor):
        page.context.close()


def test_stop_keeps_what_was_said_and_go_on_takes_it_up(browser: Browser, site: Site):
    page = arrive(browser, site, "instant")
    sign_up(page, site, "bob@example.org")
    site.script({"otherwise": {"rate": 25}})
    token = argue(page, "Short")
    expect(page.locator("#turn-1 .said")).not_to_be_empty(timeout=40_000)
    page.locator("#player").get_by_role("button", name="Stop").click()
    site.until_state(token, "stopped")
    expect(page.locator("#sentence")).to_have_text("Stopped.")
    page.get_by_role("button", name="Go on").click()
    expect(page.locator("#verdicts .verdict")).to_be_visible(timeout=90_000)
    page.context.close()
