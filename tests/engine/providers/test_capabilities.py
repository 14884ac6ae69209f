"""A model's first refusal of a field is its last: the next request, and every later one, is made without it."""

from collections.abc import Callable
from typing import Any

import pytest

from debates.engine.providers.base import Hints, Kind, Message
from debates.engine.providers.capabilities import Capabilities, without_ranges
from tests.loopback import Answer, LoopbackModel, Request

from .asking import SCHEMA, ask, call_of, refused

Refusing = Callable[[Request], Answer]


def no(message: str, param: str | None = None, status: int = 400) -> Answer:
    body = {"error": {"message": message, "type": "invalid_request_error", "param": param, "code": None}}
    return Answer(status=status, body=body)


def unless(*checks: tuple[Callable[[Request], Any], Answer]) -> Refusing:
    """A server that refuses what a check finds, in this order, and answers the rest."""

    def script(request: Request) -> Answer:
        return next((answer for found, answer in checks if found(request)), Answer(text="All fine"))

    return script


def has(name: str) -> Callable[[Request], bool]:
    return lambda request: name in request.body


def form_is(kind: str) -> Callable[[Request], bool]:
    return lambda request: (request.body.get("response_format") or {}).get("type") == kind


def fields(server: LoopbackModel) -> list[set[str]]:
    return [set(request.body) for request in server.requests]


NEWER = unless(
    (has("max_tokens"), no("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.", "max_tokens")),
    (has("temperature"), no("Unsupported value: 'temperature' does not support 0.8", "temperature")),
)
OLDER = unless((has("max_completion_tokens"), no("Unrecognized request argument supplied: max_completion_tokens")))


@pytest.mark.hard_case("B18")
def test_a_model_of_the_newer_family_is_learned_in_one_correction_each_and_remembered() -> None:
    learned = Capabilities()
    with LoopbackModel(NEWER) as server:
        assert ask(server, capabilities=learned) == "All fine"
        assert len(server.requests) == 3
        assert ask(server, capabilities=learned) == "All fine"
        assert len(server.requests) == 4
        assert server.requests[-1].body["max_completion_tokens"] == 300
        assert not {"max_tokens", "temperature"} & set(server.requests[-1].body)


@pytest.mark.hard_case("B18")
def test_what_was_learned_elsewhere_is_not_learned_again() -> None:
    with LoopbackModel(NEWER) as server:
        ask(server, capabilities=Capabilities({"max_tokens", "temperature"}))
        assert len(server.requests) == 1


@pytest.mark.hard_case("B18")
def test_a_model_that_wants_neither_name_of_the_limit_gets_none() -> None:
    learned = Capabilities({"max_tokens"})
    with LoopbackModel(OLDER) as server:
        assert ask(server, capabilities=learned) == "All fine"
        assert not {"max_tokens", "max_completion_tokens"} & set(server.requests[-1].body)


@pytest.mark.hard_case("B17")
@pytest.mark.parametrize(
    "refusal",
    [
        {"detail": [{"type": "extra_forbidden", "loc": ["body", "stream_options"], "msg": "Extra inputs …"}]},
        {"message": {"detail": [{"loc": ["body", "stream_options"], "msg": "Extra inputs", "input": "temperature"}]}},
        {"object": "error", "message": "[{'type': 'extra_forbidden', 'loc': ('body', 'stream_options')}]", "code": 400},
        {"error": {"message": "Unknown field stream_options", "code": "x"}},
    ],
)
@pytest.mark.parametrize("status", [400, 422])
def test_an_extra_field_is_left_out_and_nothing_else(refusal: Any, status: int) -> None:
    with LoopbackModel(unless((has("stream_options"), Answer(status=status, body=refusal)))) as server:
        assert ask(server) == "All fine"
        first, second = fields(server)
        assert first - second == {"stream_options"}


