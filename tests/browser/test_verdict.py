"""The verdict's card."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from debates.models import verdict_frame

from . import made
from .speaking import watch


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
