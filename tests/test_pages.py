"""Pages and commands through the front door, without a browser: who may see and do what, and what is refused."""

from __future__ import annotations

import re
import threading
import uuid
from concurrent.futures import ThreadPoolExecutor
from html import unescape
from html.parser import HTMLParser
from typing import Any

import pytest
from django.core.cache import cache
from django.db import connection
from django.test import Client

from accounts.models import User
from config.celery import app
from debates import sittings, views
from debates.engine.formats import find_format
from debates.models import Debate, Sitting
from tests.browser import made
from tests.site import code_in

CLAIM = "Cities should ban private cars from their centres"


@pytest.fixture(autouse=True)
def site(settings) -> None:
    """A site that has a model to speak with, and limits that no other test has used up."""
    settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
    cache.clear()
    settings.LOCAL_MODEL_URL = "http://127.0.0.1:9/v1"
    settings.API_KEYS = {name: [] for name in settings.API_KEYS}


@pytest.fixture(autouse=True)
def hints(monkeypatch) -> list[int]:
    sent: list[int] = []
    monkeypatch.setattr(sittings, "send_hint", sent.append)
    return sent


@pytest.fixture(autouse=True)
def told(monkeypatch) -> list[tuple[int, str]]:
    heard: list[tuple[int, str]] = []
    monkeypatch.setattr(views, "tell", lambda debate, what: heard.append((debate, what)))
    return heard


@pytest.fixture
def alice(db) -> User:
    return made.user("alice@example.org")


def browser_of(user: User | None) -> Client:
    client = Client()
    if user:
        client.force_login(user)
    return client


@pytest.fixture
def owner(alice) -> Client:
    return browser_of(alice)


@pytest.fixture
def bob(db) -> Client:
    return browser_of(made.user("bob@example.org"))


@pytest.fixture
def visitor(db) -> Client:
    return Client()


def sent(claim: str = CLAIM, **fields: Any) -> dict[str, Any]:
    return {"claim": claim, "visibility": "private", "form_key": str(uuid.uuid4())} | fields


def kept_text(response) -> str:
    """What stands in the claim's field."""
    [field] = re.findall(r"<textarea[^>]*>\n?(.*?)</textarea>", response.content.decode(), re.DOTALL)
    return unescape(field)


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

    @pytest.mark.parametrize(("length", "rules"), [("whole", {}), ("short", {"quick": True}), ("", {"quick": True})])
    def test_a_debate_is_as_long_as_was_asked_for(self, owner, length, rules):
        owner.post("/new/", sent(length=length))
        assert Debate.objects.get().rules == rules

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


