"""Takes back what lost its worker. Any number of these may run, each a small process of its own."""

import logging
import signal
import threading
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand
from django.db import Error, close_old_connections

from debates.models import Debate
from debates.sittings import reap

log = logging.getLogger(__name__)


class Command(BaseCommand):
    help = (
        "Re-queues sittings whose worker was lost, hints again at those that nobody took up, erases what was deleted."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--every", type=float, default=5.0, metavar="SECONDS")
        parser.add_argument("--once", action="store_true", help="Reap once and exit.")

    def handle(self, *args: Any, **options: Any) -> None:
        ending = threading.Event()
        for name in (signal.SIGTERM, signal.SIGINT):
            signal.signal(name, lambda number, frame: ending.set())
        while True:
            reap_once()
            if options["once"] or ending.wait(options["every"]):
                return


def reap_once() -> None:
    """One pass; a database that is away is waited for."""
    try:
        close_old_connections()
        for debate in reap():
            log.info("debate %s: hinted again", debate)
        Debate.objects.to_erase().delete()
    except Error as error:
        log.warning("not reaped: %s", type(error).__name__)
    finally:
        close_old_connections()
