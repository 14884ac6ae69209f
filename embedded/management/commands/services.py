"""`manage.py services`: the servers that the environment doesn't name, alone or around one command."""

import os
import sys
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from embedded import running
from embedded.processes import CannotStart
from embedded.supervisor import Stopped, Supervisor, database_and_broker, say


class Command(BaseCommand):
    help = "Starts PostgreSQL, Valkey and the local model; with a COMMAND, runs it with their addresses set."
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--model", choices=["default", "small", "tiny", "none"])
        parser.add_argument("command", nargs="*", metavar="-- COMMAND", help="what to run; its exit status is ours")

    def handle(self, *, model: str | None, command: list[str], **options: Any) -> None:
        try:
            sys.exit(run(settings.VAR, command))
        except CannotStart as error:
            raise CommandError(str(error)) from None
        except Stopped as stopped:
            sys.exit(128 + stopped.number if command else 0)


def run(var: Path, command: list[str]) -> int:
    """Starts what the environment lacks, or finds it running, and runs the command; its exit status."""
    missing = {name for name in ("DATABASE_URL", "REDIS_URL") if not os.environ.get(name)}
    with Supervisor(var) as supervisor:
        held = running.claim(var)
        if isinstance(held, running.Offer):
            return use(held, supervisor, command)
        offered = supervisor.start(database_and_broker(var, missing))
        with running.announced(var, offered):
            if command:
                return supervisor.run(command, {**os.environ, **offered})
            say("\n".join([f"{name}={value}" for name, value in offered.items()] + ["Ctrl-C stops them."]))
            supervisor.keep_running()
    return 0


def use(offer: running.Offer, supervisor: Supervisor, command: list[str]) -> int:
    if command:
        return supervisor.run(command, {**offer.environment, **os.environ})
    say(f"The servers run already (process {offer.pid}).")
    return 0