class TestAccess:
    """Alice owns, Bob has the link, a visitor has it too."""

    @pytest.mark.hard_case("B94")
    def test_who_may_see_a_debate(self, owner, bob, visitor, alice):
        private, linked = made.debate(alice), made.debate(alice, visibility="link")
        seen = [
            [client.get(debate.get_absolute_url()).status_code for client in (owner, bob, visitor)]
            for debate in (private, linked)
        ]
        assert seen == [[200, 404, 404], [200, 200, 200]]

    @pytest.mark.hard_case("B94")
    def test_what_is_private_looks_like_what_was_never_there(self, bob, alice):
        private, missing = bob.get(made.debate(alice).get_absolute_url()), bob.get("/d/0123456789012345678901/")
        assert (private.status_code, private.content) == (missing.status_code, missing.content)
        assert private.headers == missing.headers

    @pytest.mark.parametrize("command", ["stop", "go-on", "judge-again", "share", "renew-link"])
    def test_commands_are_the_owner_s(self, owner, bob, visitor, alice, command):
        linked = made.finished(alice, visibility="link")
        url = f"{linked.get_absolute_url()}{command}/"
        before = Debate.objects.values().get(), list(Sitting.objects.values())
        assert [client.post(url, {"visibility": "private"}).status_code for client in (bob, visitor)] == [404, 404]
        assert (Debate.objects.values().get(), list(Sitting.objects.values())) == before
        assert owner.get(url).status_code == 405
        assert owner.post(url, {"visibility": "private"}).status_code == 302

    @pytest.mark.hard_case("B94")
    def test_a_debate_made_private_is_gone_for_others_at_once(self, owner, bob, alice, told):
        linked = made.debate(alice, visibility="link")
        owner.post(f"{linked.get_absolute_url()}share/", {"visibility": "private"})
        assert bob.get(linked.get_absolute_url()).status_code == 404
        assert told == [(linked.pk, "access")]

    @pytest.mark.hard_case("B94")
    def test_a_renewed_link_kills_the_old_one(self, owner, bob, alice, told):
        linked = made.debate(alice, visibility="link")
        new = owner.post(f"{linked.get_absolute_url()}renew-link/").url
        assert bob.get(linked.get_absolute_url()).status_code == owner.get(linked.get_absolute_url()).status_code == 404
        assert bob.get(new).status_code == 200
        assert told == [(linked.pk, "access")]

    def test_sharing_does_not_touch_the_fence(self, owner, alice):
        shared = made.debate(alice)
        Debate.objects.filter(pk=shared.pk).update(fence=7)
        owner.post(f"{shared.get_absolute_url()}share/", {"visibility": "link"})
        assert Debate.objects.values_list("fence", "visibility").get() == (7, "link")

    def test_unlisted_pages_are_neither_indexed_nor_kept_nor_named_to_others(self, visitor, alice):
        response = visitor.get(made.debate(alice, visibility="link").get_absolute_url())
        assert response["X-Robots-Tag"] == "noindex, nofollow"
        assert {"no-store", "private"} <= set(response["Cache-Control"].split(", "))
        assert response["Referrer-Policy"] == "same-origin"
        assert '<meta name="robots" content="noindex' in response.content.decode()

    def test_a_sample_is_nobody_s(self, visitor, alice):
        sample = made.finished(alice, visibility="link")
        Debate.objects.filter(pk=sample.pk).update(owner=None)
        page = visitor.get(sample.get_absolute_url()).content.decode()
        assert "Make a new link" not in page
        assert "Judge again" not in page

    def test_my_debates_are_mine(self, owner, bob, visitor, alice):
        made.finished(alice, motion="Alice's very own claim", visibility="link")
        assert "Opposition, clear" in owner.get("/debates/").content.decode()
        assert "very own claim" not in bob.get("/debates/").content.decode()
        assert visitor.get("/debates/").url == "/account/login/?next=/debates/"


class TestCommands:
    def test_stop_ends_what_no_worker_has_begun(self, owner, alice):
        debate = made.debate(alice)
        owner.post(f"{debate.get_absolute_url()}stop/")
        assert debate.sittings.get().state == "stopped"

    def test_stop_asks_what_runs(self, owner, alice):
        debate = made.debate(alice)
        debate.sittings.update(state="running")
        owner.post(f"{debate.get_absolute_url()}stop/")
        assert debate.sittings.get().stop_asked

    def test_go_on_takes_up_what_failed(self, owner, alice):
        debate = made.debate(alice)
        made.end(debate.sittings.get(), "failed", failure="It could not be reached.")
        page = owner.get(debate.get_absolute_url()).content.decode()
        assert "It could not be reached." in page
        owner.post(f"{debate.get_absolute_url()}go-on/")
        assert debate.sittings.get().state == "queued"

    @pytest.mark.hard_case("B71")
    def test_judge_again_opens_one_judgement_however_often_it_is_asked_for(self, owner, alice):
        debate = made.finished(alice)
        for _ in range(5):
            owner.post(f"{debate.get_absolute_url()}judge-again/")
        assert [sitting.kind for sitting in debate.sittings.all()] == ["debate", "judgement"]

    def test_judge_again_needs_something_to_judge(self, owner, alice):
        debate = made.debate(alice)
        made.end(debate.sittings.get(), "failed")
        owner.post(f"{debate.get_absolute_url()}judge-again/")
        assert debate.sittings.count() == 1

    def test_an_unjudged_debate_offers_to_be_judged_again_to_its_owner_only(self, owner, bob, alice):
        debate = made.finished(alice, visibility="link")
        debate.verdicts.update(
            outcome="unjudged", winner=None, scores=None, confidence=None, reason="Unreadable.", details={}
        )
        assert "Judge again" in shown(owner, debate)
        assert "Judge again" not in shown(bob, debate)
        assert "Unjudged" in shown(bob, debate)


def shown(client: Client, debate: Debate) -> str:
    """The page as a reader without a script sees it: no templates, no data."""
    page = client.get(debate.get_absolute_url()).content.decode()
    return unescape(re.sub(r"<(template|script)\b.*?</\1>", "", page, flags=re.DOTALL))