@pytest.mark.hard_case("B17")
@pytest.mark.parametrize(
    ("status", "message", "param"),
    [
        (400, "System role not supported", None),
        (500, "Conversation roles must alternate user/assistant/user/assistant/...", None),
        (400, "Unsupported value: 'messages[0].role' does not support 'system' with this model.", "messages[0].role"),
        (500, "Only user and assistant roles are supported!", None),
    ],
)
def test_a_refused_system_role_is_folded_into_the_first_message(status: int, message: str, param: str) -> None:
    def has_system(request: Request) -> bool:
        return request.messages[0]["role"] == "system"

    with LoopbackModel(unless((has_system, no(message, param, status)))) as server:
        assert ask(server) == "All fine"
        assert server.requests[-1].messages == [
            {"role": "user", "content": "You debate.\n\nShould cities ban cars?"},
        ]


@pytest.mark.hard_case("B17")
def test_messages_alternate_and_begin_and_end_with_the_users() -> None:
    said = [("assistant", "One"), ("user", "Two"), ("user", "Three"), ("user", ""), ("assistant", "Four")]
    with LoopbackModel() as server:
        ask(server, call_of(*(Message(role, text) for role, text in said)))
        sent = [(message["role"], message["content"]) for message in server.requests[0].messages]
        assert [role for role, _ in sent] == ["system", "user", "assistant", "user", "assistant", "user"]
        assert sent[3] == ("user", "Two\n\nThree")
        assert all(set(message) == {"role", "content"} for message in server.requests[0].messages)


@pytest.mark.hard_case("B17")
@pytest.mark.parametrize("status", [400, 422, 500])
def test_a_refusal_that_teaches_nothing_is_not_sent_again(status: int) -> None:
    with LoopbackModel(no("Something is odd", status=status)) as server:
        refused(server)
        assert len(server.requests) == 1


def test_a_server_that_refuses_everything_is_given_up() -> None:
    everything = "temperature max_tokens max_completion_tokens stream_options system role response_format"
    with LoopbackModel(no(everything)) as server:
        error, _ = refused(server, call_of(schema=SCHEMA))
        assert error.kind is Kind.BAD_REQUEST
        assert len(server.requests) < 8


def bounded(request: Request) -> bool:
    return bool(request.schema) and "minimum" in str(request.schema)


@pytest.mark.hard_case("B28")
@pytest.mark.parametrize(
    ("script", "asked", "last"),
    [
        (
            unless((bounded, no("Invalid schema: In context=('properties','score'), 'minimum' is not permitted."))),
            2,
            "json_schema",
        ),
        (
            unless((form_is("json_object"), no("'response_format.type' must be 'json_schema' or 'text'"))),
            1,
            "json_schema",
        ),
        (
            unless((form_is("json_schema"), no("'response_format.type' must be 'json_object'", "response_format"))),
            2,
            "json_object",
        ),
        (unless((has("response_format"), no("This model does not support response format"))), 3, None),
        (unless((has("response_format"), no("Unknown field: response_format"))), 3, None),
        (unless((has("response_format"), no("failed to parse grammar"))), 3, None),
        (unless(), 1, "json_schema"),
    ],
)
def test_json_is_asked_for_in_the_strictest_form_that_is_taken(script: Refusing, asked: int, last: Any) -> None:
    learned = Capabilities()
    with LoopbackModel(script) as server:
        for _ in range(2):
            assert ask(server, call_of(schema=SCHEMA), capabilities=learned) == "All fine"
        assert len(server.requests) == asked + 1
        form = server.requests[-1].body.get("response_format") or {}
        assert form.get("type") == last


@pytest.mark.hard_case("B28")
@pytest.mark.parametrize("known", [{"json_schema"}, {"json_schema", "json_object"}])
def test_where_the_schema_can_not_be_sent_the_prompt_says_it(known: set[str]) -> None:
    with LoopbackModel() as server:
        ask(server, call_of(schema=SCHEMA), capabilities=Capabilities(known))
        assert '"winner"' in server.requests[0].last
        assert "JSON" in server.requests[0].last
        assert [message["role"] for message in server.requests[0].messages] == ["system", "user"]


def test_a_schema_is_sent_strict_and_whole() -> None:
    with LoopbackModel() as server:
        ask(server, call_of(schema=SCHEMA))
        sent = server.requests[0].body["response_format"]["json_schema"]
        assert (sent["schema"], sent["strict"]) == (SCHEMA, True)
        assert '"winner"' not in server.requests[0].last


def test_a_property_that_is_called_like_a_range_stays() -> None:
    schema = {"properties": {"minimum": {"type": "integer", "minimum": 1}}, "items": [{"format": "date"}]}
    assert without_ranges(schema) == {"properties": {"minimum": {"type": "integer"}}, "items": [{}]}


