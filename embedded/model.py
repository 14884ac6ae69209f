"""The local model: its weights, its server, and what its port answers until that is there.

The address is known at once; behind it the weights are fetched (in a thread) and loaded (by the server).
"""

import ctypes
import http.client
import json
import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from embedded.placeholder import LOADING, MISSING, Placeholder
from embedded.processes import ROOT, CannotStart, Child, tail
from embedded.terminal import progress, say
from embedded.weights import Weights, obtain

RESTARTS = 3
SILENCE_SECONDS = 10.0


def check_library() -> None:
    """llama.cpp's wheel leaves out one library that compilers bring and bare machines lack."""
    if sys.platform != "linux":
        return
    try:
        ctypes.CDLL("libgomp.so.1")
    except OSError:
        raise CannotStart(
            "The local model needs libgomp.so.1, which is not here. On Debian: sudo apt-get install -y libgomp1"
        ) from None


class Model:
    """Made in any state of the cache; `tick` moves it on and is called from the supervisor's main thread."""

    def __init__(self, weights: Weights, cache: Path, log: Path) -> None:
        self.weights = weights
        self.cache = cache
        self.log = log
        self.share = 0.0
        self.path: Path | None = None
        self.failure = ""
        self.ready = False
        self.child: Child | None = None
        self.placeholder: Placeholder | None = Placeholder(0, "Loading model: looking for the weights")
        self.port = self.placeholder.port
        self.fetching = threading.Thread(target=self.fetch, daemon=True)
        self.fetching.start()

    @property
    def environment(self) -> dict[str, str]:
        return {"LOCAL_MODEL_URL": f"http://127.0.0.1:{self.port}/v1", "LOCAL_MODEL_NAME": self.weights.name}

    def fetch(self) -> None:
        try:
            self.path = obtain(self.weights, self.cache, self.tell)
        except CannotStart as error:
            self.failure = str(error)

    def tell(self, share: float) -> None:
        progress(f"Fetching {self.weights.name}", self.share, share)
        self.share = share
        self.show(f"Loading model: fetching the weights, {share * 100:.0f} %")

    def show(self, message: str, kind: str = LOADING) -> None:
        """What the port answers while the server doesn't."""
        if self.placeholder is None:
            self.placeholder = Placeholder(self.port, message)
        self.placeholder.message, self.placeholder.kind = message, kind

    def tick(self) -> None:
        if self.child is None:
            self.after_fetching()
        elif not self.child.alive:
            self.after_death(self.child)
        elif not self.ready:
            self.after_start()

    def after_fetching(self) -> None:
        if self.path is not None:
            self.show("Loading model: starting its server")
            self.child = self.serve(self.path)
            self.child.start()
        elif self.failure and self.placeholder is not None and self.placeholder.kind == LOADING:
            self.give_up(self.failure)

    def serve(self, path: Path) -> Child:
        command = [sys.executable, "-m", "embedded.model_server", str(path), str(self.port), self.weights.name]
        environment = {**os.environ, "OMP_WAIT_POLICY": "passive"}
        return Child("The model's server", command, log=self.log, environment=environment, patience=5)

    def after_death(self, child: Child) -> None:
        self.ready = False
        if child.failures < RESTARTS or child.start_again_at is not None:
            self.show("Loading model: starting its server again")
            if line := child.watch():
                say(line)
        elif not self.failure:
            self.failure = f"The model's server does not start: {' '.join(tail(self.log, 2))}"
            self.give_up(self.failure)

    def give_up(self, sentence: str) -> None:
        say(sentence)
        self.show(sentence, MISSING)

    def after_start(self) -> None:
        """The placeholder goes as soon as llama.cpp's server listens, which also says while it loads, in its words."""
        health = ask(self.environment["LOCAL_MODEL_URL"])
        if self.placeholder and (health.status == 200 or health.message == "Loading model"):
            self.placeholder.close()
            self.placeholder = None
        if health.status == 200:
            self.ready = True
            say(f"{self.weights.name} is loaded.")
            self.warm()

    def warm(self) -> None:
        """Has the speakers' shared prompt read once, so that the first debate's first word comes quickly. It ends by
        itself; a debate that starts meanwhile waits for the same reading."""
        environment = {**os.environ, **self.environment}
        command = [sys.executable, str(ROOT / "manage.py"), "warm_model"]
        Child("The model's warm-up", command, log=self.log.with_name("warm.log"), environment=environment).start()


class Health(NamedTuple):
    """`status` is HTTP's, or 0 if nothing answered; `kind` and `message` are the error's."""

    status: int
    kind: str = ""
    message: str = ""


def ask(url: str) -> Health:
    """How a llama.cpp server (or its placeholder) is; `url` is the one that ends in /v1."""
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=2)
    try:
        connection.request("GET", "/health")
        answer = connection.getresponse()
        said = json.loads(answer.read()).get("error", {})
        return Health(answer.status, said.get("type", ""), said.get("message", ""))
    except (OSError, ValueError, http.client.HTTPException):
        return Health(0)
    finally:
        connection.close()


def wait_for_model(url: str, tick: Callable[[], None]) -> None:
    """Until it is loaded, however long its weights take; raises CannotStart when it won't be."""
    silent_since = None
    while (health := ask(url)).status != 200:
        if health.kind == MISSING:
            raise CannotStart(health.message)
        silent_since = silent_since or time.monotonic() if health.status == 0 else None
        if silent_since and time.monotonic() > silent_since + SILENCE_SECONDS:
            raise CannotStart(f"The local model does not answer at {url}.")
        tick()
        time.sleep(0.1)
    tick()
