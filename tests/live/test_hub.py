"""The hub in the test's own loop, where its timings can be set and its steps interrupted."""

from __future__ import annotations

import asyncio
import json
import logging

import pytest
from channels.testing import WebsocketCommunicator
from django.db.utils import OperationalError

from config.asgi import application
from debates import admission, board, consumers, live, snapshots, viewer, watch
from debates.admission import Ticket
from debates.database import in_db
from debates.live import hub
from debates.log import CONTROL, log_key
from debates.models import Debate, Sitting
from debates.viewer import TOO_SLOW, Viewer

from .stage import Stage, eventually, make_debate, on_stage, run
from .viewer import Page

FILLER = {"t": "round", "round": 1, "name": "x" * 10_000, "instruction": "", "slots": []}


class Reader:
    """A page without a socket: what it is sent is applied at once, or when it may be."""

    def __init__(self, debate: Debate, after: int = 0) -> None:
        self.page = Page()
        self.debate = debate
        self.bytes = 0
        self.may_read = asyncio.Event()
        self.may_read.set()
        self.viewer = Viewer(self.receive, Ticket(debate.token, ""), after)
        self.stay = asyncio.create_task(hub().serve(debate.pk, self.viewer, hub().accesses))

    async def receive(self, frame: str) -> None:
        await self.may_read.wait()
        self.bytes += len(frame)
        self.page.apply(json.loads(frame))

    async def sees(self, condition) -> None:
        await eventually(lambda: condition(self.page))

    async def knows(self, text: str, number: int = 1) -> None:
        await self.sees(lambda page: page.open.get(number, {}).get("text") == text)

    def acknowledge(self) -> None:
        assert self.page.at is not None
        self.viewer.ack(board.position(self.page.at))

    async def leave(self) -> None:
        self.stay.cancel()
        await asyncio.gather(self.stay, return_exceptions=True)


async def begun(stage: Stage) -> None:
    stage.start(1)
    stage.say(1, "Cars ")
    await stage.log.settled(5)


def test_the_hub_ends_with_its_last_viewer_and_starts_again(debate):
    async def main():
        async with on_stage(debate) as stage:
            await begun(stage)
            for _ in range(2):
                reader = Reader(debate)
                await reader.knows("Cars ")
                assert list(hub().watches) == [debate.pk]
                await reader.leave()
                assert hub().watches == {}
            await eventually(lambda: hub().reader is None)
            assert not hub().tasks

    run(main())


@pytest.mark.hard_case("B58")
def test_whoever_joins_while_the_hub_winds_down_is_served(debate):
    async def main():
        async with on_stage(debate) as stage:
            await begun(stage)
            first = Reader(debate)
            await first.knows("Cars ")
            await first.leave()
            second = Reader(debate)
            await second.knows("Cars ")
            stage.say(1, "are")
            await second.knows("Cars are")
            await second.leave()

    run(main())


def test_a_second_debate_is_read_without_waiting_for_the_first(debate, monkeypatch):
    monkeypatch.setattr(live, "BLOCK", 100_000)
    monkeypatch.setattr(live, "TIMEOUT", 200)

    async def main():
        other = await in_db(make_debate)
        async with on_stage(debate) as stage, on_stage(other) as there:
            await begun(stage)
            await begun(there)
            readers = [Reader(debate), Reader(other)]
            for reader in readers:
                await reader.knows("Cars ")
            there.say(1, "are")
            await readers[1].knows("Cars are")
            assert readers[0].page.open[1]["text"] == "Cars "
            for reader in readers:
                await reader.leave()

    run(main())


