"""Debates made of rows, for tests of pages: no engine and no worker takes part."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.utils import timezone

from accounts.models import User
from debates.models import Debate, Fragment, Seat, Sitting, Turn, Verdict

PASSWORD = "correct horse battery"
MOTION = "Cities should ban private cars from their centres"
SPEECHES = [
    ("Opening", "opening", "A street is the most expensive room a city owns, and we rent it out to parked metal. "
     "Take the cars away and the same metres carry ten times the people. Shops don't live on parking spaces, they live "
     "on feet. You can argue about the pace, but not about the arithmetic."),
    ("Opening", "opening", "A ban is a promise made by people who can walk to work. The nurse on the night shift, the "
     "plumber with a boiler in the van, the mother of a child in a wheelchair: each needs a door, not a boulevard. "
     "Price the street if it's scarce. A price bends to need, and a ban doesn't."),
    ("Rebuttal", "rebuttal", "You say “a price bends to need”. It bends to income. The plumber pays and passes it on, "
     "the nurse can't, and the banker never notices. A ban with exemptions for the night shift and the wheelchair is "
     "the only version in which your own examples come first."),
    ("Rebuttal", "rebuttal", "You say “the same metres carry ten times the people”. Only if the tram is there on the "
     "day the cars go, and you've told us to begin with the cars. I grant that shops live on feet. Yours arrive by "
     "bus, and nobody has bought the bus."),
]  # fmt: skip
BALLOT_DETAILS = {
    "claimed": [80, 70],
    "strongest": {"side": "opposition", "quote": "A price bends to need, and a ban doesn't.", "turn": 2},
    "weakest": {"side": "proposition", "quote": "Shops don't live on parking spaces, they live on feet.", "turn": 1},
    "unsettled": "Who pays for the buses in the years before the street pays for itself?",
    "ballots": [
        {"number": 5, "scores": {"proposition": 58, "opposition": 66}, "winner": "opposition", "confidence": 80,
         "shown": ["proposition", "opposition"], "reconciled": None},
        {"number": 6, "scores": {"proposition": 57, "opposition": 62}, "winner": "opposition", "confidence": 70,
         "shown": ["opposition", "proposition"],
         "reconciled": {"from": "proposition", "to": "opposition", "rule": "the scores decide"}},
    ],
    "judges": ["a test's model"],
    "small_judge": False,
}  # fmt: skip
WON = {"outcome": "winner", "winner": "opposition", "scores": {"proposition": 57.5, "opposition": 64}, "confidence": 70}


def user(email: str = "alice@example.org", **fields: Any) -> User:
    return User.objects.create_user(email, PASSWORD, confirmed=True, **fields)


def debate(owner: User, *, motion: str = MOTION, preset: str = "", **fields: Any) -> Debate:
    """A debate whose first sitting is queued."""
    made = Debate.objects.create(owner=owner, format="clash", motion=motion, rules={"quick": True}, **fields)
    for bench in ("proposition", "opposition", "referee", "judge"):
        Seat.objects.create(debate=made, bench=bench, provider="local", model="a test's model", preset=preset)
    Sitting.objects.create(debate=made, kind="debate", opened_by=owner, paid_by=owner)
    return made


def turn(sitting: Sitting, number: int, text: str = "", **fields: Any) -> Turn:
    """A sealed speech; two of the same round alternate between the sides."""
    defaults: dict[str, Any] = {
        "round": (number + 1) // 2,
        "round_name": "Opening",
        "bench": "proposition" if number % 2 else "opposition",
        "kind": "opening",
        "model": "a test's model",
        "prompt": "clash/opening.md",
    }
    return Turn.objects.create(debate=sitting.debate, sitting=sitting, number=number, text=text, **defaults | fields)


def speeches(sitting: Sitting, how_many: int = len(SPEECHES)) -> list[Turn]:
    told = enumerate(SPEECHES[:how_many], start=1)
    return [turn(sitting, number, text, round_name=name, kind=kind) for number, (name, kind, text) in told]


def end(sitting: Sitting, state: str = "done", **fields: Any) -> None:
    now = timezone.now()
    values = {"state": state, "first_number": 1, "started": now - timedelta(seconds=192), "ended": now} | fields
    Sitting.objects.filter(pk=sitting.pk).update(**values)


def verdict(sitting: Sitting, version: int = 1, **fields: Any) -> Verdict:
    values = WON | {"details": BALLOT_DETAILS, "ballots": [5, 6], "version": version} | fields
    return Verdict.objects.create(debate=sitting.debate, sitting=sitting, **values)


def fragment(sitting: Sitting, number: int, text: str, reason: str = "", **fields: Any) -> Fragment:
    defaults = {"attempt": 1, "round": (number + 1) // 2, "round_name": "Opening", "kind": "opening"}
    bench = "proposition" if number % 2 else "opposition"
    values = defaults | {"bench": bench, "text": text, "reason": reason} | fields
    return Fragment.objects.create(sitting=sitting, number=number, **values)


def finished(owner: User, **fields: Any) -> Debate:
    made = debate(owner, **fields)
    sitting = made.sittings.get()
    speeches(sitting)
    for number in (5, 6):
        turn(sitting, number, "a ballot", round=3, round_name="Ballots", bench="judge", kind="ballot", data={"raw": {}})
    end(sitting)
    verdict(sitting)
    return made
