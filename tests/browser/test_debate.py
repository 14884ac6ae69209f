"""The debate's page, live and finished, as a reader meets it."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, WebSocket, WebSocketRoute, expect

from debates.models import Debate, Sitting, verdict_frame

from . import made
from .conftest import Live, sign_in

SLOTS = [
    {"number": 1, "bench": "proposition", "kind": "opening"},
    {"number": 2, "bench": "opposition", "kind": "opening"},
]
ROUND = {"t": "round", "round": 1, "name": "Opening", "instruction": "", "slots": SLOTS}
LONG = "A street is the most expensive room a city owns. " * 12
# Notes what is on the page in every animation frame, for what must never be seen even once.
WATCH = """() => {
  window.seen = { early: false, frames: 0 };
  const look = () => {
    const unsaid = [...document.querySelectorAll(".unsaid")].some((node) => node.textContent);
    const verdict = document.querySelector("#verdicts .verdict")?.checkVisibility();
    window.seen.frames += 1;
    if (unsaid && verdict) window.seen.early = true;
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}"""


@pytest.fixture
def debate(alice) -> Debate:
    return made.debate(alice, visibility="link")


def said(page: Page, number: int) -> str:
    """The words that are typed already."""
    return page.locator(f"#turn-{number} .said").inner_text()


def arrived(page: Page, number: int) -> str:
    """The words that are on the page, typed or not."""
    return page.locator(f"#turn-{number} .speech").evaluate("node => node.textContent")


def at_pace(page: Page, pace: str) -> None:
    page.evaluate("pace => localStorage.setItem('pace', pace)", pace)


def watch(page: Page, debate: Debate, pace: str = "instant") -> None:
    """Opens the page and waits until it has its snapshot."""
    page.goto("/")
    at_pace(page, pace)
    page.goto(debate.get_absolute_url())
    expect(page.locator("#now")).not_to_have_text("Connecting.")


class Speaking:
    """A first round that is being spoken."""

    def __init__(self, live: Live, debate: Debate) -> None:
        self.live, self.debate = live, debate
        self.stage = live.claim(debate)
        live.tell(self.stage, ROUND)

    def start(self, *numbers: int, attempt: int = 1) -> None:
        for number in numbers:
            about = SLOTS[number - 1] | {"attempt": attempt, "round": 1, "round_name": "Opening"}
            self.stage.open[number] = about | {"text": ""}
            self.live.tell(self.stage, {"t": "start"} | about)

    def say(self, number: int, text: str) -> None:
        self.stage.say(number, text)
        self.live.tell(self.stage)

    def seal(self, number: int) -> None:
        self.live.do(self.stage.seal(number))
        self.live.tell(self.stage)

    def finish(self) -> None:
        self.live.do(self.stage.finish())
        self.live.tell(self.stage)


class Line:
    """The page's connection, which can be cut."""

    def __init__(self, page: Page) -> None:
        self.whole = True
        self.ends: list[WebSocketRoute] = []
        page.route_web_socket(re.compile("/ws/"), self.connect)

    def connect(self, page_end: WebSocketRoute) -> None:
        if not self.whole:
            page_end.close(code=1011)
            return
        page_end.connect_to_server()
        self.ends.append(page_end)

    def cut(self) -> None:
        self.whole = False
        self.ends[-1].close(code=1011)

    def mend(self) -> None:
        self.whole = True


@pytest.fixture
def speaking(live: Live, debate: Debate) -> Speaking:
    return Speaking(live, debate)


def play_out(speaking: Speaking, first: str = "One side.", second: str = "The other side.") -> None:
    speaking.start(1, 2)
    speaking.say(1, first)
    speaking.say(2, second)
    speaking.seal(1)
    speaking.seal(2)
    speaking.finish()


class TestLive:
    def test_words_arrive_as_they_are_spoken_and_the_verdict_at_the_end(self, page, debate, speaking):
        watch(page, debate)
        speaking.start(1, 2)
        speaking.say(1, "A street is ")
        expect(page.locator("#turn-1 .said")).to_have_text("A street is ")
        speaking.say(1, "a room.")
        expect(page.locator("#turn-1 .said")).to_have_text("A street is a room.")
        speaking.say(2, "A ban is a promise.")
        speaking.seal(2)
        speaking.seal(1)
        expect(page.locator("#verdicts .verdict")).to_have_count(0)
        speaking.finish()
        expect(page.locator("#verdicts .headline")).to_have_text("Too close to call")
        expect(page.locator("#player")).to_be_hidden()

    def test_one_speech_is_typed_at_a_time_and_the_others_say_where_they_are(self, page, debate, speaking):
        watch(page, debate, pace="0.5")
        speaking.start(1)
        speaking.say(1, "Once. ")
        doing = page.locator("#turn-2 .doing")
        expect(doing).to_have_text("waiting")
        speaking.start(2)
        expect(doing).to_have_text("writing")
        speaking.say(2, LONG)
        speaking.seal(2)
        expect(doing).to_have_text("ready")
        assert said(page, 2) == ""
        assert arrived(page, 2) == LONG
        expect(page.locator("#now")).to_have_text("The proposition is speaking.")

    def test_the_verdict_is_never_there_before_the_last_word(self, page, debate, speaking):
        page.add_init_script(f"({WATCH})()")
        watch(page, debate, pace="1")
        play_out(speaking, LONG, LONG)
        expect(page.locator("#verdicts .verdict")).to_be_visible()
        assert said(page, 2) == LONG
        assert page.evaluate("window.seen.early") is False
        assert page.evaluate("window.seen.frames") > 10

    def test_a_new_attempt_replaces_the_old_words(self, page, debate, speaking):
        watch(page, debate)
        speaking.start(1)
        speaking.say(1, "What I mean is")
        expect(page.locator("#turn-1 .said")).to_have_text("What I mean is")
        speaking.start(1, attempt=2)
        speaking.say(1, "Better")
        expect(page.locator("#turn-1 .said")).to_have_text("Better")

    def test_a_late_joiner_has_at_once_what_was_said_and_then_the_rest(self, page, debate, speaking):
        speaking.start(1, 2)
        speaking.say(1, "First.")
        speaking.seal(1)
        speaking.say(2, LONG)
        watch(page, debate, pace="1")
        expect(page.locator("#turn-2 .said")).to_have_text(LONG, timeout=1_000)
        speaking.say(2, "The end.")
        speaking.seal(2)
        speaking.finish()
        expect(page.locator("#verdicts .verdict")).to_be_visible()
        assert (said(page, 1), said(page, 2)) == ("First.", LONG + "The end.")

    def test_a_refresh_in_mid_turn_loses_nothing(self, page, debate, speaking):
        watch(page, debate)
        speaking.start(1, 2)
        speaking.say(1, "Before, ")
        expect(page.locator("#turn-1 .said")).to_have_text("Before, ")
        page.reload()
        speaking.say(1, "after.")
        expect(page.locator("#turn-1 .said")).to_have_text("Before, after.")

    def test_a_lost_connection_is_said_and_caught_up_with(self, page, debate, speaking):
        line = Line(page)
        watch(page, debate)
        speaking.start(1, 2)
        speaking.say(1, "Before, ")
        expect(page.locator("#turn-1 .said")).to_have_text("Before, ")
        line.cut()
        expect(page.locator("#now")).to_have_text("Connection lost. Catching up as soon as it is back.")
        speaking.say(1, "meanwhile.")
        speaking.seal(1)
        line.mend()
        expect(page.locator("#turn-1 .said")).to_have_text("Before, meanwhile.")
        expect(page.locator("#turn-1[data-sealed]")).to_have_count(1)

    def test_why_nothing_is_said_is_said(self, page, debate, speaking):
        watch(page, debate)
        speaking.start(1)
        speaking.live.tell(speaking.stage, {"t": "wait", "number": 1, "reason": "The key is cooling for 12 s."})
        expect(page.locator("#now")).to_have_text("The key is cooling for 12 s.")

    def test_a_speech_that_fails_keeps_its_words_and_its_reason(self, page, debate, speaking):
        sign_in(page)
        watch(page, debate)
        speaking.start(1, 2)
        speaking.say(1, "So far so")
        sentence = "The proposition's model could not be reached."
        failed = {"t": "failed", "number": 1, "bench": "proposition", "kind": "network", "sentence": sentence}
        speaking.live.tell(speaking.stage, failed | {"text": "So far so"})
        made.end(Sitting.objects.get(), "failed", failure=sentence)
        end = {"t": "end", "sitting": speaking.stage.sitting.pk, "state": "failed", "sentence": sentence}
        speaking.live.tell(speaking.stage, end)
        expect(page.locator("#turn-1 .note")).to_have_text(f"Broken off here, not counted. {sentence}")
        expect(page.locator("#sentence")).to_have_text(sentence)
        assert said(page, 1) == "So far so"
        page.get_by_role("button", name="Go on").click()
        expect(page.locator("#now")).to_have_text("Waiting to be taken up.")

    def test_a_debate_that_is_made_private_goes_away_for_those_who_watch(self, page, context, debate, speaking):
        watch(page, debate)
        owner = context.browser.new_context(base_url=page.url.split("/d/")[0]).new_page()
        sign_in(owner)
        owner.goto(debate.get_absolute_url())
        owner.locator(".share summary").click()
        owner.get_by_label("Only I can see it").check()
        owner.get_by_role("button", name="Save").click()
        expect(page.locator("#now")).to_have_text("This debate can't be seen here any more.")
        owner.context.close()

    @pytest.mark.hard_case("B84")
    def test_markup_in_speech_stays_text_however_it_is_cut(self, page, debate, speaking):
        watch(page, debate)
        hostile = "<img src=x onerror=alert(1)><svg/onload=alert(1)></script><script>alert(1)</script> &lt;b&gt;"
        speaking.start(1, 2)
        for character in hostile:
            speaking.stage.say(1, character)
        speaking.live.tell(speaking.stage)
        expect(page.locator("#turn-1 .said")).to_have_text(hostile)
        assert page.locator("#transcript :is(img, script, b b)").count() == 0

    def test_the_live_page_ends_as_the_loaded_one_looks(self, page, debate, speaking):
        watch(page, debate)
        play_out(speaking, "One <b>side</b>.\n\nTwice.", "👩‍👩‍👧‍👦 The other.")
        expect(page.locator("#verdicts .verdict")).to_be_visible()
        lively = text_of(page)
        page.reload()
        assert text_of(page) == lively

    @pytest.mark.parametrize("width", [360, 1280])
    def test_nothing_moves_while_it_is_typed(self, page, debate, speaking, width):
        page.add_init_script(
            "window.moved = 0; new PerformanceObserver((list) => { for (const shift of list.getEntries())"
            " if (!shift.hadRecentInput) moved += shift.value }).observe({ type: 'layout-shift', buffered: true })"
        )
        page.set_viewport_size({"width": width, "height": 800})
        watch(page, debate, pace="1")
        speaking.start(1, 2)
        for _ in range(4):
            speaking.say(1, LONG[:120])
            speaking.say(2, LONG[:120])
            expect(page.locator("#turn-1 .unsaid")).to_be_empty()
        speaking.seal(1)
        speaking.seal(2)
        speaking.finish()
        expect(page.locator("#verdicts .verdict")).to_be_visible()
        assert page.evaluate("moved") < 0.02

    def test_it_says_turns_and_the_verdict_to_screen_readers_and_no_single_word(self, page, debate, speaking):
        page.add_init_script(
            "window.spoken = []; addEventListener('DOMContentLoaded', () => { const said = document.querySelector"
            "('#announcer'); said && new MutationObserver(() => spoken.push(said.textContent)).observe(said, "
            "{ childList: true }) })"
        )
        watch(page, debate)
        assert page.locator("#transcript").get_attribute("aria-live") == "off"
        play_out(speaking)
        expect(page.locator("#announcer")).to_contain_text("Too close to call")
        spoken = page.evaluate("spoken")
        assert len(spoken) <= 3
        assert any("finished" in sentence for sentence in spoken)


def text_of(page: Page) -> list[str]:
    return [page.locator(part).inner_text() for part in ("#rail", "#transcript", "#verdicts")]


class TestJudgedAgain:
    def test_a_fresh_judgement_stands_before_the_old_one(self, page, live, alice):
        debate = made.finished(alice, visibility="link")
        sign_in(page)
        page.goto(debate.get_absolute_url())
        page.get_by_role("button", name="Judge again").click()
        expect(page.locator("#now")).to_have_text("Waiting to be taken up.")
        expect(page.locator("#verdicts .verdict")).to_have_count(1)
        stage = live.claim(debate)
        slots = [{"number": number, "bench": "judge", "kind": "ballot"} for number in (7, 8)]
        live.tell(stage, ROUND | {"name": "Ballots", "slots": slots})
        expect(page.locator("#now")).to_have_text("The judge is weighing both sides.")
        verdict = made.verdict(stage.sitting, version=2, outcome="too_close", winner=None, confidence=50)
        made.end(stage.sitting)
        end = {"t": "end", "sitting": stage.sitting.pk, "state": "done", "sentence": ""}
        live.tell(stage, {"t": "verdict", "verdict": verdict_frame(verdict)}, end)
        headings = page.locator("#verdicts .verdict h2")
        expect(headings).to_have_text(["Verdict, version 2", "Verdict"], ignore_case=True)
        expect(page.locator("#verdicts form")).to_have_count(1)
        expect(page.locator("#turn-4 .said")).to_have_text(made.SPEECHES[3][2])


class TestVerdict:
    """The card that the script makes of a frame is the one that the server renders."""

    @pytest.mark.parametrize(
        "fields",
        [
            {},
            {"outcome": "too_close", "winner": None, "confidence": 50, "reason": "The judge contradicted itself."},
            {"outcome": "unjudged", "winner": None, "scores": None, "confidence": None, "reason": "?", "details": {}},
            {"confidence": 95, "scores": {"proposition": 0, "opposition": 100}, "details": {"small_judge": True}},
            {
                "confidence": None,
                "details": {"strongest": {"side": "opposition", "quote": "Unplaced."}, "ballots": [{}]},
            },
            {"details": {"ballots": [{"number": 5, "winner": None, "confidence": 60, "reconciled": {"from": "none"}}]}},
        ],
    )
    def test_live_and_loaded_are_the_same(self, page, debate, speaking, fields):
        watch(page, debate)
        speaking.start(1, 2)
        speaking.say(1, "One.")
        speaking.seal(1)
        speaking.seal(2)
        verdict = made.verdict(speaking.stage.sitting, **fields)
        made.end(speaking.stage.sitting)
        end = {"t": "end", "sitting": speaking.stage.sitting.pk, "state": "done", "sentence": ""}
        speaking.live.tell(speaking.stage, {"t": "verdict", "verdict": verdict_frame(verdict)}, end)
        lively = card_of(page)
        page.reload()
        assert card_of(page) == lively


def card_of(page: Page) -> list:
    card = page.locator("#verdicts .verdict")
    expect(card).to_be_visible()
    summary = card.locator("summary")
    if summary.is_visible():
        summary.click()
    rects = card.locator("rect").evaluate_all(
        "all => all.map((one) => [one.getAttribute('x') ?? '', one.className.baseVal])"
    )
    links = card.locator("a[href]").evaluate_all("all => all.map((one) => one.getAttribute('href'))")
    classes = sorted((card.get_attribute("class") or "").split())
    return [card.inner_text(), rects if card.locator(".scores").is_visible() else [], links, classes]


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
