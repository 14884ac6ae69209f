"""What a visitor sees first: a sample that plays at once, without an account and without a model."""

from __future__ import annotations

import re

import pytest
from django.core.management import call_command
from playwright.sync_api import Page, expect

from debates.documents import read
from debates.samples import sample_files, sample_tokens


@pytest.fixture
def first(transactional_db):
    call_command("load_samples")
    return read(sample_files()[0].read_bytes())


def said(page: Page, number: int):
    return page.locator(f"#turn-{number} .said")


def at_once(page: Page) -> None:
    """Chooses the pace without moving the page, as a click of Playwright's would."""
    page.locator('[name="pace"][value="instant"]').evaluate("radio => radio.click()")
    expect(page.locator("#verdicts")).to_be_visible()


def test_a_sample_plays_at_once_and_says_what_it_is(page, first):
    page.goto("/")
    expect(page.get_by_text("Hand-written sample").first).to_be_visible()
    expect(said(page, 1)).to_have_text(re.compile(r"\w+ \w+ \w+"))
    assert len(said(page, 1).inner_text()) < len(first.turns[0].text), "it is typed, not pasted"
    expect(page.locator("#verdicts")).to_be_hidden()


def test_a_playing_sample_leaves_the_reader_where_they_are(page, first):
    page.goto("/")
    page.get_by_label("What should be argued?").fill("Typing while it plays")
    at_once(page)
    assert page.evaluate("scrollY") == 0
    expect(page.get_by_role("button", name="Jump to latest")).to_be_hidden()
    expect(page.get_by_label("What should be argued?")).to_have_value("Typing while it plays")


def test_at_once_shows_every_word_of_it(page, first):
    page.goto("/")
    at_once(page)
    for turn in first.turns:
        if turn.kind in ("opening", "last_word"):
            expect(said(page, turn.number)).to_have_text(turn.text, use_inner_text=False)


def test_it_is_there_without_a_script(browser, server, first):
    context = browser.new_context(base_url=server, java_script_enabled=False)
    page = context.new_page()
    page.goto("/")
    expect(said(page, 1)).to_have_text(first.turns[0].text)
    expect(page.locator("#verdicts")).to_be_visible()
    context.close()


def test_reduced_motion_shows_it_whole(browser, server, first):
    context = browser.new_context(base_url=server, reduced_motion="reduce")
    page = context.new_page()
    page.goto("/")
    expect(said(page, 1)).to_have_text(first.turns[0].text)
    expect(page.locator("#verdicts")).to_be_visible()
    context.close()


def test_another_sample_is_in_another_language_and_plays_on_its_own_page(page, first):
    page.goto("/")
    place = [path.stem for path in sample_files()].index("briefe-verbrennen")
    page.get_by_role("link", name=read(sample_files()[place].read_bytes()).motion).click()
    expect(page).to_have_url(re.compile(sample_tokens()[place]))
    page.get_by_role("button", name="Replay").click()
    expect(page.locator("#verdicts")).to_be_hidden()


def test_a_recorded_run_says_so(page, first):
    page.goto("/")
    expect(page.get_by_text("Recorded run, Qwen 1.5B, 30 November 2026")).to_be_visible()