@pytest.mark.hard_case("B55")
@pytest.mark.parametrize("told_before", [True, False])
def test_a_seal_between_the_board_and_the_query_is_not_lost(debate, monkeypatch, told_before):
    """The mark is taken while turn 1 is open. It is sealed before PostgreSQL is read (or right after that)."""

    async def main():
        async with on_stage(debate) as stage:
            await begun(stage)
            reading, go_on = asyncio.Event(), asyncio.Event()

            async def interrupted(query, *arguments):
                if query is snapshots.read_past:
                    past = None if told_before else await in_db(query, *arguments)
                    reading.set()
                    await go_on.wait()
                    return past or await in_db(query, *arguments)
                return await in_db(query, *arguments)

            monkeypatch.setattr(watch, "in_db", interrupted)
            reader = Reader(debate)
            await reading.wait()
            stage.say(1, "are old.")
            await stage.seal(1)
            await stage.log.settled(5)
            await eventually(lambda: 1 not in hub().watches[debate.pk].board.open)
            go_on.set()
            await reader.sees(lambda page: page.text == {1: "Cars are old."})
            assert reader.page.open == {}
            await reader.leave()

    run(main())


@pytest.mark.hard_case("B55")
def test_whoever_comes_while_postgresql_is_read_gets_a_younger_answer(debate, monkeypatch):
    async def main():
        async with on_stage(debate) as stage:
            await begun(stage)
            reading, go_on = asyncio.Event(), asyncio.Event()

            async def slow(query, *arguments):
                past = await in_db(query, *arguments)
                if query is snapshots.read_past and not reading.is_set():
                    reading.set()
                    await go_on.wait()
                return past

            monkeypatch.setattr(watch, "in_db", slow)
            early = Reader(debate)
            await reading.wait()
            await stage.seal(1)
            await stage.log.settled(5)
            await eventually(lambda: 1 not in hub().watches[debate.pk].board.open)
            late = Reader(debate)
            await eventually(lambda: not late.viewer.stale)
            go_on.set()
            for reader in (early, late):
                await reader.sees(lambda page: page.text == {1: "Cars "})
                await reader.leave()

    run(main())


def test_fifty_who_come_at_once_share_their_queries(debate, monkeypatch):
    reads = []

    def counted(pk: int) -> snapshots.Past:
        reads.append(pk)
        return snapshots.read_past(pk)

    monkeypatch.setattr(watch, "read_past", counted)

    async def main():
        async with on_stage(debate) as stage:
            await begun(stage)
            readers = [Reader(debate) for _ in range(50)]
            for reader in readers:
                await reader.knows("Cars ")
            assert len(reads) < 10
            for reader in readers:
                await reader.leave()

    run(main())


def test_a_long_log_is_read_to_its_end(debate, monkeypatch):
    monkeypatch.setattr(watch, "CHUNK", 7)

    async def main():
        async with on_stage(debate) as stage:
            await stage.speak(1, "one")
            stage.start(2)
            for n in range(100):
                stage.say(2, f"{n} ")
                stage.log.deltas.clear()  # an entry each
            await stage.log.settled(5)
            reader = Reader(debate)
            await reader.knows("".join(f"{n} " for n in range(100)), number=2)
            stage.say(2, "end")
            await reader.sees(lambda page: page.open[2]["text"].endswith("end"))
            assert reader.page.snapshots == 1
            await reader.leave()

    run(main())


def test_a_hub_that_cannot_keep_pace_sends_fewer_frames_not_other_text(debate):
    async def main():
        async with on_stage(debate) as stage:
            stage.begin_round(1, [1, 2])
            stage.start(1)
            stage.start(2)
            await stage.log.settled(5)
            reader = Reader(debate)
            await reader.knows("")
            for n in range(40):
                stage.say(1 + n % 2, f"{n} ")
                stage.log.deltas.clear()  # an entry each, all in one read
            stage.log.write(FILLER)
            stage.say(1, "end")
            before = reader.page.frames
            await stage.log.settled(5)
            await reader.knows(stage.open[1]["text"])
            assert reader.page.open[2]["text"] == stage.open[2]["text"]
            assert reader.page.frames - before < 10  # of 42 entries, the first of which ends a read
            await reader.leave()

    run(main())


