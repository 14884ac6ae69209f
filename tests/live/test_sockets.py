"""Viewers of a real Daphne: joins, drops, lost logs, slow readers."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
from collections.abc import Callable

import pytest

from debates.database import in_db
from debates.log import log_key
from debates.models import Debate, Sitting, Turn
from debates.snapshots import read_past

from .servers import Daphne
from .stage import Stage, eventually, make_debate, on_stage, run
from .viewer import Frame, Viewer

WORDS = ["cars", "buses", "trams", "feet", "wheels", "noise", "air", "streets", "🚲", "Plätze"]


def sealed(debate: Debate) -> dict[int, str]:
    return {turn.number: turn.text for turn in Turn.objects.filter(debate=debate)}


def has_text(number: int, text: str):
    return lambda page: page.open.get(number, {}).get("text") == text


def has_turn(number: int):
    return lambda page: number in page.turns


@pytest.fixture
def join(daphne):
    """Makes viewers of a debate, who reconnect until nothing more will come."""

    def make(debate: Debate, **options) -> Viewer:
        return Viewer(daphne.port, debate.token, **options).enter()

    return make


def test_a_viewer_sees_the_debate_from_its_queue_to_its_verdict(debate, join):
    async def main():
        viewer = join(debate)
        await viewer.until(lambda page: page.state.get("state") == "queued")
        async with on_stage(debate) as stage:
            stage.begin_round(1, [1, 2])
            stage.start(1)
            stage.say(1, "Cars ")
            await viewer.until(has_text(1, "Cars "))
            stage.say(1, "are old.")
            await stage.seal(1)
            await viewer.until(has_turn(1))
            await stage.finish()
            assert await viewer.staying == 1000
        assert viewer.page.state["state"] == "done"
        assert viewer.page.verdicts[1]["outcome"] == "too_close"
        assert viewer.page.text == {1: "Cars are old."}
        assert viewer.tears == []

    run(main())


@pytest.mark.hard_case("B54")
def test_joining_in_mid_turn_shows_the_text_so_far_and_then_the_rest(debate, join):
    async def main():
        async with on_stage(debate) as stage:
            await stage.speak(1, "A whole speech.")
            stage.begin_round(2, [2, 3])
            stage.start(2)
            stage.start(3)
            stage.say(2, "The second ")
            stage.say(3, "The third ")
            await stage.log.settled(5)
            viewer = join(debate)
            await viewer.until(lambda page: page.snapshots > 0)
            assert viewer.page.text == {1: "A whole speech."}
            assert {n: turn["text"] for n, turn in viewer.page.open.items()} == {2: "The second ", 3: "The third "}
            assert viewer.page.round["round"] == 2
            stage.say(2, "goes on")
            await viewer.until(has_text(2, "The second goes on"))
            assert viewer.page.snapshots == 1
            assert viewer.tears == []

    run(main())


@pytest.mark.hard_case("B54")
def test_whoever_reconnects_is_sent_only_what_is_missing(debate, join, daphne):
    async def main():
        async with on_stage(debate) as stage:
            await stage.speak(1, "one")
            await stage.speak(2, "two")
            await stage.log.settled(5)
            viewer = Viewer(daphne.port, debate.token)
            first = asyncio.create_task(viewer.watch())
            await viewer.until(has_turn(2))
            viewer.drop()
            await first
            await stage.speak(3, "three")
            await stage.log.settled(5)
            second = asyncio.create_task(viewer.watch())
            await viewer.until(has_turn(3))
            assert viewer.page.repeated == 0
            second.cancel()

    run(main())


@pytest.mark.hard_case("B54")
@pytest.mark.parametrize("after", ["99", "-1", "two", "%00", "1e3", "٣", "9" * 400, ""])
def test_a_senseless_after_counts_as_nothing(debate, daphne, after):
    async def main():
        async with on_stage(debate) as stage:
            await stage.speak(1, "one")
            await stage.log.settled(5)
            viewer = Viewer(daphne.port, debate.token)
            async with viewer.connect(viewer.url.replace("after=0", f"after={after}")) as socket:
                assert '"number":1' in await socket.recv()

    run(main())


@pytest.mark.hard_case("B54")
def test_a_restart_of_the_server_costs_nobody_a_word(debate, valkey, tmp_path):
    async def main():
        server = Daphne(valkey.url, tmp_path / "daphne.log")
        await asyncio.to_thread(server.start)
        async with on_stage(debate) as stage:
            viewer = Viewer(server.port, debate.token).enter()
            stage.start(1)
            stage.say(1, "before ")
            await viewer.until(has_text(1, "before "))
            await asyncio.to_thread(server.stop)
            stage.say(1, "meanwhile ")
            await asyncio.to_thread(server.start)
            await viewer.until(has_text(1, "before meanwhile "))
            await stage.seal(1)
            await stage.finish()
            assert await viewer.staying == 1000
            assert viewer.page.text == {1: "before meanwhile "}
        await asyncio.to_thread(server.stop)
        log = server.log.read_text()
        assert "Traceback" not in log
        assert "destroyed" not in log
        assert "took too long" not in log

    run(main())


@pytest.mark.hard_case("B52")
def test_whoever_does_not_read_for_a_while_misses_nothing_least_of_all_the_verdict(debate, join):
    async def main():
        async with on_stage(debate) as stage:
            viewer = join(debate)
            await viewer.until(lambda page: page.snapshots > 0)
            viewer.socket.transport.pause_reading()
            for number in (1, 2):
                stage.start(number)
                for n in range(200):
                    stage.say(number, f"{n} ")
                    stage.log.deltas.clear()  # an entry each
                await stage.log.settled(5)
                await stage.seal(number)
            await stage.finish()
            await stage.log.settled(5)
            viewer.socket.transport.resume_reading()
            assert await viewer.staying == 1000
            assert viewer.page.text == stage.sealed
            assert list(viewer.page.verdicts) == [1]
            assert viewer.codes == [1000]

    run(main())


async def play(stage: Stage, dice: random.Random) -> None:
    """Four rounds of two who speak at once, with a broken attempt and another worker in between."""
    for round in range(1, 5):
        numbers = [2 * round - 1, 2 * round]
        stage.begin_round(round, numbers)
        for number in numbers:
            stage.start(number)
        await babble(stage, numbers, dice)
        if round == 2:
            stage.start(numbers[0], attempt=2)
            await babble(stage, numbers[:1], dice)
        if round == 3:
            await stage.seal(numbers[0])
            await stage.claim()
            stage.begin_round(round, numbers)
            stage.start(numbers[1])
            await babble(stage, numbers[1:], dice)
        for number in [number for number in numbers if number in stage.open]:
            await stage.seal(number)
    await stage.finish()


async def babble(stage: Stage, numbers: list[int], dice: random.Random) -> None:
    for n in range(60):
        for number in numbers:
            stage.say(number, dice.choice(WORDS) + " ")
        if n % 20 == 19:
            await stage.keep(dice.choice(numbers))
        await asyncio.sleep(dice.uniform(0, 0.02))


def verdicts_before_the_last_word(viewer: Viewer, found: list[bool]) -> Callable[[Frame], None]:
    return lambda frame: found.append(frame["t"] == "verdict" and bool(viewer.page.open))


async def wander(viewer: Viewer, dice: random.Random, visits: int) -> None:
    """Comes, goes in the middle of whatever there is, comes again; stays the last time."""
    await asyncio.sleep(dice.uniform(0, 2))
    for _ in range(visits - 1):
        visit = asyncio.create_task(viewer.watch())
        await asyncio.sleep(dice.uniform(0, 0.8))
        if dice.random() < 0.5 and hasattr(viewer, "socket"):
            viewer.drop()
        visit.cancel()
        await asyncio.gather(visit, return_exceptions=True)
    await viewer.stay()


@pytest.mark.hard_case("B53")
@pytest.mark.hard_case("B56")
def test_sixty_random_joins_drops_and_reconnects_converge_to_what_was_written(debate, daphne):
    """Replay a failure with LIVE_SEED=<the printed seed>."""
    seed = int(os.environ.get("LIVE_SEED", random.randrange(2**32)))
    print(f"LIVE_SEED={seed}")
    dice = random.Random(seed)
    viewers = [Viewer(daphne.port, debate.token) for _ in range(20)]
    steady = [Viewer(daphne.port, debate.token) for _ in range(2)]
    hasty: list[bool] = []
    for viewer in steady:
        viewer.on_frame = verdicts_before_the_last_word(viewer, hasty)

    async def main():
        async with on_stage(debate) as stage:
            guests = [wander(viewer, random.Random(dice.random()), visits=3) for viewer in viewers]
            hosts = [viewer.stay() for viewer in steady]
            await asyncio.gather(play(stage, dice), *guests, *hosts)

    run(main())
    truth = sealed(debate)
    assert len(truth) == 8
    for viewer in viewers + steady:
        assert viewer.page.text == truth
        assert viewer.tears == []
        assert viewer.page.state["state"] == "done"
        assert list(viewer.page.verdicts) == [1]
    assert all(viewer.codes == [1000] for viewer in steady)
    assert hasty
    assert not any(hasty)


@pytest.mark.hard_case("B60")
def test_a_log_flushed_in_mid_turn_leads_to_a_snapshot_and_the_same_text(debate, join, valkey):
    async def main():
        async with on_stage(debate) as stage:
            stage.start(1)
            stage.say(1, "Cars ")
            early = join(debate)
            await early.until(has_text(1, "Cars "))
            await stage.write_fragment(1)
            valkey.flush()
            late = join(debate)
            await late.until(has_text(1, "Cars "))  # what PostgreSQL knows
            stage.say(1, "are ")
            await stage.log.settled(5)
            await early.until(has_text(1, "Cars are "))
            await stage.keep(1)
            await late.until(has_text(1, "Cars are "))  # healed by the text of each second
            stage.say(1, "old.")
            await asyncio.gather(*[viewer.until(has_text(1, "Cars are old.")) for viewer in (early, late)])
            await stage.seal(1)
            await stage.finish()
            for viewer in (early, late):
                assert await viewer.staying == 1000
                assert viewer.page.text == {1: "Cars are old."}
                assert viewer.tears == []
                assert viewer.codes == [1000]

    run(main())


@pytest.mark.hard_case("B60")
def test_entries_that_were_lost_unread_lead_to_a_snapshot(debate, join, valkey):
    """A turn's seal is among what is lost."""

    async def main():
        async with on_stage(debate) as stage:
            stage.start(1)
            stage.say(1, "Cars ")
            viewer = join(debate)
            await viewer.until(has_text(1, "Cars "))
            stage.say(1, "are old.")
            await stage.seal_row(1)
            stage.log.waiting.clear()
            stage.log.n += 5
            stage.start(2)
            stage.say(2, "Not so.")
            await viewer.until(has_text(2, "Not so."))
            assert viewer.page.text == {1: "Cars are old."}
            assert 1 not in viewer.page.open
            assert viewer.tears == []
            viewer.staying.cancel()

    run(main())


