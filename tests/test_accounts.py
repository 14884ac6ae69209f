"""Accounts through the front door, without a browser: who gets in, how, and who doesn't."""

from __future__ import annotations

import hashlib
import hmac
import re
import struct
import time
from base64 import b32decode
from html import unescape
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.core import mail
from django.core.cache import cache
from django.core.mail.backends import locmem
from django.core.management import call_command
from django.template.loader import render_to_string
from django.test import Client

from accounts.cache import RedisOrMemory
from accounts.models import SitePage, User
from tests.browser import made
from tests.site import Site, code_in

DORA = "dora@example.org"
LOCMEM = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
FILES = "django.core.mail.backends.filebased.EmailBackend"


@pytest.fixture(autouse=True)
def calm(settings) -> None:
    """Limits that no other test has used up."""
    settings.CACHES = LOCMEM
    cache.clear()


@pytest.fixture
def visitor(db) -> Client:
    return Client()


@pytest.fixture
def alice(db) -> User:
    return made.user("alice@example.org")


@pytest.fixture
def owner(alice) -> Any:
    """Alice, who has just typed her password again."""
    client = signed_in("alice@example.org")
    client.post("/account/reauthenticate/", {"password": made.PASSWORD})
    return client


def sign_in(client: Client, email: str, password: str = made.PASSWORD, **more: Any) -> Any:
    return client.post("/account/login/", {"login": email, "password": password}, **more)


def signed_in(email: str, password: str = made.PASSWORD) -> Any:
    client = Client()
    sign_in(client, email, password)
    assert is_signed_in(client)
    return client


def sign_up(client: Client, email: str = DORA, password: str = made.PASSWORD, **fields: str) -> Any:
    return client.post("/account/signup/", {"email": email, "password1": password} | fields)


def confirm(client: Client, code: str | None = None) -> Any:
    return client.post("/account/confirm-email/", {"code": code or code_in(str(mail.outbox[-1].body))})


def is_signed_in(client: Client) -> bool:
    return "_auth_user_id" in client.session


def text(response: Any) -> str:
    return response.content.decode()


def link_in(letter: str) -> str:
    """The path of the one link of ours in a letter."""
    [path] = re.findall(r"http://[^/\s]+(/account/\S+)", letter)
    return path


