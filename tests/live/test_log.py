"""The writer's side: ids, merging, outages."""

from __future__ import annotations

import asyncio
import json
import logging

import pytest

from debates import log
from debates.log import Flusher, Log, log_key, tell

from .stage import eventually, run

LONG = 10.0


def delta(number: int, offset: int, text: str, attempt: int = 1) -> dict:
    return {"t": "delta", "number": number, "attempt": attempt, "offset": offset, "text": text}


def entries(valkey, pk: int = 1) -> list[tuple[str, dict]]:
    found = valkey.client.xrange(log_key(pk))
    return [(entry.decode(), json.loads(fields[b"e"])) for entry, fields in found]


def text_of(valkey, number: int, pk: int = 1) -> str:
    """A turn's text from its deltas; fails where one doesn't start where the last one ended."""
    text = ""
    for _, frame in entries(valkey, pk):
        if frame["t"] == "delta" and frame["number"] == number:
            assert frame["offset"] == len(text)
            text += frame["text"]
    return text


def written(*frames: dict) -> list[dict]:
    """What a log would send of these frames, written between two flushes."""
    lines = Log("key", 7, Flusher())
    for frame in frames:
        lines.write(frame)
    return [json.loads(body) for _, body in lines.take()]


@pytest.fixture(autouse=True)
def empty(valkey) -> None:
    valkey.flush()


class Writing:
    """A flusher at work; leaving it sends what waits."""

    async def __aenter__(self) -> Flusher:
        self.flusher = Flusher()
        self.flusher.start()
        return self.flusher

    async def __aexit__(self, *error: object) -> None:
        await self.flusher.stop(LONG)


def test_ids_count_up_under_the_fence_and_stand_in_the_frame(valkey):
    async def main():
        async with Writing() as flusher:
            lines = flusher.open(1, fence=7)
            lines.write({"t": "state"})
            lines.write({"t": "round"})
            assert await lines.settled(LONG)

    run(main())
    assert entries(valkey) == [("7-1", {"id": "7-1", "t": "state"}), ("7-2", {"id": "7-2", "t": "round"})]


def test_deltas_between_two_flushes_become_one_even_where_two_speak_at_once():
    frames = written(delta(1, 0, "Ca"), delta(2, 0, "No"), delta(1, 2, "rs"), delta(2, 2, "pe"))
    assert [(frame["number"], frame["text"]) for frame in frames] == [(1, "Cars"), (2, "Nope")]


def test_deltas_of_two_attempts_or_with_a_gap_stay_apart():
    frames = written(delta(1, 0, "a"), delta(1, 0, "b", attempt=2), delta(1, 5, "c", attempt=2))
    assert [frame["text"] for frame in frames] == ["a", "b", "c"]


def test_a_delta_never_moves_before_the_text_that_precedes_it():
    text = {"t": "text", "number": 1, "attempt": 1, "text": "a"}
    assert [frame["text"] for frame in written(delta(1, 0, "a"), text, delta(1, 1, "b"))] == ["a", "a", "b"]


def test_a_written_frame_may_be_changed_by_its_owner_afterwards():
    frame = delta(1, 0, "a")
    lines = Log("key", 7, Flusher())
    lines.write(frame)
    lines.write(delta(1, 1, "b"))
    frame["text"] = "changed"
    assert json.loads(lines.take()[0][1])["text"] == "ab"


def test_text_that_is_not_unicode_does_not_stop_the_log():
    assert written({"t": "text", "number": 1, "text": "a\ud800b"})[0]["text"] == "a?b"


@pytest.mark.hard_case("B60")
def test_an_outage_leaves_no_hole_and_one_line(valkey, caplog):
    caplog.set_level(logging.INFO)

    async def main():
        async with Writing() as flusher:
            lines = flusher.open(1, fence=7)
            said = [f"{n} " for n in range(300)]
            offset = 0
            for n, word in enumerate(said):
                if n == 100:
                    assert await lines.settled(LONG)
                    valkey.kill()
                if n == 200:
                    await eventually(lambda: flusher.down)
                    await asyncio.sleep(2 * log.PAUSE)
                    valkey.start()
                lines.write(delta(1, offset, word))
                offset += len(word)
                await asyncio.sleep(0.002)
            assert await lines.settled(LONG)
            return "".join(said)

    said = asyncio.run(main())
    found = entries(valkey)
    ids = [int(entry.partition("-")[2]) for entry, _ in found]
    assert ids == list(range(ids[0], ids[0] + len(ids)))
    assert "".join(frame["text"] for _, frame in found) == said[found[0][1]["offset"] :]
    assert sum("wait" in message for message in caplog.messages) == 1


