"""The front page and the way from a claim to one's own debate."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.conf import settings
from playwright.sync_api import Page, expect

from tests.site import code_in, letter_to

from . import made
from .conftest import sign_in

STATIC = Path(__file__).resolve().parents[2] / "static"


def claim_field(page: Page):
    return page.get_by_label("What should be argued?")


def test_a_visitor_s_claim_survives_signing_up(page):
    page.goto("/")
    claim_field(page).fill(made.MOTION)
    page.get_by_text("A whole debate that only you can see").click()
    page.get_by_label("Anyone with the link can see it").check()
    page.get_by_role("button", name="Let them argue").click()
    expect(page.get_by_role("heading", name="Sign up")).to_be_visible()
    expect(page.get_by_text(made.MOTION)).to_be_visible()
    page.get_by_label("Email").fill("erin@example.org")
    page.get_by_label("Password").fill(made.PASSWORD)
    page.get_by_role("main").get_by_role("button", name="Sign up").click()
    expect(page.get_by_text(made.MOTION)).to_be_visible()
    page.get_by_label("Code").fill(code_in(letter_to("erin@example.org", Path(settings.EMAIL_FILE_PATH))))
    page.get_by_role("button", name="Confirm").click()
    expect(claim_field(page)).to_have_value(made.MOTION)
    expect(page.get_by_label("Anyone with the link can see it")).to_be_checked()


def test_a_refused_claim_is_still_in_its_field(page, alice):
    sign_in(page)
    page.goto("/new/")
    claim_field(page).fill("x" * 401)
    page.get_by_role("button", name="Let them argue").click()
    expect(page.get_by_role("alert")).to_have_text(re.compile("401 characters"))
    expect(claim_field(page)).to_have_value("x" * 401)


def test_my_debates_lead_to_each_of_mine(page, alice):
    debate = made.finished(alice)
    sign_in(page)
    page.get_by_role("link", name="My debates").click()
    page.get_by_role("link", name=made.MOTION).click()
    expect(page).to_have_url(re.compile(debate.token))


def test_share_gives_a_link_that_others_can_open(page, context, alice):
    debate = made.finished(alice)
    sign_in(page)
    page.goto(debate.get_absolute_url())
    page.locator(".share summary").click()
    page.get_by_label("Anyone with the link can see it").check()
    page.get_by_role("button", name="Save").click()
    page.locator(".share summary").click()
    page.get_by_role("button", name="Make a new link").click()
    expect(page).not_to_have_url(re.compile(debate.token))
    other = context.browser.new_context().new_page()
    other.goto(page.url)
    expect(other.get_by_role("heading", name=made.MOTION)).to_be_visible()
    other.context.close()


@pytest.mark.parametrize(("folder", "pattern", "most"), [("js", "**/*.js", 40_000), ("css", "**/*.css", 30_000)])
def test_what_a_page_loads_stays_small(folder, pattern, most):
    assert sum(path.stat().st_size for path in (STATIC / folder).glob(pattern)) <= most