def totp(secret: str, at: float | None = None) -> str:
    """RFC 6238: what a code app shows."""
    counter = struct.pack(">Q", int((at or time.time()) // 30))
    digest = hmac.new(b32decode(secret), counter, hashlib.sha1).digest()
    start = digest[-1] & 15
    return f"{(struct.unpack('>I', digest[start : start + 4])[0] & 0x7FFFFFFF) % 10**6:06}"


class TestSigningUp:
    def test_the_code_from_the_letter_signs_in_and_the_claim_is_back_in_its_field(self, visitor):
        visitor.post("/new/", {"claim": made.MOTION, "visibility": "link", "form_key": "0" * 32})
        sign_up(visitor, next="/new/")
        assert not is_signed_in(visitor)
        assert made.MOTION in text(visitor.get("/account/confirm-email/"))
        answer = confirm(visitor)
        assert (answer.url, is_signed_in(visitor)) == ("/new/", True)
        assert f">\n{made.MOTION}</textarea>" in text(visitor.get("/new/"))
        assert EmailAddress.objects.get(email=DORA).verified

    def test_a_wrong_code_costs_an_attempt_and_the_fifth_the_code(self, visitor):
        sign_up(visitor)
        for _ in range(4):
            assert "That is not the code." in text(confirm(visitor, "WRON-GONE"))
        assert confirm(visitor, "WRON-GONE").url == "/account/login/"
        confirm(visitor)
        assert not is_signed_in(visitor)

    def test_who_comes_back_unconfirmed_gets_another_code(self, visitor):
        sign_up(visitor)
        cache.clear()
        later = Client()
        assert sign_in(later, DORA).url == "/account/confirm-email/"
        assert not is_signed_in(later)
        confirm(later)
        assert is_signed_in(later)

    def test_a_code_is_good_in_the_browser_that_asked_for_it_alone(self, visitor):
        sign_up(visitor)
        confirm(Client())
        assert not EmailAddress.objects.get(email=DORA).verified

    def test_a_mistyped_address_can_be_put_right(self, visitor):
        sign_up(visitor, "dora@exmaple.org")
        visitor.post("/account/confirm-email/", {"action": "change", "email": DORA})
        assert mail.outbox[-1].to == [DORA]
        confirm(visitor)
        assert User.objects.get().email == DORA
        assert [address.email for address in EmailAddress.objects.filter(verified=True)] == [DORA]

    @pytest.mark.parametrize("again", [DORA, "DORA@Example.ORG"])
    def test_an_address_has_one_account_and_the_page_does_not_tell_whether_it_has_one(self, visitor, again):
        first = sign_up(visitor, "Dora@example.org")
        confirm(visitor)
        cache.clear()
        second = sign_up(Client(), again)
        assert (first.status_code, first.url) == (second.status_code, second.url)
        assert "You have an account already" in mail.outbox[-1].subject
        assert User.objects.get().email == DORA
        signed_in(again)

    def test_a_password_that_is_easy_to_guess_is_refused_in_one_sentence(self, visitor):
        page = text(sign_up(visitor, password="password"))
        assert page.count("This password is too common.") == 1
        assert "At least 8 characters, and nothing that is easy to guess." in page
        assert not User.objects.exists()

    def test_a_mail_server_that_is_away_costs_the_letter_and_not_the_page(self, visitor, monkeypatch):
        def away(self, letters):
            raise ConnectionRefusedError(111, "Connection refused")

        with monkeypatch.context() as broken:
            broken.setattr(locmem.EmailBackend, "send_messages", away)
            sign_up(visitor)
            assert "The letter could not be sent." in text(visitor.get("/account/confirm-email/"))
        cache.clear()
        visitor.post("/account/confirm-email/", {"action": "resend"})
        confirm(visitor)
        assert is_signed_in(visitor)


class TestSigningIn:
    def test_the_case_of_an_address_is_no_matter(self, alice):
        signed_in("ALICE@Example.Org")

    def test_a_wrong_password_and_an_unknown_address_get_the_same_sentence(self, visitor, alice):
        for address in ("alice@example.org", "alike@example.org"):
            page = text(sign_in(visitor, address, "wrong horse"))
            assert page.count("<li>") == page.count("<li>No account has this address with this password.</li>") == 1

    def test_a_closed_account_is_told_so(self, visitor, alice):
        User.objects.update(is_active=False)
        assert "This account is closed" in text(sign_in(visitor, "alice@example.org", follow=True))

    @pytest.mark.parametrize("elsewhere", ["https://evil.example/", "//evil.example/", "javascript:alert(1)"])
    def test_it_leads_to_no_other_site(self, visitor, alice, elsewhere):
        answer = visitor.post(
            "/account/login/", {"login": "alice@example.org", "password": made.PASSWORD, "next": elsewhere}
        )
        assert answer.url == "/"

    def test_github_is_not_offered_where_it_is_not_configured(self, visitor):
        assert "GitHub" not in text(visitor.get("/account/login/"))
        assert visitor.get("/account/github/login/").status_code == 404


class TestLimits:
    def test_the_sixth_guess_in_a_row_is_refused_even_if_it_is_right(self, visitor, alice):
        for _ in range(5):
            sign_in(visitor, "alice@example.org", "wrong horse")
        assert "That failed too often." in text(sign_in(visitor, "Alice@example.org"))
        assert not is_signed_in(visitor)

    def test_too_many_requests_get_the_page_that_says_so(self, visitor):
        for number in range(20):
            sign_up(Client(), f"visitor{number}@example.org")
        answer = sign_up(visitor)
        assert answer.status_code == 429
        assert "That was too often" in text(answer)
        assert "css/site.css" in text(answer)

    def test_forwarded_addresses_of_no_trusted_proxy_do_not_get_past_them(self, visitor):
        for number in range(20):
            sign_up(Client(headers={"X-Forwarded-For": f"10.0.0.{number}"}), f"visitor{number}@example.org")
        assert sign_up(Client(headers={"X-Forwarded-For": "10.0.1.1"})).status_code == 429

    def test_without_redis_one_can_sign_in_and_guessing_is_still_limited(self, visitor, alice, settings, monkeypatch):
        settings.CACHES = {"default": {"BACKEND": "accounts.cache.RedisOrMemory", "LOCATION": "redis://127.0.0.1:9/0"}}
        monkeypatch.setattr(RedisOrMemory, "away_until", 0.0)
        cache.clear()
        assert RedisOrMemory.away_until > 0
        signed_in("alice@example.org")
        for _ in range(5):
            assert sign_in(visitor, "alice@example.org", "wrong horse").status_code == 200
        assert "That failed too often." in text(sign_in(visitor, "alice@example.org"))


class TestPassword:
    def test_it_can_be_reset_by_letter_and_signs_in(self, visitor, alice):
        visitor.post("/account/password/reset/", {"email": "ALICE@example.org"})
        form = visitor.get(link_in(str(mail.outbox[0].body)), follow=True)
        chosen = {"password1": "another good horse", "password2": "another good horse"}
        visitor.post(form.request["PATH_INFO"], chosen)
        assert is_signed_in(visitor)
        signed_in("alice@example.org", "another good horse")

    def test_a_link_serves_once(self, visitor, alice):
        visitor.post("/account/password/reset/", {"email": "alice@example.org"})
        link = link_in(str(mail.outbox[0].body))
        form = visitor.get(link, follow=True)
        chosen = {"password1": "another good horse", "password2": "another good horse"}
        visitor.post(form.request["PATH_INFO"], chosen)
        assert "This link doesn't work any more" in text(Client().get(link, follow=True))

    def test_the_page_does_not_tell_whether_an_address_has_an_account(self, visitor, alice):
        known = visitor.post("/account/password/reset/", {"email": "alice@example.org"}, follow=True)
        unknown = Client().post("/account/password/reset/", {"email": "alike@example.org"}, follow=True)
        assert text(known) == text(unknown)
        assert "No account with this address" in mail.outbox[1].subject

    def test_a_change_signs_the_other_browsers_out_and_tells_the_owner(self, owner):
        other = signed_in("alice@example.org")
        chosen = {"oldpassword": made.PASSWORD, "password1": "another good horse", "password2": "another good horse"}
        assert owner.post("/account/password/change/", chosen).url == "/account/"
        assert owner.get("/account/").status_code == 200
        assert other.get("/account/").status_code == 302
        assert mail.outbox[-1].to == ["alice@example.org"]


class TestAccount:
    def test_it_is_for_the_signed_in(self, visitor):
        assert visitor.get("/account/").url == "/account/login/?next=/account/"

    @pytest.mark.parametrize(
        ("typed", "kept"), [("  Alice   of Kent ", "Alice of Kent"), ("", ""), ("عَلِيّ", "عَلِيّ"), ("👩‍👩‍👧", "👩‍👩‍👧")]
    )
    def test_the_display_name_can_be_chosen(self, owner, typed, kept):
        assert owner.post("/account/", {"display_name": typed}).url == "/account/"
        assert User.objects.get().display_name == kept

    @pytest.mark.parametrize("typed", ["Ali\u202ece", "Ali\u0007ce", "A" * 41])
    def test_a_name_with_hidden_signs_or_too_long_is_refused(self, owner, typed):
        answer = owner.post("/account/", {"display_name": typed})
        assert answer.status_code == 422
        assert text(answer).count("<li>") > 0
        assert User.objects.get().display_name == ""

    def test_a_new_address_takes_the_old_one_s_place_once_it_is_confirmed(self, owner):
        owner.post("/account/email/", {"email": "Alice@Elsewhere.example", "action_add": ""})
        assert User.objects.get().email == "alice@example.org"
        confirm(owner)
        assert User.objects.get().email == "alice@elsewhere.example"
        signed_in("alice@elsewhere.example")
        assert not is_signed_in(sign_in_of("alice@example.org"))
        assert mail.outbox[-1].to == ["alice@example.org"], "the old address is told"

    def test_changing_the_address_asks_for_the_password_and_then_goes_on(self, alice):
        client = signed_in("alice@example.org")
        asked = client.post("/account/email/", {"email": DORA, "action_add": ""}).url
        assert asked.startswith("/account/reauthenticate/")
        assert not mail.outbox
        assert "That is not your password." in text(client.post(asked, {"password": "wrong horse"}))
        client.post(asked, {"password": made.PASSWORD})
        assert mail.outbox[-1].to == [DORA]

    def test_other_browsers_are_listed_and_can_be_signed_out(self, owner):
        other = signed_in("alice@example.org")
        page = text(owner.get("/account/sessions/"))
        assert (page.count("This browser"), page.count("Another browser")) == (1, 1)
        owner.post("/account/sessions/")
        assert other.get("/account/").status_code == 302
        assert owner.get("/account/").status_code == 200

    @pytest.mark.parametrize(
        "path",
        [
            *("", "email/", "password/change/", "2fa/", "2fa/totp/activate/", "2fa/webauthn/", "2fa/webauthn/add/"),
            *("sessions/", "3rdparty/", "logout/", "reauthenticate/", "reauthenticate/code/"),
        ],
    )
    def test_its_pages_have_the_site_s_look(self, owner, path):
        page = text(owner.get(f"/account/{path}"))
        assert "css/site.css" in page
        assert page.count("<h1>") == 1

    @pytest.mark.parametrize(
        "path",
        [
            *("login", "signup", "password/reset", "password/reset/done", "password/reset/key/done", "inactive"),
            *("3rdparty/login/cancelled", "3rdparty/login/error"),
        ],
    )
    def test_so_have_those_for_visitors(self, visitor, path):
        page = text(visitor.get(f"/account/{path}/"))
        assert "css/site.css" in page
        assert "Crossbench" in page


def sign_in_of(email: str) -> Client:
    client = Client()
    sign_in(client, email)
    return client


class TestCodeApp:
    def switch_on(self, owner: Any) -> str:
        [secret] = re.findall(r"<code>(\w+)</code>", text(owner.get("/account/2fa/totp/activate/")))
        assert owner.post("/account/2fa/totp/activate/", {"code": totp(secret)}).url == "/account/2fa/recovery-codes/"
        cache.clear()
        return secret

    def test_sign_in_asks_for_its_code_after_the_password(self, owner, visitor):
        secret = self.switch_on(owner)
        assert sign_in(visitor, "alice@example.org").url == "/account/2fa/authenticate/"
        assert "isn't the right one" in unescape(text(visitor.post("/account/2fa/authenticate/", {"code": "000000"})))
        assert not is_signed_in(visitor)
        visitor.post("/account/2fa/authenticate/", {"code": totp(secret, time.time() + 30)})
        assert is_signed_in(visitor)

    def test_a_recovery_code_serves_once(self, owner, visitor):
        self.switch_on(owner)
        code = re.findall(r"<li><code>(\d+)</code>", text(owner.get("/account/2fa/recovery-codes/")))[0]
        for client, gets_in in ((visitor, True), (Client(), False)):
            sign_in(client, "alice@example.org")
            client.post("/account/2fa/authenticate/", {"code": code})
            assert is_signed_in(client) == gets_in

    def test_it_can_be_switched_off(self, owner):
        self.switch_on(owner)
        owner.post("/account/2fa/totp/deactivate/")
        assert not Authenticator.objects.exists()
        signed_in("alice@example.org")


class TestAdministration:
    @pytest.mark.parametrize("path", ["/admin/", "/admin/accounts/user/", "/admin/login/?next=/admin/accounts/user/"])
    def test_a_visitor_is_sent_to_the_site_s_own_sign_in(self, visitor, path):
        page = visitor.get(path, follow=True)
        assert page.request["PATH_INFO"] == "/account/login/"
        assert "/admin/" in page.request["QUERY_STRING"].replace("%2F", "/")

    def test_its_own_form_signs_nobody_in(self, visitor):
        User.objects.create_superuser("root@example.org", made.PASSWORD)
        visitor.post("/admin/login/", {"username": "root@example.org", "password": made.PASSWORD})
        assert not is_signed_in(visitor)

    def test_it_is_not_for_everybody(self, owner):
        assert owner.get("/admin/", follow=True).status_code == 403

    def test_the_first_administrator_can_sign_in_at_once(self, visitor, monkeypatch):
        monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", made.PASSWORD)
        call_command("createsuperuser", interactive=False, email="Root@Example.org", verbosity=0)
        page = sign_in(visitor, "root@example.org", follow=True)
        assert is_signed_in(visitor)
        assert not mail.outbox
        assert page.status_code == visitor.get("/admin/").status_code == 200
        assert visitor.get("/admin/login/").url == "/admin/"

    def test_its_sign_out_and_password_are_the_site_s(self, visitor):
        User.objects.create_superuser("root@example.org", made.PASSWORD)
        root = signed_in("root@example.org")
        assert root.get("/admin/password_change/").url == "/account/password/change/"
        root.post("/admin/logout/", follow=True)
        assert not is_signed_in(root)


class TestLetters:
    """Who runs `manage.py up` without a mail server reads the letters on the page."""

    @pytest.fixture(autouse=True)
    def up(self, settings, tmp_path):
        settings.UNDER_UP = True
        settings.EMAIL_BACKEND = FILES
        settings.EMAIL_FILE_PATH = str(tmp_path)
        settings.ALLOWED_HOSTS = ["localhost", "127.0.0.1", "[::1]", "crossbench.example"]

    @pytest.mark.parametrize("host", ["localhost:8000", "127.0.0.1", "[::1]:8000"])
    def test_the_code_is_on_the_page_that_asks_for_it(self, visitor, host):
        visitor.defaults["HTTP_HOST"] = host
        sign_up(visitor)
        confirm(visitor, code_in(re.sub("<.*?>", "\n", text(visitor.get("/account/confirm-email/")))))
        assert is_signed_in(visitor)

    def test_so_is_the_link_that_resets_a_password(self, visitor, alice):
        visitor.defaults["HTTP_HOST"] = "localhost"
        page = text(visitor.post("/account/password/reset/", {"email": "alice@example.org"}, follow=True))
        [link] = re.findall(r'href="http://localhost(/account/password/reset/key/\S+)"', page)
        assert "Choose a password" in text(visitor.get(link, follow=True))

    def test_the_newest_letter_to_the_address_is_shown_and_no_other(self, visitor, tmp_path):
        visitor.defaults["HTTP_HOST"] = "localhost"
        sign_up(visitor)
        first = code_in(re.sub("<.*?>", "\n", text(visitor.get("/account/confirm-email/"))))
        other = Client(headers={"Host": "localhost"})
        sign_up(other, "erin@example.org")
        assert first in text(visitor.get("/account/confirm-email/"))
        cache.clear()
        visitor.post("/account/confirm-email/", {"action": "resend"})
        assert first not in text(visitor.get("/account/confirm-email/"))
        assert len(list(tmp_path.iterdir())) == 3

    def test_a_browser_that_asked_for_no_letter_is_shown_none(self, visitor):
        sign_up(Client(headers={"Host": "localhost"}))
        assert "so this is the letter" not in text(visitor.get("/account/password/reset/done/", HTTP_HOST="localhost"))

    @pytest.mark.parametrize(
        ("changed", "sent"),
        [
            ({"UNDER_UP": False}, {}),
            ({"EMAIL_BACKEND": "django.core.mail.backends.locmem.EmailBackend"}, {}),
            ({}, {"REMOTE_ADDR": "192.0.2.7"}),
            ({}, {"REMOTE_ADDR": "::ffff:192.0.2.7"}),
            ({}, {"HTTP_HOST": "crossbench.example"}),
            ({}, {"HTTP_X_FORWARDED_FOR": "192.0.2.7"}),
            ({}, {"HTTP_FORWARDED": "for=192.0.2.7"}),
        ],
    )
    def test_no_letter_is_shown_elsewhere_or_past_a_proxy_or_with_a_mail_server(self, visitor, settings, changed, sent):
        visitor.defaults["HTTP_HOST"] = "localhost"
        sign_up(visitor)
        assert "so this is the letter" in text(visitor.get("/account/confirm-email/"))
        for name, value in changed.items():
            setattr(settings, name, value)
        page = text(visitor.get("/account/confirm-email/", **sent))
        assert "A letter with a code is on its way" in page
        assert "so this is the letter" not in page


class TestPagesOfTheHouse:
    @pytest.mark.parametrize("path", ["terms", "privacy", "contact"])
    def test_they_are_there_from_the_start(self, site: Site, path):
        [(title, words)] = site.rows("SELECT title, text FROM accounts_sitepage WHERE slug = %s", path)
        assert title
        assert len(words) > 80

    def test_there_is_a_group_for_those_who_moderate(self, site: Site):
        assert site.rows("SELECT name FROM auth_group") == [("Moderators",)]

    def test_an_administrator_can_rewrite_them_and_markup_stays_text(self, visitor, db):
        SitePage.objects.update_or_create(slug="contact", defaults={"title": "Contact", "text": "Nobody."})
        User.objects.create_superuser("root@example.org", made.PASSWORD)
        root = signed_in("root@example.org")
        words = "Write to root@example.org.\n\n<b>Or</b> call."
        root.post("/admin/accounts/sitepage/contact/change/", {"title": "Reach us", "text": words})
        page = text(visitor.get("/contact/"))
        assert "<h1>Reach us</h1>" in page
        assert 'href="mailto:root@example.org"' in page
        assert "<p>&lt;b&gt;Or&lt;/b&gt; call.</p>" in page

    def test_robots_are_kept_out_of_accounts(self, visitor):
        answer = visitor.get("/robots.txt")
        assert answer["Content-Type"].startswith("text/plain")
        assert "Disallow: /account/" in text(answer)

    @pytest.mark.parametrize("status", [400, 403, 404, 410, 429, 500])
    def test_each_error_has_a_page(self, status):
        page = render_to_string(f"{status}.html")
        assert "css/site.css" in page
        assert page.count("<h1>") == 1
