"""Alice owns, Bob has the link, a visitor has it too: who may see and do what."""

from __future__ import annotations

import pytest

from debates.models import Debate, Sitting
from tests.browser import made

from .reading import shown


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
