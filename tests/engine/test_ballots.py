"""What ballots add up to, and what they can never add up to."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from debates.engine import ballots
from debates.engine.ballots import CONTRADICTED, NO_DIFFERENCE
from debates.engine.events import Ended, Event
from debates.engine.providers.base import Call
from debates.engine.types import Hearing, Turn, Verdict

from .scripted import Scripted, answer, ballot, clash, scores_of
from .test_run import play, turns_of

SIDES = {"proposition": "Alder", "opposition": "Birch"}
SAID = (
    Turn(1, 1, "Opening", "proposition", "opening", "Streets belong to people. A car parks all day."),
    Turn(2, 1, "Opening", "opposition", "opening", "Nurses drive at night. No bus runs then."),
)


def judged(judge) -> Verdict:
    """The verdict of a quick clash whose judge answers by `judge(call)`."""
    events = play(clash(quick=True), Scripted(lambda call: judge(call) if call.schema else answer(call)))
    return ended_with(events)


def ended_with(events: list[Event]) -> Verdict:
    ended = events[-1]
    assert isinstance(ended, Ended)
    return ended.verdict


def for_the_motion(call: Call) -> str:
    """The code-name of the side that said "For it", which only the proposition says."""
    text = call.prompt.messages[-1].text
    names = list(scores_of(call))
    return max(names, key=lambda name: text.rfind(f"{name}:", 0, text.index("For it")))


def sided(call: Call) -> str:
    whole = call.prompt.messages[-1].text
    return f"{'For' if 'You are the proposition' in whole else 'Against'} it, because of what it costs."


def read(**changes) -> dict:
    base = {
        "strongest": {"side": "Alder", "quote": "Streets belong to people"},
        "weakest": {"side": "Birch", "quote": "No bus runs then"},
        "unsettled": "Whether Alder's streets or Birch's nurses weigh more.",
        "scores": {"Alder": 60, "Birch": 40},
        "winner": "Alder",
        "confidence": 70,
    }
    asked = ballots.ballot(Hearing(SAID, SIDES))
    return asked.read(asked.schema.model_validate(base | changes))


@pytest.mark.hard_case("B35")
def test_a_judge_that_always_picks_the_side_shown_first_gets_no_winner():
    verdict = judged(lambda call: ballot(call, (80, 20), 0))
    assert (verdict.outcome, verdict.winner, verdict.reason) == ("too_close", None, CONTRADICTED)


def test_both_orders_are_shown_and_recorded():
    verdict = judged(ballot)
    shown = [one["shown"] for one in verdict.details["ballots"]]
    assert shown == [["proposition", "opposition"], ["opposition", "proposition"]]


@pytest.mark.hard_case("B35")
def test_a_judge_that_weighs_the_words_names_the_same_winner_in_both_orders():
    def honest(call: Call) -> str:
        better = list(scores_of(call)).index(for_the_motion(call))
        return ballot(call, (70, 40) if better == 0 else (40, 70), better)

    events = play(clash(quick=True), Scripted(lambda call: honest(call) if call.schema else sided(call)))
    verdict = ended_with(events)
    assert (verdict.outcome, verdict.winner) == ("winner", "proposition")
    assert verdict.scores == {"proposition": 70, "opposition": 40}


def test_no_difference_is_a_finding():
    verdict = judged(lambda call: ballot(call, (50, 50), None))
    assert (verdict.outcome, verdict.reason) == ("too_close", NO_DIFFERENCE)


@pytest.mark.parametrize("bad", ["I liked them both.", "", '{"winner":"b"}', '{"winner": "Alder"', "null", "[]"])
@pytest.mark.hard_case("B26")
def test_an_unreadable_ballot_leaves_the_debate_unjudged(bad):
    verdict = judged(lambda call: bad)
    assert (verdict.outcome, verdict.winner, verdict.scores, verdict.confidence) == ("unjudged", None, None, None)
    assert verdict.reason


def test_one_readable_ballot_of_two_is_not_enough():
    seen: list[Call] = []

    def once(call: Call) -> str:
        seen.append(call)
        return ballot(call) if len(seen) == 1 else "No."

    assert judged(once).outcome == "unjudged"


@pytest.mark.hard_case("B34")
def test_the_scores_decide_and_the_contradiction_is_recorded():
    data = read(winner="Birch")
    assert data["winner"] == "proposition"
    assert data["reconciled"] == {"from": "opposition", "to": "proposition", "rule": "the scores decide"}
    assert "reconciled" not in read()


@pytest.mark.hard_case("B34")
@pytest.mark.parametrize(
    ("scores", "named", "winner", "recorded"),
    [
        ({"Alder": 50, "Birch": 50}, "Alder", None, True),
        ({"Alder": 50, "Birch": 50}, "none", None, False),
        ({"Alder": 80, "Birch": 20}, "none", "proposition", True),
    ],
)
def test_equal_scores_name_no_winner(scores, named, winner, recorded):
    data = read(scores=scores, winner=named)
    assert data["winner"] == winner
    assert ("reconciled" in data) == recorded


@pytest.mark.hard_case("B34")
def test_a_quote_is_looked_for_in_the_words_of_the_side_it_is_given_to():
    assert read()["strongest"]["turn"] == 1
    assert read(strongest={"side": "Birch", "quote": "Streets belong to people"})["strongest"]["turn"] is None


@pytest.mark.hard_case("B27")
@pytest.mark.parametrize(
    ("given", "read_as"),
    [(0.85, 85), (85, 85), ("85%", 85), ("85 %", 85), ("0,85", 85), ("7/10", 70), (72.6, 73), ("85", 85), (100, 100)],
)
def test_a_confidence_that_can_mean_one_thing_is_read(given, read_as):
    assert read(confidence=given)["confidence"] == read_as
    assert read(confidence=given)["raw"]["confidence"] == read_as


@pytest.mark.hard_case("B27")
@pytest.mark.parametrize("given", [1, 1.2, -5, True, None, "high", "1", 101, "", "NaN", float("nan"), 10**400])
def test_a_confidence_that_could_mean_two_things_or_nothing_is_refused(given):
    with pytest.raises(ValidationError):
        read(confidence=given)


@pytest.mark.hard_case("B30")
def test_a_winner_is_one_of_the_names_offered_and_nothing_like_them():
    for named in ("Alde", "alder", "Alder, not Birch", "the first", "Neither", "", "tie"):
        with pytest.raises(ValidationError):
            read(winner=named)


def test_readers_never_see_a_code_name():
    assert read()["unsettled"] == "Whether the proposition's streets or the opposition's nurses weigh more."


def test_code_names_differ_between_the_two_calls_and_stay_at_a_resume():
    case = clash(quick=True)
    first, second = ([tuple(scores_of(call)) for call in _ballot_calls(case)] for _ in range(2))
    assert first == second
    assert set(first[0]) != set(first[1]) or first[0] != first[1]


def _ballot_calls(case) -> list[Call]:
    provider = Scripted()
    play(case, provider)
    return [call for call in provider.calls if call.schema]


def test_confidence_grows_with_the_margin_and_stays_between_50_and_95():
    sure = [ballots.sure({"proposition": 50 + margin, "opposition": 50}, 2) for margin in (0, 4, 10, 50)]
    assert sure == sorted(sure)
    assert (sure[0], sure[-1]) == (50, 95)


def test_no_ballot_hears_of_models_submitters_or_earlier_verdicts():
    for call in _ballot_calls(clash(quick=True)):
        whole = call.prompt.system + call.prompt.messages[-1].text
        assert "scripted-1" not in whole
        assert "verdict" not in whole.lower()


def test_ballots_enter_no_later_prompt():
    turns = turns_of(play(clash(quick=True), Scripted()))
    assert [turn.kind for turn in turns[-2:]] == ["ballot", "ballot"]
