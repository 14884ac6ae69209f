"""The sample debates: what they say obeys the rules that every debate here is held to, and loading them is safe."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from io import StringIO
from itertools import chain, permutations
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser
from django.core.management import CommandError, call_command

from debates import samples
from debates.documents import read
from debates.engine.documents import DebateDocument, TurnPart, verdict_part
from debates.engine.formats import find_format
from debates.engine.speech import SpeechFilter, count_words
from debates.engine.types import Hearing, Round, Speech, Turn, Usage, Verdict
from debates.models import Debate, Seat, Sitting
from debates.models import Turn as TurnRow
from debates.models import Verdict as VerdictRow

DOCUMENTS = {path.stem: read(path.read_bytes()) for path in samples.sample_files()}
WRITTEN = {slug: document for slug, document in DOCUMENTS.items() if document.origin == "written"}
SIDES = ("proposition", "opposition")
ARGUED = ("opening", "rebuttal", "clash")

each = pytest.mark.parametrize("document", DOCUMENTS.values(), ids=DOCUMENTS)
each_written = pytest.mark.parametrize("document", WRITTEN.values(), ids=WRITTEN)

QUOTED = re.compile("“([^“”]+)”|„([^„“]+)“")
BANNED = re.compile(
    r"\b(?:furthermore|moreover|in conclusion|additionally|my opponent|while it is true|it is important to note"
    r"|darüber hinaus|des weiteren|zusammenfassend|abschließend|mein gegner|meine gegnerin|es ist zwar wahr"
    r"|zwar ist es richtig|es ist wichtig zu)\b",
    re.IGNORECASE,
)
SOURCES = re.compile(
    r"\d|%|\b(?:per ?cent|prozent|stud(?:y|ies)|studien?|research|researchers|according to|statistics?|survey|journal"
    r"|university|institute|professor|forscher\w*|forschung\w*|statistik\w*|umfragen?|universität|institut"
    r"|laut (?:einer|dem|der))\b",
    re.IGNORECASE,
)


def turn_of(part: TurnPart) -> Turn:
    return Turn(usage=Usage(**part.usage.model_dump()), **part.model_dump(exclude={"sitting", "usage"}))


def played(document: DebateDocument) -> tuple[list[tuple[Speech, Turn]], Verdict]:
    """Drives the format with the document's turns: each with the speech that the rules asked for, and the verdict."""
    format = find_format(document.format)
    turns = [turn_of(part) for part in document.turns if part.sitting == 1]
    rounds = format.sittings["debate"](format.rules(**document.rules))
    asked: list[tuple[Speech, Turn]] = []
    step, index = next(rounds), 0
    while isinstance(step, Round):
        index += 1
        spoken = turns[len(asked) : len(asked) + len(step.speeches)]
        expected = [(index, step.name, speech.bench, speech.kind) for speech in step.speeches]
        assert [(turn.round, turn.round_name, turn.bench, turn.kind) for turn in spoken] == expected
        asked += zip(step.speeches, spoken, strict=True)
        try:
            step = rounds.send(spoken)
        except StopIteration as stop:
            assert len(asked) == len(turns), "turns follow the verdict"
            return asked, stop.value
    raise AssertionError("a format ends in a verdict")


def quotations(text: str) -> Iterator[str]:
    for found in QUOTED.finditer(text):
        quote = found[1] or found[2]
        if count_words(quote) >= 3:
            yield quote


def speeches(document: DebateDocument, *kinds: str) -> list[TurnPart]:
    return [turn for turn in document.turns if turn.bench in SIDES and (not kinds or turn.kind in kinds)]


# What a sample is


@each
def test_it_says_what_it_is(document: DebateDocument) -> None:
    assert document.origin in ("written", "recorded")
    assert document.label
    assert {seat.bench for seat in document.seats} == {bench.name for bench in find_format(document.format).benches}


@each_written
def test_what_was_written_by_hand_names_no_model(document: DebateDocument) -> None:
    assert document.label == "Hand-written sample"
    assert {(seat.provider, seat.model) for seat in document.seats} == {("hand-written", "hand-written")}
    assert {(turn.model, turn.calls) for turn in document.turns} == {("hand-written", 0)}


def test_there_is_one_in_english_and_one_in_another_language() -> None:
    assert {"surgeons-count", "briefe-verbrennen"} <= set(WRITTEN)


