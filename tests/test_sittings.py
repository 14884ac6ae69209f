"""Claim, fence, lease and seal: two workers that crash, stall and come back, against the real database."""

from __future__ import annotations

import base64
import json
from datetime import timedelta
from typing import Any

import pytest
import redis
from django.db.models.functions import Now
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from debates import recorder, sittings
from debates.engine import types as engine
from debates.models import Debate, Fragment, Sitting, Turn, Verdict
from debates.sittings import Claim, Lost

from .makers import make_debate

TURNS = 4
LONG_AGO = timedelta(hours=1)


def turn(number: int, text: str = "") -> engine.Turn:
    return engine.Turn(number, 1, "Opening", "proposition", "opening", text or f"turn {number}")


def lapse(claim: Claim) -> None:
    """Makes the lease run out, as if its holder had been silent."""
    Sitting.objects.filter(pk=claim.sitting).update(lease_until=Now() - LONG_AGO)


@pytest.fixture
def debate(db) -> Debate:
    return make_debate()


def claimed(debate: Debate) -> Claim:
    claim = sittings.claim(debate.pk)
    assert claim is not None
    return claim


def test_a_sitting_is_claimed_once(debate):
    assert sittings.claim(debate.pk) is not None
    assert sittings.claim(debate.pk) is None


@pytest.mark.hard_case("B72")
def test_a_stop_that_comes_between_reading_and_claiming_wins(debate, monkeypatch):
    take = sittings._take

    def stopped_first(oldest: Sitting) -> bool:
        sittings.stop(debate)
        return take(oldest)

    monkeypatch.setattr(sittings, "_take", stopped_first)
    assert sittings.claim(debate.pk) is None
    assert not Sitting.objects.filter(state=Sitting.State.RUNNING).exists()


def test_what_was_deleted_is_not_claimed(debate):
    Debate.objects.filter(pk=debate.pk).update(deleted=Now())
    assert sittings.claim(debate.pk) is None


def test_a_failed_claim_leaves_the_fence_as_it_was(debate):
    claimed(debate)
    before = Debate.objects.get(pk=debate.pk).fence
    assert sittings.claim(debate.pk) is None
    assert Debate.objects.get(pk=debate.pk).fence == before


@pytest.mark.hard_case("B63")
def test_it_refuses_a_zombie_seal(debate):
    zombie = claimed(debate)
    lapse(zombie)
    sittings.reap()
    heir = claimed(debate)
    with pytest.raises(Lost):
        recorder.seal(zombie, turn(1, "the zombie's"), None)
    recorder.seal(heir, turn(1, "the heir's"), None)
    assert [row.text for row in Turn.objects.all()] == ["the heir's"]


def test_a_zombie_can_neither_renew_nor_release(debate):
    zombie = claimed(debate)
    lapse(zombie)
    sittings.reap()
    heir = claimed(debate)
    assert sittings.renew([zombie]) == {}
    assert not sittings.release(zombie, Sitting.State.FAILED)
    assert sittings.renew([heir]) == {heir.sitting: False}


def test_sealing_a_turn_twice_is_one_seal(debate):
    """A commit whose answer was lost with the connection is tried again."""
    claim = claimed(debate)
    first, _ = recorder.seal(claim, turn(1), None)
    again, _ = recorder.seal(claim, turn(1), None)
    assert first.pk == again.pk
    assert Turn.objects.count() == 1


def test_the_last_seal_whose_answer_was_lost_finds_its_verdict(debate):
    claim = claimed(debate)
    _, first = recorder.seal(claim, turn(1), engine.Verdict("unjudged", reason="unreadable"))
    _, again = recorder.seal(claim, turn(1), engine.Verdict("unjudged", reason="unreadable"))
    assert first is not None
    assert again == first
    with pytest.raises(Lost):
        recorder.seal(claim, turn(2), engine.Verdict("unjudged"))


