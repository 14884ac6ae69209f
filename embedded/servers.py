"""Which servers a command gets: those that its environment names, and those that we start because it doesn't."""

import os
import secrets
from collections.abc import Callable
from pathlib import Path

from django.conf import settings

from embedded import running
from embedded.model import Model, check_library
from embedded.postgres import Postgres
from embedded.supervisor import Server, Supervisor
from embedded.valkey import Valkey
from embedded.weights import SOURCES

NEEDED = {"DATABASE_URL", "REDIS_URL"}
MODEL = {"LOCAL_MODEL_URL", "LOCAL_MODEL_NAME"}
MODELS = [*SOURCES, "none"]
MODEL_HELP = "the local model: default (1.1 GB of weights), small (0.5 GB), tiny (0.1 GB, talks nonsense), none"


def named_servers() -> dict[str, str]:
    """Those that the environment names; they are used and not started."""
    return {name: os.environ[name] for name in NEEDED | MODEL if os.environ.get(name)}


def database_and_broker(var: Path, missing: set[str]) -> dict[str, Server]:
    """The servers for those of DATABASE_URL and REDIS_URL that are missing; their password is made at first use."""
    password = var / "password"
    if missing and not password.exists():
        running.write_private(password, secrets.token_urlsafe(24))
    makers: dict[str, Callable[[Path, Path], Server]] = {"DATABASE_URL": Postgres, "REDIS_URL": Valkey}
    return {name: make(var, password) for name, make in makers.items() if name in missing}


def start_model(supervisor: Supervisor, choice: str, known: dict[str, str]) -> dict[str, str]:
    """The address of the model, at once; its weights come later. Raises CannotStart if it can't run here."""
    if choice == "none" or "LOCAL_MODEL_URL" in known:
        return {}
    check_library()
    supervisor.model = Model(SOURCES[choice], settings.WEIGHTS, settings.VAR / "log" / "model.log")
    return supervisor.model.environment