@pytest.mark.hard_case("B57")
def test_a_reader_who_acknowledges_late_gets_a_snapshot_instead_of_the_backlog(debate):
    async def main():
        async with on_stage(debate) as stage:
            await begun(stage)
            slow, quick = Reader(debate), Reader(debate)
            for reader in (slow, quick):
                await reader.knows("Cars ")
            for n in range(80):
                stage.log.write(FILLER)
                stage.say(1, f"{n} ")
                await stage.log.settled(5)
                await quick.knows(stage.open[1]["text"])
                quick.acknowledge()
            assert slow.bytes < viewer.BUDGET + 20_000
            assert quick.bytes > 800_000
            assert slow.page.open[1]["text"] != stage.open[1]["text"]
            slow.acknowledge()
            await slow.knows(stage.open[1]["text"])
            assert slow.page.snapshots == 2
            assert slow.bytes < viewer.BUDGET + 50_000
            for reader in (slow, quick):
                await reader.leave()

    run(main())


@pytest.mark.hard_case("B57")
def test_a_reader_who_never_acknowledges_is_closed(debate, monkeypatch):
    monkeypatch.setattr(viewer, "PATIENCE", 0.3)

    async def main():
        async with on_stage(debate) as stage:
            await begun(stage)
            reader = Reader(debate)
            await reader.knows("Cars ")
            while reader.bytes < viewer.BUDGET:
                stage.log.write(FILLER)
                await stage.log.settled(5)
            assert await reader.stay == TOO_SLOW

    run(main())


@pytest.mark.hard_case("B57")
def test_a_write_that_never_ends_costs_the_others_nothing(debate, monkeypatch):
    """A server with back-pressure lets the hub wait in a write."""
    monkeypatch.setattr(viewer, "PATIENCE", 1.0)

    async def main():
        async with on_stage(debate) as stage:
            await begun(stage)
            stuck, other = Reader(debate), Reader(debate)
            for reader in (stuck, other):
                await reader.knows("Cars ")
            stuck.may_read.clear()
            stage.say(1, "are ")
            await other.knows("Cars are ")
            assert await stuck.stay == TOO_SLOW
            stage.say(1, "old")
            await other.knows("Cars are old")
            await other.leave()

    run(main())


def test_only_what_was_sent_here_can_be_acknowledged(debate):
    async def main():
        async with on_stage(debate) as stage:
            await begun(stage)
            reader = Reader(debate)
            stage.log.write(FILLER)
            stage.log.write(FILLER)
            stage.say(1, "are")
            await reader.knows("Cars are")
            assert reader.viewer.marks
            reader.viewer.ack((10**17, 1))
            assert reader.viewer.acked == 0
            reader.acknowledge()
            assert reader.viewer.acked == reader.viewer.sent
            await reader.leave()

    run(main())


def test_the_log_in_memory_is_bounded_and_whoever_falls_out_of_it_gets_a_snapshot(debate, monkeypatch):
    monkeypatch.setattr(watch, "KEPT", 100_000)

    async def main():
        async with on_stage(debate) as stage:
            await begun(stage)
            reader = Reader(debate)
            await reader.knows("Cars ")
            reader.may_read.clear()
            for n in range(50):
                stage.log.write(FILLER)
                stage.say(1, f"{n} ")
                await stage.log.settled(5)
            here = hub().watches[debate.pk]
            await eventually(lambda: here.board.open[1].length == len(stage.open[1]["text"]))
            assert here.size <= 100_000
            assert sum(len(frame) for _, frame, _ in here.entries) <= here.size
            reader.may_read.set()
            await reader.knows(stage.open[1]["text"])
            assert reader.page.snapshots == 2
            await reader.leave()

    run(main())


def test_entries_that_are_no_frames_stop_nothing(debate, valkey, caplog):
    async def main():
        async with on_stage(debate) as stage:
            await begun(stage)
            reader = Reader(debate)
            await reader.knows("Cars ")
            for body in (b"\xff", b"[]", b"{", b'{"t":"delta"}'):
                stage.log.n += 1
                valkey.client.xadd(log_key(debate.pk), {"e": body}, id=f"{stage.fence}-{stage.log.n}")
            stage.log.n += 1
            valkey.client.xadd(log_key(debate.pk), {"other": "field"}, id=f"{stage.fence}-{stage.log.n}")
            for message in (b"{", b"[]", b'{"debate":[],"what":"access"}', b'{"what":"wake"}'):
                valkey.client.xadd(CONTROL, {"e": message})
            stage.say(1, "are")
            await stage.keep(1)
            await reader.knows("Cars are")
            await reader.leave()

    run(main())