def test_the_verdict_is_written_with_the_last_ballot_or_not_at_all(debate):
    claim = claimed(debate)
    lapse(claim)
    sittings.reap()
    with pytest.raises(Lost):
        recorder.seal(claim, turn(1), engine.Verdict("unjudged"))
    assert not Verdict.objects.exists()
    heir = claimed(debate)
    recorder.seal(heir, turn(1), engine.Verdict("unjudged", reason="unreadable"))
    assert Verdict.objects.get().version == 1
    assert Sitting.objects.get().state == Sitting.State.DONE


def test_a_sealed_turn_has_no_fragment(debate):
    claim = claimed(debate)
    frame = {"number": 1, "attempt": 1, "round": 1, "round_name": "Opening", "bench": "proposition", "kind": "opening"}
    recorder.write_fragments(claim, {1: frame | {"text": "tur"}}, "")
    recorder.seal(claim, turn(1), None)
    recorder.write_fragments(claim, {1: frame | {"text": "turn"}}, "")
    assert not Fragment.objects.exists()


@pytest.mark.hard_case("B68")
def test_a_live_sitting_is_not_reaped_and_a_lapsed_one_is(debate):
    claim = claimed(debate)
    assert sittings.reap() == []
    lapse(claim)
    assert sittings.reap() == [debate.pk]
    assert sittings.reap() == [], "the second reaper finds nothing"


@pytest.mark.hard_case("B65")
def test_a_sitting_that_is_lost_too_often_has_failed_and_says_so(debate, settings):
    for _ in range(settings.SITTING_ATTEMPTS):
        lapse(claimed(debate))
        sittings.reap()
    sitting = Sitting.objects.get()
    assert (sitting.state, sitting.failure) == (Sitting.State.FAILED, sittings.WORKER_LOST)


@pytest.mark.hard_case("B67")
def test_a_sitting_given_back_in_a_shutdown_is_not_charged_an_attempt(debate):
    claim = claimed(debate)
    assert sittings.requeue(claim)
    sitting = Sitting.objects.get()
    assert (sitting.state, sitting.attempts) == (Sitting.State.QUEUED, 0)


@pytest.mark.hard_case("B70")
def test_a_queued_sitting_whose_hint_was_lost_is_hinted_at_again(debate):
    assert sittings.reap() == []
    Sitting.objects.update(hinted=Now() - LONG_AGO)
    assert sittings.reap() == [debate.pk]


@pytest.mark.hard_case("B64")
def test_a_hint_names_the_debate_and_has_no_time_of_its_own(debate, settings):
    """What is due stands in the rows: a message is never told to wait, so no broker can run it early or twice."""
    queue: Any = redis.Redis.from_url(settings.REDIS_URL)
    queue.delete("debates")
    sittings.send_hint(debate.pk)
    message = json.loads(queue.lpop("debates"))
    assert (message["headers"]["eta"], message["headers"]["expires"], message["headers"]["retries"]) == (None, None, 0)
    assert json.loads(base64.b64decode(message["body"]))[:2] == [[debate.pk], {}]


def test_one_sitting_at_a_time_the_others_wait_in_order(debate):
    later = Sitting.objects.create(debate=debate, kind=Sitting.Kind.JUDGEMENT)
    first = claimed(debate)
    assert first.sitting < later.pk
    assert sittings.claim(debate.pk) is None
    recorder.seal(first, turn(1), engine.Verdict("unjudged"))
    assert claimed(debate).sitting == later.pk
    assert Sitting.objects.get(pk=later.pk).first_number == 2


def test_what_waits_is_stopped_at_once_and_what_runs_is_asked(debate):
    claim = claimed(debate)
    Sitting.objects.create(debate=debate, kind=Sitting.Kind.JUDGEMENT)
    sittings.stop(debate)
    assert sittings.renew([claim]) == {claim.sitting: True}
    assert Sitting.objects.order_by("pk").reverse()[0].state == Sitting.State.STOPPED


