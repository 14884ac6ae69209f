"""Rows that tests start from, made as the form makes them."""

from __future__ import annotations

from typing import Any

from accounts.models import User
from debates import promptfiles
from debates.engine.formats import find_format
from debates.models import Debate, Seat, Sitting

MOTION = "Cities should ban private cars from their centres"


def make_user(email: str = "alice@example.org") -> User:
    found = User.objects.filter(email=email).first()
    return found or User.objects.create_user(email, "correct horse battery")


def make_debate(owner: User | None = None, motion: str = MOTION, rules: dict[str, Any] | None = None) -> Debate:
    """A queued quick Clash whose seats are filled by the loopback model. No hint is sent."""
    owner = owner or make_user()
    debate = Debate.objects.create(
        owner=owner, format="clash", motion=motion, rules={"quick": True} if rules is None else rules
    )
    benches = find_format("clash").benches
    Seat.objects.bulk_create(
        [Seat(debate=debate, bench=bench.name, provider="openai", model="scripted-1") for bench in benches]
    )
    Sitting.objects.create(debate=debate, prompts=promptfiles.keep("clash"), opened_by=owner, paid_by=owner)
    return debate
