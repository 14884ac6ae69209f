"""One fault each on a whole site of real processes, in the middle of a turn. Afterwards nothing that was sealed is lost
or doubled, no sealed turn was asked for again, and every viewer ends with the database's text."""

from __future__ import annotations

import asyncio
import signal
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from celery import Celery

from tests.live.viewer import Viewer
from tests.site import Site, Visitor, until

pytestmark = pytest.mark.faults

SLOW = {"otherwise": {"rate": 40}}  # words a second: a speech takes two or three seconds
ALL_TURNS = list(range(1, 7))


def marks(site: Site) -> Counter[str]:
    """How often each prompt was sent. A speech names the mark of the prompt that it answers."""
    return Counter(request["mark"] for request in site.requests())


async def watched(site: Site, alice: Visitor, fault: Callable[[], Any], end: str = "done") -> tuple[str, Viewer]:
    """Runs a debate under the eyes of a viewer, with a fault while the first rebuttal is being spoken."""
    site.script(SLOW)
    token = alice.argue()
    viewer = Viewer(site.port, token)
    watching = asyncio.create_task(viewer.stay())
    await viewer.until(lambda page: any(turn["round"] == 2 and turn["text"] for turn in page.open.values()), 40)
    sealed, asked = dict(site.turns(token)), marks(site)
    fault()
    await asyncio.wait_for(watching, 60)
    site.until_state(token, end)
    assert dict(site.turns(token)).items() >= sealed.items(), "what was sealed stands as it was sealed"
    for mark, count in asked.items():
        if any(mark in text for text in sealed.values()):
            assert marks(site)[mark] == count, "nothing sealed is asked for again"
    assert viewer.page.text == dict(site.turns(token))
    assert viewer.page.state["state"] == end
    return token, viewer


def whole(site: Site, token: str) -> None:
    """Six turns, each once, and the verdict on the ballots that were sealed."""
    assert [number for number, _ in site.turns(token)] == ALL_TURNS
    assert site.rows(
        "SELECT count(*) FROM debates_verdict v JOIN debates_debate d ON d.id = v.debate_id WHERE d.token = %s", token
    ) == [(1,)]
    assert site.rows(
        "SELECT count(*) FROM debates_fragment f JOIN debates_sitting s ON s.id = f.sitting_id"
        " JOIN debates_debate d ON d.id = s.debate_id WHERE d.token = %s",
        token,
    ) == [(0,)]


@pytest.mark.hard_case("B65")
def test_a_worker_killed_in_mid_turn_costs_that_turn_only(site, alice):
    def kill() -> None:
        site.kill("worker")
        site.start_worker("worker")

    token, viewer = asyncio.run(watched(site, alice, kill))
    whole(site, token)
    assert not viewer.tears


@pytest.mark.hard_case("B60")
def test_valkey_restarted_in_mid_turn_stops_no_debate(site, alice):
    def restart() -> None:
        site.kill("valkey")
        site.start_valkey()

    token, _ = asyncio.run(watched(site, alice, restart))
    whole(site, token)


@pytest.mark.hard_case("B60")
def test_a_flushed_valkey_loses_no_word(site, alice):
    token, _ = asyncio.run(watched(site, alice, lambda: site.redis().flushall()))
    whole(site, token)


def test_postgresql_restarted_in_mid_turn_stops_no_debate(site, alice):
    def restart() -> None:
        site.kill("postgres", signal.SIGINT)
        until(lambda: not site.children["postgres"].alive, "PostgreSQL has gone")
        site.start_postgres()

    token, _ = asyncio.run(watched(site, alice, restart))
    whole(site, token)


@pytest.mark.hard_case("B67")
def test_a_worker_told_to_end_gives_its_debate_back_uncharged(site, alice):
    def deploy() -> None:
        site.kill("worker", signal.SIGTERM)
        site.start_worker("next")

    token, viewer = asyncio.run(watched(site, alice, deploy))
    until(lambda: not site.children["worker"].alive, "the old worker has gone")
    whole(site, token)
    assert site.rows("SELECT attempts FROM debates_sitting ORDER BY id DESC LIMIT 1") == [(1,)]
    assert not viewer.tears


@pytest.mark.hard_case("B69")
def test_an_idle_worker_hears_again_after_its_broker_was_restarted_twice(site, alice):
    site.script({})
    for _ in range(2):
        site.kill("valkey")
        site.start_valkey()
    whole(site, finished(site, alice, "The worker still listens after two restarts"))


@pytest.mark.hard_case("B63")
def test_two_workers_that_get_every_hint_twice_speak_nothing_twice(site, alice):
    site.start_worker("rival")
    site.script({})
    tokens = [alice.argue(f"Claim number {number} should be argued by two workers") for number in range(4)]
    for (pk,) in site.rows("SELECT id FROM debates_debate ORDER BY id DESC LIMIT 4"):
        for _ in range(2):
            hint(site, pk)
    for token in tokens:
        site.until_state(token, "done")
        whole(site, token)
    twice = [mark for mark, count in marks(site).items() if count > 1]
    assert not twice, [request for request in site.requests() if request["mark"] in twice]
    site.kill("rival")


@pytest.mark.hard_case("B70")
def test_a_broker_that_is_down_at_the_post_costs_seconds_and_the_debate_still_runs(site, alice):
    """The page is fetched first, so that only the POST meets the dead broker."""
    site.script({})
    site.kill("valkey")
    token = alice.argue("The broker is down while this claim is sent")
    assert site.state(token) == "queued"
    site.start_valkey()
    site.rows("UPDATE debates_sitting SET hinted = now() - interval '1 minute' WHERE state = 'queued' RETURNING id")
    site.until_state(token, "done")
    whole(site, token)


def finished(site: Site, alice: Visitor, claim: str) -> str:
    token = alice.argue(claim)
    site.until_state(token, "done")
    return token


def hint(site: Site, debate: int) -> None:
    broker = Celery(broker=site.valkey.url)
    broker.send_task("debates.run_sitting", args=[debate], queue="debates")
