"""A sitting's life: opened, claimed, kept by a lease, released, reaped.

The row is the queue, a Celery message only a hint at it. Whoever claims a sitting raises the debate's fence and holds
a lease that it must renew; every write that matters checks the fence, so a worker that lost its sitting can't seal
a turn any more. All times are the database's.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.db import connection, transaction
from django.db.models import F, Max
from django.db.models.functions import Coalesce, Now
from kombu.exceptions import OperationalError

from accounts.models import User
from config.celery import app

from .models import Debate, Sitting, Turn, new_seed

log = logging.getLogger(__name__)
LEASE = timedelta(seconds=settings.LEASE_SECONDS)
HINT_AGAIN = timedelta(seconds=30)
WORKER_LOST = "The worker that ran this debate was lost again and again. Its turns so far are kept."


class Lost(Exception):
    """The sitting is no longer ours: another worker has claimed it, or it has been ended."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A sitting held by this worker, under a fence that nobody else will ever have."""

    debate: int
    sitting: int
    fence: int


def hint(debate: int) -> None:
    """Tells a worker, once the transaction is committed, that there is work. A broker that is down costs seconds
    and nothing else: the reaper sends the hint again."""
    transaction.on_commit(lambda: send_hint(debate))


def send_hint(debate: int) -> None:
    try:
        app.send_task("debates.run_sitting", args=[debate], queue="debates")
    except (OperationalError, OSError) as error:
        log.warning("no hint for debate %s, the reaper will send it: %s", debate, type(error).__name__)


def open_sitting(debate: Debate, kind: str, by: User, prompts: dict[str, str], seed: bytes | None = None) -> Sitting:
    """Queues one more sitting. It waits until the debate's earlier ones are over."""
    sitting = Sitting.objects.create(
        debate=debate, kind=kind, opened_by=by, paid_by=by, prompts=prompts, seed=seed or new_seed()
    )
    hint(debate.pk)
    return sitting


def stop(debate: Debate) -> int:
    """Asks whatever is open to stop. What no worker has begun stops here; what runs stops within two seconds."""
    with transaction.atomic():
        waiting = debate.sittings.filter(state=Sitting.State.QUEUED)
        stopped = waiting.update(state=Sitting.State.STOPPED, ended=Now())
        return stopped + debate.sittings.filter(state=Sitting.State.RUNNING).update(stop_asked=True)


def go_on(debate: Debate) -> bool:
    """Takes up the newest sitting where it failed or was stopped: its sealed turns stand, the rest is spoken."""
    newest = debate.sittings.last()
    over = (Sitting.State.FAILED, Sitting.State.STOPPED)
    if newest is None or newest.state not in over or not debate.is_live:
        return False
    queued = Sitting.objects.filter(pk=newest.pk, state__in=over).update(
        **{"state": Sitting.State.QUEUED, "attempts": 0, "stop_asked": False, "ended": None, "hinted": Now()},
        **{"failed_bench": "", "failure": ""},
    )
    if queued:
        hint(debate.pk)
    return bool(queued)


def claim(debate: int) -> Claim | None:
    """Claims the debate's oldest open sitting, or nothing: it is running elsewhere, or there is none."""
    with transaction.atomic():
        # The row lock of this UPDATE orders claimers; without a sitting to claim it is rolled back.
        there = Debate.objects.filter(pk=debate, deleted=None).update(fence=F("fence") + 1)
        oldest = Sitting.objects.open().filter(debate=debate).order_by("pk").first() if there else None
        if oldest is None or not _take(oldest):
            transaction.set_rollback(True)
            return None
        return Claim(debate, oldest.pk, Sitting.objects.values_list("fence", flat=True).get(pk=oldest.pk) or 0)


def _take(oldest: Sitting) -> bool:
    """Marks the sitting as running, if it still waits: somebody may have stopped it since it was read."""
    last = Turn.objects.filter(debate=oldest.debate_id).aggregate(number=Coalesce(Max("number"), 0))["number"]
    waiting = Sitting.objects.filter(pk=oldest.pk, state=Sitting.State.QUEUED)
    return bool(
        waiting.update(
            state=Sitting.State.RUNNING,
            fence=Debate.objects.filter(pk=oldest.debate_id).values("fence"),
            lease_until=Now() + LEASE,
            attempts=F("attempts") + 1,
            first_number=Coalesce("first_number", last + 1),
            started=Coalesce("started", Now()),
            stop_asked=False,
            ended=None,
        )
    )


def renew(claims: Iterable[Claim]) -> dict[int, bool]:
    """Renews the leases of all these sittings in one statement. Maps each that is still ours to whether somebody
    asked it to stop; one that is missing is lost."""
    fences = {claim.sitting: claim.fence for claim in claims}
    if not fences:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE debates_sitting AS s SET lease_until = now() + %s::interval"
            " FROM unnest(%s::bigint[], %s::bigint[]) AS held(pk, fence)"
            " WHERE s.id = held.pk AND s.fence = held.fence AND s.state = 'running' RETURNING s.id, s.stop_asked",
            [str(LEASE), list(fences), list(fences.values())],
        )
        return dict(cursor.fetchall())


def hold(claim: Claim) -> Sitting:
    """Locks the sitting for a write of its holder, inside a transaction. Raises `Lost`."""
    sitting = Sitting.objects.held(claim.sitting, claim.fence).select_for_update(no_key=True).first()
    if sitting is None:
        raise Lost(f"sitting {claim.sitting} under fence {claim.fence}")
    return sitting


def release(claim: Claim, state: str, *, bench: str = "", failure: str = "") -> bool:
    """Ends our hold on a sitting as `state`. False if it was no longer ours."""
    return bool(
        Sitting.objects.held(claim.sitting, claim.fence).update(
            state=state, lease_until=None, ended=Now(), failed_bench=bench, failure=failure[:300]
        )
    )


def requeue(claim: Claim) -> bool:
    """Gives a sitting back uncharged, for another worker to go on with: this one is shutting down."""
    held = Sitting.objects.held(claim.sitting, claim.fence)
    queued = held.update(state=Sitting.State.QUEUED, lease_until=None, attempts=F("attempts") - 1, hinted=Now())
    if queued:
        hint(claim.debate)
    return bool(queued)


def reap() -> list[int]:
    """Takes back sittings whose lease ran out and hints again at those that nobody took up for 30 s.

    Any number of reapers may run. Gives the debates that were hinted at. A sitting begun too often has failed.
    """
    lapsed = Sitting.objects.filter(state=Sitting.State.RUNNING, lease_until__lt=Now())
    lapsed.filter(stop_asked=True).update(state=Sitting.State.STOPPED, lease_until=None, ended=Now())
    given_up = lapsed.filter(attempts__gte=settings.SITTING_ATTEMPTS)
    given_up.update(state=Sitting.State.FAILED, lease_until=None, ended=Now(), failure=WORKER_LOST)
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE debates_sitting SET state = 'queued', lease_until = NULL, hinted = now()"
            " WHERE (state = 'running' AND lease_until < now()) OR (state = 'queued' AND hinted < now() - %s::interval)"
            " RETURNING debate_id",
            [str(HINT_AGAIN)],
        )
        debates = [pk for (pk,) in cursor.fetchall()]
    for pk in debates:
        send_hint(pk)
    return debates
