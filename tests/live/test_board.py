"""The fold over a log's entries, and what becomes of it in a snapshot."""

from __future__ import annotations

import json
from typing import Any

import pytest

from debates.board import Board
from debates.snapshots import FRAME_BYTES, Past

WHO = {"bench": "proposition", "kind": "opening", "round": 1, "round_name": "Opening"}


class Told:
    """A board that is told frames under growing ids."""

    def __init__(self) -> None:
        self.board = Board()
        self.fence, self.n = 1, 0

    def tell(self, t: str, **fields: Any) -> bool:
        self.n += 1
        return self.board.take(f"{self.fence}-{self.n}", json.dumps({"t": t} | fields).encode()) is not None

    def start(self, number: int, attempt: int = 1) -> bool:
        return self.tell("start", number=number, attempt=attempt, **WHO)

    def say(self, number: int, offset: int, text: str, attempt: int = 1) -> bool:
        return self.tell("delta", number=number, attempt=attempt, offset=offset, text=text)

    def text(self, number: int, text: str, attempt: int = 1) -> bool:
        return self.tell("text", number=number, attempt=attempt, text=text, **WHO)

    def claim(self, fence: int) -> None:
        self.fence, self.n = fence, 0
        self.tell("state", sitting=1, kind="debate", state="running", open=[])

    def lose(self, entries: int) -> None:
        self.n += entries

    def texts(self) -> dict[int, str]:
        return {turn["number"]: turn["text"] for turn in self.board.mark().open}


@pytest.fixture
def told() -> Told:
    told = Told()
    told.claim(1)
    return told


def past(turns: tuple[int, ...] = (), fence: int = 1, over: bool = False, **fragments: dict) -> Past:
    unsealed = {fragment["number"]: fragment for fragment in fragments.values()}
    texts = tuple((number, json.dumps({"number": number})) for number in turns)
    return Past({"state": "running"}, fence, over, texts, unsealed, ())


def fragment(number: int, text: str, attempt: int = 1, reason: str = "") -> dict:
    return {"number": number, "attempt": attempt, "text": text, "reason": reason} | WHO


def test_it_knows_the_open_turns_and_their_text(told):
    told.start(1)
    told.start(2)
    told.say(1, 0, "Ca")
    told.say(2, 0, "No")
    told.say(1, 2, "rs")
    assert told.texts() == {1: "Cars", 2: "No"}


def test_a_new_attempt_replaces_the_text(told):
    told.start(1)
    told.say(1, 0, "Cars")
    told.start(1, attempt=2)
    told.say(1, 0, "Trams", attempt=2)
    assert told.texts() == {1: "Trams"}


def test_a_sealed_turn_is_not_open(told):
    told.start(1)
    told.tell("turn", turn={"number": 1})
    assert told.texts() == {}


def test_a_claim_voids_what_was_being_spoken(told):
    told.start(1)
    told.say(1, 0, "Cars")
    told.claim(2)
    assert told.texts() == {}
    assert told.board.whole


def test_offsets_count_code_points(told):
    told.start(1)
    told.say(1, 0, "Ä🚗")
    assert told.say(1, 2, "!")
    assert told.texts() == {1: "Ä🚗!"}


def test_text_is_dropped_while_nothing_is_missing(told):
    told.start(1)
    told.say(1, 0, "Cars")
    assert not told.text(1, "Cars")


@pytest.mark.hard_case("B53")
def test_after_a_hole_a_turn_takes_no_delta_until_text_heals_it(told):
    told.start(1)
    told.say(1, 0, "Cars ")
    told.lose(1)
    assert not told.say(1, 10, "are ")
    assert told.board.anew
    assert not told.say(1, 14, "old")
    assert told.text(1, "Cars were are old")
    assert told.say(1, 17, ".")
    assert told.texts() == {1: "Cars were are old."}


def test_a_hole_at_the_start_of_a_log_shows_in_the_mark():
    told = Told()
    told.lose(5)
    assert not told.say(1, 40, "late")
    assert not told.board.mark().whole


def test_a_claim_makes_the_board_whole_again(told):
    told.start(1)
    told.lose(3)
    told.tell("round", round=1, name="Opening", instruction="", slots=[])
    assert told.board.mark().holes == {1}
    told.claim(2)
    assert told.board.mark().whole


def test_lower_fences_and_repeated_ids_are_ignored(told):
    told.claim(3)
    told.start(1)
    seal = json.dumps({"t": "turn", "turn": {"number": 1}}).encode()
    assert told.board.take("2-9", seal) is None
    assert told.board.take("3-2", seal) is None
    assert told.texts() == {1: ""}


def test_a_failed_speech_stays_with_its_reason(told):
    told.start(1)
    told.say(1, 0, "Cars")
    told.tell("failed", number=1, bench="proposition", kind="network", sentence="It broke off.", text="Cars")
    [turn] = told.board.mark().open
    assert (turn["text"], turn["reason"], turn["kind"]) == ("Cars", "It broke off.", "opening")


@pytest.mark.hard_case("B55")
def test_a_turn_sealed_since_the_mark_is_not_shown_as_open(told):
    told.start(1)
    assert past(turns=(1,)).open(told.board.mark()) == []


def test_a_fragment_fills_a_hole_but_not_a_known_text(told):
    told.start(1)
    told.say(1, 0, "Cars are")
    longer = past(a=fragment(1, "Cars are from the last century"))
    assert longer.open(told.board.mark())[0]["text"] == "Cars are"
    told.lose(1)
    told.say(1, 20, "x")
    assert longer.open(told.board.mark())[0]["text"] == "Cars are from the last century"


def test_a_fragment_of_an_earlier_claim_is_void(told):
    told.claim(2)
    assert past(fence=2, a=fragment(1, "before")).open(told.board.mark()) == []


def test_without_the_newest_claims_log_fragments_are_all_there_is(told):
    told.start(1)
    shown = past(fence=2, a=fragment(2, "as written down")).open(told.board.mark())
    assert [turn["number"] for turn in shown] == [2]


def test_a_broken_off_speech_is_shown_with_its_reason(told):
    told.start(1)
    told.say(1, 0, "Cars")
    stopped = past(over=True, a=fragment(1, "Cars", reason="Stopped."))
    assert stopped.open(told.board.mark())[0]["reason"] == "Stopped."


@pytest.mark.parametrize(("after", "expected"), [(0, [1, 2, 3]), (2, [3]), (3, []), (99, [1, 2, 3])])
def test_turns_above_after_are_sent_and_all_if_there_is_no_such_turn(told, after, expected):
    *turns, snapshot = [json.loads(frame) for frame in past(turns=(1, 2, 3)).frames(told.board.mark(), after)]
    assert [turn["number"] for frame in turns for turn in frame["turns"]] == expected
    assert snapshot["at"] == "1-1"


def test_frames_of_turns_stay_below_their_size(told):
    turns = tuple((number, json.dumps({"number": number, "text": "ä" * 9_000})) for number in range(1, 60))
    *frames, _ = Past({}, 1, False, turns, {}, ()).frames(told.board.mark(), 0)
    assert len(frames) > 1
    assert all(len(frame.encode()) < FRAME_BYTES + 100 for frame in frames)
    assert sum(len(json.loads(frame)["turns"]) for frame in frames) == 59


@pytest.mark.parametrize(
    ("turns", "after", "reach"), [((1, 2, 3), 0, 3), ((1, 3), 0, 1), ((1, 2, 3), 2, 3), ((), 4, 0)]
)
def test_reach_stops_at_a_missing_turn(turns, after, reach):
    assert past(turns=turns).reach(after) == reach
