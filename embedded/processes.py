"""Child processes: started so that they can't outlive us, watched, started again when they die, and stopped.

Start children from the main thread only: the kernel sends the death signal when the *thread* that forked ends.
"""

import contextlib
import ctypes
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PR_SET_PDEATHSIG = 1
LOG_BYTES = 5_000_000
LONGEST_PAUSE = 30.0
libc = ctypes.CDLL(None, use_errno=True)


class CannotStart(Exception):
    """A server can't be had; the message is for people and says what to do."""


def die_with_parent(death_signal: int, parent: int) -> None:
    """Runs in the child before exec: the kernel kills it when the parent is gone, even by kill -9."""
    if sys.platform == "linux":
        libc.prctl(PR_SET_PDEATHSIG, death_signal)
    if os.getppid() != parent:
        os._exit(1)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_until(condition: Callable[[], bool], seconds: float) -> bool:
    """Whether the condition came true in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


class Child:
    """One process of ours.

    With a `log`, its output goes there and it has a session of its own. Without one it is the user's command: it has
    our terminal, directory and process group, so that Ctrl-C reaches it too. `patience` is how many seconds it gets
    between the stop signal and SIGKILL.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str | Path],
        *,
        log: Path | None = None,
        environment: Mapping[str, str] | None = None,
        stop_signal: int = signal.SIGTERM,
        death_signal: int = signal.SIGKILL,
        patience: float = 10.0,
    ) -> None:
        self.name = name
        self.command = [str(word) for word in command]
        self.log = log
        self.environment = dict(environment) if environment is not None else None
        self.stop_signal = stop_signal
        self.death_signal = death_signal
        self.patience = patience
        self.process: subprocess.Popen[bytes] | None = None
        self.started_at = 0.0
        self.failures = 0
        self.start_again_at: float | None = None

    @property
    def alive(self) -> bool:
        return self.process is not None and self.process.poll() is None

    @property
    def status(self) -> int:
        """The exit status as a shell gives it: 128 + n for signal n."""
        assert self.process is not None
        code = self.process.wait()
        return code if code >= 0 else 128 - code

    def start(self) -> None:
        with output(self.log) as stream:
            self.process = subprocess.Popen(
                self.command,
                env=self.environment,
                cwd=ROOT if self.log else None,
                stdin=subprocess.DEVNULL if self.log else None,
                stdout=stream,
                stderr=subprocess.STDOUT if stream else None,
                start_new_session=self.log is not None,
                preexec_fn=partial(die_with_parent, self.death_signal, os.getpid()),
            )
        self.started_at = time.monotonic()

    def watch(self) -> str | None:
        """Starts the process again if it died, after a pause that doubles with each failure; says so in one line."""
        now = time.monotonic()
        if self.alive:
            return None
        if self.start_again_at is None:
            self.failures = 1 if now - self.started_at > 2 * LONGEST_PAUSE else self.failures + 1
            pause = min(LONGEST_PAUSE, 0.5 * 2 ** (self.failures - 1))
            self.start_again_at = now + pause
            return f"{self.name} ended with status {self.status}; starting it again in {pause:g} s{self.last_words()}"
        if now >= self.start_again_at:
            self.start_again_at = None
            self.start()
        return None

    def last_words(self) -> str:
        lines = tail(self.log) if self.log else []
        return f": {lines[-1]}" if lines else ""

    def pass_on(self, number: int) -> None:
        if self.process is not None and self.alive:
            self.process.send_signal(number)

    def kill(self) -> None:
        """Ends the process at once, and what it left behind in its own session."""
        if self.process is None:
            return
        if self.log is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)
        if self.alive:
            self.process.kill()
        self.process.wait()


@contextlib.contextmanager
def output(log: Path | None) -> Iterator[int | None]:
    """An open log to append to; one that grew too long becomes `.old` first."""
    if log is None:
        yield None
        return
    log.parent.mkdir(parents=True, exist_ok=True)
    if log.exists() and log.stat().st_size > LOG_BYTES:
        log.replace(log.with_suffix(".old"))
    with log.open("ab") as stream:
        yield stream.fileno()


def tail(log: Path, lines: int = 5) -> list[str]:
    """The last lines of a log that aren't empty."""
    if not log.exists():
        return []
    with log.open("rb") as stream:
        stream.seek(max(0, log.stat().st_size - 4096))
        text = stream.read().decode("utf-8", "replace")
    return [line for line in text.splitlines() if line.strip()][-lines:]


def stop_together(children: Sequence[Child], hurry: Callable[[], bool]) -> None:
    """Asks all of them to stop at once and kills those that are out of patience, or all if there is a hurry."""
    began = time.monotonic()
    for child in children:
        child.pass_on(child.stop_signal)
    for child in children:
        left = began + child.patience - time.monotonic()
        wait_until(lambda child=child: hurry() or not child.alive, left)  # type: ignore[misc]
        child.kill()