def test_silence_ends_in_a_look_at_postgresql(debate, monkeypatch):
    monkeypatch.setattr(live, "QUIET", 0.2)
    monkeypatch.setattr(live, "LOOK", 0.05)

    async def main():
        async with on_stage(debate) as stage:
            await begun(stage)
            reader = Reader(debate)
            await reader.knows("Cars ")
            await in_db(Sitting.objects.filter(debate=debate).update, state="failed", failure="It broke off.")
            assert await reader.stay == 1000
            assert reader.page.state["state"] == "failed"
            assert reader.page.state["sentence"] == "It broke off."

    run(main())


@pytest.mark.hard_case("B60")
@pytest.mark.hard_case("B61")
def test_a_revocation_told_while_redis_was_away_is_made_up_for(debate, valkey):
    async def main():
        async with on_stage(debate) as stage:
            await begun(stage)
            reader = Reader(debate)
            await reader.knows("Cars ")
            valkey.kill()
            await eventually(lambda: hub().down)
            await in_db(Debate.objects.filter(pk=debate.pk).update, visibility=Debate.Visibility.PRIVATE)
            valkey.start()
            assert await reader.stay == 4404

    run(main())


@pytest.mark.hard_case("B61")
def test_a_revocation_between_admission_and_joining_is_noticed(debate):
    async def main():
        async with on_stage(debate) as stage:
            await begun(stage)
            other = Reader(debate)
            await other.knows("Cars ")
            before = hub().accesses
            await in_db(Debate.objects.filter(pk=debate.pk).update, visibility=Debate.Visibility.PRIVATE)
            hub().accesses += 1  # "access" was heard before this viewer was among those to be checked
            late = Viewer(other.receive, Ticket(debate.token, ""), 0)
            assert await hub().serve(debate.pk, late, before) == 4404
            await other.leave()

    run(main())


def test_tickets_are_looked_at_until_postgresql_answers(debate, monkeypatch):
    monkeypatch.setattr(watch, "PAUSE", 0.05)
    answers = iter([OperationalError(), OperationalError()])

    def refused(pk, tickets):
        for error in answers:
            raise error
        return set(tickets)

    monkeypatch.setattr(admission, "refused", refused)

    async def main():
        reader = Reader(debate)
        assert await reader.stay == 4404

    run(main())


@pytest.mark.parametrize(("error", "told"), [(OperationalError("away"), "WARNING"), (RuntimeError("ours"), "ERROR")])
def test_who_cannot_be_admitted_for_a_fault_of_ours_is_asked_to_come_again(debate, monkeypatch, caplog, error, told):
    def failing(ticket: Ticket) -> None:
        raise error

    monkeypatch.setattr(consumers, "admit", failing)
    headers = [(b"host", b"localhost"), (b"origin", b"http://localhost")]

    async def main():
        socket = WebsocketCommunicator(application, f"/ws/d/{debate.token}/", headers)
        assert await socket.connect() == (False, 1011)

    run(main())
    assert [record.levelname for record in caplog.records] == [told]


@pytest.mark.hard_case("B60")
def test_an_outage_is_one_line_and_no_tight_loop(debate, valkey, caplog, monkeypatch):
    caplog.set_level(logging.INFO, "debates.live")
    tries = []
    report = live.Hub.report

    def counted(self: live.Hub, outage: Exception | None) -> None:
        tries.append(outage)
        report(self, outage)

    monkeypatch.setattr(live.Hub, "report", counted)
    valkey.kill()

    async def main():
        reader = Reader(debate)
        await reader.sees(lambda page: page.state.get("state") == "queued")
        assert reader.page.at is None
        await asyncio.sleep(3 * live.PAUSE)
        assert len(tries) < 12
        valkey.start()
        async with on_stage(debate) as stage:
            await begun(stage)
            await reader.knows("Cars ")
            assert reader.page.at is not None
            await reader.leave()

    run(main())
    assert [record.message.partition(",")[0] for record in caplog.records] == ["Redis is away", "Redis is back"]
