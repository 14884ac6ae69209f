"""Runs `manage.py services` and `up` as a user would, with a directory of their own."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from embedded import running
from embedded.processes import ROOT

OURS = ("DATABASE_URL", "REDIS_URL", "LOCAL_MODEL_URL", "LOCAL_MODEL_NAME", "SECRET_KEY", "SITE_URL")
SECONDS = 60


def eventually(condition: Callable[[], object], what: str, seconds: float = SECONDS) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not within {seconds} s: {what}"
        time.sleep(0.02)


def birth(pid: int) -> str | None:
    """When a process was born, in clock ticks: with its number, its identity. None if it is gone or a zombie."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] == "Z" else fields[19]


def descendants(pid: int) -> dict[int, str | None]:
    """All living processes below one, by number and birth."""
    parents: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            parents.setdefault(int(path.read_text().rpartition(")")[2].split()[1]), []).append(int(path.parent.name))
    found, unseen = {}, [pid]
    while unseen:
        for child in parents.get(unseen.pop(), []):
            found[child] = birth(child)
            unseen.append(child)
    return {child: born for child, born in found.items() if born}


def living(processes: Mapping[int, str | None]) -> list[int]:
    return [pid for pid, born in processes.items() if birth(pid) == born]


def command_line(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


def find(pid: int, words: str) -> list[int]:
    """Descendants whose command line has these words; a child that is still its parent's copy doesn't count."""
    lines = {child: command_line(child) for child in descendants(pid)}
    return [child for child, line in lines.items() if words in line and line != command_line(pid)]


class Site:
    """A directory for data, and commands that run on it; it kills what is left of them at the end."""

    def __init__(self, var: Path) -> None:
        self.var = var
        self.started: list[subprocess.Popen[str]] = []

    def environment(self, extra: Mapping[str, str]) -> dict[str, str]:
        own = {name: value for name, value in os.environ.items() if name not in OURS}
        return {**own, "CROSSBENCH_VAR": str(self.var), "CROSSBENCH_CACHE": str(self.var / "weights"), **extra}

    def run(self, *words: str, **extra: str) -> subprocess.CompletedProcess[str]:
        """A management command, to its end."""
        command = [sys.executable, "manage.py", *words]
        return subprocess.run(
            command, cwd=ROOT, env=self.environment(extra), capture_output=True, text=True, timeout=SECONDS, check=False
        )

    def start(self, *words: str, **extra: str) -> subprocess.Popen[str]:
        """A management command that goes on; what it says lands in `said`."""
        with (self.var.parent / f"{self.var.name}.said").open("w") as said:
            process = subprocess.Popen(
                [sys.executable, "manage.py", *words],
                cwd=ROOT,
                env=self.environment(extra),
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=subprocess.STDOUT,
                text=True,
            )
        self.started.append(process)
        return process

    @property
    def said(self) -> str:
        return (self.var.parent / f"{self.var.name}.said").read_text()

    def start_servers(self) -> subprocess.Popen[str]:
        process = self.start("services", "--model", "none")
        eventually(lambda: self.announced or process.poll() is not None, "the servers start")
        assert process.poll() is None, self.said
        return process

    @property
    def announced(self) -> dict[str, str]:
        return running.environment(self.var)

    def clean(self) -> None:
        for process in self.started:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
            process.wait(SECONDS)
        self.started.clear()


@pytest.fixture(scope="session")
def shared_var(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One cluster for all tests that don't ask for an empty directory: making one takes a second."""
    return tmp_path_factory.mktemp("embedded") / "var"


@pytest.fixture
def site(shared_var: Path) -> Iterator[Site]:
    site = Site(shared_var)
    yield site
    site.clean()
