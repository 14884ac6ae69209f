"""static/js/debate/reducer.js against the server's own fold of the log, in the browser that will run it."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from debates.board import Board
from debates.snapshots import Past

WORDS = ["a street ", "naïve ", "👩‍👩‍👧 ", "𝔘nicode ", "مراكز ", "it bends. ", "e\u0301 ", "\n", "<b>no</b> "]
STRAIGHT = """async ({frames}) => {
  const { begin, reduce, heardTo } = await import("/static/js/debate/reducer.js");
  const state = frames.reduce(reduce, begin({ state: { state: "queued" } }));
  return { state, heardTo: heardTo(state) };
}"""
# Each viewer is a list of lists of frames; what a viewer knows is noted after each list.
VIEWERS = """async ({viewers}) => {
  const { begin, reduce } = await import("/static/js/debate/reducer.js");
  const told = ({ state, turns, open, verdicts, over, missing }) => ({
    state: state.state, over, missing,
    turns: Object.values(turns).map(({ number, text }) => [number, text]),
    open: Object.values(open).map(({ number, attempt, text, reason }) => [number, attempt, text, reason]),
    verdicts: Object.keys(verdicts),
  });
  return viewers.map((parts) => {
    let state = begin({ state: { state: "queued" } });
    return parts.map((frames) => told(state = frames.reduce(reduce, state)));
  });
}"""


class Play:
    """A random debate as its log, with the truth after each frame."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.frames: list[dict[str, Any]] = []
        self.snapshots: list[list[dict[str, Any]]] = []
        self.board = Board()
        self.sealed: dict[int, dict[str, Any]] = {}
        self.verdicts: list[dict[str, Any]] = []
        self.state = "queued"
        self.fence = self.n = 0
        for _ in range(40):
            if self.sitting():
                break

    def write(self, **frame: Any) -> None:
        self.n += 1
        frame["id"] = f"{self.fence}-{self.n}"
        self.board.take(frame["id"], json.dumps(frame).encode())
        self.frames.append(frame)
        self.snapshots.append(self.snapshot())

    def snapshot(self) -> list[dict[str, Any]]:
        state = {"state": self.state, "sitting": 1, "kind": "debate", "sentence": "", "queued": 0}
        turns = tuple((number, json.dumps(turn)) for number, turn in sorted(self.sealed.items()))
        past = Past(state, self.fence, self.state == "done", turns, {}, tuple(self.verdicts))
        return [json.loads(frame) for frame in past.frames(self.board.mark(), 0)]

    def sitting(self) -> bool:
        """One claim; false if its worker was lost."""
        self.fence, self.n, self.state = self.fence + 1, 0, "running"
        self.write(t="state", sitting=1, kind="debate", state="running", open=[])
        for round in (1, 2, 3):
            if not self.round(round):
                return False
        self.verdicts.append({"version": 1, "outcome": "too_close"})
        self.write(t="verdict", verdict=self.verdicts[0])
        self.state = "done"
        self.write(t="end", sitting=1, state="done", sentence="")
        return True

    def round(self, round: int) -> bool:
        numbers = [2 * round - 1, 2 * round]
        slots = [{"number": number, "bench": "proposition", "kind": "opening"} for number in numbers]
        self.write(t="round", round=round, name="Round", instruction="", slots=slots)
        speaking = {}
        for number in numbers:
            if number not in self.sealed:
                speaking[number] = self.start(number, 1)
        while speaking:
            if self.random.random() < 0.02:
                return False
            self.speak(self.random.choice(list(speaking)), speaking)
        return True

    def start(self, number: int, attempt: int) -> dict[str, Any]:
        about = {"number": number, "attempt": attempt, "bench": "proposition", "kind": "opening"}
        about |= {"round": (number + 1) // 2, "round_name": "Round"}
        self.write(t="start", **about)
        return about | {"text": ""}

    def speak(self, number: int, speaking: dict[int, dict[str, Any]]) -> None:
        turn, chance = speaking[number], self.random.random()
        if chance < 0.05:
            speaking[number] = self.start(number, turn["attempt"] + 1)
        elif chance < 0.1:
            self.write(t="wait", number=number, reason="The key is cooling.")
        elif chance < 0.15:
            self.write(t="text", **turn)
        elif chance < 0.25:
            self.sealed[number] = turn | {"sitting": 1, "excluded": False}
            del speaking[number]
            self.write(t="turn", turn=self.sealed[number])
        else:
            text = self.random.choice(WORDS)
            self.write(t="delta", number=number, attempt=turn["attempt"], offset=len(turn["text"]), text=text)
            turn["text"] += text

    def viewer(self) -> tuple[list[list[dict[str, Any]]], list[int]]:
        """What a viewer gets who comes when it likes and loses the connection now and then; and up to which frame the
        parts go."""
        parts, ends, at = [], [], self.random.randrange(len(self.frames))
        while True:
            until = self.random.randrange(at, len(self.frames)) if self.random.random() < 0.8 else len(self.frames) - 1
            parts.append([*self.snapshots[at], *self.frames[at + 1 : until + 1]])
            ends.append(until)
            if until == len(self.frames) - 1:
                return parts, ends
            at = self.random.randrange(until, len(self.frames))


@pytest.fixture
def modules(page):
    page.goto("/")
    return page


@pytest.mark.hard_case("B53")
@pytest.mark.parametrize("seed", range(8))
def test_a_viewer_converges_wherever_it_joins_and_whenever_it_is_cut_off(modules, seed):
    play = Play(seed)
    visits = [play.viewer() for _ in range(40)]
    steady = [[frame] for frame in play.frames]
    told = modules.evaluate(VIEWERS, {"viewers": [steady, *(parts for parts, _ in visits)]})
    truth = told[0]
    assert not any(known["missing"] for known in truth)
    assert truth[-1]["turns"] == [[number, play.sealed[number]["text"]] for number in sorted(play.sealed)]
    assert truth[-1] | {"open": [], "over": True, "verdicts": ["1"]} == truth[-1]
    for (_, ends), known in zip(visits, told[1:], strict=True):
        assert known == [truth[end] for end in ends], f"seed {seed}"


def straight(modules, *frames: dict[str, Any]) -> dict[str, Any]:
    return modules.evaluate(STRAIGHT, {"frames": list(frames)})


START = {"t": "start", "number": 1, "attempt": 1, "bench": "proposition", "kind": "opening", "round": 1}
START |= {"round_name": "Opening", "id": "1-2"}
TURN = {"number": 1, "text": "sealed", "sitting": 1, "round": 1, "bench": "proposition", "kind": "opening"}


def delta(n: int, offset: int, text: str, attempt: int = 1) -> dict[str, Any]:
    return {"t": "delta", "id": f"1-{n}", "number": 1, "attempt": attempt, "offset": offset, "text": text}


def test_an_offset_counts_code_points(modules):
    known = straight(modules, START, delta(3, 0, "👩‍👩‍👧"), delta(4, 5, "!"))
    assert known["state"]["open"]["1"]["text"] == "👩‍👩‍👧!"
    assert not known["state"]["missing"]


@pytest.mark.parametrize("late", [delta(4, 7, "x"), delta(4, 0, "x"), delta(4, 4, "x", attempt=2)])
def test_a_delta_that_does_not_fit_means_that_something_is_missing(modules, late):
    assert straight(modules, START, delta(3, 0, "four"), late)["state"]["missing"]


def test_a_sealed_turn_is_final(modules):
    again = [
        START | {"id": "1-4", "attempt": 2},
        delta(5, 0, "x", 2),
        {"t": "turn", "id": "1-6", "turn": TURN | {"text": "y"}},
    ]
    known = straight(modules, START, {"t": "turn", "id": "1-3", "turn": TURN}, *again)
    assert known["state"]["turns"]["1"]["text"] == "sealed"
    assert known["state"]["open"] == {}
    assert not known["state"]["missing"]


def test_a_frame_that_comes_twice_counts_once(modules):
    known = straight(modules, START, delta(3, 0, "once"), delta(3, 0, "once"), START)
    assert known["state"]["open"]["1"]["text"] == "once"
    assert not known["state"]["missing"]


def test_it_asks_from_the_last_turn_that_has_all_others_before_it(modules):
    sealed = [{"t": "turn", "id": f"1-{number}", "turn": TURN | {"number": number}} for number in (1, 2, 4)]
    assert straight(modules, *sealed)["heardTo"] == 2


def test_a_speech_that_failed_keeps_its_words_and_says_why(modules):
    failed = {"t": "failed", "id": "1-4", "number": 1, "bench": "proposition", "kind": "network"}
    failed |= {"sentence": "It could not be reached.", "text": "so far"}
    turn = straight(modules, START, delta(3, 0, "so far"), failed)["state"]["open"]["1"]
    assert (turn["text"], turn["reason"], turn["kind"]) == ("so far", "It could not be reached.", "opening")