def test_a_model_that_may_not_stream_is_read_whole() -> None:
    refusal = no("Your organization must be verified to stream this model.", "stream")
    with LoopbackModel(unless((lambda request: request.body["stream"], refusal))) as server:
        call = call_of()
        assert ask(server, call) == "All fine"
        assert call.usage.written == 2
        assert "stream_options" not in server.requests[-1].body


HINTS = Hints(grammar='root ::= "x"', slot=0, sampling={"min_p": 0.06, "dry_multiplier": 0.8}, prefill="No, because")


def test_hints_stay_at_home() -> None:
    with LoopbackModel() as server:
        text = ask(server, call_of(hints=HINTS))
        assert not text.startswith("No, because")
        sent = server.requests[0].body
        assert not {"grammar", "id_slot", "cache_prompt", "min_p", "dry_multiplier"} & set(sent)
        assert sent["messages"][-1]["role"] == "user"


def test_a_local_endpoint_gets_the_hints() -> None:
    with LoopbackModel(Answer(text=" cars are wide")) as server:
        assert ask(server, call_of(hints=HINTS), local=True) == "No, because cars are wide"
        sent = server.requests[0].body
        assert sent["messages"][-1] == {"role": "assistant", "content": "No, because"}
        assert (sent["grammar"], sent["id_slot"], sent["cache_prompt"]) == ('root ::= "x"', 0, True)
        assert (sent["min_p"], sent["dry_multiplier"]) == (0.06, 0.8)


def test_a_structured_answer_gets_neither_grammar_nor_prefill() -> None:
    with LoopbackModel() as server:
        ask(server, call_of(schema=SCHEMA, hints=HINTS), local=True)
        assert "grammar" not in server.requests[0].body
        assert server.requests[0].messages[-1]["role"] == "user"


def test_a_call_that_names_no_slot_uses_the_spare_one() -> None:
    with LoopbackModel() as server:
        ask(server, local=True, spare_slot=1)
        assert server.requests[0].body["id_slot"] == 1


@pytest.mark.hard_case("B17")
@pytest.mark.parametrize(
    ("found", "message", "lost"),
    [
        (has("grammar"), "Failed to initialize samplers: failed to parse grammar", {"grammar"}),
        (has("dry_multiplier"), "Field 'dry_multiplier': Value must be …", {"dry_multiplier"}),
        (has("id_slot"), "Unrecognized request arguments supplied: cache_prompt, id_slot", {"cache_prompt", "id_slot"}),
    ],
)
def test_a_local_endpoint_that_refuses_a_hint_is_asked_without_it(found: Any, message: str, lost: set[str]) -> None:
    with LoopbackModel(unless((found, no(message)))) as server:
        assert ask(server, call_of(hints=HINTS), local=True) == "No, becauseAll fine"
        first, second = fields(server)
        assert first - second == lost


@pytest.mark.hard_case("B17")
@pytest.mark.parametrize(
    "message",
    [
        "This model does not support assistant message prefill. The conversation must end with a user message.",
        "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant",
        "Assistant response prefill is incompatible with enable_thinking.",
    ],
)
def test_a_refused_prefill_is_neither_sent_nor_spoken_again(message: str) -> None:
    def prefilled(request: Request) -> bool:
        return request.messages[-1]["role"] == "assistant"

    learned = Capabilities()
    with LoopbackModel(unless((prefilled, no(message)))) as server:
        for _ in range(2):
            assert ask(server, call_of(hints=HINTS), local=True, capabilities=learned) == "All fine"
        assert len(server.requests) == 3


def test_one_bad_grammar_does_not_cost_the_next_speech_its_own() -> None:
    def bad(request: Request) -> bool:
        return request.body.get("grammar") == "(("

    learned = Capabilities()
    with LoopbackModel(unless((bad, no("Failed to initialize samplers: failed to parse grammar")))) as server:
        ask(server, call_of(hints=Hints(grammar="((")), local=True, capabilities=learned)
        ask(server, call_of(hints=HINTS), local=True, capabilities=learned)
        assert ["grammar" in names for names in fields(server)] == [True, False, True]
