"""`manage.py argue`: the engine at the terminal, without worker, rows or Redis."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from debates.documents import read

from .loopback.answers import Answer
from .loopback.server import LoopbackModel
from .site import MOTION


@pytest.fixture
def model(settings: Any) -> Iterator[LoopbackModel]:
    with LoopbackModel() as server:
        settings.API_KEYS = {"openai": ["sk-loopback"]}
        settings.BASE_URLS = {"openai": server.url}
        settings.DEFAULT_MODELS = {"openai": "scripted-1"}
        settings.LOCAL_MODEL_URL = ""
        yield server


def argue(*words: str, **options: Any) -> str:
    out = io.StringIO()
    call_command("argue", *words, stdout=out, **options)
    return out.getvalue()


def test_it_prints_one_document_with_turns_and_verdict(model):
    document = json.loads(argue(MOTION, "--quick", "--json"))
    assert (document["motion"], document["format"]) == (MOTION, "clash")
    assert [(turn["number"], turn["round"], turn["bench"], turn["kind"]) for turn in document["turns"]] == [
        (1, 1, "proposition", "opening"),
        (2, 1, "opposition", "opening"),
        (3, 2, "proposition", "rebuttal"),
        (4, 2, "opposition", "rebuttal"),
        (5, 3, "judge", "ballot"),
        (6, 3, "judge", "ballot"),
    ]
    assert all(turn["text"] for turn in document["turns"])
    assert set(document["verdict"]) >= {"outcome", "winner", "scores", "confidence", "reason"}


def test_what_it_prints_can_be_imported(model):
    document = read(argue(MOTION, "--quick", "--json"))
    assert document.motion == MOTION


@pytest.mark.hard_case("B73")
def test_six_debates_in_a_row_in_one_process_each_with_a_loop_of_its_own(model):
    for _ in range(6):
        assert json.loads(argue(MOTION, "--quick", "--json"))["verdict"]["outcome"] in ("winner", "too_close")


def test_the_same_seed_deals_the_same_debate(model):
    first, second = (json.loads(argue(MOTION, "--quick", "--json", "--seed", "ab" * 32)) for _ in range(2))
    assert first == second


def test_it_streams_each_speech_under_its_name(model):
    told = argue(MOTION, "--quick")
    places = [told.index(name) for name in ("Opening", "proposition, opening", "opposition, opening", "Rebuttal")]
    assert places == sorted(places)
    assert "\x1b[" not in told, "no colours where nobody sees them"


def test_it_reads_the_claim_from_standard_input(model, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO(MOTION + "\n"))
    assert json.loads(argue("--quick", "--json"))["motion"] == MOTION


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        ("short", "too short"),
        ("x" * 401, "401 characters"),
        ("\u200b" * 20, "could argue against"),
        ("a\0" * 8, "control"),
    ],
)
def test_a_claim_that_cannot_be_argued_is_refused_in_one_sentence(model, claim, said):
    with pytest.raises(CommandError, match=said):
        argue(claim, "--json")


def test_a_model_is_named_for_a_bench(model):
    argue(MOTION, "--quick", "--json", "--model", "judge=openai:scripted-judge")
    asked = {request.model for request in model.requests if request.schema is not None}
    assert asked == {"scripted-judge"}
    assert {request.model for request in model.requests if request.schema is None} == {"scripted-1"}


def test_a_debate_that_could_not_reach_its_end_exits_1_and_prints_what_was_reached(model):
    model.play(Answer(status=401, body={"error": {"message": "no"}}))
    out = io.StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command("argue", MOTION, "--quick", "--json", stdout=out, stderr=io.StringIO())
    assert ended.value.code == 1
    document = json.loads(out.getvalue())
    assert document["verdict"]["outcome"] == "unjudged"
    assert "rejected the key" in document["failure"]


def test_strict_exits_3_where_no_winner_could_be_named(model):
    model.play({"rules": [{"when": {"schema": True}, "answer": {"text": "Neither."}}]})
    with pytest.raises(SystemExit) as ended:
        call_command("argue", MOTION, "--quick", "--strict", stdout=io.StringIO())
    assert ended.value.code == 3


def test_without_any_model_it_says_what_is_missing(settings):
    settings.API_KEYS, settings.LOCAL_MODEL_URL = {}, ""
    with pytest.raises(CommandError, match="no model"):
        argue(MOTION)
