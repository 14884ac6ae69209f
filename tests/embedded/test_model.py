"""The model's port: what it answers while weights are fetched, when they can't be had, and who takes it over."""

import fcntl
import hashlib
import json
import signal
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from embedded import model
from embedded.model import Health, Model, ask, check_library, wait_for_model
from embedded.processes import CannotStart, Child
from embedded.weights import Weights
from tests.embedded.conftest import eventually

# Stands for llama.cpp's server: shares the port and is well.
WELL = """
import http.server, sys
class Server(http.server.ThreadingHTTPServer):
    allow_reuse_port = True
class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"{}")
Server(("127.0.0.1", int(sys.argv[1])), Answer).serve_forever()
"""
DEAD = "raise SystemExit('no memory')"
WEIGHTS = Weights("Fake", "fake.gguf", hashlib.sha256(b"weights").hexdigest(), 7, 7, ("crossbench-fake==1.0",))


class FakeModel(Model):
    program = WELL

    def serve(self, path: Path) -> Child:
        return Child("The model's server", [sys.executable, "-c", self.program, str(self.port)], log=self.log)


class DeadModel(FakeModel):
    program = DEAD


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    (tmp_path / "fake.gguf").write_bytes(b"weights")
    return tmp_path


@pytest.fixture
def made() -> Iterator[list[Model]]:
    models: list[Model] = []
    yield models
    for each in models:
        if each.child:
            each.child.kill()
        if each.placeholder:
            each.placeholder.close()


def health(of: Model) -> Health:
    return ask(of.environment["LOCAL_MODEL_URL"])


def tick_until(of: Model, status: int, kind: str = "") -> None:
    def reached() -> bool:
        of.tick()
        return health(of)[:2] == (status, kind)

    eventually(reached, f"{status} {kind}, not {health(of)}", 20)


def tick_until_ready(of: Model) -> None:
    def reached() -> bool:
        of.tick()
        return of.ready

    eventually(reached, "the server is well", 20)


def test_the_port_answers_503_in_llama_cpps_words_while_weights_are_fetched(cache: Path, made: list[Model]) -> None:
    with (cache / "fake.gguf.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        fetching = FakeModel(WEIGHTS, cache, cache / "model.log")
        made.append(fetching)
        fetching.tick()
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(f"{fetching.environment['LOCAL_MODEL_URL']}/chat/completions", b'{"messages": []}')
        error = {"code": 503, "message": "Loading model: looking for the weights", "type": "unavailable_error"}
        assert (refused.value.code, json.load(refused.value)) == (503, {"error": error})
        fetching.tell(0.43)
        assert health(fetching).message == "Loading model: fetching the weights, 43 %"
        assert fetching.environment["LOCAL_MODEL_NAME"] == "Fake"


def test_the_server_takes_the_port_over_and_the_placeholder_comes_back_when_it_dies(
    cache: Path, made: list[Model]
) -> None:
    running = FakeModel(WEIGHTS, cache, cache / "model.log")
    made.append(running)
    tick_until_ready(running)
    assert [health(running).status for _ in range(10)] == [200] * 10
    child = running.child
    assert child
    child.pass_on(signal.SIGKILL)
    eventually(lambda: not child.alive, "it is dead")
    running.tick()
    assert health(running) == (503, "unavailable_error", "Loading model: starting its server again")
    tick_until_ready(running)


def test_a_server_that_keeps_dying_is_given_up_with_its_last_words(
    cache: Path, made: list[Model], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(model, "RESTARTS", 1)
    dead = DeadModel(WEIGHTS, cache, cache / "model.log")
    made.append(dead)
    tick_until(dead, 503, "missing_model_error")
    assert health(dead).message == "The model's server does not start: no memory no memory"
    dead.tick()
    assert capsys.readouterr().err.count("The model's server does not start") == 1


def test_weights_that_cannot_be_had_are_said_at_the_port_and_to_whoever_waits(
    tmp_path: Path, made: list[Model], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    missing = FakeModel(WEIGHTS, tmp_path, tmp_path / "model.log")
    made.append(missing)
    with pytest.raises(CannotStart, match="The weights of Fake can't be fetched now"):
        wait_for_model(missing.environment["LOCAL_MODEL_URL"], missing.tick)
    assert health(missing)[:2] == (503, "missing_model_error")


def test_nothing_at_the_address_is_an_error_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model, "SILENCE_SECONDS", 0.2)
    with pytest.raises(CannotStart, match=r"does not answer at http://127\.0\.0\.1:9/v1"):
        wait_for_model("http://127.0.0.1:9/v1", lambda: None)


def test_a_missing_library_is_said_with_the_line_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def load(name: str) -> None:
        raise OSError(name)

    monkeypatch.setattr("ctypes.CDLL", load)
    with pytest.raises(CannotStart, match=r"libgomp\.so\.1.*sudo apt-get install -y libgomp1"):
        check_library()
