"""The loopback model itself: what tests build on must hold."""

import asyncio
import json
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from openai import OpenAI

from .answers import Answer
from .scripts import Rules, mark, speech
from .server import LoopbackModel
from .values import value_for

MESSAGES = [{"role": "system", "content": "You debate."}, {"role": "user", "content": "Ban cars?"}]
SCHEMA: dict[str, Any] = {
    "type": "object",
    "$defs": {"Side": {"enum": ["a", "b"]}},
    "properties": {
        "winner": {"$ref": "#/$defs/Side"},
        "score": {"type": "integer", "minimum": 40, "maximum": 45},
        "share": {"type": "number", "exclusiveMinimum": 0, "maximum": 1},
        "quote": {"type": "string", "minLength": 60, "maxLength": 70},
        "maybe": {"anyOf": [{"type": "null"}, {"type": "boolean"}]},
        "list": {"type": "array", "items": {"type": "string"}, "minItems": 2},
    },
}


CLIENT = httpx2.Client(trust_env=False, verify=False, timeout=20)


def post(server: LoopbackModel, **fields: Any) -> httpx2.Response:
    body = {"model": "m", "messages": MESSAGES, "stream": False} | fields
    return CLIENT.post(f"{server.url}/chat/completions", json=body, headers={"Authorization": "Bearer sk-secret-1"})


def said(response: httpx2.Response) -> str:
    return str(response.json()["choices"][0]["message"]["content"])


def test_the_official_client_reads_it() -> None:
    with LoopbackModel(Answer(text="One two three")) as server:
        client = OpenAI(base_url=server.url, api_key="x", max_retries=0)
        stream = client.chat.completions.create(
            model="m", messages=[{"role": "user", "content": "hi"}], stream=True, stream_options={"include_usage": True}
        )
        chunks = list(stream)
        assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices) == "One two three"
        assert chunks[-1].usage is not None
        assert chunks[-1].usage.completion_tokens == 3
        assert [model.id for model in client.models.list()] == ["loopback"]


@pytest.mark.parametrize("limit", [None, 28, 100, 300])
def test_the_built_in_speech_is_plausible_and_belongs_to_its_prompt(limit: int | None) -> None:
    texts = {said(post_to_new([*MESSAGES, {"role": "user", "content": str(n)}], limit)) for n in range(8)}
    assert len(texts) == 8
    for text in texts:
        words = len(text.split())
        assert words <= (limit or 140)
        assert limit == 28 or words >= 80
        assert text.endswith(".")
    assert said(post_to_new(MESSAGES, limit)) == said(post_to_new(MESSAGES, limit))
    assert mark(MESSAGES) in said(post_to_new(MESSAGES, limit))


def post_to_new(messages: list[dict[str, str]], limit: int | None) -> httpx2.Response:
    with LoopbackModel() as server:
        response = post(server, messages=messages, max_tokens=limit)
        assert server.requests[0].mark in said(response)
        return response


def test_speeches_differ_in_length() -> None:
    assert len({len(speech(f"Town{number}", None).split()) for number in range(30)}) > 5


def test_the_built_in_answer_to_a_schema_fits_it() -> None:
    for seed in map(str, range(50)):
        value = value_for(SCHEMA, seed)
        assert value == value_for(SCHEMA, seed)
        assert value["winner"] in ("a", "b")
        assert 40 <= value["score"] <= 45
        assert 0 < value["share"] <= 1
        assert 60 <= len(value["quote"]) <= 70
        assert isinstance(value["maybe"], bool)
        assert len(value["list"]) == 2
    assert len({json.dumps(value_for(SCHEMA, str(seed))) for seed in range(50)}) > 20


def test_a_schema_request_is_answered_with_an_object() -> None:
    form = {"type": "json_schema", "json_schema": {"name": "x", "schema": SCHEMA}}
    with LoopbackModel() as server:
        assert set(json.loads(said(post(server, response_format=form)))) == set(SCHEMA["properties"])


