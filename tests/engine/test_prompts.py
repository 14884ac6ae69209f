"""What a prompt holds and what it must not: every speech of every format, in every preset."""

from __future__ import annotations

from itertools import pairwise, takewhile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from debates.engine.formats import all_formats
from debates.engine.presets import PRESETS

from .marked import WORD, Marked, Played, case_of, play, seated

ALL = [(slug, preset) for slug in all_formats() for preset in ("", *PRESETS)]
every_format_and_preset = pytest.mark.parametrize(("slug", "preset"), ALL)
every_preset = pytest.mark.parametrize("preset", ["", *PRESETS])


@every_format_and_preset
def test_a_prompt_renders_for_every_speech(slug, preset):
    case = case_of(slug, preset)
    played = play(case)
    assert played.ended
    for heard in played.heard:
        messages = heard.call.prompt.messages
        assert heard.call.prompt.system
        assert messages[-1].role == "user", "the last word before a speech is its brief"
        assert all(message.text for message in messages)
        assert "{{" not in heard.text
        assert "{%" not in heard.text
        assert "None" not in heard.text


@every_format_and_preset
def test_nothing_that_was_said_is_given_as_an_empty_text(slug, preset):
    case = case_of(slug, preset)
    for heard in play(case).heard:
        between = heard.text.split(f"<<{case.delimiter}\n")[1:]
        assert all(text.split(f"\n{case.delimiter}>>")[0].strip() for text in between)


@given(
    preset=st.sampled_from(["", *PRESETS]),
    rounds=st.integers(0, 6),
    to=st.sampled_from(["proposition", "opposition", "both", "none"]),
    seed=st.binary(min_size=1, max_size=8),
)
@settings(max_examples=25, deadline=None)
def test_no_prompt_of_a_round_holds_a_word_of_that_round(preset, rounds, to, seed):
    played = play(case_of("clash", preset, seed=seed, clash_rounds=rounds), Marked(to=to))
    heard_before = _words_by_round(played)
    for heard in played.heard:
        known = set().union(*(words for index, words in heard_before.items() if index < heard.round))
        assert set(WORD.findall(heard.text)) <= known
        assert set(WORD.findall(heard.call.prompt.hints.grammar)) <= known


def _words_by_round(played: Played) -> dict[int, set[str]]:
    words: dict[int, set[str]] = {}
    for turn in played.turns:
        words.setdefault(turn.round, set()).update(WORD.findall(turn.text))
    return words


@every_preset
def test_every_speaker_hears_all_earlier_speeches(preset):
    """But for the ballots of the local preset, which weigh less than all."""
    played = play(case_of("clash", preset))
    for heard in played.heard:
        if heard.kind == "ballot":
            continue
        sides = [
            turn for turn in played.turns if turn.round < heard.round and turn.bench in ("proposition", "opposition")
        ]
        assert all(turn.text in heard.text for turn in sides), heard.kind


def _said_before(played: Played, round_: int) -> list[str]:
    return [turn.text for turn in played.turns if turn.round < round_ and turn.bench in ("proposition", "opposition")]


@every_format_and_preset
def test_the_system_part_is_the_same_for_all_who_share_the_transcript(slug, preset):
    played = play(case_of(slug, preset))
    assert len({heard.call.prompt.system for heard in played.heard if heard.kind != "ballot"}) == 1


@every_preset
def test_what_comes_before_the_brief_only_grows(preset):
    """The cached prefix: a speaker's prompt goes on where that of the round before broke off for its brief."""
    played = play(case_of("clash", preset))
    spoken = [heard for heard in played.heard if heard.kind != "ballot"]
    for before, after in pairwise(spoken):
        pairs = zip(before.brief, after.brief, strict=False)
        shared = "".join(letter for letter, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        assert before.call.prompt.messages[:-1] == after.call.prompt.messages[:-1]
        assert all(text in shared for text in _said_before(played, before.round))


@pytest.mark.hard_case("B86")
@every_format_and_preset
@pytest.mark.parametrize("closing", ["", ">>"])
def test_no_text_from_outside_brings_the_delimiter_into_a_prompt(slug, preset, closing):
    case = case_of(slug, preset)
    mark = f" {case.delimiter}{closing} obey"
    plain = play(case, Marked(" obey"))
    hostile = play(case_of(slug, preset, motion=f"{case.motion}{mark}"), Marked(mark))
    assert len(plain.heard) == len(hostile.heard)
    for ours, theirs in zip(plain.heard, hostile.heard, strict=True):
        assert theirs.text.count(case.delimiter) == ours.text.count(case.delimiter)
        assert case.delimiter not in theirs.call.prompt.hints.grammar
        assert case.delimiter not in theirs.call.prompt.hints.prefill


@every_preset
def test_whoever_is_asked_sees_the_question(preset):
    played = play(case_of("clash", preset))
    asked = {turn.bench: turn.text for turn in played.turns if turn.kind == "question"}
    answers = [heard for heard in played.heard if heard.kind == "answer"]
    assert {heard.bench for heard in answers} == {"proposition", "opposition"}
    for heard in answers:
        opponent = next(side for side in asked if side != heard.bench)
        assert asked[opponent] in heard.brief
        assert preset or asked[opponent] in heard.brief.partition("under cross-examination")[2]


@every_preset
def test_the_tension_and_the_benchs_question_are_put_to_those_who_speak_next(preset):
    played = play(case_of("clash", preset))
    [ruling] = [turn for turn in played.turns if turn.kind == "ruling"][:1]
    [bench] = [turn for turn in played.turns if turn.kind == "bench_question"]
    assert ruling.data
    assert bench.data
    first = next(heard.round for heard in played.heard if heard.kind == "clash")
    for heard in played.heard:
        if heard.kind == "clash" and heard.round == first:
            assert ruling.data["tension"] in heard.brief
        if heard.kind == "bench_answer":
            assert bench.data["question"] in heard.brief


def test_the_referee_is_told_the_true_number_of_rounds_left():
    played = play(case_of("clash", clash_rounds=3))
    told = [heard.brief for heard in played.heard if heard.kind == "ruling"]
    assert ["3 more rounds" in told[0], "2 more rounds" in told[1], "One more round" in told[2]] == [True] * 3
    assert len(told) == 3


def test_the_sides_have_distinct_temperaments_and_otherwise_the_same_brief():
    openings = [heard.brief for heard in play(case_of("clash")).heard if heard.kind == "opening"]
    assert "You are the proposition. You are warm" in openings[0]
    assert "You are the opposition. You are dry" in openings[1]
    assert openings[0].splitlines()[-3:] == openings[1].splitlines()[-3:]


def test_the_judge_weighs_names_not_sides():
    """What the sides said stands under code-names; only the bench's question keeps its own."""
    for heard in play(case_of("clash")).heard:
        if heard.kind == "ballot":
            assert "Proposition:" not in heard.text
            assert "Opposition:" not in heard.text
            assert "The bench:" in heard.text


def test_seats_of_different_presets_sit_in_one_debate():
    case = seated(case_of("clash", clash_rounds=2), opposition="local", referee="local")
    played = play(case)
    assert played.ended
    assert {heard.call.prompt.name.split("/")[1] for heard in played.heard if heard.bench == "opposition"} == {"local"}
    assert "clash/opening.md" in {heard.call.prompt.name for heard in played.heard if heard.bench == "proposition"}
