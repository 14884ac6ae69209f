"""Every way in which an endpoint fails is one of the kinds, tells a reader what happened, and no secret."""

import time
from email.utils import formatdate
from typing import Any

import pytest

from debates.engine.providers.base import Kind, ProviderError
from debates.engine.providers.exchange import Timeouts
from debates.engine.providers.failures import retry_after, scrub
from debates.engine.providers.openai_compatible import OpenAICompatible
from tests.loopback import Answer, LoopbackModel

from .asking import HURRIED, KEY, ask, call_of, pieces, refused, run
from .test_shapes import chunk

AGAIN = {Kind.THROTTLED, Kind.OVERLOADED, Kind.CUT_OFF, Kind.NETWORK, Kind.EMPTY}
PAGE = "<!doctype html><title>502</title><p>data: none</p>"


def error(message: str = "x", code: Any = None, kind: str = "invalid_request_error", param: str = "") -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "param": param or None, "code": code}}


def failed(answer: Answer) -> tuple[ProviderError, int]:
    """The error, and how often the server was asked."""
    with LoopbackModel(answer) as server:
        return refused(server)[0], len(server.requests)


@pytest.mark.hard_case("B24")
@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (401, error("Incorrect API key provided: sk-loop***6789.", "invalid_api_key"), Kind.KEY_REJECTED),
        (400, error("API key not valid. Please pass a valid API key.", 400), Kind.KEY_REJECTED),
        (400, [{"error": {"code": 400, "message": "API key not valid.", "status": "X"}}], Kind.KEY_REJECTED),
        (403, error("Country, region, or territory not supported"), Kind.KEY_REJECTED),
        (403, error("Project p does not have access to model m", "model_not_found"), Kind.MODEL_MISSING),
        (403, error("Your input was flagged by moderation"), Kind.REFUSED),
        (404, error("The model `m` does not exist", "model_not_found"), Kind.MODEL_MISSING),
        (404, {"error": 'model "m" not found, try pulling it first'}, Kind.MODEL_MISSING),
        (404, {"detail": "Not Found"}, Kind.MODEL_MISSING),
        (400, {"message": "Invalid model: m", "type": "invalid_model", "code": "1500"}, Kind.MODEL_MISSING),
        (400, error("m is not a valid model ID", 400), Kind.MODEL_MISSING),
        (503, error("No weights", 503, "missing_model_error"), Kind.MODEL_MISSING),
        (413, error("Request too large for m on tokens per minute"), Kind.TOO_LONG),
        (413, "", Kind.TOO_LONG),
        (400, error("x", "context_length_exceeded"), Kind.TOO_LONG),
        (400, error("This model's maximum context length is 4096 tokens, however …"), Kind.TOO_LONG),
        (400, error("prompt is too long: 210000 tokens > 200000 maximum"), Kind.TOO_LONG),
        (400, error("request (9030 tokens) exceeds the available context size (2048 tokens)"), Kind.TOO_LONG),
        (500, error("request exceeds the context", "", "exceed_context_size_error"), Kind.TOO_LONG),
        (400, error("x", "content_policy_violation"), Kind.REFUSED),
        (400, error("Something is odd"), Kind.BAD_REQUEST),
        (422, {"detail": [{"loc": ["body", "messages"], "msg": "Field required"}]}, Kind.BAD_REQUEST),
        (500, error("This chat template is not supported", 500), Kind.BAD_REQUEST),
        (307, "", Kind.BAD_REQUEST),
        (404, PAGE, Kind.BAD_REQUEST),
    ],
)
def test_what_would_fail_again_is_asked_once_and_named(status: int, body: Any, kind: Kind) -> None:
    raised, asked = failed(Answer(status=status, body=body))
    assert raised.kind is kind
    assert not raised.again
    assert asked == 1


@pytest.mark.hard_case("B23")
@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (429, error("You exceeded your current quota", "insufficient_quota"), Kind.OUT_OF_QUOTA),
        (402, error("Insufficient credits", 402), Kind.OUT_OF_QUOTA),
        (402, "", Kind.OUT_OF_QUOTA),
        (400, error("Your credit balance is too low to access the API"), Kind.OUT_OF_QUOTA),
        (429, error("Rate limit reached for m", "rate_limit_exceeded"), Kind.THROTTLED),
        (429, "", Kind.THROTTLED),
        (429, PAGE, Kind.THROTTLED),
        (429, [{"error": {"code": 429, "message": "Quota …", "status": "RESOURCE_EXHAUSTED"}}], Kind.THROTTLED),
    ],
)
def test_an_empty_account_is_told_from_a_throttled_key(status: int, body: Any, kind: Kind) -> None:
    raised, asked = failed(Answer(status=status, body=body))
    assert raised.kind is kind
    assert raised.again is (kind is Kind.THROTTLED)
    assert asked == 1