class TestPage:
    def test_a_finished_debate_is_complete_without_a_script(self, visitor, alice):
        page = shown(visitor, made.finished(alice, visibility="link"))
        for _, _, text in made.SPEECHES:
            assert text in page
        for words in (
            "Opposition, clear",
            "57.5",
            "about 7 times in 10",
            "Who pays for the buses",
            "How this score came about",
        ):
            assert words in page
        assert "It had named the proposition; the scores decide." in page
        assert "a ballot" not in page

    def test_the_motion_is_the_title(self, visitor, alice):
        debate = made.finished(alice, motion="Tea & biscuits <b>forever</b>", visibility="link")
        assert (
            "<title>Tea &amp; biscuits &lt;b&gt;forever&lt;/b&gt;</title>"
            in visitor.get(debate.get_absolute_url()).content.decode()
        )

    @pytest.mark.parametrize(
        "details",
        [{}, {"strongest": None}, {"strongest": {"side": "opposition"}}, {"ballots": [{}]}, {"ballots": None}],
    )
    def test_a_verdict_may_lack_any_detail(self, visitor, alice, details):
        debate = made.finished(alice, visibility="link")
        debate.verdicts.update(details=details, scores=None, confidence=None)
        assert "Opposition" in shown(visitor, debate)

    def test_too_close_to_call_says_why(self, visitor, alice):
        debate = made.finished(alice, visibility="link", preset="local")
        reason = "The judge contradicted itself when the sides were swapped."
        debate.verdicts.update(
            outcome="too_close", winner=None, confidence=50, reason=reason, details={"small_judge": True}
        )
        page = shown(visitor, debate)
        assert "Too close to call" in page
        assert reason in page
        assert "11 times in 12" in page
        assert "tired teenager" in page

    def test_a_failed_speech_shows_what_was_said_and_why_no_more(self, owner, alice):
        debate = made.debate(alice)
        sitting = debate.sittings.get()
        made.speeches(sitting, 1)
        made.fragment(sitting, 2, "A ban is a promise", "The opposition's model could not be reached.")
        made.end(sitting, "failed", failure="The opposition's model could not be reached.", failed_bench="opposition")
        page = shown(owner, debate)
        assert "A ban is a promise" in page
        assert "Broken off here, not counted. The opposition's model could not be reached." in page
        assert "Everything that was said is kept." in page

    def test_turns_of_a_sitting_that_came_to_nothing_are_folded(self, visitor, alice):
        debate = made.debate(alice, visibility="link")
        lost = debate.sittings.get()
        made.turn(lost, 1, "Said in vain.")
        made.end(lost, "failed")
        second = Sitting.objects.create(debate=debate, first_number=2)
        made.turn(second, 2, "Said again.")
        made.end(second)
        page = shown(visitor, debate)
        [folded] = re.findall(r"<details><summary>Opening.*?</details>", page, re.DOTALL)
        assert "not counted" in folded
        assert "Said in vain." in folded
        assert "Said again." not in folded
        assert "Said again." in page

    def test_rulings_and_bench_questions_are_shown_as_what_they_are(self, visitor, alice):
        debate = made.debate(alice, visibility="link")
        sitting = debate.sittings.get()
        ruling = {"live": True, "tension": "Who buys the bus?", "note": "Neither has said."}
        made.turn(sitting, 1, "x", bench="referee", kind="ruling", round_name="Ruling", data=ruling)
        question = {"to": "both", "question": "And the night shift?"}
        made.turn(sitting, 2, "x", bench="judge", kind="bench_question", round=2, round_name="Bench", data=question)
        made.turn(
            sitting, 3, "{…", bench="referee", kind="ruling", round=3, round_name="Ruling", failure="Not understood."
        )
        page = shown(visitor, debate)
        for words in ("Still live", "Who buys the bus?", "Neither has said.", "To both sides", "Not understood."):
            assert words in page
        assert "{…" not in page

    def test_forty_turns_cost_no_more_queries_than_four(self, visitor, alice, django_assert_num_queries):
        debate = made.finished(alice, visibility="link")
        with django_assert_num_queries(6):
            visitor.get(debate.get_absolute_url())
        sitting = debate.sittings.get()
        for number in range(7, 47):
            made.turn(sitting, number, "More.", round=number)
            made.verdict(Sitting.objects.create(debate=debate, state="done"), version=number)
        with django_assert_num_queries(6):
            visitor.get(debate.get_absolute_url())

    def test_a_list_of_many_debates_costs_no_more_queries_than_one(self, owner, alice, django_assert_max_num_queries):
        for _ in range(12):
            made.finished(alice)
        with django_assert_max_num_queries(6):
            owner.get("/debates/")