@pytest.mark.faults
@pytest.mark.hard_case("B60")
def test_a_killed_and_restarted_valkey_costs_nobody_a_word(debate, join, valkey, daphne):
    async def main():
        async with on_stage(debate) as stage:
            stage.start(1)
            stage.say(1, "before ")
            early = join(debate)
            await early.until(has_text(1, "before "))
            valkey.kill()
            stage.say(1, "meanwhile ")
            await stage.write_fragment(1)
            await eventually(lambda: stage.flusher.down)
            lost = join(debate)
            other = await in_db(make_debate)
            stranger = join(other)
            await stranger.until(lambda page: page.state.get("state") == "queued")
            assert stranger.page.at is None
            valkey.start()
            await early.until(has_text(1, "before meanwhile "))
            stage.say(1, "after")
            await stage.keep(1)
            await asyncio.gather(*[viewer.until(has_text(1, "before meanwhile after")) for viewer in (early, lost)])
            await stage.seal(1)
            await stage.finish()
            assert await early.staying == await lost.staying == 1000
            assert early.tears == lost.tears == []
            assert early.codes == lost.codes == [1000]
            stranger.staying.cancel()

    lines = daphne.log.read_text().count("Redis is away")
    run(main())
    assert daphne.log.read_text().count("Redis is away") == lines + 1