@pytest.mark.hard_case("B60")
def test_what_a_failed_flush_held_is_sent_again_under_the_same_ids(valkey, monkeypatch):
    """The connection breaks after Redis took the entries: their second coming is "equal or smaller"."""

    async def main():
        async with Writing() as flusher:
            lines = flusher.open(1, fence=7)
            arrived = asyncio.Event()
            flush = flusher.flush

            async def flush_and_lose_the_answer(client):
                if not arrived.is_set():
                    for entry, body in lines.take():
                        valkey.client.xadd(lines.key, {"e": body}, id=entry)
                    arrived.set()
                    raise ConnectionError("the answer was lost")
                return await flush(client)

            monkeypatch.setattr(flusher, "flush", flush_and_lose_the_answer)
            lines.write(delta(1, 0, "once "))
            await arrived.wait()
            lines.write(delta(1, 5, "only"))
            assert await lines.settled(LONG)

    run(main())
    assert [entry for entry, _ in entries(valkey)] == ["7-1", "7-2"]
    assert text_of(valkey, 1) == "once only"


@pytest.mark.hard_case("B60")
def test_what_redis_refuses_for_want_of_memory_is_sent_again(valkey):
    async def main():
        async with Writing() as flusher:
            lines = flusher.open(1, fence=7)
            valkey.client.config_set("maxmemory", 1)
            lines.write(delta(1, 0, "kept "))
            assert not await lines.settled(2 * log.PAUSE)
            lines.write(delta(1, 5, "too"))
            valkey.client.config_set("maxmemory", 0)
            assert await lines.settled(LONG)

    run(main())
    assert text_of(valkey, 1) == "kept too"
    assert [entry for entry, _ in entries(valkey)] == ["7-1", "7-2"]


def test_an_outage_costs_no_more_memory_than_what_was_said(valkey):
    async def main():
        flusher = Flusher()
        lines = flusher.open(1, fence=7)
        offset = 0
        for n in range(20_000):
            lines.write(delta(1, offset, "word "))
            offset += 5
            if n % 100 == 0:
                lines.write({"t": "text", "number": 1, "attempt": 1, "text": "word " * (n + 1)})
                lines.write({"t": "wait", "number": 1, "reason": "3rd in line"})
        held = [json.loads(body) for _, body in lines.take()]
        assert sum(len(json.dumps(frame)) for frame in held) < 4 * offset
        assert sum(frame["t"] == "text" for frame in held) == 1

    run(main())


@pytest.mark.hard_case("B65")
def test_redis_refuses_a_zombie(valkey):
    async def main():
        async with Writing() as flusher:
            zombie, heir = flusher.open(1, fence=7), flusher.open(1, fence=8)
            zombie.write({"t": "state"})
            assert await zombie.settled(LONG)
            heir.write({"t": "state"})
            assert await heir.settled(LONG)
            zombie.write(delta(1, 0, "late"))
            assert await zombie.settled(LONG)

    run(main())
    assert [entry for entry, _ in entries(valkey)] == ["7-1", "8-1"]


def test_a_log_expires_an_hour_after_its_last_event(valkey):
    async def main():
        async with Writing() as flusher:
            lines = flusher.open(1, fence=7)
            lines.write({"t": "state"})
            assert await lines.settled(LONG)
            assert 3500 < valkey.client.ttl(lines.key) <= 3600
            valkey.client.persist(lines.key)
            lines.write({"t": "round"})
            assert await lines.settled(LONG)
            assert valkey.client.ttl(lines.key) == -1  # renewed at most once a minute
            lines.write({"t": "end"})
            assert await lines.settled(LONG)
            assert 3500 < valkey.client.ttl(lines.key) <= 3600

    run(main())


def test_stopping_sends_what_waits_but_not_for_ever(valkey):
    async def main():
        flusher = Flusher()
        flusher.start()
        flusher.open(1, fence=7).write({"t": "state"})
        await flusher.stop(LONG)
        assert len(entries(valkey)) == 1
        valkey.kill()
        flusher = Flusher()
        flusher.start()
        lines = flusher.open(1, fence=8)
        lines.write({"t": "state"})
        assert not await lines.settled(0.1)
        await flusher.stop(0.1)

    run(main(), 10)


def test_telling_survives_a_missing_redis(valkey, caplog):
    valkey.kill()
    tell(1, "access")
    assert "could not tell of access" in caplog.text
    valkey.start()
    tell(1, "access")
    [(_, fields)] = valkey.client.xrange(log.CONTROL)
    assert json.loads(fields[b"e"]) == {"debate": 1, "what": "access"}
