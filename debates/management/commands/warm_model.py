"""Has the model on this machine read what all of its debates start with, so that the first word is quick."""

from __future__ import annotations

import asyncio
import time
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from debates.engine.formats import find_format
from debates.engine.presets import shape
from debates.engine.prompts import compose, todays
from debates.engine.providers.base import Call, ProviderError
from debates.engine.types import Case, Hearing, Round, Seat
from debates.voices import Voices

MOTION = "Every debate begins with these words"


class Command(BaseCommand):
    help = "Warms the local model up: reads the shared beginning of all its debates once."
    requires_system_checks = ()

    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.LOCAL_MODEL_URL:
            raise CommandError("There is no local model: LOCAL_MODEL_URL is not set.")
        start = time.monotonic()
        try:
            asyncio.run(listen())
        except ProviderError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{settings.LOCAL_MODEL_NAME} is warm after {time.monotonic() - start:.1f} s.")


async def listen() -> None:
    """One token of an opening: what the server caches of it serves every speech to come."""
    case, call = opening()
    async with aclosing(Voices().of(case.seats["proposition"]).stream(call)) as pieces:
        async for _ in pieces:
            pass


def opening() -> tuple[Case, Call]:
    format_ = find_format("clash")
    seats = {bench.name: Seat(bench.name, "local", settings.LOCAL_MODEL_NAME, "local") for bench in format_.benches}
    case = Case(format_, MOTION, format_.rules(), seats, b"", todays(format_.slug))
    first = next(format_.sittings["debate"](case.rules))
    assert isinstance(first, Round)
    shaped = shape(case, first.speeches[0], 1, "", Hearing((), {}))
    return case, Call(compose(case, shaped, "", Hearing((), {})), replace(shaped.speech.limits, tokens=1))
