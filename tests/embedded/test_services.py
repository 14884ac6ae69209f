"""`manage.py services`: real servers, started, found, killed and stopped."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
import redis

from embedded import running
from embedded.weights import SOURCES
from tests.embedded.conftest import Site, descendants, eventually, find, living

USE_BOTH = """
import os, sys, psycopg, redis
with psycopg.connect(os.environ["DATABASE_URL"]) as connection:
    assert connection.execute("SELECT lower('ÇĞ')").fetchone() == ("çğ",)
assert redis.Redis.from_url(os.environ["REDIS_URL"]).config_get("maxmemory-policy")["maxmemory-policy"] == "noeviction"
sys.exit(7)
"""


def services(*command: str) -> tuple[str, ...]:
    return ("services", "--model", "none", "--", *command)


@pytest.fixture
def stranger() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(["sleep", "600"]) as process:
        yield process
        process.kill()


def answer(site: Site) -> bool:
    """Whether the announced servers both take a command."""
    try:
        psycopg.connect(site.announced["DATABASE_URL"], connect_timeout=2).close()
        return bool(redis.Redis.from_url(site.announced["REDIS_URL"]).ping())
    except (psycopg.OperationalError, redis.ConnectionError):
        return False


def test_it_gives_both_servers_to_a_command_and_returns_its_status(site: Site) -> None:
    done = site.run(*services(sys.executable, "-c", USE_BOTH))
    assert (done.returncode, done.stderr) == (7, "")
    assert running.found(site.var) is None


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Servers that run while several tests look at them."""
    site = Site(tmp_path_factory.mktemp("first") / "var")
    site.start_servers()
    yield site
    site.clean()


def test_passwords_are_random_and_private(first: Site) -> None:
    for name in ("password", "services.json", "valkey.conf"):
        assert (first.var / name).stat().st_mode & 0o777 == 0o600, name
    password = (first.var / "password").read_text()
    with pytest.raises(psycopg.OperationalError, match="password"):
        psycopg.connect(first.announced["DATABASE_URL"].replace(password, "guess"))
    with pytest.raises(redis.AuthenticationError):
        redis.Redis.from_url(first.announced["REDIS_URL"].replace(password, "guess")).ping()
    seen = subprocess.run(
        ["ps", "-ww", "-o", "args", "--ppid", str(first.started[0].pid)], capture_output=True, text=True
    )
    assert "postgres" in seen.stdout
    assert password not in seen.stdout


def test_a_second_start_finds_the_first_and_leaves_it_running(first: Site) -> None:
    done = first.run(*services("sh", "-c", 'printf %s "$DATABASE_URL"'))
    assert (done.returncode, done.stdout) == (0, first.announced["DATABASE_URL"])
    alone = first.run("services")
    assert (alone.returncode, alone.stderr) == (0, f"The servers run already (process {first.started[0].pid}).\n")
    assert first.started[0].poll() is None
    assert answer(first)


def test_a_bare_command_finds_the_running_servers(first: Site) -> None:
    done = first.run(
        "shell", "-v", "0", "-c", "from django.conf import settings as s; print(s.DATABASES['default']['PORT'])"
    )
    assert done.stdout.strip() in first.announced["DATABASE_URL"], done.stderr


def test_servers_that_the_environment_names_are_used_and_not_started(tmp_path: Path) -> None:
    site = Site(tmp_path / "var")
    named = {"DATABASE_URL": "postgres://a@192.0.2.1/b", "REDIS_URL": "redis://192.0.2.1/0"}
    done = site.run(*services("sh", "-c", 'echo "$DATABASE_URL $REDIS_URL"'), **named)
    assert done.stdout == "postgres://a@192.0.2.1/b redis://192.0.2.1/0\n"
    assert not site.var.exists()


def test_a_broker_is_started_beside_a_database_that_the_environment_names(tmp_path: Path) -> None:
    site = Site(tmp_path / "var")
    done = site.run(*services("sh", "-c", 'echo "$DATABASE_URL $REDIS_URL"'), DATABASE_URL="postgres://a@192.0.2.1/b")
    assert done.stdout.startswith("postgres://a@192.0.2.1/b redis://:")
    assert not (site.var / "postgres").exists()


