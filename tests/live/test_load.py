"""What one viewer, or many, cost the server and each other."""

from __future__ import annotations

import asyncio
import socket
import threading

import pytest
from django.db import connection, transaction

from debates.database import in_db
from debates.models import Debate

from . import viewer as page
from .stage import eventually, on_stage, run
from .viewer import Viewer

MEGABYTE = 1024 * 1024
FILLER = {"t": "round", "round": 1, "name": "x" * 20_000, "instruction": "", "slots": []}
REQUEST = """GET /ws/d/{token}/ HTTP/1.1\r
Host: 127.0.0.1:{port}\r
Origin: http://127.0.0.1:{port}\r
Upgrade: websocket\r
Connection: Upgrade\r
Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
Sec-WebSocket-Version: 13\r
\r
"""


def deaf(port: int, debate: Debate) -> socket.socket:
    """A socket that is opened and then never read."""
    never = socket.socket()
    never.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    never.connect(("127.0.0.1", port))
    never.sendall(REQUEST.format(token=debate.token, port=port).encode())
    return never


def connections() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()")
        return cursor.fetchone()[0]


def is_closed(never: socket.socket) -> bool:
    """Whether the server has given it up: everything that was sent can be read to its end."""
    never.setblocking(False)
    try:
        while never.recv(65536):
            pass
    except BlockingIOError:
        return False
    except ConnectionError:
        pass
    return True


@pytest.mark.hard_case("B57")
def test_sockets_that_never_read_cost_bounded_memory_and_slow_nobody(debate, daphne, monkeypatch):
    monkeypatch.setattr(page, "ACK_SECONDS", 0.25)

    async def main():
        async with on_stage(debate) as stage:
            stage.start(1)
            reader = Viewer(daphne.port, debate.token)
            staying = asyncio.create_task(reader.stay())
            await reader.until(lambda page: page.snapshots > 0)
            idle = [deaf(daphne.port, debate) for _ in range(20)]
            before = daphne.memory()
            for n in range(500):  # 10 MB for each of them, 200 MB in all
                stage.log.write(FILLER)
                stage.say(1, f"{n} ")
                await stage.log.settled(10)
                text = stage.open[1]["text"]
                await reader.until(lambda page: page.open.get(1, {}).get("text") == text)  # noqa: B023
            assert daphne.memory() - before < 30 * MEGABYTE
            assert reader.tears == []
            await eventually(lambda: all(is_closed(never) for never in idle), 40)
            await stage.seal(1)
            await stage.finish()
            assert await staying == 1000
            assert reader.codes == [1000]

    run(main(), 120)


@pytest.mark.hard_case("B59")
def test_three_hundred_sockets_take_few_connections_to_postgresql(debate, daphne):
    async def main():
        async with on_stage(debate) as stage:
            stage.start(1)
            stage.say(1, "Cars ")
            before = await in_db(connections)
            viewers = [Viewer(daphne.port, debate.token) for _ in range(300)]
            watching = [asyncio.create_task(viewer.stay()) for viewer in viewers]
            most = 0
            while not all(viewer.page.snapshots for viewer in viewers):
                most = max(most, await in_db(connections))
                await asyncio.sleep(0.02)
            assert most - before <= 4 + 4  # of the server's and of this process's threads
            stage.say(1, "are old.")
            await stage.seal(1)
            await stage.finish()
            assert set(await asyncio.gather(*watching)) == {1000}
            assert all(viewer.page.text == {1: "Cars are old."} for viewer in viewers)
            assert not any(viewer.tears for viewer in viewers)

    run(main())


@pytest.mark.hard_case("B59")
def test_a_query_that_hangs_stops_nobody_who_is_watching(debate, daphne):
    held, release = threading.Event(), threading.Event()

    def hold_the_table() -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("LOCK TABLE debates_debate IN ACCESS EXCLUSIVE MODE")
            held.set()
            release.wait(20)

    async def main():
        async with on_stage(debate) as stage:
            stage.start(1)
            watching, late = Viewer(daphne.port, debate.token), Viewer(daphne.port, debate.token)
            tasks = [asyncio.create_task(watching.stay())]
            await watching.until(lambda page: page.open.get(1) is not None)
            lock = asyncio.create_task(in_db(hold_the_table))
            await eventually(held.is_set)
            tasks.append(asyncio.create_task(late.stay()))
            for n in range(20):
                stage.say(1, f"{n} ")
                text = stage.open[1]["text"]
                await watching.until(lambda page: page.open[1]["text"] == text)  # noqa: B023
            assert late.page.frames == 0
            release.set()
            await lock
            await late.until(lambda page: page.open.get(1, {}).get("text") == stage.open[1]["text"])
            for task in tasks:
                task.cancel()

    run(main())