@pytest.mark.hard_case("B60")
def test_cut_connections_to_redis_are_made_again(debate, join, valkey):
    async def main():
        async with on_stage(debate) as stage:
            stage.start(1)
            viewer = join(debate)
            for n in range(5):
                stage.say(1, f"{n} ")
                await viewer.until(has_text(1, stage.open[1]["text"]))
                valkey.client.client_kill_filter(_type="normal", skipme=True)
            assert viewer.codes == viewer.tears == []
            viewer.staying.cancel()

    run(main())


@pytest.mark.faults
@pytest.mark.hard_case("B60")
def test_a_redis_that_does_not_answer_is_as_good_as_none(debate, join, valkey):
    async def main():
        async with on_stage(debate) as stage:
            stage.start(1)
            stage.say(1, "before ")
            early = join(debate)
            await early.until(has_text(1, "before "))
            await stage.write_fragment(1)
            valkey.process.send_signal(signal.SIGSTOP)
            try:
                stage.say(1, "meanwhile")
                late = join(debate)
                await late.until(has_text(1, "before "))
                await eventually(lambda: stage.flusher.down)
            finally:
                valkey.process.send_signal(signal.SIGCONT)
            await asyncio.gather(*[viewer.until(has_text(1, "before meanwhile")) for viewer in (early, late)])
            assert early.codes == late.codes == early.tears == late.tears == []
            for viewer in (early, late):
                viewer.staying.cancel()

    run(main())


