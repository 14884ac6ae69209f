"""Reading at one's own pace: the player, following, and the page at every width."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, WebSocket, expect

from debates.models import Debate

from . import made
from .speaking import LONG, said, text_of, watch


class TestPlayer:
    @pytest.fixture
    def finished(self, alice) -> Debate:
        return made.finished(alice, visibility="link")

    def test_a_finished_debate_opens_no_socket(self, page, finished):
        sockets: list[WebSocket] = []
        page.on("websocket", lambda socket: sockets.append(socket))
        page.goto(finished.get_absolute_url())
        expect(page.get_by_role("button", name="Replay")).to_be_visible()
        assert sockets == []

    def test_a_replay_types_the_same_words_and_ends_in_the_verdict(self, page, finished):
        page.goto(finished.get_absolute_url())
        before = text_of(page)
        page.get_by_role("button", name="Replay").click()
        expect(page.locator("#verdicts")).to_be_hidden()
        expect(page.locator("#turn-4")).to_be_hidden()
        expect(page.locator("#turn-1.speaking")).to_be_visible()
        page.get_by_role("button", name="verdict").click()
        expect(page.locator("#verdicts .verdict")).to_be_in_viewport()
        assert text_of(page) == before
        expect(page.get_by_role("button", name="Replay")).to_be_visible()

    def test_a_turn_can_be_skipped_and_typing_paused(self, page, finished):
        page.goto(finished.get_absolute_url())
        page.get_by_role("button", name="Replay").click()
        page.get_by_role("button", name="Pause").click()
        expect(page.locator("#pause")).to_have_attribute("aria-pressed", "true")
        typed = said(page, 1)
        page.get_by_role("button", name="Skip").click()
        expect(page.locator("#turn-1 .unsaid")).to_be_empty()
        assert len(said(page, 1)) > len(typed)
        assert said(page, 2) == ""
        page.get_by_role("button", name="Pause").click()
        expect(page.locator("#turn-2 .said")).not_to_be_empty()

    def test_the_pace_is_remembered(self, page, finished):
        page.goto(finished.get_absolute_url())
        page.get_by_role("button", name="Replay").click()
        page.locator("[name=pace][value='4']").check()
        page.reload()
        page.get_by_role("button", name="Replay").click()
        expect(page.locator("[name=pace][value='4']")).to_be_checked()

    def test_nothing_is_typed_for_who_wants_no_motion(self, context, page, finished):
        page.emulate_media(reduced_motion="reduce")
        page.goto(finished.get_absolute_url())
        page.get_by_role("button", name="Replay").click()
        expect(page.locator("#verdicts .verdict")).to_be_visible(timeout=500)

    def test_a_hidden_tab_has_everything_at_once_when_it_is_looked_at_again(self, page, debate, speaking):
        watch(page, debate, pace="0.5")
        speaking.start(1, 2)
        speaking.say(1, LONG)
        expect(page.locator("#turn-1 .said")).not_to_be_empty()
        hide(page, True)
        speaking.say(1, LONG)
        expect(page.locator("#turn-1 .speech")).to_have_text(LONG + LONG)
        hide(page, False)
        expect(page.locator("#turn-1 .unsaid")).to_be_empty(timeout=500)

    def test_words_not_typed_yet_are_there_for_copying(self, page, finished):
        page.goto(finished.get_absolute_url())
        page.get_by_role("button", name="Replay").click()
        page.locator("#turn-1 .speech").evaluate("node => getSelection().selectAllChildren(node)")
        assert page.evaluate("getSelection().toString()") == made.SPEECHES[0][2]

    def test_it_can_be_played_by_keyboard_alone(self, page, finished):
        page.goto(finished.get_absolute_url())
        page.get_by_role("button", name="Replay").focus()
        page.keyboard.press("Enter")
        page.locator("#skip").focus()
        page.keyboard.press("Space")
        expect(page.locator("#turn-1 .unsaid")).to_be_empty()
        page.locator("[name=pace]:checked").focus()
        page.keyboard.press("ArrowRight")
        expect(page.locator("[name=pace][value='2']")).to_be_checked()

    def test_it_is_complete_without_a_script(self, browser, server, finished):
        context = browser.new_context(base_url=server, java_script_enabled=False)
        page = context.new_page()
        page.goto(finished.get_absolute_url())
        for _, _, text in made.SPEECHES:
            expect(page.locator("#transcript")).to_contain_text(text)
        expect(page.locator("#verdicts .headline")).to_be_visible()
        expect(page.locator("#player")).to_be_hidden()
        context.close()


def hide(page: Page, hidden: bool) -> None:
    """A tab that is put into the background, as the page sees it."""
    page.evaluate(
        "hidden => { Object.defineProperty(document, 'hidden', { get: () => hidden, configurable: true });"
        " document.dispatchEvent(new Event('visibilitychange')) }",
        hidden,
    )


class TestFollowing:
    def test_it_follows_a_reader_who_stays_and_lets_go_of_one_who_scrolls_up(self, page, debate, speaking):
        page.set_viewport_size({"width": 800, "height": 500})
        watch(page, debate)
        speaking.start(1, 2)
        latest = page.get_by_role("button", name="Jump to latest")
        for _ in range(6):
            speaking.say(1, LONG)
        expect(page.locator("#turn-1 .said")).to_have_text(LONG * 6)
        assert page.evaluate("scrollY") > 200
        expect(latest).to_be_hidden()
        page.mouse.wheel(0, -400)
        expect(latest).to_be_visible()
        where = page.evaluate("scrollY")
        speaking.say(1, LONG)
        expect(page.locator("#turn-1 .said")).to_have_text(LONG * 7)
        assert page.evaluate("scrollY") == where
        latest.click()
        expect(latest).to_be_hidden()
        assert page.evaluate("scrollY") > where

    def test_who_joins_late_is_left_at_the_top(self, page, debate, speaking):
        page.set_viewport_size({"width": 800, "height": 500})
        speaking.start(1, 2)
        speaking.say(1, LONG * 5)
        watch(page, debate)
        expect(page.locator("#turn-1 .said")).to_have_text(LONG * 5)
        assert page.evaluate("scrollY") == 0
        expect(page.get_by_role("button", name="Jump to latest")).to_be_visible()


@pytest.mark.parametrize("width", [320, 360, 768, 1280])
@pytest.mark.parametrize("motion", [made.MOTION, "يجب على المدن حظر السيارات الخاصة في مراكزها", "x" * 400])
def test_nothing_is_wider_than_the_window(page, alice, width, motion):
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(made.finished(alice, motion=motion, visibility="link").get_absolute_url())
    page.get_by_role("button", name="Replay").click()
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_right_to_left_debate_runs_from_the_right(page, alice):
    page.goto(made.finished(alice, motion="يجب على المدن حظر السيارات", visibility="link").get_absolute_url())
    first, second = (page.locator(f"#turn-{number}").bounding_box() for number in (1, 2))
    assert first["x"] > second["x"]
