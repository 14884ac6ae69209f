"""A page in Python: it connects, applies the reducer's rules of docs/live.md, acknowledges and reconnects.

Fault tests and benchmarks use it too. It is stricter than a page: it counts whatever should not happen.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import time
from collections.abc import Callable
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake

Frame = dict[str, Any]
ACK_SECONDS = 2.0
FOR_GOOD = (1000, 4404)


class Torn(Exception):
    """A frame doesn't continue what the page has: something is missing."""


class Page:
    """What a reader sees. `apply` is the reducer."""

    def __init__(self) -> None:
        self.turns: dict[int, Frame] = {}
        self.open: dict[int, Frame] = {}
        self.verdicts: dict[int, Frame] = {}
        self.state: Frame = {}
        self.round: Frame | None = None
        self.at: str | None = None
        self.snapshots = self.frames = self.repeated = 0

    @property
    def after(self) -> int:
        """The last turn of which the page has everything before it too."""
        number = 0
        while number + 1 in self.turns:
            number += 1
        return number

    @property
    def text(self) -> dict[int, str]:
        return {number: self.turns[number]["text"] for number in sorted(self.turns)}

    def apply(self, frame: Frame) -> None:
        self.frames += 1
        if "id" in frame:
            self.at = frame["id"]
        getattr(self, f"on_{frame['t']}")(frame)

    def on_turns(self, frame: Frame) -> None:
        for turn in frame["turns"]:
            self.seal(turn)

    def on_snapshot(self, frame: Frame) -> None:
        self.snapshots += 1
        self.at = frame["at"] or self.at
        self.open = {turn["number"]: dict(turn) for turn in frame["open"] if turn["number"] not in self.turns}
        self.verdicts = {verdict["version"]: verdict for verdict in frame["verdicts"]}
        self.state, self.round = frame["state"], frame["round"]

    def on_state(self, frame: Frame) -> None:
        self.open.clear()
        self.state = {"state": frame["state"], "sitting": frame["sitting"], "kind": frame["kind"], "sentence": ""}

    def on_round(self, frame: Frame) -> None:
        self.round = frame

    def on_start(self, frame: Frame) -> None:
        if frame["number"] not in self.turns:
            self.open[frame["number"]] = frame | {"text": "", "reason": ""}

    def on_wait(self, frame: Frame) -> None:
        if frame["number"] in self.open:
            self.open[frame["number"]]["reason"] = frame["reason"]

    def on_delta(self, frame: Frame) -> None:
        if frame["number"] in self.turns:
            self.repeated += 1
            return
        turn = self.open.get(frame["number"])
        if turn is None or turn["attempt"] != frame["attempt"] or frame["offset"] != len(turn["text"]):
            raise Torn(f"{frame} does not continue {turn}")
        turn["text"] += frame["text"]
        turn["reason"] = ""

    def on_text(self, frame: Frame) -> None:
        if frame["number"] not in self.turns:
            self.open[frame["number"]] = frame | {"reason": ""}

    def on_turn(self, frame: Frame) -> None:
        self.seal(frame["turn"])

    def on_failed(self, frame: Frame) -> None:
        if frame["number"] not in self.turns:
            known = self.open.get(frame["number"], {"attempt": 0})
            self.open[frame["number"]] = frame | known | {"text": frame["text"], "reason": frame["sentence"]}

    def on_verdict(self, frame: Frame) -> None:
        self.verdicts[frame["verdict"]["version"]] = frame["verdict"]

    def on_end(self, frame: Frame) -> None:
        self.state = self.state | {name: frame[name] for name in ("sitting", "state", "sentence")}

    def seal(self, turn: Frame) -> None:
        known = self.turns.setdefault(turn["number"], turn)
        self.repeated += known is not turn
        self.open.pop(turn["number"], None)


class Viewer:
    """One reader. `tears` counts what the socket should never make necessary; `on_frame` sees each frame first."""

    socket: ClientConnection
    staying: asyncio.Task[int]

    def __init__(
        self, port: int, token: str, cookie: str = "", on_frame: Callable[[Frame], None] = lambda frame: None
    ) -> None:
        self.port = port
        self.token = token
        self.cookie = cookie
        self.on_frame = on_frame
        self.page = Page()
        self.codes: list[int] = []
        self.tears: list[str] = []
        self.changed = asyncio.Event()

    @property
    def url(self) -> str:
        return f"ws://127.0.0.1:{self.port}/ws/d/{self.token}/?after={self.page.after}"

    def connect(self, url: str = "", **options: Any) -> connect:
        headers = {"Cookie": f"sessionid={self.cookie}"} if self.cookie else {}
        return connect(
            url or self.url,
            **{"origin": f"http://127.0.0.1:{self.port}", "additional_headers": headers, "compression": None} | options,
        )

    async def watch(self) -> int:
        """One connection, until it is closed; the code."""
        async with self.connect() as self.socket:
            acks = asyncio.create_task(self.acknowledge(self.socket))
            try:
                async for message in self.socket:
                    self.take(json.loads(message))
            except Torn as torn:
                self.tears.append(str(torn))
            except ConnectionClosed:
                pass
            finally:
                acks.cancel()
        self.codes.append(self.socket.close_code or 1006)
        self.changed.set()
        return self.codes[-1]

    def take(self, frame: Frame) -> None:
        self.on_frame(frame)
        self.page.apply(frame)
        self.changed.set()

    async def acknowledge(self, socket: ClientConnection) -> None:
        acknowledged = None
        with contextlib.suppress(ConnectionClosed):
            while True:
                await asyncio.sleep(ACK_SECONDS)
                if self.page.at not in (None, acknowledged):
                    acknowledged = self.page.at
                    await socket.send(json.dumps({"at": acknowledged}))

    def enter(self) -> Viewer:
        """Comes to stay, in the background."""
        self.staying = asyncio.create_task(self.stay())
        return self

    async def stay(self) -> int:
        """Reconnects, as a page does, until nothing more will come."""
        while True:
            try:
                code = await self.watch()
            except (OSError, InvalidHandshake, EOFError):
                code = 1006
            if code in FOR_GOOD:
                return code
            await asyncio.sleep(random.uniform(0.05, 0.3))

    def drop(self) -> None:
        """The network goes away, without a closing handshake."""
        self.socket.transport.abort()

    async def until(self, condition: Callable[[Page], bool], seconds: float = 15) -> None:
        """Waits until the page shows what the condition asks for."""
        deadline = time.monotonic() + seconds
        while not condition(self.page):
            self.changed.clear()
            async with asyncio.timeout(max(deadline - time.monotonic(), 0)):
                await self.changed.wait()
