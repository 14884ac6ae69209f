"""A model server for tests: OpenAI's chat completions format over real HTTP on 127.0.0.1, played from scripts.

It is no model and doesn't pose as one: it says what a script tells it, at the rate that the script tells it, and breaks
where the script says so. Every request is recorded.

In a test:

    with LoopbackModel() as server:                      # the built-in script: a short, plausible debate
        ... a provider or a worker calls server.url ...
        server.wait(count=2)                             # until two requests came
        server.requests[0].body["messages"]

    LoopbackModel(Answer(text="One two three", rate=50, delay=0.2))
    LoopbackModel([Answer(status=429, headers={"Retry-After": "7"}), Answer(text="Hello there")])  # call by call
    LoopbackModel(lambda request: Answer(json={"winner": "a"}) if request.schema else builtin(request))
    LoopbackModel({"rules": [...]})                      # as in a file, see `scripts.Rules`

For workers in other processes:

    python -m tests.loopback --port 0 --script FILE.json|builtin      # prints its URL

    GET  /_requests                              every request so far
    GET  /_wait?count=2&state=gone&timeout=30    answers once so many requests came (with `state`: are in that state)
    POST /_script                                a new script (JSON as in a file, or "builtin"); call counts start anew
    POST /_release                               answers that stall go on
    DELETE /_requests                            forgets
"""

from .answers import Answer
from .scripts import Request, builtin, mark
from .server import LoopbackModel

__all__ = ["Answer", "LoopbackModel", "Request", "builtin", "mark"]
