"""Debates as their users have them: by HTTP and the socket, through real processes, with a scripted model."""

from __future__ import annotations

import asyncio
import html

import pytest

from .live.viewer import Viewer
from .site import MOTION, Site, Visitor, until

SLOW = {"otherwise": {"rate": 40}}
ENDLESS = {"otherwise": {"rate": 2}}


@pytest.fixture(autouse=True)
def builtin(site: Site) -> None:
    site.script({})


def done(site: Site, alice: Visitor, claim: str = MOTION) -> str:
    token = alice.argue(claim)
    assert site.until_state(token, "done", "failed") == "done"
    return token


def test_a_claim_is_argued_to_its_verdict_and_the_page_holds_every_word(site, alice):
    token = done(site, alice)
    page = html.unescape(alice.http.get(f"/d/{token}/").text)
    speeches = [text for number, text in site.turns(token) if number <= 4]
    assert len(speeches) == 4
    assert all(sentence in page for text in speeches for sentence in text.split("\n"))
    assert site.rows(
        "SELECT outcome IN ('winner', 'too_close') FROM debates_verdict v"
        " JOIN debates_debate d ON d.id = v.debate_id WHERE token = %s",
        token,
    ) == [(True,)]


def test_a_viewer_who_joins_midway_ends_with_the_same_text_as_one_from_the_start(site, alice):
    site.script(SLOW)

    async def both() -> None:
        token = alice.argue()
        early, late = Viewer(site.port, token), Viewer(site.port, token)
        watching = [asyncio.create_task(early.stay())]
        await early.until(lambda page: any(turn["text"] for turn in page.open.values()), 40)
        watching.append(asyncio.create_task(late.stay()))
        await asyncio.wait_for(asyncio.gather(*watching), 60)
        assert early.page.text == late.page.text == dict(site.turns(token))
        assert not early.tears + late.tears

    asyncio.run(both())


@pytest.mark.hard_case("B72")
def test_stop_closes_the_models_stream_and_keeps_what_was_said_and_the_debate_can_go_on(site, alice):
    site.script(ENDLESS)
    token = alice.argue()
    until(lambda: site.requests(), "the model is asked")
    until(lambda: fragments(site, token), "some of it is written down")
    alice.post(f"/d/{token}/stop/", {}, form_at=f"/d/{token}/")
    site.until_state(token, "stopped")
    until(lambda: {request["state"] for request in site.requests()} == {"gone"}, "the streams are closed")
    kept = fragments(site, token)
    assert all(text and reason for text, reason in kept)
    assert kept[0][0].split(" town ")[0] in alice.http.get(f"/d/{token}/").text
    site.script({})
    alice.post(f"/d/{token}/go-on/", {}, form_at=f"/d/{token}/")
    site.until_state(token, "done")
    assert not fragments(site, token)


def fragments(site: Site, token: str) -> list[tuple[str, str]]:
    return [
        (text, reason)
        for text, reason in site.rows(
            "SELECT f.text, f.reason FROM debates_fragment f JOIN debates_sitting s ON s.id = f.sitting_id"
            " JOIN debates_debate d ON d.id = s.debate_id WHERE token = %s AND f.text <> '' ORDER BY f.number",
            token,
        )
    ]


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ({"status": 401, "body": {"error": {"message": "bad key sk-loopback"}}}, "rejected the key"),
        ({"status": 404, "body": {"error": {"message": "no such model", "code": "model_not_found"}}}, "does not offer"),
        ({"text": ""}, "answered with nothing"),
    ],
)
def test_a_model_that_fails_is_named_with_its_bench_and_the_debate_goes_on_once_it_is_mended(site, alice, fault, said):
    site.script({"rules": [{"when": {"call": 3}, "answer": fault}], "otherwise": {}})
    if "text" in fault:
        site.script({"rules": [{"when": {"call": n}, "answer": fault} for n in (3, 4, 5, 6)], "otherwise": {}})
    token = alice.argue()
    assert site.until_state(token, "failed", "done") == "failed"
    before = site.turns(token)
    page = alice.http.get(f"/d/{token}/").text
    assert said in page
    assert "sk-loopback" not in page
    assert "127.0.0.1" not in page
    site.script({})
    alice.post(f"/d/{token}/go-on/", {}, form_at=f"/d/{token}/")
    site.until_state(token, "done")
    assert dict(site.turns(token)).items() >= dict(before).items()


@pytest.mark.hard_case("B36")
def test_a_judge_that_talks_nonsense_leaves_it_unjudged_and_it_can_be_judged_again(site, alice):
    site.script({"rules": [{"when": {"schema": True}, "answer": {"text": "I liked both."}}]})
    token = done(site, alice)
    assert outcomes(site, token) == ["unjudged"]
    assert "Judge again" in alice.http.get(f"/d/{token}/").text
    site.script({})
    alice.post(f"/d/{token}/judge-again/", {}, form_at=f"/d/{token}/")
    until(lambda: len(outcomes(site, token)) == 2, "a second version of the verdict")
    assert outcomes(site, token)[1] in ("winner", "too_close")
    assert [number for number, _ in site.turns(token)] == list(range(1, 9))
    asked = [request["messages"][-1]["content"] for request in (found["body"] for found in site.requests())]
    assert all(text.split(".")[0] in asked[0] for number, text in site.turns(token) if number <= 4)
    assert not any("I liked both." in prompt for prompt in asked), "an earlier ballot enters no prompt"


def outcomes(site: Site, token: str) -> list[str]:
    query = "SELECT outcome FROM debates_verdict v JOIN debates_debate d ON d.id = v.debate_id WHERE token = %s"
    return [outcome for (outcome,) in site.rows(f"{query} ORDER BY version", token)]


def test_a_token_costs_the_database_nothing(site, alice):
    """Writes grow with turns and seconds, not with tokens: 400 words are spoken here, at 80 a second."""
    site.script({"otherwise": {"rate": 80}})
    before = writes(site)
    done(site, alice)
    words = sum(len(str(request).split()) for request in site.requests())
    assert words > 400
    assert writes(site) - before < 120


def writes(site: Site) -> int:
    """Rows written in all debates' tables, once the statistics have settled."""
    site.rows("SELECT pg_stat_force_next_flush()")
    query = "SELECT sum(n_tup_ins + n_tup_upd + n_tup_del) FROM pg_stat_user_tables WHERE relname LIKE 'debates_%%'"
    return int(site.rows(query)[0][0])


@pytest.mark.hard_case("B75")
def test_a_debate_whose_model_hangs_holds_up_no_other(site, alice):
    stuck = "This very claim makes the model hang for ever"
    site.script({"rules": [{"when": {"anywhere": stuck}, "answer": {"fault": "stall", "after": 3}}]})
    hanging = alice.argue(stuck)
    until(lambda: len(site.requests()) >= 2, "both of its openings hang")
    for number in range(3):
        done(site, alice, f"Another claim, number {number}, is argued meanwhile")
    assert site.state(hanging) == "running"
    alice.post(f"/d/{hanging}/stop/", {}, form_at=f"/d/{hanging}/")
    site.until_state(hanging, "stopped")


def test_a_private_debate_is_not_there_for_anybody_else(site, alice):
    token = alice.argue("Private claims stay private for everybody else", visibility="private")
    stranger = Visitor(site)
    missing = stranger.http.get("/d/AAAAAAAAAAAAAAAAAAAAAA/")
    private = stranger.http.get(f"/d/{token}/")
    assert (private.status_code, private.text) == (missing.status_code, missing.text)
    assert private.status_code == 404
