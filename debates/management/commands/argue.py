"""A debate at the terminal: the engine in this process, without worker, rows or Redis."""

from __future__ import annotations

import asyncio
import json
import secrets
import sys
from argparse import ArgumentParser
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from debates.claims import clean_claim
from debates.engine import events
from debates.engine.documents import SCHEMA, DebateDocument, SeatPart, turn_part, unreached, verdict_part
from debates.engine.formats import all_formats, find_format
from debates.engine.presets import defaults
from debates.engine.prompts import todays
from debates.engine.run import run
from debates.engine.types import Case, Seat, Turn, Verdict
from debates.seating import NobodyToSpeak, deal
from debates.terminal import Terminal
from debates.voices import Voices


class Command(BaseCommand):
    help = "Argues a claim to its verdict. Reads the claim from standard input where none is given."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("claim", nargs="?", help="what should be argued, 8 to 400 characters")
        parser.add_argument("--format", default="clash", choices=sorted(all_formats()))
        parser.add_argument("--json", action="store_true", help="print one JSON document at the end, nothing else")
        parser.add_argument("--quick", action="store_true", help="openings, rebuttals and the ballots only")
        parser.add_argument(
            "--rounds", type=int, choices=range(7), metavar="N", help="at most N rounds of open clash, 0 to 6"
        )
        parser.add_argument(
            "--model", action="append", default=[], metavar="BENCH=PROVIDER:MODEL", help="a model for one bench"
        )
        parser.add_argument("--seed", help="hexadecimal; deals the sides and whatever else is random")
        parser.add_argument("--strict", action="store_true", help="exit 3 where no winner could be named")

    def handle(self, *args: Any, **options: Any) -> None:
        case = make_case(options)
        document = Document(case)
        printer = None if options["json"] else Terminal(self.stdout)
        try:
            verdict = asyncio.run(argue(case, document, printer))
        except KeyboardInterrupt:
            verdict = None
            document.failure = "Stopped."
        if printer is not None:
            printer.close(document.turns)
        if options["json"]:
            self.stdout.write(json.dumps(document.as_dict(), ensure_ascii=False, indent=2))
        if verdict is None:
            self.stderr.write(document.failure)
            sys.exit(1)
        if options["strict"] and verdict.outcome != "winner":
            sys.exit(3)


def make_case(options: dict[str, Any]) -> Case:
    """The case that the options name. Raises CommandError in one sentence."""
    format_ = find_format(options["format"])
    wished = {"quick": options["quick"]} | ({} if options["rounds"] is None else {"clash_rounds": options["rounds"]})
    try:
        motion = clean_claim(options["claim"] if options["claim"] is not None else sys.stdin.read())
        seed = bytes.fromhex(options["seed"]) if options["seed"] else secrets.token_bytes(32)
        seats = {seat.bench: seat.as_engine() for seat in deal(format_, seed)}
        for wanted in options["model"]:
            seat = parse_seat(wanted, seats)
            seats[seat.bench] = seat
        rules = format_.rules(**defaults(*(seat.preset for seat in seats.values())) | wished)
    except (ValueError, NobodyToSpeak) as error:
        raise CommandError(str(error)) from error
    return Case(format_, motion, rules, seats, seed, todays(format_.slug))


def parse_seat(wanted: str, seats: dict[str, Seat]) -> Seat:
    bench, _, named = wanted.partition("=")
    provider, _, model = named.partition(":")
    if bench not in seats or not provider or not model:
        raise CommandError(f"--model {wanted}: write BENCH=PROVIDER:MODEL, with one of {', '.join(seats)}.")
    return replace(seats[bench], provider=provider, model=model, preset="local" if provider == "local" else "")


async def argue(case: Case, document: Document, printer: Terminal | None) -> Verdict | None:
    """Runs the debate; gives its verdict, or None where a speech failed."""
    async with aclosing(run(case, Voices().of)) as happening:
        async for event in happening:
            document.take(event)
            if printer is not None:
                printer.show(event)
    return document.verdict


class Document:
    """What a debate came to, as one JSON document."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.turns: list[Turn] = []
        self.verdict: Verdict | None = None
        self.failure = ""

    def take(self, event: events.Event) -> None:
        if isinstance(event, events.TurnEnded):
            self.turns.append(event.turn)
        elif isinstance(event, events.Ended):
            self.verdict = event.verdict
        elif isinstance(event, events.Failed):
            self.failure = f"The {event.bench} could not speak. {event.sentence}"

    def as_dict(self) -> dict[str, Any]:
        case = self.case
        verdicts = [verdict_part(self.verdict)] if self.verdict else []
        document = DebateDocument(
            schema=SCHEMA,
            format=case.format.slug,
            motion=case.motion,
            rules=case.rules.model_dump(),
            seed=case.seed.hex(),
            seats=[SeatPart.model_validate(seat) for seat in case.seats.values()],
            turns=[turn_part(turn) for turn in sorted(self.turns, key=lambda turn: turn.number)],
            verdicts=verdicts,
            verdict=verdicts[0] if verdicts else unreached(self.failure),
            failure=self.failure,
        )
        return document.as_dict()