@pytest.mark.parametrize("state", [Sitting.State.FAILED, Sitting.State.STOPPED])
def test_a_debate_goes_on_from_where_it_failed_or_was_stopped(debate, state):
    claim = claimed(debate)
    recorder.seal(claim, turn(1), None)
    sittings.release(claim, state)
    assert sittings.go_on(debate)
    again = claimed(debate)
    assert (again.sitting, again.fence) == (claim.sitting, claim.fence + 1)
    assert Sitting.objects.get().first_number == 1


def test_a_debate_that_is_done_does_not_go_on(debate):
    recorder.seal(claimed(debate), turn(1), engine.Verdict("unjudged"))
    assert not sittings.go_on(debate)


class TwoWorkers(RuleBasedStateMachine):
    """Two workers, each of which may crash, stall past its lease, or act on a claim it has lost. Hints come late,
    twice or never. Whatever happens: a turn is sealed once, by the holder, and stays as it was sealed."""

    workers = st.sampled_from(["one", "two"])

    @initialize()
    def start(self) -> None:
        Debate.objects.all().delete()
        self.debate = make_debate()
        self.held: dict[str, Claim] = {}
        self.sealed: dict[int, str] = {}
        self.fences: list[int] = []

    @rule(worker=workers)
    def deliver_a_hint(self, worker: str) -> None:
        claim = sittings.claim(self.debate.pk)
        if claim is not None:
            assert not self.fences or claim.fence > self.fences[-1]
            self.fences.append(claim.fence)
            self.held[worker] = claim

    @precondition(lambda self: self.held)
    @rule(data=st.data())
    def seal_the_next_turn(self, data: st.DataObject) -> None:
        worker = data.draw(st.sampled_from(sorted(self.held)))
        claim, number = self.held[worker], len(self.sealed) + 1
        verdict = engine.Verdict("unjudged") if number == TURNS else None
        text = f"{number} by {worker} under {claim.fence}"
        try:
            recorder.seal(claim, turn(number, text), verdict)
        except Lost:
            assert not Sitting.objects.held(claim.sitting, claim.fence).exists()
            return
        assert claim.fence == self.fences[-1], "only the newest holder seals"
        self.sealed[number] = text

    @precondition(lambda self: self.held)
    @rule(data=st.data())
    def crash(self, data: st.DataObject) -> None:
        self.held.pop(data.draw(st.sampled_from(sorted(self.held))))

    @rule()
    def let_every_lease_lapse(self) -> None:
        Sitting.objects.filter(state=Sitting.State.RUNNING).update(lease_until=Now() - LONG_AGO)

    @rule()
    def reap(self) -> None:
        sittings.reap()

    @precondition(lambda self: self.held)
    @rule(data=st.data())
    def drain(self, data: st.DataObject) -> None:
        sittings.requeue(self.held.pop(data.draw(st.sampled_from(sorted(self.held)))))

    @rule()
    def renew(self) -> None:
        ours = sittings.renew(self.held.values())
        assert len(ours) <= 1

    @invariant()
    def what_was_sealed_stands(self) -> None:
        if hasattr(self, "debate"):
            assert dict(Turn.objects.values_list("number", "text")) == self.sealed

    @invariant()
    def at_most_one_sitting_runs(self) -> None:
        assert Sitting.objects.filter(state=Sitting.State.RUNNING).count() <= 1

    @invariant()
    def the_verdict_stands_with_the_last_turn(self) -> None:
        if hasattr(self, "debate"):
            assert Verdict.objects.exists() == (len(self.sealed) == TURNS)


@pytest.mark.hard_case("B63")
@pytest.mark.django_db
def test_two_workers_with_crashes_and_redelivery_never_seal_a_turn_twice(monkeypatch):
    monkeypatch.setattr("config.celery.app.send_task", lambda *args, **kwargs: None)
    quick = settings(max_examples=40, stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck))
    run_state_machine_as_test(TwoWorkers, settings=quick)