# The rules of the format


@each
def test_its_turns_are_those_that_the_format_asks_for_and_its_verdict_is_theirs(document: DebateDocument) -> None:
    _, verdict = played(document)
    judges = [seat for seat in document.seats if seat.bench == "judge"]
    named = {"judges": [seat.model for seat in judges], "small_judge": any(seat.preset for seat in judges)}
    expected = verdict_part(replace(verdict, details=verdict.details | named))
    assert document.verdicts[0].model_dump() == expected.model_dump()
    assert document.verdict == document.verdicts[-1]


@each
def test_its_rulings_questions_and_ballots_are_what_the_engine_would_have_read(document: DebateDocument) -> None:
    asked, _ = played(document)
    for speech, turn in asked:
        if speech.asks and turn.data is not None:
            heard = tuple(before for _, before in asked if before.round < turn.round)
            assert turn.data in read_again(speech, turn.data, heard)


def read_again(speech: Speech, data: dict[str, Any], heard: tuple[Turn, ...]) -> Iterator[dict[str, Any]]:
    """The data that the engine makes of the raw answer; a stored ballot no longer tells which code-name was whose."""
    assert speech.asks is not None
    raw = data.get("raw", data)
    for names in permutations(raw["scores"] if speech.shown else ()):
        asked = speech.asks(Hearing(heard, dict(zip(speech.shown, names, strict=True))))
        yield asked.read(asked.schema.model_validate(raw))


@each
def test_no_speech_is_over_its_limit(document: DebateDocument) -> None:
    for speech, turn in played(document)[0]:
        if speech.limits.words:
            assert count_words(turn.text) <= speech.limits.words, turn.number


@each_written
def test_its_speeches_have_the_published_length(document: DebateDocument) -> None:
    assert all(70 <= count_words(turn.text) <= 150 for turn in speeches(document, *ARGUED))
    below = {"question": 60, "answer": 140, "bench_answer": 120, "last_word": 140}
    assert all(count_words(turn.text) < below[turn.kind] for turn in speeches(document, *below))


@each_written
def test_it_shows_a_whole_clash(document: DebateDocument) -> None:
    rulings = [turn.data["live"] for turn in document.turns if turn.kind == "ruling" and turn.data]
    assert rulings == [True, True, False]
    assert len(speeches(document, "bench_answer")) == 1
    assert document.verdict.outcome == "winner"
    assert len({side for side, _ in points(document)}) == 2, "each side gets its due in some ballot"


def points(document: DebateDocument) -> Iterator[tuple[str, int]]:
    """Side and turn of every argument that a ballot quotes, checked to be there."""
    said = {turn.number: turn for turn in document.turns}
    for turn in document.turns:
        if turn.kind == "ballot" and turn.data:
            for point in (turn.data["strongest"], turn.data["weakest"]):
                assert point["quote"] in said[point["turn"]].text
                assert said[point["turn"]].bench == point["side"]
                yield point["side"], point["turn"]


# What is said, and how


@each_written
def test_every_quotation_is_verbatim_from_what_the_other_side_had_said_before(document: DebateDocument) -> None:
    for turn in document.turns:
        others = [bench for bench in SIDES if bench != turn.bench]
        heard = [said.text for said in document.turns if said.round < turn.round and said.bench in others]
        for quote in quotations(turn.text):
            assert any(quote in text for text in heard), (turn.number, quote)


@each_written
def test_every_rebuttal_and_clash_quotes_before_it_attacks(document: DebateDocument) -> None:
    for turn in speeches(document, "rebuttal", "clash"):
        first = QUOTED.search(turn.text)
        assert first, turn.number
        assert first.start() < 60, turn.number


@each_written
def test_its_openings_are_blind(document: DebateDocument) -> None:
    first, second = (turn.text for turn in speeches(document, "opening"))
    assert not QUOTED.search(first + second)
    assert not runs(first) & runs(second)


def runs(text: str, length: int = 4) -> set[tuple[str, ...]]:
    words = re.findall(r"[\w’]+", text.casefold())
    return {tuple(words[at : at + length]) for at in range(len(words) - length + 1)}


@each_written
def test_it_says_nothing_that_a_speaker_may_not_say(document: DebateDocument) -> None:
    for turn in document.turns:
        if turn.kind != "ballot":
            assert not BANNED.search(turn.text), turn.number
            assert not SOURCES.search(turn.text), turn.number


