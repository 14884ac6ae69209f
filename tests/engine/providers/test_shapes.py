"""What counts as text, in every shape in which endpoints send it."""

import json
from typing import Any

import pytest

from debates.engine.providers.base import Kind
from debates.engine.types import Usage
from tests.loopback import Answer, LoopbackModel

from .asking import ask, call_of, refused


def chunk(content: Any = None, finish: str | None = None, **delta: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {"content": content, **delta}, "finish_reason": finish}]}


def heard(*frames: Any, done: bool = True) -> str:
    with LoopbackModel(Answer(frames=[*frames, *(["data: [DONE]\n\n"] if done else [])])) as server:
        return ask(server)


@pytest.mark.hard_case("B01")
def test_comments_while_queueing_are_never_heard() -> None:
    said = 'data: {"choices":[{"delta":{"content":"hi"}}]}\n\n'
    end = 'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\n'
    assert heard(": KEEP 1\n\n: KEEP 2\n\n", said, ": KEEP 3\n\n", end) == "hi"


@pytest.mark.hard_case("B02")
@pytest.mark.hard_case("B22")
@pytest.mark.parametrize(
    "shape",
    [
        {"bytes_at_once": 1},
        {"bytes_at_once": 7},
        {"newline": "\r\n"},
        {"newline": "\r\n", "bytes_at_once": 1},
        {"space": False},
        {"two_lines": True},
        {"usage_with": "text"},
        {"comments": 0.01, "delay": 0.05},
    ],
)
def test_the_same_answer_is_heard_in_every_framing(shape: dict[str, Any]) -> None:
    text = "ığ 漢字 👩‍👩‍👧 and two more words"
    with LoopbackModel(Answer(text=text, **shape)) as server:
        call = call_of()
        assert ask(server, call) == text
        assert call.usage.written == 7


@pytest.mark.hard_case("B11")
def test_chunks_without_choices_are_no_text_but_their_usage_counts() -> None:
    filters: dict[str, Any] = {"choices": [], "prompt_filter_results": []}
    usage = {"prompt_tokens": 9, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 4}}
    frames = [filters, chunk("hi"), chunk(finish="stop"), {"choices": [], "usage": usage}, "data: [DONE]\n\n"]
    with LoopbackModel(Answer(frames=frames)) as server:
        call = call_of()
        assert ask(server, call) == "hi"
        assert call.usage == Usage(read=9, cached=4, written=3)


@pytest.mark.hard_case("B11")
def test_usage_on_the_last_piece_of_text_keeps_that_piece_once() -> None:
    last = chunk(" you", "stop") | {"usage": {"prompt_tokens": 9, "completion_tokens": 2}}
    with LoopbackModel(Answer(frames=[chunk("hi"), last, "data: [DONE]\n\n"])) as server:
        call = call_of()
        assert ask(server, call) == "hi you"
        assert call.usage == Usage(read=9, written=2)


@pytest.mark.parametrize("usage", ["many", {"prompt_tokens": "9"}, {"prompt_tokens": None}, [], {"prompt_tokens": -1}])
def test_usage_that_is_no_usage_costs_nothing(usage: Any) -> None:
    with LoopbackModel(Answer(frames=[chunk("hi", "stop") | {"usage": usage}])) as server:
        call = call_of()
        assert ask(server, call) == "hi"
        assert call.usage == Usage()


@pytest.mark.hard_case("B12")
def test_choices_without_a_delta_and_nulls_are_passed_over() -> None:
    annotation = {"index": 0, "finish_reason": None, "content_filter_offsets": {"end_offset": 9}}
    frames = [
        chunk(role="assistant"),
        {"id": "", "choices": [annotation]},
        chunk("hi"),
        {"choices": [{"delta": None}]},
        {"choices": None},
        {"choices": [None]},
        chunk(None),
        chunk({"unknown": 1}),
        chunk(" you", "stop"),
    ]
    assert heard(*frames) == "hi you"


@pytest.mark.hard_case("B16")
def test_of_mistrals_lists_only_the_text_is_heard_and_once() -> None:
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "secret"}]}
    frames = [
        chunk([thinking]),
        chunk([{"type": "text", "text": "One"}, {"type": "reference", "text": "secret"}]),
        chunk(" two"),
        chunk(""),
        chunk([]),
        chunk([thinking, {"type": "text", "text": " three"}], "stop"),
    ]
    assert heard(*frames) == "One two three"


