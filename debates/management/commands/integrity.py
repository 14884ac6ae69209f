"""Checks an exported debate again: anyone can audit a transcript, without the site and without a model."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from debates.documents import Unreadable, read
from debates.engine import types as engine
from debates.engine.detectors import Flag, Kind
from debates.engine.documents import DebateDocument, TurnPart
from debates.engine.integrity import SOURCES, Found, fidelity, inspect

GRAVE = {Kind.QUOTE_ALTERED, Kind.QUOTE_ABSENT, Kind.NAMED_SOURCE}


class Command(BaseCommand):
    help = "Checks an exported debate (docs/document.md) again and prints every flag, then each side's quote fidelity."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--json", action="store_true", help="print one JSON document, nothing else")
        parser.add_argument("--strict", action="store_true", help="exit 1 where a quote failed or a source was named")

    def handle(self, *args: Any, file: Path, **options: Any) -> None:
        try:
            document = read(file.read_bytes())
        except (OSError, Unreadable) as error:
            raise CommandError(str(error)) from error
        turns = [as_engine(turn) for turn in document.turns]
        found = inspect(turns, document.motion, SOURCES.get(document.format, "unverified"))
        counted = fidelity(turns, document.motion)
        if options["json"]:
            self.stdout.write(json.dumps(as_json(document, found, counted), ensure_ascii=False, indent=2))
        else:
            self.stdout.write("\n".join(lines(document, found, counted)))
        if options["strict"] and any(flag.kind in GRAVE for _, flags in found for flag in flags):
            sys.exit(1)


def as_engine(part: TurnPart) -> engine.Turn:
    """A document's turn in the engine's words."""
    return engine.Turn(
        number=part.number,
        round=part.round,
        round_name=part.round_name,
        bench=part.bench,
        kind=part.kind,
        text=part.text,
        data=part.data,
        failure=part.failure,
    )


def as_json(document: DebateDocument, found: Found, counted: dict[str, dict[str, int]]) -> dict[str, Any]:
    flags = [{"turn": number} | flag.as_dict() for number, flags in found for flag in flags]
    return {"motion": document.motion, "flags": flags, "fidelity": counted}


def lines(document: DebateDocument, found: Found, counted: dict[str, dict[str, int]]) -> list[str]:
    benches = {turn.number: turn.bench for turn in document.turns}
    flagged = [line(number, benches[number], flag) for number, flags in found for flag in flags]
    sides = [f"{bench}: {side['exact']} of {side['quotes']} quotes exact" for bench, side in counted.items()]
    return [*(flagged or ["No flags."]), "", *sides]


def line(number: int, bench: str, flag: Flag) -> str:
    return f"{number} {bench}  {flag.kind}  {flag.start}-{flag.end}  “{flag.data['words']}”  {flag.sentence}"
