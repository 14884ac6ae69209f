"""A debate leaves as a document and comes back as a labelled replay that holds the same words."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from debates import recorder, sittings
from debates.documents import LARGEST, Unreadable, export, read, store
from debates.engine import types as engine
from debates.models import Debate, Sitting, Turn, Verdict

from .makers import make_debate, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def finished() -> Debate:
    """A debate with a structured turn, a failed one, a verdict, and text that has everything in it."""
    debate = make_debate()
    claim = sittings.claim(debate.pk)
    assert claim is not None
    odd = 'He said: “no”. \u202bعربي <script>alert(1)</script> 👩‍👩‍👧 "\\n'
    turns = [
        engine.Turn(1, 1, "Opening", "proposition", "opening", odd, usage=engine.Usage(10, 5, 3), model="m"),
        engine.Turn(2, 2, "Ruling", "referee", "ruling", "Settled.", data={"live": False, "tension": "", "note": "n"}),
        engine.Turn(3, 3, "Ballots", "judge", "ballot", "I liked both.", failure="It could not be read."),
    ]
    for turn in turns[:2]:
        recorder.seal(claim, turn, None)
    recorder.seal(claim, turns[2], engine.Verdict("unjudged", reason="It could not be read.", ballots=(3,)))
    debate.refresh_from_db()
    return debate


def test_a_debate_comes_back_word_for_word(finished):
    document = export(finished)
    copy = store(read(json.dumps(document.as_dict())), make_user(), Debate.Origin.IMPORTED, "Imported")
    again = export(copy)
    same = {"turns", "verdicts", "verdict", "seats", "motion", "format", "rules"}
    assert again.model_dump(include=same) == document.model_dump(include=same)
    assert [asdict(turn.as_engine()) for turn in copy.turns.all()] == [
        asdict(turn.as_engine()) for turn in finished.turns.all()
    ]


def test_an_import_is_finished_labelled_and_nobody_elses(finished):
    copy = store(export(finished), make_user("bob@example.org"), Debate.Origin.IMPORTED, "Imported")
    assert (copy.origin, copy.label, copy.visibility) == ("imported", "Imported", Debate.Visibility.PRIVATE)
    assert [sitting.state for sitting in copy.sittings.all()] == [Sitting.State.DONE]
    assert sittings.claim(copy.pk) is None, "no worker ever takes it up"


def test_a_document_of_several_sittings_keeps_its_versions(finished):
    later = Sitting.objects.create(debate=finished, kind=Sitting.Kind.JUDGEMENT)
    claim = sittings.claim(finished.pk)
    assert claim is not None
    ballot = engine.Turn(4, 1, "Ballots", "judge", "ballot", "no", failure="No.")
    recorder.seal(claim, ballot, engine.Verdict("unjudged", reason="No.", ballots=(4,)))
    copy = store(read(json.dumps(export(finished).as_dict())), None, Debate.Origin.RECORDED, "Recorded run")
    assert [verdict.version for verdict in Verdict.objects.filter(debate=copy)] == [1, 2]
    assert Turn.objects.get(debate=copy, number=4).sitting.kind == later.kind


def test_export_and_import_at_the_page(client, finished):
    client.force_login(finished.owner)
    exported = client.get(reverse("document", args=[finished.token]))
    assert exported["Content-Disposition"].startswith("attachment;")
    assert "noindex" in exported["X-Robots-Tag"]
    file = SimpleUploadedFile("debate.json", exported.content, "application/json")
    answer = client.post(reverse("import_debate"), {"file": file}, follow=True)
    page = answer.content.decode()
    assert "Imported" in page
    assert "<script>alert(1)</script>" not in page
    assert Debate.objects.filter(origin="imported", owner=finished.owner).count() == 1


@pytest.mark.hard_case("B94")
def test_a_private_debate_exports_to_its_owner_only(client, finished):
    assert client.get(reverse("document", args=[finished.token])).status_code == 404
    client.force_login(make_user("charlie@example.org"))
    assert client.get(reverse("document", args=[finished.token])).status_code == 404


BROKEN = {
    "not JSON": b"{",
    "not a debate": b'{"a": 1}',
    "another version": b'{"schema": "crossbench.debate/2"}',
    "empty": b"",
    "not text": b"\xff\xfe\x00",
}


@pytest.mark.parametrize("content", BROKEN.values(), ids=BROKEN)
def test_what_is_no_debate_is_refused_in_one_sentence_on_the_page(client, content):
    client.force_login(make_user())
    answer = client.post(reverse("import_debate"), {"file": SimpleUploadedFile("x.json", content)})
    assert answer.status_code == 422
    assert 'role="alert"' in answer.content.decode()
    assert not Debate.objects.exists()


def test_a_document_that_lies_about_itself_is_refused(finished):
    good = export(finished).as_dict()
    for changes in (
        {"turns": good["turns"] + good["turns"][:1]},
        {"format": "duel"},
        {"motion": ""},
        {"turns": [good["turns"][0] | {"bench": "<b>"}]},
        {"unknown": 1},
        {"verdict": good["verdict"] | {"outcome": "tie"}},
    ):
        with pytest.raises(Unreadable):
            read(json.dumps(good | changes))


def test_a_document_over_the_limit_is_not_even_parsed():
    with pytest.raises(Unreadable, match="too large"):
        read(b" " * (LARGEST + 1))


def changed(document: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """The document with one thing in it replaced: `turns.0.text`."""
    copy: Any = json.loads(json.dumps(document))
    *way, last = [int(step) if step.isdigit() else step for step in path.split(".")]
    inner = copy
    for step in way:
        inner = inner[step]
    inner[last] = value
    return copy


HOSTILE = {
    "a sitting far away": ("turns.0.sitting", 1_000_000_000),
    "a gap in the sittings": ("turns.0.sitting", 3),
    "a number no column holds": ("turns.0.number", 2**31),
    "a NUL": ("turns.0.text", "a\0b"),
    "a NUL in the data": ("turns.1.data.note", "a\0b"),
    "a name too long": ("turns.0.bench", "x" * 21),
    "a round's name too long": ("turns.0.round_name", "x" * 41),
    "a winner without a victory": ("verdicts.0.winner", "proposition"),
    "a victory without a winner": ("verdicts.0.outcome", "winner"),
    "a point that is none": ("verdicts.0.details", {"strongest": "abc"}),
    "a claim that is none": ("verdicts.0.details", {"claimed": 5}),
    "a ruling that is none": ("turns.1.data", {"live": "perhaps"}),
    "rules of another game": ("rules", {"goals": 3}),
    "two seats of one bench": ("seats.1.bench", "proposition"),
    "endless nesting": ("verdicts.0.details", {"x": [[[[[[[[[[[[[1]]]]]]]]]]]]]}),
}


@pytest.mark.parametrize(("path", "value"), HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_document_is_refused_before_anything_is_stored(client, finished, path, value):
    document = changed(export(finished).as_dict(), path, value)
    client.force_login(make_user("bob@example.org"))
    file = SimpleUploadedFile("debate.json", json.dumps(document).encode())
    answer = client.post(reverse("import_debate"), {"file": file})
    assert answer.status_code == 422
    assert not Debate.objects.filter(origin="imported").exists()
    assert client.get("/debates/").status_code == 200


def test_nothing_is_ever_added_to_an_import(client, finished):
    """Its seats and its words are its author's: the site's keys don't pay for them."""
    copy = store(export(finished), finished.owner, Debate.Origin.IMPORTED, "Imported")
    client.force_login(finished.owner)
    page = client.get(copy.get_absolute_url()).content.decode()
    assert f"{copy.get_absolute_url()}judge-again/" not in page
    client.post(reverse("judge_again", args=[copy.token]))
    Sitting.objects.filter(debate=copy).update(state=Sitting.State.STOPPED)
    client.post(reverse("go_on", args=[copy.token]))
    assert not Sitting.objects.open().filter(debate=copy).exists()
