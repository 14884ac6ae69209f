"""The debate's page without a script, and text that looks like markup."""

from __future__ import annotations

import re
from html import unescape
from html.parser import HTMLParser

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from debates import views
from debates.models import Sitting
from tests.browser import made

from .reading import shown


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

    def test_a_list_of_many_debates_costs_no_more_queries_than_one(self, owner, alice):
        made.finished(alice)
        with CaptureQueriesContext(connection) as one:
            owner.get("/debates/")
        for _ in range(11):
            made.finished(alice)
        with CaptureQueriesContext(connection) as many:
            owner.get("/debates/")
        assert len(many) == len(one)


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