def test_wrong_weights_are_one_clear_error_and_the_command_does_not_run(tmp_path: Path) -> None:
    site = Site(tmp_path / "var")
    weights = site.var / "weights" / SOURCES["tiny"].file
    weights.parent.mkdir(parents=True)
    weights.write_text("not these")
    named = {"DATABASE_URL": "postgres://a@192.0.2.1/b", "REDIS_URL": "redis://192.0.2.1/0"}
    done = site.run("services", "--model", "tiny", "--", "echo", "it ran", **named)
    assert (done.returncode, done.stdout) == (1, "")
    assert re.fullmatch(r"The weights of SmolLM2-135M are not the right ones: .* was removed; .*\n", done.stderr)
    assert not weights.exists()


def test_ctrl_c_stops_the_servers_in_order(site: Site) -> None:
    process = site.start_servers()
    processes = descendants(process.pid)
    log = site.var / "log" / "postgres.log"
    before = log.read_text().count("database system is shut down")
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == 0
    assert log.read_text().count("database system is shut down") == before + 1
    assert not living(processes)
    assert not (site.var / "services.json").exists()


def test_a_signal_is_passed_on_to_the_command_whose_status_still_counts(site: Site, tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    script = f"trap 'exit 9' TERM; touch {ready}; while :; do sleep 0.05; done"
    process = site.start(*services("sh", "-c", script))
    eventually(ready.exists, "the command runs")
    process.terminate()
    assert process.wait(30) == 9


@pytest.mark.faults
def test_kill_9_leaves_no_orphan_and_a_start_in_the_same_instant_works(site: Site) -> None:
    process = site.start(*services("sleep", "600"))
    eventually(lambda: find(process.pid, "sleep 600"), "the command runs")
    processes = descendants(process.pid)
    assert len(processes) >= 3
    process.kill()
    process.wait()
    assert running.environment(site.var) == {}
    assert site.run(*services(sys.executable, "-c", USE_BOTH)).returncode == 7
    eventually(lambda: not living(processes), f"of {processes} none lives", 15)


@pytest.mark.faults
def test_a_stale_postmaster_pid_that_names_a_living_stranger_does_not_stop_the_start(
    site: Site, stranger: subprocess.Popen[bytes]
) -> None:
    if not (site.var / "postgres").exists():
        site.run(*services("true"))
    (site.var / "postgres" / "postmaster.pid").write_text(f"{stranger.pid}\n{site.var / 'postgres'}\n1\n5432\n\n")
    done = site.run(*services(sys.executable, "-c", USE_BOTH))
    assert (done.returncode, done.stderr) == (7, "")
    assert stranger.poll() is None


@pytest.mark.faults
def test_a_server_that_dies_comes_back_at_the_same_address(site: Site) -> None:
    process = site.start_servers()
    before = site.announced
    for words in ("valkey-server", "postgres -D"):
        os.kill(find(process.pid, words)[0], signal.SIGKILL)
    eventually(lambda: site.said.count("starting it again") == 2 and answer(site), "both answer again")
    assert site.announced == before
    assert "Valkey ended with status 137; starting it again in 0.5 s" in site.said
    assert "PostgreSQL ended with status 137; starting it again in 0.5 s" in site.said


def test_a_command_that_ends_waits_for_another_that_uses_its_servers(site: Site, tmp_path: Path) -> None:
    go, used = tmp_path / "go", tmp_path / "used"
    owner = site.start(*services("sh", "-c", f"until [ -e {used} ]; do sleep 0.05; done"))
    eventually(lambda: site.announced, "the servers are announced")
    user = site.start(*services("sh", "-c", f"touch {used}; until [ -e {go} ]; do sleep 0.05; done; exit 5"))
    eventually(lambda: used.exists() and not find(owner.pid, "until"), "the owner's command ended")
    assert answer(site)
    assert owner.poll() is None
    go.touch()
    assert (user.wait(30), owner.wait(30)) == (5, 0)
