"""The supervisor: starts the servers that the environment doesn't name, keeps them running, stops them in order."""

import contextlib
import os
import secrets
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import FrameType, TracebackType
from typing import Protocol, Self

from embedded import running
from embedded.postgres import Postgres
from embedded.processes import CannotStart, Child, stop_together, tail, wait_until
from embedded.valkey import Valkey

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
PAUSE = 0.2
START_SECONDS = 60.0


class Stopped(BaseException):
    """A signal asks us to end."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class Server(Protocol):
    log: Path
    child: Child

    @property
    def url(self) -> str: ...
    def start(self) -> None: ...
    def ready(self) -> bool: ...
    def finish(self) -> None: ...


def say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


@contextlib.contextmanager
def on_signals(do: Callable[[int], None]) -> Iterator[None]:
    """What SIGINT, SIGTERM and SIGHUP do in the block."""

    def call(number: int, frame: FrameType | None) -> None:
        do(number)

    before = [signal.signal(number, call) for number in SIGNALS]
    try:
        yield
    finally:
        for number, handler in zip(SIGNALS, before, strict=True):
            signal.signal(number, handler)


def stop_now(number: int) -> None:
    raise Stopped(number)


class Supervisor:
    """A context: leaving it stops every child, the last started first. A second signal meanwhile kills them at once."""

    def __init__(self, var: Path) -> None:
        self.var = var
        self.children: list[Child] = []
        self.ticks: list[Callable[[], None]] = []
        self.hurried = False
        self.on_signals = contextlib.ExitStack()

    def __enter__(self) -> Self:
        self.on_signals.enter_context(on_signals(stop_now))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self.on_signals, on_signals(self.hurry):
            for child in reversed(self.children):
                stop_together([child], lambda: self.hurried)

    def hurry(self, number: int) -> None:
        self.hurried = True

    def start(self, servers: Mapping[str, Server]) -> dict[str, str]:
        """Starts these servers side by side and waits until each answers; their addresses by variable name."""
        for server in servers.values():
            server.start()
            self.children.append(server.child)
        for server in servers.values():
            self.wait_for(server)
            server.finish()
        return {name: server.url for name, server in servers.items()}

    def wait_for(self, server: Server) -> None:
        answered = wait_until(lambda: not server.child.alive or server.ready(), START_SECONDS)
        if not answered or not server.child.alive:
            words = "\n".join(["", *tail(server.log), f"({server.log})"])
            raise CannotStart(f"{server.child.name} did not start:{words}")

    def tick(self) -> None:
        """Looks after the children once; called all the time from the main thread."""
        for child in self.children:
            if line := child.watch():
                say(line)
        for tick in self.ticks:
            tick()

    def keep_running(self) -> None:
        """Until a signal raises Stopped."""
        never = threading.Event()
        while True:
            self.tick()
            never.wait(PAUSE)

    def run(self, command: list[str], environment: Mapping[str, str]) -> int:
        """Runs a command to its end and returns its exit status, as a shell gives it."""
        child = Child("command", command, environment=environment, death_signal=signal.SIGTERM)
        try:
            child.start()
        except OSError as error:
            raise CannotStart(f"{command[0]}: {error.strerror}") from None

        def pass_on(number: int) -> None:
            if number != signal.SIGINT or not has_the_terminal():
                child.pass_on(number)

        with on_signals(pass_on):
            while not wait_until(lambda: not child.alive, PAUSE):
                self.tick()
        return child.status


def has_the_terminal() -> bool:
    """Whether Ctrl-C on our terminal reaches our whole process group, the command included."""
    try:
        with open("/dev/tty") as terminal:
            return os.tcgetpgrp(terminal.fileno()) == os.getpgrp()
    except OSError:
        return False


def database_and_broker(var: Path, wanted: set[str]) -> dict[str, Server]:
    """The servers for those of DATABASE_URL and REDIS_URL that are wanted; their password is made at first use."""
    password = var / "password"
    if not password.exists():
        running.write_private(password, secrets.token_urlsafe(24))
    makers: dict[str, Callable[[Path, Path], Server]] = {"DATABASE_URL": Postgres, "REDIS_URL": Valkey}
    return {name: make(var, password) for name, make in makers.items() if name in wanted}
