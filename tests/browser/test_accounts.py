"""Accounts in Chromium, on a site as `manage.py up` runs it: letters on the page, passkeys, sign-in with GitHub."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from allauth.socialaccount.models import SocialAccount
from playwright.sync_api import CDPSession, Page, expect

from accounts.models import User
from tests.live.servers import Daphne, Valkey

from . import made
from .conftest import sign_in


class GitHub(ThreadingHTTPServer):
    """Answers as GitHub does, for one person; `refusal` is what it sends back instead of a code."""

    daemon_threads = True
    refusal = ""
    addresses: list[dict[str, Any]]

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.url = f"http://127.0.0.1:{self.server_port}"
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Answer(BaseHTTPRequestHandler):
    server: GitHub

    def do_GET(self) -> None:
        path, asked = urlsplit(self.path).path, parse_qs(urlsplit(self.path).query)
        if path == "/login/oauth/authorize":
            back = {"error": self.server.refusal} if self.server.refusal else {"code": "a-code"}
            self.send_response(302)
            self.send_header("Location", f"{asked['redirect_uri'][0]}?{urlencode(back | {'state': asked['state'][0]})}")
            self.end_headers()
        else:
            self.tell({"id": 7, "login": "fay"} if path == "/api/v3/user" else self.server.addresses)

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.tell({"access_token": "a-token", "token_type": "bearer"})

    def tell(self, what: Any) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(what).encode())

    def log_message(self, *args: Any) -> None:
        pass


@pytest.fixture(scope="module")
def running_github() -> Iterator[GitHub]:
    github = GitHub()
    yield github
    github.shutdown()


@pytest.fixture
def github(running_github: GitHub) -> GitHub:
    running_github.refusal = ""
    running_github.addresses = [{"email": "fay@example.org", "primary": True, "verified": True}]
    return running_github


class Up(Daphne):
    """The site as `manage.py up` runs it, with GitHub configured."""

    more: dict[str, str]

    def environment(self) -> dict[str, str]:
        return super().environment() | {"CROSSBENCH_UP": "1", "DEBUG": "0"} | self.more


@pytest.fixture(scope="module")
def server(
    django_db_setup, valkey: Valkey, running_github: GitHub, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """At `localhost`: a passkey belongs to a name, never to a number."""
    var = tmp_path_factory.mktemp("var")
    daphne = Up(valkey.url, var / "daphne.log")
    daphne.more = {
        "CROSSBENCH_VAR": str(var),
        "EMAIL_URL": "filemail://",
        "GITHUB_URL": running_github.url,
        "GITHUB_CLIENT_ID": "crossbench",
        "GITHUB_CLIENT_SECRET": "a secret",
    }
    daphne.start()
    yield f"http://localhost:{daphne.port}"
    daphne.stop()


@pytest.fixture
def device(page: Page) -> Iterator[CDPSession]:
    """A virtual authenticator: it holds passkeys, and confirms that its owner is there."""
    session = page.context.new_cdp_session(page)
    session.send("WebAuthn.enable")
    options = {"protocol": "ctap2", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True}
    made = session.send(
        "WebAuthn.addVirtualAuthenticator",
        {"options": options | {"isUserVerified": True, "automaticPresenceSimulation": True}},
    )
    session.made = made["authenticatorId"]  # type: ignore[attr-defined]
    yield session
    session.send("WebAuthn.disable")


def press(page: Page, name: str) -> None:
    page.get_by_role("main").get_by_role("button", name=name, exact=True).click()


def expect_signed_in(page: Page) -> None:
    expect(page.get_by_role("link", name="My debates")).to_be_visible()


def add_passkey(page: Page, *, alone: bool = True) -> None:
    page.goto("/account/2fa/webauthn/add/")
    page.get_by_label("Password").fill(made.PASSWORD)
    press(page, "Go on")
    page.get_by_label("Sign in with it alone").set_checked(alone)
    press(page, "Add")
    expect(page.get_by_role("heading", name="Recovery codes")).to_be_visible()


def sign_out(page: Page) -> None:
    page.goto("/account/")
    press(page, "Sign out")
    expect(page.get_by_role("link", name="Sign in")).to_be_visible()


def test_the_letter_is_on_the_page_and_its_code_leads_back_to_the_claim(page):
    page.goto("/")
    page.get_by_label("What should be argued?").fill(made.MOTION)
    press(page, "Let them argue")
    page.get_by_label("Email").fill("Gus@Example.org")
    page.get_by_label("Password").fill(made.PASSWORD)
    press(page, "Sign up")
    letter = page.get_by_role("region", name="The letter")
    expect(letter).to_contain_text("Confirm your address")
    code = re.search(r"[A-Z]{4}-[A-Z]{4}", letter.inner_text())
    assert code
    page.get_by_label("Code").fill(code[0].lower().replace("-", " "))
    press(page, "Confirm")
    expect(page.get_by_label("What should be argued?")).to_have_value(made.MOTION)
    expect_signed_in(page)


def test_a_passkey_signs_in_without_the_password(page, alice, device):
    sign_in(page)
    add_passkey(page)
    sign_out(page)
    page.goto("/account/login/?next=/debates/")
    press(page, "Sign in with a passkey")
    expect(page).to_have_url(re.compile("/debates/$"))
    expect_signed_in(page)


def test_a_key_may_also_be_the_second_step_after_the_password(page, alice, device):
    sign_in(page)
    add_passkey(page, alone=False)
    sign_out(page)
    page.goto("/account/login/")
    page.get_by_label("Email").fill("alice@example.org")
    page.get_by_label("Password").fill(made.PASSWORD)
    press(page, "Sign in")
    expect(page.get_by_role("heading", name="The second step")).to_be_visible()
    press(page, "Use a passkey")
    expect_signed_in(page)


def test_a_passkey_shows_who_one_is_before_another_is_added_and_can_be_removed(page, alice, device):
    sign_in(page)
    add_passkey(page)
    sign_out(page)
    page.goto("/account/login/")
    press(page, "Sign in with a passkey")
    expect_signed_in(page)
    page.goto("/account/2fa/webauthn/")
    page.get_by_role("link", name="Remove").click()
    page.get_by_role("link", name="with a passkey").click()
    press(page, "Use a passkey")
    press(page, "Remove")
    expect(page.get_by_text("The passkey is removed.")).to_be_visible()
    expect(page.get_by_text("None yet.")).to_be_visible()


def test_a_passkey_that_is_refused_says_so_in_a_sentence(page, alice, device):
    sign_in(page)
    add_passkey(page)
    sign_out(page)
    page.goto("/account/login/")
    device.send("WebAuthn.setUserVerified", {"authenticatorId": device.made, "isUserVerified": False})
    press(page, "Sign in with a passkey")
    expect(page.get_by_role("alert")).to_have_text("No passkey was used: it was cancelled, or it took too long.")


def test_a_passkey_that_nobody_has_any_more_signs_nobody_in(page, alice, device):
    sign_in(page)
    add_passkey(page)
    User.objects.get().delete()
    page.context.clear_cookies()
    page.goto("/account/login/")
    press(page, "Sign in with a passkey")
    expect(page.get_by_text("This code or passkey isn't the right one.")).to_be_visible()


def test_github_signs_up_whom_it_has_confirmed(page, github):
    page.goto("/account/signup/?next=/debates/")
    press(page, "Sign in with GitHub")
    expect_signed_in(page)
    expect(page).to_have_url(re.compile("/debates/$"))
    user = User.objects.get()
    assert (user.email, user.display_name, user.has_usable_password()) == ("fay@example.org", "fay", False)


def test_github_signs_in_the_owner_of_a_confirmed_address(page, github):
    made.user("fay@example.org")
    page.goto("/account/login/")
    press(page, "Sign in with GitHub")
    expect_signed_in(page)
    assert User.objects.count() == 1


def test_an_address_that_github_has_not_confirmed_is_confirmed_here(page, github):
    made.user("fay@example.org")
    github.addresses[0]["verified"] = False
    page.goto("/account/login/")
    press(page, "Sign in with GitHub")
    expect(page.get_by_role("main")).to_contain_text("address")
    expect(page.get_by_role("link", name="My debates")).to_be_hidden()
    assert not SocialAccount.objects.filter(user__email="fay@example.org").exists()


def test_github_can_be_connected_and_disconnected(page, alice, github):
    sign_in(page)
    page.goto("/account/3rdparty/")
    press(page, "Connect GitHub")
    if page.get_by_label("Password").is_visible():
        page.get_by_label("Password").fill(made.PASSWORD)
        press(page, "Go on")
    expect(page.get_by_text("GitHub: fay")).to_be_visible()
    press(page, "Disconnect")
    expect(page.get_by_text("None yet.")).to_be_visible()


@pytest.mark.parametrize(
    ("refusal", "said"),
    [("access_denied", "you changed your mind"), ("server_error", "didn't confirm who you are")],
)
def test_what_github_refuses_is_told_on_a_page_of_ours(page, github, refusal, said):
    github.refusal = refusal
    page.goto("/account/login/")
    press(page, "Sign in with GitHub")
    expect(page.get_by_role("heading", name="You are not signed in")).to_be_visible()
    expect(page.get_by_text(said)).to_be_visible()
    expect(page.get_by_role("link", name="Crossbench")).to_be_visible()
