"""The form: what is a claim, what is refused, and one debate for one form."""

from __future__ import annotations

import re
import threading
from concurrent.futures import ThreadPoolExecutor
from html import unescape
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from config.celery import app
from debates.engine.formats import find_format
from debates.models import Debate, Sitting
from tests.browser import made
from tests.site import code_in

from .reading import CLAIM, browser_of, kept_text, sent


class TestForm:
    def test_a_claim_starts_a_debate_with_its_seats_and_a_queued_sitting(
        self, owner, alice, hints, django_capture_on_commit_callbacks
    ):
        with django_capture_on_commit_callbacks(execute=True):
            response = owner.post("/new/", sent(f"  {CLAIM}\r\n"))
        debate = Debate.objects.get()
        sitting = debate.sittings.get()
        assert response.url == f"/d/{debate.token}/"
        assert (debate.owner, debate.motion, debate.visibility) == (alice, CLAIM, "private")
        assert {seat.bench for seat in debate.seats.all()} == {bench.name for bench in find_format("clash").benches}
        assert (sitting.kind, sitting.state, sitting.opened_by) == ("debate", "queued", alice)
        assert sitting.prompts
        assert hints == [debate.pk]

    @pytest.mark.parametrize(("length", "quick"), [("whole", False), ("short", True)])
    def test_a_debate_is_as_long_as_was_asked_for(self, owner, length, quick):
        owner.post("/new/", sent(length=length))
        assert Debate.objects.get().rules.get("quick", False) == quick

    @pytest.mark.parametrize(
        "claim",
        [
            *("", "       ", "1234567", "x" * 401, "a claim\0 with a NUL", "a claim \x07 that rings", "\u200b" * 12),
            *("\u3164" * 12, "\u202e" * 12, "  1234567  "),
        ],
    )
    def test_what_is_no_claim_is_refused_in_one_sentence_with_its_text_kept(self, owner, claim):
        response = owner.post("/new/", sent(claim))
        page = response.content.decode()
        assert response.status_code == 422
        assert page.count('role="alert"') == 1
        assert kept_text(response).replace("\r\n", "\n") == claim
        assert not Debate.objects.exists()

    @pytest.mark.parametrize(
        "claim", ["12345678", "x" * 400, "👩‍👩‍👧‍👦 families deserve a room", "هل يجب حظر السيارات؟", "  x" * 100]
    )
    def test_what_is_a_claim_is_taken(self, owner, claim):
        assert owner.post("/new/", sent(claim)).status_code == 302

    @pytest.mark.hard_case("B48")
    def test_direction_controls_are_taken_out_and_right_to_left_text_stays(self, owner):
        owner.post("/new/", sent("\u202eمدن\u200c بلا سيارات\u202b"))
        assert Debate.objects.get().motion == "مدن\u200c بلا سيارات"

    @pytest.mark.hard_case("B71")
    def test_a_form_sent_twice_starts_one_debate(self, owner):
        form = sent()
        first, second = owner.post("/new/", form), owner.post("/new/", form)
        assert first.url == second.url
        assert Debate.objects.count() == Sitting.objects.count() == 1

    @pytest.mark.hard_case("B71")
    def test_a_form_sent_again_with_another_claim_is_a_conflict_with_its_text_kept(self, owner):
        form = sent()
        owner.post("/new/", form)
        response = owner.post("/new/", form | {"claim": "Something else entirely"})
        assert response.status_code == 409
        assert kept_text(response) == "Something else entirely"
        assert form["form_key"] not in response.content.decode()
        assert Debate.objects.count() == 1

    def test_two_people_may_send_the_same_key(self, owner, bob):
        form = sent()
        assert owner.post("/new/", form).url != bob.post("/new/", form).url

    def test_a_site_without_a_model_says_so_and_keeps_the_text(self, owner, settings):
        settings.LOCAL_MODEL_URL = ""
        response = owner.post("/new/", sent())
        assert response.status_code == 503
        assert "no model to speak with" in response.content.decode()
        assert kept_text(response) == CLAIM
        assert not Debate.objects.exists()

    def test_a_broker_that_is_down_costs_no_error(self, owner, monkeypatch, django_capture_on_commit_callbacks):
        monkeypatch.undo()

        def refuse(*args: Any, **kwargs: Any) -> None:
            raise OSError("no route to the broker")

        monkeypatch.setattr(app, "send_task", refuse)
        with django_capture_on_commit_callbacks(execute=True):
            assert owner.post("/new/", sent()).status_code == 302

    def test_it_says_beside_the_button_who_reads_the_text(self, visitor, settings):
        assert "doesn't leave it" in unescape(visitor.get("/").content.decode())
        settings.API_KEYS = settings.API_KEYS | {"openai": ["sk-test"]}
        assert "openai (" in visitor.get("/").content.decode()


@pytest.mark.hard_case("B71")
@pytest.mark.django_db(transaction=True)
def test_twenty_identical_posts_at_once_start_one_debate():
    alice = made.user()
    clients, form = [browser_of(alice) for _ in range(20)], sent()
    together = threading.Barrier(len(clients), timeout=20)

    def post(client: Client) -> str:
        together.wait()
        try:
            return client.post("/new/", form)["Location"]
        finally:
            connection.close()

    with ThreadPoolExecutor(len(clients)) as threads:
        urls = set(threads.map(post, clients))
    assert urls == {Debate.objects.get().get_absolute_url()}
    assert Sitting.objects.count() == 1


class TestSignedOut:
    def test_the_claim_waits_until_one_has_signed_up(self, visitor, mailoutbox):
        response = visitor.post("/new/", sent(visibility="link"))
        assert response.url == "/account/signup/?next=%2Fnew%2F"
        assert CLAIM in visitor.get(response.url).content.decode()
        visitor.post(response.url, {"email": "dora@example.org", "password1": made.PASSWORD, "next": "/new/"})
        answer = visitor.post("/account/confirm-email/", {"code": code_in(mailoutbox[0].body)})
        assert answer.url == "/new/"
        page = visitor.get("/new/")
        assert kept_text(page) == CLAIM
        assert re.search(r'value="link"[^>]*checked', page.content.decode())
        assert not Debate.objects.exists()

    def test_the_claim_waits_until_one_has_signed_in(self, visitor, alice):
        visitor.post("/new/", sent())
        visitor.post("/account/login/", {"login": "ALICE@example.org", "password": made.PASSWORD, "next": "/new/"})
        assert kept_text(visitor.get("/new/")) == CLAIM

    def test_what_is_no_claim_is_refused_before_that(self, visitor):
        assert visitor.post("/new/", sent("short")).status_code == 422

    def test_a_kept_claim_is_gone_once_it_has_been_argued(self, owner):
        session = owner.session
        session["claim"] = {"claim": CLAIM, "visibility": "private"}
        session.save()
        assert kept_text(owner.get("/new/")) == CLAIM
        owner.post("/new/", sent())
        assert kept_text(owner.get("/new/")) == ""


@pytest.mark.hard_case("B46")
def test_a_turkish_claim_keeps_its_letters(owner):
    owner.post("/new/", sent("TÜRKİYE'DE IŞIK PAHALI, İsi ve Isı"))
    assert Debate.objects.get().motion == "TÜRKİYE'DE IŞIK PAHALI, İsi ve Isı"


def test_a_form_that_is_too_old_says_so(alice):
    client = Client(enforce_csrf_checks=True)
    response = client.post("/new/", sent())
    assert response.status_code == 403
    assert "too old" in response.content.decode()