@pytest.mark.hard_case("B23")
@pytest.mark.parametrize(
    ("headers", "message", "seconds"),
    [
        ({"Retry-After": "7"}, "x", 7.0),
        ({"Retry-After-Ms": "1500", "Retry-After": "7"}, "x", 1.5),
        ({"Retry-After": formatdate(1_000_090), "Date": formatdate(1_000_000)}, "x", 90.0),
        ({"Retry-After": formatdate(1_000_000), "Date": formatdate(1_000_090)}, "x", 0.0),
        ({}, "Limit reached. Please try again in 7.66s.", 7.66),
        ({}, "Please retry in 250ms", 0.25),
        ({"Retry-After": "soon"}, "x", None),
        ({"Retry-After": "inf"}, "x", None),
        ({}, "x", None),
    ],
)
def test_the_time_that_a_provider_names_is_passed_on(
    headers: dict[str, str], message: str, seconds: float | None
) -> None:
    raised, _ = failed(Answer(status=429, headers=headers, body=error(message)))
    assert raised.retry_after == seconds


def test_a_date_without_the_servers_clock_counts_from_ours() -> None:
    seconds = retry_after({"retry-after": formatdate(time.time() + 3600)})
    assert seconds is not None
    assert 3500 < seconds <= 3600


@pytest.mark.hard_case("B05")
@pytest.mark.parametrize(("status", "kind"), [(500, Kind.OVERLOADED), (502, Kind.OVERLOADED), (529, Kind.OVERLOADED)])
@pytest.mark.parametrize("body", ["", PAGE, {"error": {"message": "busy", "type": "overloaded_error"}}, "null", "[]"])
def test_a_broken_server_is_overloaded_whatever_its_body(status: int, kind: Kind, body: Any) -> None:
    raised, asked = failed(Answer(status=status, body=body))
    assert (raised.kind, raised.again, asked) == (kind, True, 1)


@pytest.mark.hard_case("B05")
@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ({"choices": None, "error": {"code": 429, "message": "x"}}, Kind.THROTTLED),
        ({"choices": None, "error": {"code": "429", "message": "x"}}, Kind.THROTTLED),
        ({"error": {"code": 502, "message": "upstream"}}, Kind.OVERLOADED),
        ({"error": "llama runner process has terminated"}, Kind.OVERLOADED),
        ({"object": "error", "message": "busy", "code": 40303}, Kind.OVERLOADED),
        ({"error": {"code": 401, "message": "x"}}, Kind.KEY_REJECTED),
        ([{"error": {"code": 503, "message": "busy", "status": "UNAVAILABLE"}}], Kind.OVERLOADED),
        ({"choices": []}, Kind.EMPTY),
        ({}, Kind.EMPTY),
        ("null", Kind.EMPTY),
        ("", Kind.EMPTY),
        (PAGE, Kind.NETWORK),
        ("upstream connect error", Kind.NETWORK),
        ("[" * 100_000, Kind.NETWORK),
        ("<br>\n" * 400_000, Kind.NETWORK),
    ],
)
@pytest.mark.parametrize("type_", ["application/json", "text/event-stream"])
def test_an_error_hidden_in_a_200_is_one_of_the_kinds(body: Any, kind: Kind, type_: str) -> None:
    raised, asked = failed(Answer(body=body, type=type_))
    assert (raised.kind, asked) == (kind, 1)
    assert raised.again is (kind in AGAIN)


@pytest.mark.hard_case("B04")
@pytest.mark.parametrize("before", [[], [chunk("One"), chunk(" two")]])
@pytest.mark.parametrize(
    ("event", "kind"),
    [
        ({"error": {"code": "server_error", "message": "upstream gone"}}, Kind.OVERLOADED),
        ({"error": {"code": 502, "message": "upstream gone"}} | chunk("", "error"), Kind.OVERLOADED),
        ({"error": {"code": "429", "message": "slow down"}}, Kind.THROTTLED),
        ({"error": {"code": 400, "message": "maximum context length is 10"}}, Kind.TOO_LONG),
        ('event: error\ndata: {"message": "overloaded_error"}\n\n', Kind.OVERLOADED),
        (chunk("", "error"), Kind.OVERLOADED),
    ],
)
def test_an_error_in_the_stream_ends_it_after_the_text_before(before: list[Any], event: Any, kind: Kind) -> None:
    with LoopbackModel(Answer(frames=[*before, event, chunk("never", "stop")])) as server:
        raised, text = refused(server)
    assert (raised.kind, text) == (kind, "One two" if before else "")


@pytest.mark.hard_case("B04")
@pytest.mark.hard_case("B08")
@pytest.mark.parametrize(
    "frames",
    [
        [chunk("One two")],
        [chunk("One two"), 'data: {"choices":[{"del\n\n'],
        [chunk("One two"), 'data: {"choices":[{"delta":{"content":"thr'],
        [chunk("One two"), "data: " + "x" * 1_100_000],
    ],
)
def test_a_stream_without_an_end_is_cut_off(frames: list[Any]) -> None:
    with LoopbackModel(Answer(frames=frames)) as server:
        raised, text = refused(server)
    assert (raised.kind, text, raised.again) == (Kind.CUT_OFF, "One two", True)


