"""The provider at large: what it sends, how it stops, how it waits."""

import asyncio
import threading

import pytest

from debates.engine.providers.base import Hints, Kind, ProviderError
from debates.engine.providers.exchange import Timeouts
from debates.engine.providers.gate import Gate
from debates.engine.providers.openai_compatible import OpenAICompatible
from debates.engine.types import Limits
from tests.loopback import Answer, LoopbackModel
from tests.loopback.server import digest

from .asking import KEY, ask, call_of, pieces, prompt_of, provider_of, refused, run


def waking(message: str = "Loading model") -> Answer:
    return Answer(status=503, body={"error": {"code": 503, "message": message, "type": "unavailable_error"}})


def test_it_sends_what_the_call_says() -> None:
    with LoopbackModel() as server:
        call = call_of(tokens=77)
        call.limits = Limits(words=10, tokens=77, temperature=0.4)
        ask(server, call)
        body = server.requests[0].body
    assert body == {
        "model": "loopback",
        "messages": [
            {"role": "system", "content": "You debate."},
            {"role": "user", "content": "Should cities ban cars?"},
        ],
        "stream": True,
        "stream_options": {"include_usage": True},
        "temperature": 0.4,
        "max_tokens": 77,
    }


def test_it_tells_what_the_answer_cost_and_that_it_was_cut() -> None:
    with LoopbackModel(Answer(text="One two three")) as server:
        whole, cut = call_of(), call_of(tokens=2)
        assert ask(server, whole) == "One two three"
        assert (whole.usage.read, whole.usage.written, whole.cut) == (6, 3, False)
        assert ask(server, cut) == "One two"
        assert (cut.usage.written, cut.cut) == (2, True)


def test_text_is_handed_on_while_more_is_to_come() -> None:
    async def first_of(server: LoopbackModel) -> tuple[str, str]:
        stream = provider_of(server).stream(call_of())
        first = await anext(stream)
        server.release()
        return first, "".join([piece async for piece in stream])

    with LoopbackModel(Answer(text="One two three", after=1, fault="stall")) as server:
        assert run(first_of(server)) == ("One", " two three")


def test_closing_the_stream_closes_the_connection_at_once() -> None:
    async def leave_early(server: LoopbackModel) -> None:
        stream = provider_of(server).stream(call_of())
        await anext(stream)
        await stream.aclose()
        await asyncio.to_thread(server.wait, 1, "gone")

    with LoopbackModel(Answer(text="One two three", after=1, fault="stall")) as server:
        run(leave_early(server))


def test_cancelling_the_reader_closes_the_connection_at_once() -> None:
    async def leave_early(server: LoopbackModel) -> None:
        task = asyncio.create_task(pieces(provider_of(server), call_of(), []))
        await asyncio.to_thread(server.wait, 1)
        task.cancel()
        await asyncio.to_thread(server.wait, 1, "gone")
        assert task.cancelled()

    with LoopbackModel(Answer(text="One", fault="stall")) as server:
        run(leave_early(server))


def test_calls_reuse_a_connection_whose_answer_was_read_to_its_end() -> None:
    async def twice(server: LoopbackModel) -> None:
        for _ in range(2):
            await pieces(provider_of(server), call_of(), [])

    with LoopbackModel(Answer(text="One")) as server:
        run(twice(server))
        assert [request.connection for request in server.requests] == [1, 1]


def test_one_provider_serves_one_event_loop_after_another() -> None:
    with LoopbackModel(Answer(text="One")) as server:
        provider = provider_of(server)
        for _ in range(3):
            assert run(pieces(provider, call_of(), [])) == "One"


def test_no_account_of_the_environment_goes_to_other_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.setenv(name, "belongs-elsewhere")
    with LoopbackModel() as server:
        ask(server)
        run(pieces(OpenAICompatible(server.url, "", "m", local=True), call_of(), []))
        assert not [request for request in server.requests if "openai-organization" in request.headers]
        assert not [request for request in server.requests if "openai-project" in request.headers]
        assert len({request.key for request in server.requests}) == 2
        assert server.requests[0].key == digest(KEY)
        assert digest("belongs-elsewhere") not in {request.key for request in server.requests}


def test_a_redirect_is_not_followed() -> None:
    with LoopbackModel() as other, LoopbackModel(Answer(status=307, headers={"Location": other.url})) as server:
        assert refused(server)[0].kind is Kind.BAD_REQUEST
        assert other.requests == []


def test_a_prompt_without_messages_is_still_a_question() -> None:
    with LoopbackModel() as server:
        call = call_of()
        call.prompt = prompt_of(system="")
        ask(server, call)
        assert [message["role"] for message in server.requests[0].messages] == ["user"]


def test_it_waits_for_a_model_that_is_waking_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("debates.engine.providers.openai_compatible.LOOK", 0.01)
    told: list[str] = []
    looks = [waking(), waking(), waking("Fetching the weights: 42 %"), Answer(text="Awake")]
    with LoopbackModel(looks) as server:
        assert ask(server, call_of(waiting=told.append), local=True) == "Awake"
    assert told == ["The model on this machine is waking.", "The model on this machine is waking: 42 %."]


