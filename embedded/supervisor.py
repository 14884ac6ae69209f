"""The supervisor: one process starts all others, keeps them running and stops them in order."""

import contextlib
import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import FrameType, TracebackType
from typing import Protocol, Self

from embedded.model import Model
from embedded.processes import CannotStart, Child, stop_together, tail, wait_until
from embedded.terminal import say

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
    """A context: a signal in it raises Stopped, and leaving it stops every child, the group started last first.

    A second signal, while they stop, kills them at once.
    """

    def __init__(self) -> None:
        self.groups: list[Sequence[Child]] = []
        self.model: Model | None = None
        self.hurried = False
        self.handlers = contextlib.ExitStack()

    def __enter__(self) -> Self:
        self.handlers.enter_context(on_signals(stop_now))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self.handlers, on_signals(self.hurry):
            if kind is Stopped and self.groups:
                say("Stopping. Another Ctrl-C kills at once.")
            for group in reversed(self.groups):
                stop_together(group, lambda: self.hurried)
            if self.model and self.model.child:
                stop_together([self.model.child], lambda: self.hurried)

    def hurry(self, number: int) -> None:
        self.hurried = True

    def start(self, children: Sequence[Child]) -> None:
        """Starts a group, whose members are stopped together."""
        self.groups.append(children)
        for child in children:
            child.start()

    def start_servers(self, servers: Mapping[str, Server]) -> dict[str, str]:
        """Starts these side by side and waits until each answers; their addresses by the variable that names them."""
        for server in servers.values():
            server.start()
            self.groups.append([server.child])
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
        """Looks after everything once; called all the time, from the main thread."""
        for child in [child for group in self.groups for child in group]:
            if line := child.watch():
                say(line)
        if self.model:
            self.model.tick()

    def keep_running(self, done: Callable[[], bool] = lambda: False) -> None:
        """Until `done`, or until a signal raises Stopped."""
        never = threading.Event()
        while not done():
            self.tick()
            never.wait(PAUSE)

    def run(self, command: list[str], environment: Mapping[str, str]) -> int:
        """Runs the user's command to its end and returns its exit status, as a shell gives it."""
        child = Child("The command", command, environment=environment, death_signal=signal.SIGTERM)
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
