"""A whole debate checked again, from its turns and from its document."""

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from debates.engine.detectors import Kind
from debates.engine.integrity import fidelity, inspect
from debates.engine.types import Turn

SAMPLES = sorted((Path(__file__).parents[2] / "debates/samples").glob("*.json"))
RULING = "Still live: Moreover, studies show who forgets the number first."
MOTION = "A surgeon should have to tell you how many times they have done your operation"
ROUNDS = [
    (
        "Opening",
        "opening",
        "The nurses know the number and nobody tells the patient.",
        "Nobody can wait for a better surgeon on a Monday.",
    ),
    (
        "Rebuttal",
        "rebuttal",
        "“Nobody can wait for a better surgeon,” you say, and somebody does.",
        "“The nurses know no number” is your whole case.",
    ),
    ("Clash", "clash", "“The nurses know no number” is what you made of it.", "Studies show that nurses forget it."),
]


def debate(rounds=ROUNDS):
    turns: list[Turn] = []
    for index, (name, kind, *texts) in enumerate(rounds, 1):
        for bench, text in zip(("proposition", "opposition"), texts, strict=True):
            turns.append(Turn(len(turns) + 1, index, name, bench, kind, text))
    return turns


def found(turns, policy="banned"):
    return [(number, flag.kind) for number, flags in inspect(turns, MOTION, policy) for flag in flags]


def test_each_turn_is_checked_against_what_was_said_before_its_round():
    assert found(debate()) == [(4, Kind.QUOTE_ALTERED), (6, Kind.NAMED_SOURCE)]
    assert found(debate(), "unverified")[-1] == (6, Kind.UNVERIFIED_SOURCE)


def test_words_of_the_same_round_are_no_words_that_can_be_quoted():
    same = [
        ROUNDS[0],
        (
            "Rebuttal",
            "rebuttal",
            "“It rains on all of us in the end,” you say.",
            "It rains on all of us in the end, and so be it.",
        ),
    ]
    assert found(debate(same)) == [(3, Kind.QUOTE_ABSENT)]


def test_the_same_round_of_a_later_sitting_is_a_later_round():
    again = [
        *debate(),
        Turn(7, 1, "Opening", "proposition", "clash", "“Studies show that nurses forget it” is no argument."),
    ]
    assert found(again)[-1] == (6, Kind.NAMED_SOURCE)


def test_fidelity_counts_a_sides_quotes_of_the_other():
    assert fidelity(debate(), MOTION) == {
        "proposition": {"quotes": 2, "exact": 2, "failed": 0},
        "opposition": {"quotes": 1, "exact": 0, "failed": 1},
    }


def test_a_structured_turn_may_be_quoted_and_is_checked_for_its_language_only():
    ruling = Turn(
        7,
        4,
        "Ruling",
        "referee",
        "ruling",
        RULING,
        data={"live": True},
    )
    german = Turn(
        8,
        5,
        "Ruling",
        "referee",
        "ruling",
        "Noch offen ist die Frage, wer von den beiden das nicht zu sagen hat.",
        data={"live": True},
    )
    answer = Turn(9, 6, "Clash", "proposition", "clash", "“Who forgets the number first” was asked.")
    assert found([*debate(), ruling, german, answer])[2:] == [(8, Kind.OTHER_LANGUAGE)]
    assert fidelity([*debate(), ruling, answer], MOTION)["proposition"]["quotes"] == 2


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_the_samples_quote_exactly_and_break_no_rule(path):
    out = StringIO()
    call_command("integrity", path, "--json", "--strict", stdout=out)
    printed = json.loads(out.getvalue())
    assert {flag["kind"] for flag in printed["flags"]} <= {"concession"}
    assert all(side["quotes"] >= 3 and side["failed"] == 0 for side in printed["fidelity"].values())


@pytest.fixture
def spoilt(tmp_path):
    document = json.loads(SAMPLES[-1].read_text())
    document["turns"][2]["text"] += " “Nobody ever told the nurses about it.” Studies show that they knew."
    path = tmp_path / "debate.json"
    path.write_text(json.dumps(document))
    return path


def test_the_command_prints_turn_kind_words_and_sentence_and_then_fidelity(spoilt):
    out = StringIO()
    call_command("integrity", spoilt, stdout=out)
    printed = out.getvalue()
    assert "3 proposition  quote_absent" in printed
    assert "“Nobody ever told the nurses about it.”  The other side never said this." in printed
    assert "3 proposition  named_source" in printed
    assert "opposition: 6 of 6 quotes exact" in printed


def test_strict_fails_where_a_quote_failed_or_a_source_was_named(spoilt):
    with pytest.raises(SystemExit) as stopped:
        call_command("integrity", spoilt, "--strict", stdout=StringIO())
    assert stopped.value.code == 1


def test_a_file_that_is_no_debate_is_refused_in_one_sentence(tmp_path):
    (tmp_path / "other.json").write_text("{}")
    with pytest.raises(CommandError, match="not a Crossbench debate"):
        call_command("integrity", tmp_path / "other.json")
    with pytest.raises(CommandError, match="No such file"):
        call_command("integrity", tmp_path / "none.json")
