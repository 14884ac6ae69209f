"""A first round that is being spoken, and what a page shows of it."""

from __future__ import annotations

import re

from playwright.sync_api import Page, WebSocketRoute, expect

from debates.models import Debate

from .live import Live

SLOTS = [
    {"number": 1, "bench": "proposition", "kind": "opening"},
    {"number": 2, "bench": "opposition", "kind": "opening"},
]
ROUND = {"t": "round", "round": 1, "name": "Opening", "instruction": "", "slots": SLOTS}
LONG = "A street is the most expensive room a city owns. " * 12


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


def text_of(page: Page) -> list[str]:
    return [page.locator(part).inner_text() for part in ("#rail", "#transcript", "#verdicts")]


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


def play_out(speaking: Speaking, first: str = "One side.", second: str = "The other side.") -> None:
    speaking.start(1, 2)
    speaking.say(1, first)
    speaking.say(2, second)
    speaking.seal(1)
    speaking.seal(2)
    speaking.finish()


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
