"""The loopback model's HTTP server: plain asyncio, raw bytes, so that it can break off anywhere."""

from __future__ import annotations

import asyncio
import hashlib
import json
import threading
import urllib.parse
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, Self

from .answers import Answer
from .line import Line
from .scripts import Request, as_script
from .wire import Piece, error_event, pieces, whole

COMPLETIONS = "/v1/chat/completions"
GONE = (ConnectionError, asyncio.IncompleteReadError, BrokenPipeError)
SECRETS = ("authorization", "api-key", "x-api-key", "cookie")


class LoopbackModel:
    """Serves in a thread of its own from `with` on; `url` is the base URL that clients are given."""

    def __init__(self, script: object = None, port: int = 0) -> None:
        self._script = as_script(script)
        self._port = port
        self.requests: list[Request] = []
        self._changed = threading.Condition()
        self._open = 0
        self._connections = 0
        self._loop = asyncio.new_event_loop()
        self._released = asyncio.Event()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self._began = self._loop.time()
        self._server = self._do(asyncio.start_server(self._connected, "127.0.0.1", self._port))
        self._port = self._server.sockets[0].getsockname()[1]
        return self

    def __exit__(self, *_: object) -> None:
        self._do(self._closed())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    @property
    def root(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    @property
    def url(self) -> str:
        return f"{self.root}/v1"

    def play(self, script: object) -> None:
        """From now on; the requests so far stay on record."""
        self._script = as_script(script)

    def release(self) -> None:
        """Answers that stall go on; later ones stall again."""
        self._loop.call_soon_threadsafe(self._release)

    def forget(self) -> None:
        with self._changed:
            self.requests.clear()

    def wait(self, count: int, state: str = "", timeout: float = 10.0) -> list[Request]:
        """Until so many requests came (with `state`: are in that state); raises `TimeoutError`."""
        with self._changed:
            if not self._changed.wait_for(lambda: self._count(state) >= count, timeout):
                raise TimeoutError(f"{self._count(state)} of {count} requests {state or 'came'}")
            return list(self.requests)

    def _count(self, state: str) -> int:
        return sum(not state or request.state == state for request in self.requests)

    def _do(self, doing: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(doing, self._loop).result(10)

    async def _closed(self) -> None:
        self._server.close()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _release(self) -> None:
        self._released.set()
        self._released = asyncio.Event()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._connections += 1
        line = Line(reader, writer, self._connections)
        try:
            while await self._request(line):
                pass
        except GONE:
            pass
        finally:
            writer.close()

    async def _request(self, line: Line) -> bool:
        """One request on this connection; whether another may follow."""
        method, path, headers, body = await line.request()
        if path == COMPLETIONS and method == "POST":
            return await self._complete(line, headers, json.loads(body))
        status, answer = await self._control(method, path, body)
        await line.respond(status, {"Content-Type": "application/json"}, json.dumps(answer).encode())
        return True

    async def _control(self, method: str, target: str, body: bytes) -> tuple[int, Any]:
        url = urllib.parse.urlsplit(target)
        asked = dict(urllib.parse.parse_qsl(url.query))
        route = (method, url.path)
        if route == ("GET", "/_requests"):
            return 200, [request.as_dict() for request in self.requests]
        if route == ("GET", "/_wait"):
            return await asyncio.to_thread(self._awaited, asked)
        if route == ("POST", "/_script"):
            self.play(json.loads(body))
        elif route == ("POST", "/_release"):
            self._release()
        elif route == ("DELETE", "/_requests"):
            self.forget()
        elif route == ("GET", "/v1/models"):
            return 200, {"object": "list", "data": [{"id": "loopback", "object": "model", "owned_by": "tests"}]}
        elif route != ("GET", "/health"):
            return 404, {"error": {"message": f"no {method} {url.path} here", "type": "invalid_request_error"}}
        return 200, {"status": "ok"}

    def _awaited(self, asked: dict[str, str]) -> tuple[int, Any]:
        state = asked.get("state", "")
        try:
            self.wait(int(asked["count"]), state, float(asked.get("timeout", 30)))
        except TimeoutError:
            return 408, {"count": self._count(state)}
        return 200, {"count": self._count(state)}

    async def _complete(self, line: Line, headers: dict[str, str], body: dict[str, Any]) -> bool:
        self._open += 1
        request = self._recorded(line.number, headers, body)
        try:
            return await line.unless_gone(self._answer(line, request, self._script(request)))
        except GONE:
            self._became(request, "gone")
            raise
        finally:
            self._open -= 1
            if request.state == "open":
                self._became(request, "answered")

    def _recorded(self, connection: int, headers: dict[str, str], body: dict[str, Any]) -> Request:
        key = headers.get("authorization", "").removeprefix("Bearer ")
        shown = {name: digest(value) if name in SECRETS else value for name, value in headers.items()}
        number, at = len(self.requests) + 1, self._loop.time() - self._began
        request = Request(number, at, self._open, connection, shown, digest(key), body)
        with self._changed:
            self.requests.append(request)
            self._changed.notify_all()
        return request

    def _became(self, request: Request, state: str) -> None:
        with self._changed:
            request.state = state
            self._changed.notify_all()

    async def _answer(self, line: Line, request: Request, answer: Answer) -> bool:
        if not request.messages and answer.status == 200:
            answer = replace(answer, status=400, body={"error": {"message": "messages: missing", "param": "messages"}})
        if answer.drop:
            return False
        if answer.status != 200 or answer.body is not None or not request.body.get("stream"):
            await asyncio.sleep(answer.delay)
            await self._answer_whole(line, request, answer)
            return True
        return await Performance(line, answer, lambda: self._released.wait()).play(request)

    async def _answer_whole(self, line: Line, request: Request, answer: Answer) -> None:
        body = answer.body
        if body is None:
            body = whole(request, answer) if answer.status == 200 else {"error": {"message": "scripted"}}
        raw = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        headers = {"Content-Type": answer.type or "application/json", **answer.headers}
        await line.respond(answer.status, headers, raw)


class Performance:
    """One streamed answer, played in time."""

    def __init__(self, line: Line, answer: Answer, released: Callable[[], Awaitable[Any]]) -> None:
        self._line, self._script, self._released = line, answer, released
        self._now = asyncio.get_running_loop().time
        self._start = self._now()

    async def play(self, request: Request) -> bool:
        script = self._script
        head = {"Content-Type": script.type or "text/event-stream", **script.headers}
        await self._line.begin(script.status, head, script.bytes_at_once)
        sent, due = 0, bool(script.fault)
        for piece in pieces(request, script):
            if due and sent >= script.after:
                due = False
                if await self._strike():
                    return False
            await self._in_time(piece)
            await self._line.chunk(piece.data)
            sent += piece.token is not None
        await self._line.end()
        return True

    async def _in_time(self, piece: Piece) -> None:
        if piece.token is None:
            return
        script = self._script
        due = self._start + script.delay + (piece.token / script.rate if script.rate else 0.0)
        while script.comments and due - self._now() > script.comments:
            await asyncio.sleep(script.comments)
            await self._line.chunk(b": KEEP-ALIVE\n\n")
        await asyncio.sleep(max(0.0, due - self._now()))

    async def _strike(self) -> bool:
        """Whether that was the end of the connection."""
        fault = self._script.fault
        if fault == "stall":
            await self._released()
            return False
        if fault == "error":
            await self._line.chunk(error_event(self._script))
            return True
        while fault == "drip":
            await self._line.chunk(b": drip\n\n")
            await asyncio.sleep(self._script.drip)
        if fault == "reset":
            self._line.reset()
        elif fault != "close":
            raise ValueError(f"no fault is called {fault}")
        return True


def digest(secret: str) -> str:
    """Tells keys apart without telling them; empty for none."""
    return hashlib.sha256(secret.encode()).hexdigest()[:12] if secret else ""
