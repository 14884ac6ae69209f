"""The rule book of Clash: driven with plain turns, then spoken whole by scripted speakers."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from debates.engine.events import Ended, Failed
from debates.engine.formats.clash import ClashRules, debate, judgement
from debates.engine.providers.base import Call, Kind, ProviderError
from debates.engine.types import Round, Speech, Turn, Verdict

from .scripted import Scripted, answer, ballot, clash, digest
from .test_run import play, turns_of

LIVE = {"live": True, "tension": "Who pays for the empty road?", "note": "They talk past each other."}
SETTLED = {"live": False, "tension": "", "note": "Nothing is left."}
NO_QUESTION = {"to": "none", "question": ""}
JUDGED: dict[str, Any] = {
    "scores": {"proposition": 60, "opposition": 50},
    "winner": "proposition",
    "confidence": 70,
    "strongest": None,
    "weakest": None,
    "unsettled": "?",
    "shown": ["proposition", "opposition"],
}
Data = Callable[[Speech, int], dict[str, Any] | None]


def drive(rules: ClashRules, data: Data, sitting: Any = debate) -> tuple[list[Round], Verdict]:
    """Plays the rounds of a sitting without a model: structured speeches answer `data(speech, how often asked)`."""
    generator, rounds, asked, number = sitting(rules), [], 0, 0
    step = next(generator)
    while True:
        rounds.append(step)
        turns = []
        for speech in step.speeches:
            number += 1
            asked += speech.kind == "ruling"
            found = data(speech, asked) if speech.asks else None
            failure = "failed" if speech.asks and found is None else ""
            turns.append(Turn(number, len(rounds), step.name, speech.bench, speech.kind, "said", found, failure))
        try:
            step = generator.send(turns)
        except StopIteration as stop:
            return rounds, stop.value


def answers(live_rounds: int = 0, question: dict[str, Any] | None = NO_QUESTION) -> Data:
    """A referee that says live so many times, a bench with this question, a judge that can be read."""

    def data(speech: Speech, rulings: int) -> dict[str, Any] | None:
        if speech.kind == "ruling":
            return LIVE if rulings <= live_rounds else SETTLED
        return question if speech.kind == "bench_question" else JUDGED

    return data


def names(rounds: list[Round]) -> list[str]:
    return [round_.name for round_ in rounds]


def test_a_whole_clash_in_its_order():
    rounds, verdict = drive(ClashRules(), answers(1, {"to": "both", "question": "Why?"}))
    assert names(rounds) == [
        *("Opening", "Rebuttal", "Cross-examination", "Answers"),
        *("Ruling", "Open clash", "Ruling"),
        *("Bench", "Bench answers", "Last word", "Ballots"),
    ]
    assert verdict.outcome == "winner"


@pytest.mark.parametrize("live", range(7))
def test_every_number_of_open_rounds_can_be_reached(live):
    rounds, _ = drive(ClashRules(), answers(live))
    assert names(rounds).count("Open clash") == live
    assert names(rounds).count("Ruling") == min(live + 1, 6)


@pytest.mark.hard_case("B99")
@pytest.mark.parametrize("cap", range(7))
def test_the_cap_holds_against_a_referee_that_always_says_live(cap):
    rounds, _ = drive(ClashRules(clash_rounds=cap), answers(99))
    assert names(rounds).count("Open clash") == cap


def test_the_referee_is_told_the_true_number_of_rounds_left():
    rounds, _ = drive(ClashRules(), answers(99))
    told = [speech.facts["left"] for round_ in rounds for speech in round_.speeches if speech.kind == "ruling"]
    assert told == [6, 5, 4, 3, 2, 1]


def test_the_tension_is_the_next_rounds_instruction():
    rounds, _ = drive(ClashRules(), answers(1))
    assert [round_.instruction for round_ in rounds if round_.name == "Open clash"] == [LIVE["tension"]]


@pytest.mark.hard_case("B99")
def test_a_failed_referee_closes_the_open_clash():
    def failing(speech: Speech, rulings: int) -> dict[str, Any] | None:
        return None if speech.kind == "ruling" and rulings == 2 else answers(99)(speech, rulings)

    rounds, verdict = drive(ClashRules(), failing)
    assert names(rounds).count("Open clash") == 1
    assert verdict.outcome == "winner"


@pytest.mark.parametrize(
    ("to", "answering"),
    [
        ("none", []),
        ("proposition", ["proposition"]),
        ("opposition", ["opposition"]),
        ("both", ["proposition", "opposition"]),
    ],
)
def test_the_bench_asks_none_one_or_both(to, answering):
    rounds, _ = drive(ClashRules(), answers(0, {"to": to, "question": "What if it rains?"}))
    asked = [round_ for round_ in rounds if round_.name == "Bench answers"]
    assert [speech.bench for round_ in asked for speech in round_.speeches] == answering
    assert all(round_.instruction == "What if it rains?" for round_ in asked)


def test_a_failed_bench_is_skipped():
    rounds, verdict = drive(ClashRules(), answers(0, None))
    assert "Bench answers" not in names(rounds)
    assert "Last word" in names(rounds)
    assert verdict.outcome == "winner"


def test_a_fresh_judgement_is_two_ballots_and_no_speech():
    rounds, _ = drive(ClashRules(), answers(), judgement)
    assert names(rounds) == ["Ballots"]
    assert [speech.shown for speech in rounds[0].speeches] == [
        ("proposition", "opposition"),
        ("opposition", "proposition"),
    ]


def test_the_limits_are_the_published_ones():
    rounds, _ = drive(ClashRules(), answers(1, {"to": "both", "question": "Why?"}))
    words = {speech.kind: speech.limits.words for round_ in rounds for speech in round_.speeches if not speech.asks}
    assert words == {
        **{"opening": 150, "rebuttal": 150, "clash": 150, "question": 60},
        **{"answer": 140, "bench_answer": 120, "last_word": 140},
    }


# Spoken whole


def speak(call: Call) -> str:
    """A referee that finds it live, a bench that asks both, a judge that can be read, and speeches of their own."""
    if call.schema is None:
        return answer(call)
    fields = call.schema["properties"]
    if "scores" in fields:
        return ballot(call)
    return json.dumps(LIVE if "live" in fields else {"to": "both", "question": f"What of {digest(call.prompt)}?"})


def test_no_prompt_of_a_round_holds_a_word_of_that_round():
    provider = Scripted(speak)
    turns = turns_of(play(clash(clash_rounds=3), provider))
    prompts = {digest(call.prompt): _whole(call) for call in provider.calls}
    speeches = [turn for turn in turns if turn.data is None]
    mark = {turn.number: next(one for one in prompts if one in turn.text) for turn in speeches}
    assert len(speeches) == 2 * (2 + 2 + 3 + 1 + 1)
    for turn in speeches:
        heard = {other.number for other in speeches if mark[other.number] in prompts[mark[turn.number]]}
        assert heard == {other.number for other in speeches if other.round < turn.round}


def test_rulings_tension_and_bench_question_reach_the_speakers():
    provider = Scripted(speak)
    turns = turns_of(play(clash(clash_rounds=1), provider))
    asked = next(turn.data for turn in turns if turn.kind == "bench_question" and turn.data)
    told = {"clash/clash.md": LIVE["tension"], "clash/bench_answer.md": asked["question"]}
    for name, instruction in told.items():
        prompts = [_whole(call) for call in provider.calls if call.prompt.name == name]
        assert len(prompts) == 2
        assert all(instruction in prompt for prompt in prompts)


@pytest.mark.parametrize(("field", "kind"), [("live", "ruling"), ("to", "bench_question")])
def test_a_referee_or_bench_that_talks_nonsense_is_shown_as_failed_and_the_clash_goes_on(field, kind):
    def nonsense(call: Call) -> str:
        return "Well, well." if call.schema and field in call.schema["properties"] else speak(call)

    events = play(clash(clash_rounds=2), Scripted(nonsense))
    [failed] = [turn for turn in turns_of(events) if turn.kind == kind]
    assert failed.data is None
    assert failed.failure
    assert isinstance(events[-1], Ended)


def test_a_speech_that_fails_in_the_open_clash_keeps_all_before_it():
    def down(call: Call) -> str:
        if call.prompt.name == "clash/clash.md":
            raise ProviderError(Kind.OUT_OF_QUOTA)
        return speak(call)

    events = play(clash(clash_rounds=2), Scripted(down))
    assert {event.bench for event in events if isinstance(event, Failed)} == {"proposition", "opposition"}
    assert [turn.kind for turn in turns_of(events)][-1] == "ruling"
    assert not any(isinstance(event, Ended) for event in events)


def _whole(call: Call) -> str:
    return "\n".join([call.prompt.system, *(message.text for message in call.prompt.messages)])