class Elements(HTMLParser):
    """Elements and attributes that no page of ours has."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.hostile: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("iframe", "object") or tag.startswith("svg/"):
            self.hostile.append(tag)
        if tag == "img" and not (dict(attrs)["src"] or "").startswith("/static/"):
            self.hostile.append(tag)
        for name, value in attrs:
            if name.startswith("on") or name == "srcdoc" or (value or "").startswith(("javascript:", "data:")):
                self.hostile.append(f"{tag} {name}")
        if tag == "script" and not {"src", "type"} & {name for name, _ in attrs}:
            self.hostile.append("script")


HOSTILE = [
    "<img src=x onerror=alert(1)>",
    "[x](javascript:alert(1))",
    "<svg/onload=alert(1)>",
    "</script><script>alert(1)</script>",
    "{{7*7}} {% load static %}",
    "&lt;img&gt; as typed",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    '"><b>name</b>',
]


@pytest.mark.hard_case("B84")
@pytest.mark.parametrize("text", HOSTILE)
def test_what_looks_like_markup_is_shown_as_typed(owner, alice, text):
    debate = made.finished(alice, motion=f"A claim: {text}", visibility="link")
    sitting = debate.sittings.get()
    made.turn(sitting, 7, text, round=9, round_name=text[:40])
    ruling = {"live": True, "tension": text, "note": text}
    made.turn(sitting, 8, text, bench="referee", kind="ruling", round=10, data=ruling, failure="")
    details = {"strongest": {"side": "opposition", "quote": text, "turn": 2}, "unsettled": text, "judges": [text]}
    details["ballots"] = [{"number": text, "weakest": {"quote": text, "side": text}}]
    debate.verdicts.update(reason=text, details=details)
    alice.is_staff = alice.is_superuser = True
    alice.save()
    for path in (debate.get_absolute_url(), "/debates/", "/admin/debates/debate/", "/admin/debates/turn/"):
        page = owner.get(path).content.decode()
        assert not Elements(page).hostile, path
        assert path == "/debates/" or text in unescape(page)


@pytest.mark.hard_case("B84")
def test_the_policy_allows_no_inline_script_and_no_foreign_source(visitor, alice):
    response = visitor.get(made.finished(alice, visibility="link").get_absolute_url())
    policy = response["Content-Security-Policy"]
    assert "unsafe" not in policy
    assert "script-src 'self'" in policy
    page = response.content.decode()
    assert not re.search(r"<script(?![^>]*(src=\"/static/|type=\"application/json\"))", page)
    assert not re.search(r"\s(style|on\w+)=\"", page)
    assert not re.search(r"(src|href)=\"(https?:)?//", page)


@pytest.mark.hard_case("B46")
def test_a_turkish_claim_keeps_its_letters(owner):
    owner.post("/new/", sent("TÜRKİYE'DE IŞIK PAHALI, İsi ve Isı"))
    assert Debate.objects.get().motion == "TÜRKİYE'DE IŞIK PAHALI, İsi ve Isı"


@pytest.mark.hard_case("B49")
def test_a_long_claim_is_never_cut(owner, alice):
    motion = "👩‍👩‍👧‍👦" * 57
    debate = made.finished(alice, motion=motion)
    for path in (debate.get_absolute_url(), "/debates/"):
        assert motion in owner.get(path).content.decode()


@pytest.mark.parametrize(("path", "status"), [("/nowhere/", 404), ("/d/short/", 404)])
def test_error_pages_have_the_site_s_look(visitor, path, status):
    response = visitor.get(path)
    assert response.status_code == status
    assert "css/site.css" in response.content.decode()


def test_a_broken_page_says_so_in_the_site_s_look(visitor, monkeypatch):
    visitor.raise_request_exception = False
    monkeypatch.setattr(views, "_form_page", None)
    response = visitor.get("/")
    assert response.status_code == 500
    assert "Something here is broken" in response.content.decode()


def test_a_form_that_is_too_old_says_so(alice):
    client = Client(enforce_csrf_checks=True)
    response = client.post("/new/", sent())
    assert response.status_code == 403
    assert "too old" in response.content.decode()
