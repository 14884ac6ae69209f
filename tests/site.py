"""The whole site as real processes on loopback, for tests that come through the front door or pull the plug.

Its PostgreSQL and Valkey are its own, so that they may be killed. Only the model is scripted, and it is a real HTTP
server in a process of its own.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import httpx2
import psycopg
import redis

from embedded.postgres import Postgres
from embedded.processes import ROOT, Child, free_port, wait_until
from embedded.valkey import Valkey

PASSWORD = "correct horse battery"
MOTION = "Cities should ban private cars from their centres"
PATIENCE = 40.0  # seconds that anything may take before a test gives up


def until(condition: Callable[[], Any], what: str, seconds: float = PATIENCE) -> Any:
    """Waits for a condition and gives its value; fails with its name."""
    found: list[Any] = [None]

    def holds() -> bool:
        found[0] = condition()
        return bool(found[0])

    assert wait_until(holds, seconds), f"in {seconds} s not seen: {what}"
    return found[0]


class Site:
    """PostgreSQL, Valkey, the scripted model, Daphne, workers and the reaper. `var` is a private directory."""

    def __init__(self, var: Path, **environment: str) -> None:
        self.var = var
        (var / "log").mkdir(parents=True, exist_ok=True)
        password = var / "password"
        password.write_text("loopback")
        self.postgres = Postgres(var, password)
        self.valkey = Valkey(var, password)
        self.port = free_port()
        self.model_port = free_port()
        self.extra = environment
        self.before = 0
        self.children: dict[str, Child] = {}

    @property
    def url(self) -> str:
        return f"http://localhost:{self.port}"

    @property
    def model_url(self) -> str:
        return f"http://127.0.0.1:{self.model_port}"

    @property
    def environment(self) -> dict[str, str]:
        own = {
            "DATABASE_URL": self.postgres.url,
            "REDIS_URL": self.valkey.url,
            "CROSSBENCH_VAR": str(self.var),
            "OPENAI_API_KEYS": "sk-loopback",
            "OPENAI_BASE_URL": f"{self.model_url}/v1",
            "OPENAI_MODEL": "scripted-1",
            "LEASE_SECONDS": "4",
            "SITE_URL": self.url,
            "PYTHONUNBUFFERED": "1",
        }
        kept = {name: value for name, value in os.environ.items() if not name.endswith(("_API_KEY", "_API_KEYS"))}
        return kept | {"LOCAL_MODEL_URL": "", "DEBUG": "0"} | own | self.extra

    # Servers

    def start(self) -> None:
        self.start_postgres()
        self.start_valkey()
        self.start_model()
        subprocess.run(self.manage("migrate", "-v0"), env=self.environment, cwd=ROOT, check=True, timeout=120)
        self.start_web()
        self.start_worker("worker")
        self.start_reaper()

    def stop(self) -> None:
        for child in reversed(self.children.values()):
            child.kill()

    def start_postgres(self) -> None:
        self.postgres.start()
        self.children["postgres"] = self.postgres.child
        until(self.postgres.ready, "PostgreSQL answers")
        self.postgres.finish()

    def start_valkey(self) -> None:
        self.valkey.start()
        self.children["valkey"] = self.valkey.child
        until(self.valkey.ready, "Valkey answers")

    def start_model(self, script: str = "builtin") -> None:
        loopback = [sys.executable, "-m", "tests.loopback", "--port", str(self.model_port), "--script", script]
        self.spawn("model", loopback)
        until(lambda: answers(f"{self.model_url}/_requests"), "the scripted model answers")

    def start_web(self) -> None:
        ping = ["--ping-interval", "5", "--ping-timeout", "5"]
        self.spawn("web", [sys.executable, "-m", "daphne", "-b", "127.0.0.1", "-p", str(self.port), *ping, ASGI])
        until(lambda: answers(f"{self.url}/"), "the site answers")

    def start_worker(self, name: str) -> None:
        celery = [sys.executable, "-m", "celery", "-A", "config", "worker", "-P", "threads", "-Q", "debates"]
        alone = ["--without-gossip", "--without-mingle", "-l", "WARNING"]
        self.spawn(name, [*celery, "-c", "16", "-n", f"{name}@%h", *alone])

    def start_reaper(self) -> None:
        self.spawn("reaper", self.manage("reap", "--every", "0.5"))

    def spawn(self, name: str, command: list[str]) -> Child:
        """Starts a process whose log is var/log/<name>.log."""
        child = Child(name, command, log=self.var / "log" / f"{name}.log", environment=self.environment)
        child.start()
        self.children[name] = child
        return child

    def manage(self, *words: str) -> list[str]:
        return [sys.executable, "manage.py", *words]

    def kill(self, name: str, number: int = signal.SIGKILL) -> None:
        """Sends a signal; after SIGKILL, waits until the process is gone."""
        child = self.children[name]
        if number == signal.SIGKILL:
            child.kill()
        else:
            child.pass_on(number)

    def log_of(self, name: str) -> str:
        path = self.var / "log" / f"{name}.log"
        return path.read_text(errors="replace") if path.exists() else ""

    # What tests look at

    def rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """Rows straight from the database, past all of our code."""
        with psycopg.connect(self.postgres.url, connect_timeout=3) as connection:
            return connection.execute(query, values).fetchall()

    def redis(self) -> redis.Redis:
        return redis.Redis.from_url(self.valkey.url, socket_timeout=5)

    def requests(self) -> list[dict[str, Any]]:
        """Every request that the scripted model got since its script was set, in order."""
        found: list[dict[str, Any]] = httpx2.get(f"{self.model_url}/_requests").json()
        return found[self.before :]

    def script(self, script: Mapping[str, Any]) -> None:
        """Replaces what the scripted model says."""
        self.before += len(self.requests())
        httpx2.post(f"{self.model_url}/_script", json=script).raise_for_status()

    def state(self, token: str) -> str:
        return self.rows(
            "SELECT s.state FROM debates_sitting s JOIN debates_debate d ON d.id = s.debate_id"
            " WHERE d.token = %s ORDER BY s.id DESC LIMIT 1",
            token,
        )[0][0]

    def turns(self, token: str) -> list[tuple[int, str]]:
        """Sealed turns as (number, text)."""
        return [
            (number, text)
            for number, text in self.rows(
                "SELECT t.number, t.text FROM debates_turn t JOIN debates_debate d ON d.id = t.debate_id"
                " WHERE d.token = %s ORDER BY t.number",
                token,
            )
        ]

    def until_state(self, token: str, *states: str, seconds: float = PATIENCE) -> str:
        return until(lambda: (found := self.state(token)) in states and found, f"one of {states}", seconds)


ASGI = "config.asgi:application"


def answers(url: str) -> bool:
    try:
        return httpx2.get(url, timeout=2).status_code < 500
    except httpx2.HTTPError:
        return False


def letter_to(email: str, mail: Path) -> str:
    """The newest letter to an address, as it was sent to a directory."""
    letters = sorted(mail.glob("*.log"), key=lambda path: path.stat().st_mtime_ns, reverse=True)
    return next(text for text in map(Path.read_text, letters) if f"To: {email}\n" in text)


def code_in(letter: str) -> str:
    """The code that confirms an address."""
    found = re.search(r"^[A-Z]{4}-[A-Z]{4}$", letter, re.MULTILINE)
    assert found, letter
    return found[0]


class Visitor:
    """Somebody at the site: a cookie jar, and forms sent as a browser sends them."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.http = httpx2.Client(base_url=site.url, follow_redirects=True, timeout=30)

    def sign_up(self, email: str) -> Visitor:
        """Up to being signed in: the code comes from the letter, which lands in the site's var/mail."""
        self.post("/account/signup/", {"email": email, "password1": PASSWORD})
        self.post("/account/confirm-email/", {"code": code_in(letter_to(email, self.site.var / "mail"))})
        return self

    def post(self, path: str, fields: Mapping[str, str], form_at: str | None = None) -> httpx2.Response:
        """Sends a form after fetching the page that it is on, hidden fields included."""
        page = self.http.get(form_at or path).text
        hidden = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', page))
        hidden.pop("action", None)  # another form's, on the page that asks for a code: it would send a new one
        return self.http.post(path, data=hidden | dict(fields), headers={"Referer": self.site.url + path})

    def argue(self, claim: str = MOTION, visibility: str = "link", length: str = "short") -> str:
        """Starts a debate; its token. A short Clash has six turns."""
        answer = self.post("/new/", {"claim": claim, "visibility": visibility, "length": length})
        found = re.search(r"/d/([A-Za-z0-9]{22})/", str(answer.url))
        assert found, f"no debate was started: {answer.status_code} {answer.url}"
        return found[1]