@each_written
def test_its_speeches_pass_the_filter_that_every_speech_passes(document: DebateDocument) -> None:
    for speech, turn in played(document)[0]:
        if speech.asks is None:
            others = [name for name in ("proposition", "opposition", "referee", "judge") if name != turn.bench]
            passed = SpeechFilter(speech.limits.words, own_names=[turn.bench], other_names=others)
            assert passed.feed(turn.text) + passed.finish(cut=False) == turn.text


@each_written
def test_its_marks_are_typographic(document: DebateDocument) -> None:
    texts = chain([document.motion], (turn.text for turn in document.turns))
    assert not [text for text in texts if re.search("[\"'*_#`]| - ", text)]


# Loading


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of samples that a test may change."""
    for path in samples.sample_files():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    monkeypatch.setattr(samples, "FOLDER", tmp_path)
    return tmp_path


def load() -> str:
    out = StringIO()
    call_command("load_samples", stdout=out)
    return out.getvalue()


def rows() -> list[Any]:
    tables: list[Any] = [Debate, Seat, Sitting, TurnRow, VerdictRow]
    return [list(table.objects.order_by("pk").values()) for table in tables]


@pytest.mark.django_db
def test_loading_twice_gives_the_same_rows() -> None:
    assert load() == f"Loaded {len(DOCUMENTS)} sample debates.\n"
    before = rows()
    assert load() == ""
    assert rows() == before


@pytest.mark.django_db
def test_a_stranger_sees_what_the_documents_say_where_the_tokens_point() -> None:
    load()
    visible = Debate.objects.visible_to(AnonymousUser())
    found = [visible.get(token=token) for token in samples.sample_tokens()]
    assert [(debate.motion, debate.origin, debate.label) for debate in found] == [
        (document.motion, document.origin, document.label) for document in DOCUMENTS.values()
    ]
    assert {debate.owner for debate in found} == {None}
    assert [debate.turns.count() for debate in found] == [len(document.turns) for document in DOCUMENTS.values()]


@pytest.mark.django_db
def test_a_changed_file_replaces_its_debate_under_the_same_token(folder: Path) -> None:
    load()
    others = Debate.objects.exclude(token=samples.sample_token("surgeons-count"))
    before = list(others.order_by("pk").values())
    path = folder / "surgeons-count.json"
    written = json.loads(path.read_text())
    written["turns"][0]["text"] = "Another opening."
    path.write_text(json.dumps(written))

    assert load() == "Loaded 1 sample debate.\n"
    debate = Debate.objects.get(token=samples.sample_token("surgeons-count"))
    assert debate.turns.first().text == "Another opening."  # type: ignore[union-attr]
    assert list(others.order_by("pk").values()) == before
    assert load() == ""


@pytest.mark.django_db
def test_what_a_reader_added_to_a_sample_is_kept() -> None:
    load()
    debate = Debate.objects.get(token=samples.sample_tokens()[0])
    sitting = Sitting.objects.create(debate=debate, kind=Sitting.Kind.JUDGEMENT, state=Sitting.State.DONE)
    VerdictRow.objects.create(debate=debate, sitting=sitting, version=2, outcome="unjudged", reason="No judge.")
    assert load() == ""
    assert debate.verdicts.count() == 2


@pytest.mark.django_db
def test_a_sample_that_was_hidden_stays_hidden() -> None:
    load()
    Debate.objects.update(visibility=Debate.Visibility.PRIVATE)
    load()
    assert not Debate.objects.visible_to(AnonymousUser()).exists()


@pytest.mark.django_db
def test_a_broken_file_is_named_and_loads_nothing_of_itself(folder: Path) -> None:
    (folder / "broken.json").write_text("{}")
    with pytest.raises(CommandError, match=r"broken\.json"):
        load()
    assert not Debate.objects.filter(token=samples.sample_token("broken")).exists()


def test_tokens_look_like_any_debates_and_english_comes_first() -> None:
    tokens = samples.sample_tokens()
    assert all(re.fullmatch("[A-Za-z0-9]{22}", token) for token in tokens)
    assert tokens[0] == samples.sample_token("surgeons-count")
    assert len(set(tokens)) == len(tokens)
