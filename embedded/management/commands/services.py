"""`manage.py services`: the servers that the environment doesn't name, alone or around one command."""

import os
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from embedded import running
from embedded.model import wait_for_model
from embedded.processes import CannotStart
from embedded.servers import MODEL_HELP, MODELS, NEEDED, database_and_broker, named_servers, start_model
from embedded.supervisor import Stopped, Supervisor
from embedded.terminal import say
from embedded.weights import SOURCES


class Command(BaseCommand):
    help = (
        "Starts PostgreSQL, Valkey and the local model, unless DATABASE_URL, REDIS_URL or LOCAL_MODEL_URL names them, "
        "or finds those that another command has started. With a COMMAND, runs it with these set, then stops what it "
        "started and exits with the command's status."
    )
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--model", choices=MODELS, help=MODEL_HELP)
        parser.add_argument("command", nargs="*", metavar="-- COMMAND")

    def handle(self, *, model: str | None, command: list[str], **options: Any) -> None:
        try:
            with Supervisor() as supervisor:
                sys.exit(run(supervisor, settings.VAR, model, command))
        except CannotStart as error:
            raise CommandError(str(error)) from None
        except Stopped as stopped:
            sys.exit(128 + stopped.number if command else 0)


def run(supervisor: Supervisor, var: Path, choice: str | None, command: list[str]) -> int:
    """The exit status: the command's, if there is one."""
    named = named_servers()
    held = None if named.keys() >= NEEDED else running.claim(var)
    offer = held if isinstance(held, running.Offer) else None
    if offer and not command:
        say(f"The servers run already (process {offer.pid}).")
        return 0
    known = fitting(offer, choice) | named
    known |= supervisor.start_servers(database_and_broker(var, NEEDED - known.keys()))
    known |= start_model(supervisor, choice or ("none" if offer else "default"), known)
    with running.announced(var, known) if held and not offer else nullcontext():
        if not command:
            say("\n".join([*(f"{name}={value}" for name, value in known.items()), "Ctrl-C stops them."]))
            supervisor.keep_running()
        if "LOCAL_MODEL_URL" in known.keys() - named.keys() and not has_model(supervisor, known["LOCAL_MODEL_URL"]):
            return 1
        status = supervisor.run(command, os.environ | known)
        if held and not offer:
            supervisor.keep_running(lambda: running.unused(var) is not None)
        return status


def has_model(supervisor: Supervisor, url: str) -> bool:
    """Waits until it is loaded. Why ours can't be had has been said; another supervisor's error is new."""
    try:
        wait_for_model(url, supervisor.tick)
    except CannotStart:
        if supervisor.model is None:
            raise
        return False
    return True


def fitting(offer: running.Offer | None, choice: str | None) -> dict[str, str]:
    """What another supervisor offers, without its model if another one is asked for."""
    if offer is None:
        return {}
    if choice is None or offer.environment.get("LOCAL_MODEL_NAME") == getattr(SOURCES.get(choice), "name", None):
        return offer.environment
    return {name: value for name, value in offer.environment.items() if not name.startswith("LOCAL_MODEL_")}
