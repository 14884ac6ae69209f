"""The socket of a debate's page: authorise, then forward what the hub has. It never writes."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import parse_qs

from channels.generic.websocket import AsyncWebsocketConsumer
from django.db.utils import Error as DatabaseError

from . import live
from .admission import admit, same_origin, ticket
from .board import position
from .database import in_db
from .viewer import BROKEN, GONE, MALFORMED, Viewer
from .watch import Watch

logger = logging.getLogger(__name__)

# All that a page may say, which needs no JSON parser to be read.
ACK = re.compile(r'\{\s*"at"\s*:\s*"(\d{1,18}-\d{1,18})"\s*\}', re.ASCII)
LONGEST_FRAME = 1024
# Frames that a page may send at once, and per second on top of that.
BURST, RATE = 50, 5

Message = dict[str, Any]


class LiveConsumer(AsyncWebsocketConsumer):  # type: ignore[misc]
    """Messages are taken straight from the server: Channels would hop into its one thread for each, and take one a
    turn of the event loop, behind which a flood of frames piles up unseen. There is no channel layer."""

    viewer: Viewer | None = None
    heard = 0

    async def __call__(self, scope: Message, receive: Callable[[], Awaitable[Message]], send: Any) -> None:
        self.scope, self.base_send = scope, send
        self.since = time.monotonic()
        await receive()  # "websocket.connect"
        stay = asyncio.create_task(self.welcome())
        try:
            while (message := await receive())["type"] != "websocket.disconnect":
                if message["type"] == "websocket.receive":
                    self.hear(message.get("text") or "")
        finally:
            stay.cancel()

    async def welcome(self) -> None:
        """Refuses foreign pages before anything else; a closing code is only sent once the socket is accepted."""
        try:
            await self.close(await self.watch() if same_origin(self.scope["headers"]) else None)
        except DatabaseError as error:
            logger.warning("a viewer must come again: %s", error)
            await self.close(BROKEN)
        except OSError:
            pass  # it left while it was written to
        except Exception:
            logger.exception("a viewer was lost")
            await self.close(BROKEN)

    async def watch(self) -> int:
        """The code to close with."""
        hub = live.hub()
        accesses = hub.accesses
        shown = ticket(self.scope["url_route"]["kwargs"]["token"], self.scope["headers"])
        admitted = await in_db(admit, shown)
        await self.accept()
        if admitted is None:
            return GONE
        self.viewer = viewer = Viewer(self.forward, shown, after(self.scope["query_string"]))
        if admitted.over:  # no log, no hub: what PostgreSQL knows is all there is
            await viewer.show(Watch(admitted.debate_pk))
            viewer.refresh()
        return viewer.code or await hub.serve(admitted.debate_pk, viewer, accesses)

    async def forward(self, frame: str) -> None:
        await self.base_send({"type": "websocket.send", "text": frame})

    def hear(self, frame: str) -> None:
        """An acknowledgement. A flood ends here, before it costs anything."""
        if self.viewer is None or self.viewer.code:
            return
        self.heard += 1
        said = ACK.fullmatch(frame) if len(frame) <= LONGEST_FRAME else None
        if said is None or self.heard > BURST + RATE * (time.monotonic() - self.since):
            self.viewer.dismiss(MALFORMED)
        else:
            self.viewer.ack(position(said[1]))


def after(query: bytes) -> int:
    """The last turn that the page has; 0 for anything that isn't a number of a turn."""
    number = parse_qs(query.decode("latin-1")).get("after", ["0"])[0]
    return int(number) if re.fullmatch(r"[0-9]{1,9}", number) else 0


async def nowhere(scope: Message, receive: Callable[[], Awaitable[Message]], send: Callable[[Message], Any]) -> None:
    """No such socket: refused before it is accepted."""
    await receive()
    await send({"type": "websocket.close"})
