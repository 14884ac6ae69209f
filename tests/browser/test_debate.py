"""The debate's page while the debate is being spoken."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from debates.models import Sitting, verdict_frame

from . import made
from .conftest import sign_in
from .speaking import LONG, ROUND, Line, arrived, play_out, said, text_of, watch

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
