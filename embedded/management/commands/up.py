"""`manage.py up`: the whole site in the foreground, from nothing; Ctrl-C stops it."""

import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import get_commands
from django.core.management.base import BaseCommand, CommandError, CommandParser

from embedded import running, website
from embedded.processes import CannotStart
from embedded.servers import MODEL_HELP, MODELS, NEEDED, database_and_broker, named_servers, start_model
from embedded.supervisor import Stopped, Supervisor
from embedded.terminal import say

WEB_SECONDS = 60.0


class Command(BaseCommand):
    help = "Starts the servers, Daphne, the two workers and the reaper, and prints the site's address."
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--port", type=int, default=8000)
        parser.add_argument("--model", choices=MODELS, default="default", help=MODEL_HELP)

    def handle(self, *, port: int, model: str, **options: Any) -> None:
        try:
            with Supervisor() as supervisor:
                run(supervisor, settings.VAR, model, port)
        except CannotStart as error:
            raise CommandError(str(error)) from None
        except Stopped:
            say("Stopped. The data stay in " + shown(settings.VAR))


def run(supervisor: Supervisor, var: Path, choice: str, wanted_port: int) -> None:
    held = running.claim(var)
    if isinstance(held, running.Offer):
        say(already(held))
        return
    port = website.choose_port(wanted_port)
    if port != wanted_port:
        say(f"Port {wanted_port} is taken; using {port}.")
    say(f"Starting; logs are in {shown(var / 'log')}.")
    website.mailbox(var)
    known = named_servers()
    known |= supervisor.start_servers(database_and_broker(var, NEEDED - known.keys()))
    known |= model_or_none(supervisor, choice, known)
    known |= {
        "SECRET_KEY": os.environ.get("SECRET_KEY") or website.secret_key(var),
        "SITE_URL": os.environ.get("SITE_URL") or f"http://localhost:{port}",
    }
    with running.announced(var, known):
        start_site(supervisor, var / "log", port, {**os.environ, **known, "CROSSBENCH_UP": "1"})
        print(banner(supervisor, known, port), flush=True)
        supervisor.keep_running()


def already(offer: running.Offer) -> str:
    site = offer.environment.get("SITE_URL")
    if site:
        return f"Crossbench runs already at {site} (process {offer.pid})."
    raise CannotStart(f"`manage.py services` runs on this directory (process {offer.pid}): stop it first.")


def model_or_none(supervisor: Supervisor, choice: str, known: dict[str, str]) -> dict[str, str]:
    """The site is worth having without the local model."""
    try:
        return start_model(supervisor, choice, known)
    except CannotStart as error:
        say(f"{error}\nThe site comes up without the local model.")
        return {}


def start_site(supervisor: Supervisor, logs: Path, port: int, environment: Mapping[str, str]) -> None:
    website.prepare("The migration of the database", "migrate --noinput", logs / "migrate.log", environment)
    if "load_samples" in get_commands():
        load_samples(logs / "samples.log", environment)
    supervisor.start(website.web(port, logs, environment))
    supervisor.start(website.workers(logs, environment))
    deadline = time.monotonic() + WEB_SECONDS
    supervisor.keep_running(lambda: website.answers(port) or time.monotonic() > deadline)


def load_samples(log: Path, environment: Mapping[str, str]) -> None:
    """The site is worth having without them too."""
    try:
        website.prepare("The loading of sample debates", "load_samples", log, environment)
    except CannotStart as error:
        say(str(error))


def banner(supervisor: Supervisor, known: Mapping[str, str], port: int) -> str:
    python = shown(Path(sys.executable))
    where = f"CROSSBENCH_VAR={settings.VAR} " if os.environ.get("CROSSBENCH_VAR") else ""
    loading = ", loading" if supervisor.model and not supervisor.model.ready else ""
    model = f"{known.get('LOCAL_MODEL_NAME', known.get('LOCAL_MODEL_URL', 'none'))}{loading}"
    return f"""
  Crossbench   http://localhost:{port}

  the first administrator   {where}{python} manage.py createsuperuser
  the local model           {model}
  mail                      {shown(settings.VAR / "mail")}

  Ctrl-C stops everything; the data stay.
"""


def shown(path: Path) -> str:
    """Relative where that is shorter to type."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)
