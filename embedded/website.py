"""The site's own processes: Daphne, the two workers and the reaper."""

import errno
import http.client
import secrets
import socket
import sys
from collections.abc import Mapping
from pathlib import Path

from embedded.processes import ROOT, CannotStart, Child, tail
from embedded.running import write_private

MANAGE = [sys.executable, str(ROOT / "manage.py")]
CELERY = [sys.executable, "-m", "celery", "-A", "config", "worker", "--without-gossip", "--without-mingle"]
DAPHNE = [sys.executable, "-m", "daphne", "-b", "127.0.0.1", "--ping-interval", "5", "--ping-timeout", "5"]
PORTS_TRIED = 100
# A machine without IPv6.
NO_SUCH_ADDRESS = {errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT}
# A debate's turn may end before its worker does: the worker itself gives up on longer ones before this.
DRAIN_SECONDS = 20.0


def is_free(port: int) -> bool:
    """On both loopback addresses: a browser may ask for `localhost` on either."""
    for family, address in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
        try:
            with socket.create_server((address, port), family=family):
                pass
        except OSError as error:
            if error.errno not in NO_SUCH_ADDRESS:
                return False
    return True


def choose_port(port: int) -> int:
    """The port, or the next one that is free."""
    for candidate in range(port, min(port + PORTS_TRIED, 65536)):
        if is_free(candidate):
            return candidate
    raise CannotStart(f"No port from {port} to {port + PORTS_TRIED - 1} is free: name another with --port.")


def secret_key(var: Path) -> str:
    """Made at the first start; sessions and stored keys hang on it."""
    path = var / "secret_key"
    if not path.exists():
        write_private(path, secrets.token_urlsafe(48))
    return path.read_text().strip()


def mailbox(var: Path) -> None:
    """Where letters land without SMTP. They hold codes and reset links, so only we may look."""
    (var / "mail").mkdir(mode=0o700, parents=True, exist_ok=True)


def prepare(name: str, command: str, log: Path, environment: Mapping[str, str]) -> None:
    """Runs a management command to its end."""
    child = Child(name, [*MANAGE, *command.split()], log=log, environment=environment)
    child.start()
    if child.status != 0:
        raise CannotStart("\n".join([f"{name} failed:", *tail(log), f"({log})"]))


def web(port: int, logs: Path, environment: Mapping[str, str]) -> list[Child]:
    daphne = [*DAPHNE, "-p", str(port), "config.asgi:application"]
    return [
        Child("The web server", daphne, log=logs / "web.log", environment=environment),
        Child("The reaper", [*MANAGE, "reap"], log=logs / "reaper.log", environment=environment),
    ]


def workers(logs: Path, environment: Mapping[str, str]) -> list[Child]:
    """Threads that wait for debates on one event loop, and processes for chores that block."""
    debates = [*CELERY, "-P", "threads", "-Q", "debates", "-c", "64", "-n", "debates@%h", "-l", "WARNING"]
    work = [*CELERY, "-Q", "work", "-c", "2", "-n", "work@%h", "-l", "WARNING"]
    return [
        Child(name, command, log=log, environment=environment, patience=DRAIN_SECONDS)
        for name, command, log in [
            ("The worker of debates", debates, logs / "debates.log"),
            ("The worker of chores", work, logs / "work.log"),
        ]
    ]


def answers(port: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=2)
    try:
        connection.request("HEAD", "/", headers={"Host": "localhost"})
        return connection.getresponse().status > 0
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