def test_patience_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("debates.engine.providers.openai_compatible.LOOK", 0.01)
    with LoopbackModel(waking()) as server:
        error, _ = refused(server, local=True, patience=0.05)
    assert (error.kind, error.again) == (Kind.WAKING, True)
    assert "still loading" in str(error)


def test_a_machine_without_weights_is_not_waited_for() -> None:
    missing = {"error": {"code": 503, "message": "no weights", "type": "missing_model_error"}}
    with LoopbackModel(Answer(status=503, body=missing)) as server:
        error, _ = refused(server, local=True)
        assert (error.kind, str(error)) == (Kind.MODEL_MISSING, "The model's weights are not on this machine.")
        assert len(server.requests) == 1


def test_a_local_server_that_does_not_listen_yet_is_knocked_at() -> None:
    with LoopbackModel(Answer(text="Here")) as gone:
        port = gone._port
    came = threading.Event()
    told: list[str] = []

    def waiting(reason: str) -> None:
        told.append(reason)
        came.set()

    async def knock() -> str:
        provider = OpenAICompatible(f"http://127.0.0.1:{port}/v1", KEY, "m", local=True)
        asking = asyncio.create_task(pieces(provider, call_of(waiting=waiting), []))
        await asyncio.to_thread(came.wait, 10)
        with LoopbackModel(Answer(text="Here"), port):
            return await asking

    assert run(knock()) == "Here"
    assert told == ["The model on this machine is waking."]


def test_nobody_is_knocked_at_for_ever_and_hosted_ones_not_at_all() -> None:
    with LoopbackModel() as gone:
        url = gone.url
    for options in ({"local": True, "knocking": 0.1}, {"local": False}):
        provider = OpenAICompatible(url, KEY, "m", **options)
        with pytest.raises(ProviderError) as raised:
            run(pieces(provider, call_of(), []))
        assert (raised.value.kind, raised.value.again) == (Kind.NETWORK, True)


def test_calls_beyond_an_endpoints_limit_wait_in_line_and_are_told() -> None:
    told: dict[int, list[str]] = {number: [] for number in range(4)}

    async def four(server: LoopbackModel) -> list[str]:
        provider = provider_of(server, gates={None: Gate(1)})
        calls = [call_of(waiting=told[number].append) for number in range(4)]
        return await asyncio.gather(*(pieces(provider, call, []) for call in calls))

    with LoopbackModel(Answer(text="One")) as server:
        assert run(four(server)) == ["One"] * 4
        assert {request.at_once for request in server.requests} == {1}
    assert told[0] == []
    assert told[3] == ["3rd in line for this model.", "2nd in line for this model.", "1st in line for this model."]


def test_slots_have_lines_of_their_own_and_other_calls_share_the_spare_one() -> None:
    gates: dict[int | None, Gate] = {0: Gate(1), 1: Gate(1)}

    async def three(server: LoopbackModel) -> None:
        provider = provider_of(server, local=True, gates=gates, spare_slot=1)
        speaking = call_of(hints=Hints(slot=0))
        tasks = [asyncio.create_task(pieces(provider, call, [])) for call in (speaking, call_of(), call_of())]
        await asyncio.to_thread(server.wait, 2)
        server.release()
        await asyncio.to_thread(server.wait, 3)
        server.release()
        await asyncio.gather(*tasks)
        assert sorted(request.body["id_slot"] for request in server.requests) == [0, 1, 1]
        assert max(request.at_once for request in server.requests) == 2

    with LoopbackModel(Answer(text="One", fault="stall")) as server:
        run(three(server))


def test_waiting_in_line_does_not_spend_the_time_for_the_first_token() -> None:
    async def two(server: LoopbackModel) -> list[str]:
        provider = provider_of(server, gates={None: Gate(1)}, timeouts=Timeouts(first=0.5))
        return await asyncio.gather(*(pieces(provider, call_of(), []) for _ in range(2)))

    with LoopbackModel(Answer(text="One two three four", rate=5.0)) as server:
        assert run(two(server)) == ["One two three four"] * 2


@pytest.mark.parametrize("status", [200, 429])
def test_a_place_is_given_back_however_the_call_ends(status: int) -> None:
    gate = Gate(1)

    async def one_then_another(server: LoopbackModel) -> str:
        provider = provider_of(server, gates={None: gate})
        with pytest.raises(ProviderError):
            await pieces(provider, call_of(), [])
        stream = provider.stream(call_of())
        await anext(stream)
        await stream.aclose()
        return await pieces(provider, call_of(), [])

    answers = [
        Answer(status=status, body={"error": {"code": 429}}),
        Answer(text="One two", rate=100),
        Answer(text="Ok"),
    ]
    with LoopbackModel(answers) as server:
        assert run(one_then_another(server)) == "Ok"