@pytest.mark.parametrize("last", [chunk(finish="stop"), "data: [DONE]\n\n"])
def test_either_a_finish_or_done_is_an_end(last: Any) -> None:
    with LoopbackModel(Answer(frames=[chunk("One two"), last])) as server:
        assert ask(server) == "One two"


@pytest.mark.hard_case("B08")
@pytest.mark.parametrize(
    ("fault", "kind", "words"),
    [
        ("reset", Kind.CUT_OFF, "broke off"),
        ("close", Kind.CUT_OFF, "broke off"),
        ("stall", Kind.CUT_OFF, "fell silent"),
        ("drip", Kind.CUT_OFF, "too long"),
    ],
)
def test_a_connection_that_breaks_or_stalls_in_mid_answer_cuts_it_off(fault: str, kind: Kind, words: str) -> None:
    with LoopbackModel(Answer(text="One two three four", after=2, fault=fault)) as server:
        raised, text = refused(server, timeouts=HURRIED)
        assert (raised.kind, text, raised.again) == (kind, "One two", True)
        assert words in str(raised)
        server.wait(1, state="gone" if fault in ("stall", "drip") else "answered")


@pytest.mark.hard_case("B01")
@pytest.mark.hard_case("B08")
@pytest.mark.parametrize("late", [Answer(fault="stall"), Answer(text="Late", delay=1.5, comments=0.02)])
def test_comments_do_not_put_off_the_first_token(late: Answer) -> None:
    with LoopbackModel(late) as server:
        raised, text = refused(server, timeouts=Timeouts(first=0.3))
    assert (raised.kind, text, raised.again) == (Kind.NETWORK, "", True)
    assert "did not begin" in str(raised)


@pytest.mark.hard_case("B01")
@pytest.mark.parametrize("slow", [{"text": "One", "comments": 0.02}, {"reasoning": "Hm", "text": "One", "rate": 2.0}])
def test_comments_and_reasoning_keep_an_answer_alive(slow: dict[str, Any]) -> None:
    with LoopbackModel(Answer(delay=0.3, **slow)) as server:
        assert ask(server, timeouts=Timeouts(first=0.6, idle=0.7)) == "One"


@pytest.mark.parametrize("fault", ["stall", "reset", "close"])
def test_once_the_text_has_ended_nothing_can_spoil_it(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("debates.engine.providers.exchange.GRACE", 0.1)
    with LoopbackModel(Answer(frames=[chunk("One", "stop"), chunk(" two")], after=1, fault=fault)) as server:
        assert ask(server) == "One"


def test_a_connection_that_closes_before_its_first_byte_is_opened_again() -> None:
    with LoopbackModel([Answer(drop=True), Answer(text="One two")]) as server:
        assert ask(server) == "One two"
        assert len(server.requests) == 2


def test_a_server_that_only_hangs_up_is_a_network_failure() -> None:
    raised, asked = failed(Answer(drop=True))
    assert (raised.kind, raised.again, asked) == (Kind.NETWORK, True, 2)


@pytest.mark.parametrize("address", ["http://127.0.0.1:9", "nonsense", "http://", "http://name.invalid", "ftp://x/v1"])
def test_an_address_that_leads_nowhere_is_a_network_failure(address: str) -> None:
    with pytest.raises(ProviderError) as raised:
        run(pieces(OpenAICompatible(address, KEY, "m", timeouts=HURRIED), call_of(), []))
    assert raised.value.kind is Kind.NETWORK


@pytest.mark.parametrize("key", ["ключ", "sk-abc\r\nX-Injected: 1", "a\x00b"])
def test_a_key_that_no_header_can_carry_is_rejected(key: str) -> None:
    with LoopbackModel() as server:
        with pytest.raises(ProviderError) as raised:
            run(pieces(OpenAICompatible(server.url, key, "m"), call_of(), []))
        assert raised.value.kind is Kind.KEY_REJECTED
        assert server.requests == []


@pytest.mark.parametrize("status", [200, 400, 401, 404, 429, 500])
def test_neither_the_sentence_nor_the_log_holds_a_key_or_an_address(status: int) -> None:
    body = error(f"Key {KEY} at https://secret.example/v1 with Bearer abcdef123456 and sk-other-4242424242")
    raised, _ = failed(Answer(status=status, body=body))
    assert KEY not in str(raised) + raised.detail
    assert "abcdef123456" not in raised.detail
    assert "4242424242" not in raised.detail
    for secret in ("secret", "example", "Key", "127.0.0.1"):
        assert secret not in str(raised)
    assert raised.__cause__ is None
    assert raised.__context__ is None


def test_it_scrubs_short_and_empty_keys_without_eating_the_text() -> None:
    assert scrub("401 a b c", "") == "401 a b c"
    assert scrub("key topsecret here", "topsecret") == "key [key] here"