def test_the_token_limit_cuts() -> None:
    with LoopbackModel(Answer(text="One two three")) as server:
        response = post(server, max_completion_tokens=2)
        assert said(response) == "One two"
        assert response.json()["choices"][0]["finish_reason"] == "length"


def test_requests_are_on_record_without_their_key() -> None:
    with LoopbackModel() as server:
        post(server)
        post(server, model="other")
        one, other = server.requests
        assert (one.number, one.model, other.number, other.model) == (1, "m", 2, "other")
        assert (one.last, one.state, one.key) == ("Ban cars?", "answered", other.key)
        assert "secret" not in CLIENT.get(f"{server.root}/_requests").text


def test_rules_answer_by_what_a_request_holds() -> None:
    rules = [
        {"when": {"model": "odd"}, "answer": {"status": 429, "headers": {"Retry-After": "7"}}},
        {"when": {"contains": "cars", "has": ["temperature"]}, "answer": [{"text": "first"}, {"text": "then"}]},
        {"when": {"anywhere": "You debate", "call": 5}, "answer": {"text": "fifth"}},
    ]
    with LoopbackModel({"rules": rules, "otherwise": {"text": "else"}}) as server:
        odd = post(server, model="odd")
        assert (odd.status_code, odd.headers["retry-after"]) == (429, "7")
        assert [said(post(server, temperature=1)) for _ in range(3)] == ["first", "then", "then"]
        assert [said(post(server)) for _ in range(2)] == ["fifth", "else"]


def test_a_rule_without_a_text_keeps_the_built_in_one() -> None:
    with LoopbackModel({"otherwise": {"delay": 0.01}}) as server:
        assert mark(MESSAGES) in said(post(server))


def test_a_script_with_a_slip_is_refused() -> None:
    with pytest.raises(ValueError, match="rule"):
        Rules({"rule": []})


def test_it_plays_in_time() -> None:
    """Ten tokens at 50 a second after 0.1 s: the last is due 0.28 s after the request."""

    async def lasted(server: LoopbackModel) -> float:
        start = asyncio.get_running_loop().time()
        async with httpx2.AsyncClient() as client:
            await client.post(f"{server.url}/chat/completions", json={"messages": MESSAGES, "stream": True})
        return asyncio.get_running_loop().time() - start

    with LoopbackModel(Answer(text="a b c d e f g h i j", rate=50, delay=0.1)) as server:
        assert asyncio.run(lasted(server)) >= 0.28


@contextmanager
def started(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    command = [sys.executable, "-m", "tests.loopback", "--port", "0", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process, process.stdout.readline().strip()
        finally:
            process.kill()


def test_it_runs_as_a_process_that_others_control(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text(json.dumps({"otherwise": {"text": "One two", "after": 1, "fault": "stall"}}))
    with started("--script", str(script)) as (process, url):
        root = url.removesuffix("/v1")
        body = {"model": "m", "messages": MESSAGES, "stream": True}
        heard: list[str] = []
        asking = threading.Thread(
            target=lambda: heard.append(CLIENT.post(f"{url}/chat/completions", json=body, timeout=20).text)
        )
        asking.start()
        assert CLIENT.get(f"{root}/_wait?count=1&timeout=10").json() == {"count": 1}
        assert CLIENT.get(f"{root}/_wait?count=1&state=answered&timeout=0.01").status_code == 408
        CLIENT.post(f"{root}/_release")
        asking.join(10)
        assert '" two"' in heard[0]
        assert CLIENT.get(f"{root}/_requests").json()[0]["state"] == "answered"
        CLIENT.post(f"{root}/_script", json={"otherwise": {"text": "New"}})
        assert said(CLIENT.post(f"{url}/chat/completions", json=body | {"stream": False})) == "New"
        CLIENT.delete(f"{root}/_requests")
        assert CLIENT.get(f"{root}/_requests").json() == []
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0
