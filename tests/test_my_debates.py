"""My debates: found by words, deleted and brought back, taken up from the list."""

from __future__ import annotations

import uuid
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.db.models.functions import Now
from django.test import Client
from django.urls import reverse

from debates import recorder, sittings
from debates.engine import types as engine
from debates.models import Debate, Sitting

from .makers import make_debate, make_user

pytestmark = pytest.mark.django_db
LIST = "/debates/"


@pytest.fixture
def alice(client: Client) -> Client:
    client.force_login(make_user())
    return client


def said(debate: Debate, text: str) -> None:
    claim = sittings.claim(debate.pk)
    assert claim is not None
    recorder.seal(claim, engine.Turn(1, 1, "Opening", "proposition", "opening", text), None)


def test_words_are_sought_in_claims_and_in_speeches(alice):
    cars, homes = make_debate(motion="Cities should ban cars"), make_debate(motion="Renting beats owning")
    said(homes, "A mortgage is a cage with a garden.")
    for sought, found in (("ban CITIES", cars), ("mortgage", homes), ("renting garden", homes)):
        page = alice.get(LIST, {"q": sought}).content.decode()
        assert found.motion in page
        assert {cars.motion, homes.motion} - {found.motion} == {
            motion for motion in (cars.motion, homes.motion) if motion not in page
        }


@pytest.mark.parametrize("sought", ["nowhere", "%", "_", "a\0b", "' OR 1=1 --", "<script>"])
def test_a_search_that_finds_nothing_says_so_and_keeps_the_words(alice, sought):
    make_debate(motion="Renting beats owning")
    page = alice.get(LIST, {"q": sought}).content.decode()
    assert "Nothing of yours holds all these words" in page or sought == "a\0b"
    assert "<script>" not in page.replace('<script type="module"', "")


def test_nobody_finds_what_is_not_theirs(alice):
    make_debate(owner=make_user("bob@example.org"), motion="Bob's own claim about cars")
    assert "Bob" not in alice.get(LIST, {"q": "cars"}).content.decode()


@pytest.mark.hard_case("B94")
def test_what_is_deleted_is_gone_for_everybody_and_comes_back_by_undo(alice):
    debate = make_debate()
    Debate.objects.filter(pk=debate.pk).update(visibility=Debate.Visibility.LINK)
    answer = alice.post(reverse("delete", args=[debate.token]), follow=True)
    assert "Undo" in answer.content.decode()
    for name in ("debate", "document"):
        assert alice.get(reverse(name, args=[debate.token])).status_code == 404
        assert Client().get(reverse(name, args=[debate.token])).status_code == 404
    assert alice.post(reverse("go_on", args=[debate.token])).status_code == 404
    alice.post(reverse("undelete", args=[debate.token]))
    assert alice.get(reverse("debate", args=[debate.token])).status_code == 200
    assert debate.motion in alice.get(LIST).content.decode()


def test_deleting_stops_what_is_under_way(alice):
    debate = make_debate()
    alice.post(reverse("delete", args=[debate.token]))
    assert Sitting.objects.get().state == Sitting.State.STOPPED


def test_only_its_owner_deletes_and_brings_back(alice):
    debate = make_debate(owner=make_user("bob@example.org"))
    assert alice.post(reverse("delete", args=[debate.token])).status_code == 404
    Debate.objects.update(deleted=Now())
    assert alice.post(reverse("undelete", args=[debate.token])).status_code == 404
    assert "Undo" not in alice.get(LIST, {"deleted": debate.token}).content.decode()


@pytest.mark.django_db(transaction=True)
def test_what_was_deleted_a_day_ago_is_erased():
    old, recent = make_debate(), make_debate(motion="Deleted only just now, so kept")
    Debate.objects.filter(pk=old.pk).update(deleted=Now() - timedelta(hours=25))
    Debate.objects.filter(pk=recent.pk).update(deleted=Now())
    call_command("reap", "--once")
    assert [debate.pk for debate in Debate.objects.all()] == [recent.pk]


def test_a_debate_that_broke_off_is_taken_up_from_the_list(alice):
    debate = make_debate()
    claim = sittings.claim(debate.pk)
    assert claim is not None
    sittings.release(claim, Sitting.State.FAILED, bench="judge", failure="The model could not be reached.")
    assert "Go on" in alice.get(LIST).content.decode()
    alice.post(reverse("go_on", args=[debate.token]))
    assert Sitting.objects.get().state == Sitting.State.QUEUED


def test_an_unjudged_debate_is_judged_again_from_the_list(alice):
    debate = make_debate()
    claim = sittings.claim(debate.pk)
    assert claim is not None
    ballot = engine.Turn(1, 1, "Ballots", "judge", "ballot", "?", failure="It could not be read.")
    recorder.seal(claim, ballot, engine.Verdict("unjudged", reason="It could not be read."))
    assert "Judge again" in alice.get(LIST).content.decode()
    alice.post(reverse("judge_again", args=[debate.token]))
    assert Sitting.objects.count() == 2


@pytest.mark.parametrize("path", ["/d/%00/", "/d/short/", "/debates/?deleted=%00", "/d/" + "A" * 22 + "%00/"])
def test_an_address_that_cannot_be_is_no_fault(alice, path):
    assert alice.get(path).status_code in (200, 404)


@pytest.mark.hard_case("B71")
def test_a_form_sent_again_after_its_debate_was_deleted_starts_anew(alice, settings):
    settings.API_KEYS = {"openai": ["sk-loopback"]}
    form = {"claim": "Cities should ban cars", "visibility": "private", "form_key": str(uuid.uuid4())}
    first = alice.post("/new/", form)["Location"]
    alice.post(f"{first}delete/")
    again = alice.post("/new/", form)["Location"]
    assert again != first
    assert alice.get(again).status_code == 200
