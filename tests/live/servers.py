"""Real servers that a test may kill: a Valkey and a Daphne of its own, each on a free port."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import redis
from django.db import connection
from redis.backoff import NoBackoff
from redis.retry import Retry

from embedded.processes import ROOT, free_port, wait_until
from embedded.valkey import binary


def answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


class Valkey:
    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.port = free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self.client = redis.Redis.from_url(self.url, retry=Retry(NoBackoff(), 0), socket_timeout=2)

    def start(self) -> None:
        options = ["--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(self.directory), "--save", ""]
        self.process = subprocess.Popen([str(binary()), *options], stdout=subprocess.DEVNULL)
        assert wait_until(lambda: answers(self.port), 10)

    def kill(self) -> None:
        """At once, and with all it holds."""
        self.process.kill()
        self.process.wait()

    def flush(self) -> None:
        self.client.flushall()


class Daphne:
    """The site's own server on the test database."""

    def __init__(self, redis_url: str, log: Path) -> None:
        self.redis_url = redis_url
        self.log = log
        self.port = free_port()

    def start(self) -> None:
        command = [sys.executable, "-m", "daphne", "-b", "127.0.0.1", "-p", str(self.port), "-v", "0"]
        pings = ["--ping-interval", "5", "--ping-timeout", "5"]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [*command, *pings, "config.asgi:application"], cwd=ROOT, env=self.environment(), stdout=log, stderr=log
            )
        assert wait_until(lambda: answers(self.port), 30), self.log.read_text()

    def environment(self) -> dict[str, str]:
        database = connection.settings_dict
        user, host = f"{database['USER']}:{database['PASSWORD']}", f"{database['HOST']}:{database['PORT']}"
        return os.environ | {
            "DATABASE_URL": f"postgres://{user}@{host}/{database['NAME']}",
            "REDIS_URL": self.redis_url,
            "DJANGO_SETTINGS_MODULE": "config.settings",
        }

    def stop(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def memory(self) -> int:
        """Resident bytes."""
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024
        raise AssertionError("no VmRSS")
