"""`manage.py up`: the whole site from an empty directory."""

import os
import re
import signal
import socket
import stat
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from embedded import website
from tests.embedded.conftest import Site, descendants, eventually, find, living


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Asked for a port that somebody holds."""
    site = Site(tmp_path_factory.mktemp("up") / "var")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        process = site.start("up", "--model", "none", "--port", str(taken.getsockname()[1]))
        eventually(lambda: "Crossbench" in site.said or process.poll() is not None, "the site is up")
    assert process.poll() is None, site.said
    yield site
    site.clean()


def address(up: Site) -> str:
    found = re.search(r"Crossbench +(http://localhost:\d+)\n", up.said)
    assert found, up.said
    return found[1]


def get(url: str) -> int:
    with urllib.request.urlopen(url.replace("localhost", "127.0.0.1"), timeout=10) as answer:
        return answer.status


def well(url: str) -> bool:
    try:
        return get(url) == 200
    except OSError:
        return False


def test_it_says_that_the_port_is_taken_and_serves_pages_and_static_files_at_the_next(up: Site) -> None:
    assert re.search(r"Port \d+ is taken; using \d+\.", up.said)
    assert get(f"{address(up)}/account/login/") == 200
    assert get(f"{address(up)}/static/admin/css/base.css") == 200


def test_it_tells_how_to_make_an_administrator_and_that_command_works(up: Site) -> None:
    assert f"CROSSBENCH_VAR={up.var} " in up.said
    assert "manage.py createsuperuser" in up.said
    done = up.run(
        "createsuperuser", "--noinput", DJANGO_SUPERUSER_EMAIL="alice@example.org", DJANGO_SUPERUSER_PASSWORD="x"
    )
    assert (done.returncode, done.stdout) == (0, "Superuser created successfully.\n"), done.stderr


def test_its_secret_key_is_made_once_and_private(up: Site) -> None:
    path = up.var / "secret_key"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert up.announced["SECRET_KEY"] == path.read_text() == website.secret_key(up.var)
    assert len(path.read_text()) > 50


def test_a_second_one_finds_the_first(up: Site) -> None:
    done = up.run("up")
    pid = up.started[0].pid
    assert (done.returncode, done.stderr) == (0, f"Crossbench runs already at {address(up)} (process {pid}).\n")


@pytest.mark.faults
def test_a_web_server_that_dies_comes_back(up: Site) -> None:
    os.kill(find(up.started[0].pid, "-m daphne")[0], signal.SIGKILL)
    eventually(lambda: "The web server ended with status 137; starting it again in 0.5 s" in up.said, "it is noticed")
    eventually(lambda: well(f"{address(up)}/account/login/"), "it serves again")


@pytest.mark.faults
def test_kill_9_leaves_no_orphan_of_the_whole_site(up: Site) -> None:
    supervisor = up.started[0]
    for words in ("-P threads", "-Q work", "-m daphne", "manage.py reap", "valkey-server", "postgres -D"):
        eventually(lambda words=words: find(supervisor.pid, words), words)  # type: ignore[misc]
    processes = descendants(supervisor.pid)
    supervisor.kill()
    eventually(lambda: not living(processes), "no process of it lives", 15)


def test_a_port_held_on_either_loopback_address_is_not_free(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert not website.is_free(port)
        assert website.choose_port(port) > port
    assert website.is_free(port)