@pytest.mark.hard_case("B20")
@pytest.mark.parametrize("field", ["reasoning", "reasoning_content", "reasoning_text"])
def test_reasoning_beside_the_answer_is_never_heard(field: str) -> None:
    with LoopbackModel(Answer(text="Only this", reasoning="secret thoughts", reasoning_field=field)) as server:
        assert ask(server) == "Only this"


@pytest.mark.hard_case("B20")
@pytest.mark.parametrize("field", ["reasoning", "reasoning_content", "reasoning_text"])
def test_an_answer_that_is_all_reasoning_is_empty_and_says_so(field: str) -> None:
    with LoopbackModel(Answer(text="", reasoning="secret thoughts", reasoning_field=field)) as server:
        error, text = refused(server)
    assert (error.kind, text) == (Kind.EMPTY, "")
    assert "thinking" in str(error)
    assert error.again


@pytest.mark.hard_case("B20")
@pytest.mark.parametrize("content", ["text", "parts"])
def test_reasoning_that_uses_up_the_limit_is_named_as_the_cause(content: str) -> None:
    with LoopbackModel(Answer(text="Too late", reasoning="secret " * 9, content=content)) as server:
        call = call_of(tokens=8)
        error, text = refused(server, call)
    assert (error.kind, text, call.cut) == (Kind.EMPTY, "", True)
    assert "limit" in str(error)
    assert "thinking" in str(error)


@pytest.mark.parametrize("frames", [[chunk("", "stop")], [chunk(" \n", "stop")], [chunk(None, "length")]])
def test_an_answer_without_a_word_is_empty(frames: list[Any]) -> None:
    with LoopbackModel(Answer(frames=frames)) as server:
        assert refused(server)[0].kind is Kind.EMPTY


@pytest.mark.hard_case("B22")
@pytest.mark.parametrize(
    ("deltas", "text"),
    [
        ([r"a \ud83d", r"\ude00 b"], "a 😀 b"),
        ([r"a \ud83d", "", r"\ude00 b"], "a 😀 b"),
        ([r"\ud83d", r"\ude00", r"\ud83d", r"\ude00"], "😀😀"),
        ([r"a \ud83d", " b"], "a  b"),
        ([r"a \ude00 b \ud83d"], "a  b "),
    ],
)
def test_halves_of_a_character_join_over_two_deltas_or_are_dropped(deltas: list[str], text: str) -> None:
    frames = [f'data: {{"choices":[{{"delta":{{"content":"{delta}"}}}}]}}\n\n' for delta in deltas]
    assert heard(*frames) == text


def test_other_choices_are_not_mixed_in() -> None:
    other = {"choices": [{"index": 1, "delta": {"content": "other"}}]}
    assert heard(chunk("hi"), other, chunk(" you", "stop")) == "hi you"


def test_an_answer_that_was_not_streamed_after_all_is_heard() -> None:
    usage = {"prompt_tokens": 3, "completion_tokens": 1}
    body = {"choices": [{"message": {"content": "Whole"}, "finish_reason": "length"}], "usage": usage}
    with LoopbackModel(Answer(body=body)) as server:
        call = call_of()
        assert ask(server, call) == "Whole"
        assert (call.cut, call.usage) == (True, Usage(read=3, written=1))


def test_a_refusal_in_a_field_of_its_own_is_a_refusal() -> None:
    with LoopbackModel(Answer(frames=[chunk(refusal="I can't do that"), chunk(finish="stop")])) as server:
        error, text = refused(server)
    assert (error.kind, text, error.again) == (Kind.REFUSED, "", False)


def test_a_content_filter_is_a_refusal_whatever_was_said_before() -> None:
    with LoopbackModel(Answer(frames=[chunk("One two"), chunk(finish="content_filter")])) as server:
        error, text = refused(server)
    assert (error.kind, text) == (Kind.REFUSED, "One two")


def test_events_that_say_nothing_are_passed_over() -> None:
    pings = ["event: ping\ndata: {}\n\n", "data: 7\n\n", "data: null\n\n"]
    assert heard(chunk("hi"), *pings, chunk(finish="stop")) == "hi"


def test_nothing_is_heard_after_done() -> None:
    late = json.dumps(chunk(" late"))
    assert heard(chunk("hi", "stop"), f"data: [DONE]\n\ndata: {late}\n\n") == "hi"
