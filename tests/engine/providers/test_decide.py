"""A decision is asked for at most twice, and is an answer or a reason, never a guess."""

import json

import pytest

from debates.engine.providers.base import Call, Hints, Kind, ProviderError
from debates.engine.providers.capabilities import Capabilities
from debates.engine.providers.decide import Decision, decide
from tests.loopback import Answer, LoopbackModel

from .asking import call_of, provider_of, run
from .test_reading import BALLOT, GOOD, Ballot

BAD = json.dumps({"winner": "Rust", "scores": {"a": 41, "b": 78}})


def decided(server: LoopbackModel, call: Call | None = None, heard: list[str] | None = None) -> Decision:
    heard = [] if heard is None else heard
    doing = decide(provider_of(server), call or call_of(), Ballot, heard.append, again=lambda: heard.append("|"))
    return run(doing)


def test_a_good_answer_takes_one_call_and_streams_as_it_was_written() -> None:
    heard: list[str] = []
    with LoopbackModel(Answer(text=GOOD)) as server:
        decision = decided(server, heard=heard)
    assert (decision.value, decision.text, decision.failure, decision.calls) == (BALLOT, GOOD, "", 1)
    assert "".join(heard) == GOOD
    assert decision.usage.written == len(GOOD.split())


def test_the_schema_goes_along_closed_and_without_references() -> None:
    with LoopbackModel() as server:
        assert isinstance(decided(server).value, Ballot)
        schema = server.requests[0].schema
    assert schema is not None
    assert schema["properties"]["scores"]["additionalProperties"] is False
    assert "$defs" not in schema


@pytest.mark.hard_case("B25")
@pytest.mark.hard_case("B37")
def test_an_unreadable_answer_is_repaired_by_one_more_request_that_says_what_was_wrong() -> None:
    heard: list[str] = []
    call = call_of(hints=Hints(prefill="No, because"))
    with LoopbackModel([Answer(text=BAD), Answer(text=GOOD)]) as server:
        decision = decided(server, call, heard)
        sent = server.requests[1].messages
    assert (decision.value, decision.text, decision.calls) == (BALLOT, GOOD, 2)
    assert "".join(heard) == f"{BAD}|{GOOD}"
    assert decision.usage == call.usage
    assert decision.usage.written == len(BAD.split()) + len(GOOD.split())
    assert sent[-2] == {"role": "assistant", "content": BAD}
    assert "“winner” should be 'a', 'b' or 'none'" in sent[-1]["content"]
    assert "winner, scores, note" in sent[-1]["content"]
    assert sent[:-2] == server.requests[0].messages


@pytest.mark.hard_case("B25")
@pytest.mark.hard_case("B26")
def test_a_decision_that_stays_unreadable_is_none_with_its_text_and_the_reason() -> None:
    with LoopbackModel([Answer(text="WINNER: a"), Answer(text=BAD)]) as server:
        decision = decided(server)
        assert len(server.requests) == 2
    assert (decision.value, decision.text, decision.calls) == (None, BAD, 2)
    assert decision.failure == "The judge's ballot could not be read: “winner” should be 'a', 'b' or 'none'."


@pytest.mark.hard_case("B26")
def test_a_cut_answer_is_asked_for_once_more_with_twice_the_room_and_shorter() -> None:
    with LoopbackModel([Answer(text=f"Let me think first. {GOOD}"), Answer(text=GOOD)]) as server:
        decision = decided(server, call_of(tokens=6))
        first, second = server.requests
    assert (decision.value, decision.calls) == (BALLOT, 2)
    assert (first.body["max_tokens"], second.body["max_tokens"]) == (6, 12)
    assert "shorter" in second.last
    assert "winner, scores, note" in second.last
    assert second.messages[-1]["role"] == "user"


@pytest.mark.hard_case("B26")
@pytest.mark.parametrize("text", [GOOD, f"{GOOD} but then again", '{"winner":"b","scores":{"a":61,"b":'])
def test_what_the_limit_cut_is_never_an_answer(text: str) -> None:
    with LoopbackModel(Answer(text=text, finish="length")) as server:
        decision = decided(server)
        assert len(server.requests) == 2
    assert (decision.value, decision.text, decision.calls) == (None, text, 2)
    assert "cut off" in decision.failure


def test_the_failure_names_what_was_asked_for() -> None:
    with LoopbackModel(Answer(text="no")) as server:
        doing = decide(provider_of(server), call_of(), Ballot, lambda text: None, what="The referee's ruling")
        assert run(doing).failure.startswith("The referee's ruling could not be read: ")


@pytest.mark.parametrize("earlier", [[], [Answer(text=BAD)]])
def test_a_providers_error_passes_through_with_what_was_spent(earlier: list[Answer]) -> None:
    call = call_of()
    with LoopbackModel([*earlier, Answer(status=429)]) as server, pytest.raises(ProviderError) as raised:
        decided(server, call)
    assert raised.value.kind is Kind.THROTTLED
    assert bool(call.usage.written) is bool(earlier)


@pytest.mark.hard_case("B28")
def test_an_endpoint_that_ignores_every_form_is_read_all_the_same() -> None:
    with LoopbackModel(Answer(text=f"Here you are:\n```json\n{GOOD}\n```")) as server:
        provider = provider_of(server, capabilities=Capabilities({"json_schema", "json_object"}))
        decision = run(decide(provider, call_of(), Ballot, lambda text: None))
        assert decision.value == BALLOT
        assert "response_format" not in server.requests[0].body
        assert '"scores"' in server.requests[0].last


@pytest.mark.hard_case("B38")
def test_a_long_unreadable_answer_does_not_come_back_whole() -> None:
    with LoopbackModel([Answer(frames=[said("*" * 300_000)]), Answer(text=GOOD)]) as server:
        assert decided(server).value == BALLOT
        assert len(server.requests[1].messages[-2]["content"]) == 8_000


def said(text: str) -> dict[str, object]:
    return {"choices": [{"delta": {"content": text}, "finish_reason": "stop"}]}