@pytest.mark.faults
@pytest.mark.hard_case("B60")
def test_a_debate_that_ends_while_redis_is_away_is_shown_to_its_end(debate, join, valkey):
    """The flusher never gets through; the hub asks PostgreSQL after 15 s of silence."""

    async def main():
        async with on_stage(debate) as stage:
            stage.start(1)
            stage.say(1, "Cars are old.")
            viewer = join(debate)
            await viewer.until(has_text(1, "Cars are old."))
            valkey.kill()
            await stage.seal(1)
            await stage.finish()
            async with asyncio.timeout(30):
                assert await viewer.staying == 1000
            assert viewer.page.text == {1: "Cars are old."}
            assert viewer.page.state["state"] == "done"
            assert list(viewer.page.verdicts) == [1]

    run(main())


def test_a_finished_debate_is_shown_without_redis(debate, join, valkey):
    async def main():
        async with on_stage(debate) as stage:
            await stage.speak(1, "one")
            await stage.finish()
            await stage.log.settled(5)
            valkey.kill()
            viewer = join(debate)
            assert await viewer.staying == 1000
            assert viewer.page.text == {1: "one"}
            assert viewer.page.state["state"] == "done"

    run(main())


def test_a_stopped_sitting_keeps_its_last_words_and_its_turns_count_until_another_follows(debate, join):
    async def main():
        async with on_stage(debate) as stage:
            await stage.speak(1, "one")
            stage.start(2)
            stage.say(2, "And another th")
            await stage.write_fragment(2, reason="Stopped.")
            await stage.finish("stopped")
            viewer = join(debate)
            assert await viewer.staying == 1000
            assert not viewer.page.turns[1]["excluded"]
            assert viewer.page.open[2]["text"] == "And another th"
            assert viewer.page.open[2]["reason"] == "Stopped."
            await in_db(Sitting.objects.create, debate=debate, kind=Sitting.Kind.JUDGEMENT)
            later = await in_db(read_past, debate.pk)
            assert json.loads(later.turns[0][1])["excluded"]

    run(main())


def test_a_sitting_that_waits_keeps_the_socket_open(debate, join):
    async def main():
        async with on_stage(debate) as stage:
            viewer = join(debate)
            await viewer.until(lambda page: page.state.get("state") == "running")
            again = await in_db(Sitting.objects.create, debate=debate, kind=Sitting.Kind.JUDGEMENT)
            await stage.finish()
            await viewer.until(lambda page: page.state.get("sitting") == again.pk)
            assert viewer.page.state["state"] == "queued"
            await stage.claim()
            await viewer.until(lambda page: page.state["state"] == "running")
            await stage.finish()
            assert await viewer.staying == 1000
            assert list(viewer.page.verdicts) == [1, 2]

    run(main())


@pytest.mark.hard_case("B65")
def test_a_turn_whose_worker_died_before_it_told_of_it_arrives_with_the_next_claim(debate, join):
    async def main():
        async with on_stage(debate) as stage:
            stage.start(1)
            stage.say(1, "one")
            viewer = join(debate)
            await viewer.until(has_text(1, "one"))
            await stage.seal_row(1)
            await stage.claim()
            await viewer.until(has_turn(1))
            viewer.staying.cancel()

    run(main())


@pytest.mark.hard_case("B65")
def test_a_zombies_entries_reach_nobody(debate, join, valkey):
    async def main():
        async with on_stage(debate) as stage:
            zombie = stage.log
            await stage.claim()
            stage.start(1)
            stage.say(1, "heir")
            viewer = join(debate)
            await viewer.until(has_text(1, "heir"))
            zombie.write({"t": "delta", "number": 1, "attempt": 1, "offset": 4, "text": " and zombie"})
            await zombie.settled(5)
            stage.say(1, " speaks")
            await viewer.until(has_text(1, "heir speaks"))
            fences = [entry.partition(b"-")[0] for entry, _ in valkey.client.xrange(log_key(debate.pk))]
            assert fences == sorted(fences)
            viewer.staying.cancel()

    run(main())
