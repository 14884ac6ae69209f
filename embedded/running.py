"""Which servers run already: the lock on `var/` and the file that names what its holder offers.

The supervisor holds `services.lock` as long as it lives (the kernel lets go of it however it ends) and writes
`services.json`. `config/settings.py` asks `environment()`, so that a bare `manage.py` command finds the servers.
"""

import fcntl
import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, TextIO

from embedded.processes import CannotStart


class Offer(NamedTuple):
    """What a running supervisor offers: DATABASE_URL, REDIS_URL and the like. While `use` is open, it waits for us."""

    pid: int
    environment: dict[str, str]
    use: TextIO | None = None


def claim(var: Path, seconds: float = 60.0) -> TextIO | Offer:
    """The lock, if nobody runs servers here; else what its holder offers, as soon as they have started."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if lock := take_lock(var / "services.lock"):
            (var / "services.json").unlink(missing_ok=True)
            lock.truncate(0)
            lock.write(str(os.getpid()))
            lock.flush()
            return lock
        if (offer := found(var)) and (use := take_lock(var / "users.lock", fcntl.LOCK_SH)):
            return offer._replace(use=use)
        time.sleep(0.1)
    raise CannotStart(f"Another process holds {var}/services.lock, but its servers don't start: see {var}/log.")


def take_lock(path: Path, how: int = fcntl.LOCK_EX) -> TextIO | None:
    """The open lock file, ours until it is closed or we die; None if somebody holds it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = path.open("a+")
    except PermissionError as error:
        raise CannotStart(f"{error.filename} is not ours to write: be its owner, or set CROSSBENCH_VAR.") from None
    try:
        fcntl.flock(lock, how | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.close()
        return None
    return lock


def unused(var: Path) -> TextIO | None:
    """The lock that keeps new users away, once nobody else uses our servers any more."""
    return take_lock(var / "users.lock")


def is_held(path: Path, pid: int) -> bool:
    """Whether this very process holds the lock."""
    with path.open() as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return lock.read() == str(pid)
    return False


@contextmanager
def announced(var: Path, environment: Mapping[str, str]) -> Iterator[None]:
    """Names the lock holder's servers for others, in a private file because their addresses hold passwords."""
    file = var / "services.json"
    write_private(file, json.dumps({"pid": os.getpid(), "environment": dict(environment)}, indent=1))
    try:
        yield
    finally:
        file.unlink(missing_ok=True)


def found(var: Path) -> Offer | None:
    """What a living supervisor of this directory offers; None when there is none."""
    try:
        said = json.loads((var / "services.json").read_text())
        offer = Offer(said["pid"], said["environment"])
        return offer if is_held(var / "services.lock", offer.pid) else None
    except (OSError, ValueError, KeyError):
        return None


def environment(var: Path) -> dict[str, str]:
    """DATABASE_URL, REDIS_URL and so on of the servers that run on this directory; empty when none do."""
    offer = found(var)
    return offer.environment if offer else {}


def write_private(path: Path, text: str) -> None:
    """Replaces a file in one step; only we may read it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f".{path.name}.{os.getpid()}")
    with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as stream:
        stream.write(text)
    new.replace(path)
