"""The preset for a small model: what its grammar lets it say, what it is dealt, and what code says for it."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from debates.engine import ballots
from debates.engine.answers import BenchQuestion, Ruling
from debates.engine.grammar import grammar, literal, more, one_of
from debates.engine.local import ANSWERS, ATTACKS, LAST_WORDS, QUESTIONS, QUOTING
from debates.engine.presets import defaults, shape
from debates.engine.scene import LONGEST, SHORTEST, Scene, sentences
from debates.engine.stance import NO, YES, stance
from debates.engine.types import Bench, Case, Hearing, Limits, Speech, Turn

from .marked import MOTION, Marked, case_of, play

PRO, CON = Bench("proposition", side=True), Bench("opposition", side=True)
LIMITS = Limits(words=150, tokens=510)

NEGATED = {
    "Cities should ban private cars from their centres.": "Cities should not ban private cars from their centres",
    "We must not forget": "We must forget",
    "Children should not have smartphones": "Children should have smartphones",
    "Parents shouldn't track their children": "Parents should track their children",
    "Schools don't teach enough history": "Schools do teach enough history",
    "Companies cannot be trusted": "Companies can be trusted",
    "The voting age ought to be lower": "The voting age ought not to be lower",
    "It is wrong to eat meat": "It is not wrong to eat meat",
    "Free will is an illusion": "Free will is not an illusion",
    "Everyone should learn to code": "Not everyone should learn to code",
    "All drugs should be legal": "Not all drugs should be legal",
    "Remote work makes teams worse": "Remote work does not make teams worse",
    "Good fences make good neighbours": "Good fences do not make good neighbours",
    "Remote work does more harm than good": "Remote work does not do more harm than good",
    "Social media has made us lonelier": "Social media has not made us lonelier",
    "You have to work hard to be happy": "You do not have to work hard to be happy",
    "Software needs to be rewritten every ten years": "Software does not need to be rewritten every ten years",
}
BEYOND_A_NOT = [
    "Nobody should be a billionaire",
    "You should never lend money to friends",
    "Only adults should vote",
    "Most people should rent",
    "Cars are bad and should be banned",
    "Social media is bad because it is addictive",
    "People who can drive should help those who cannot",
    "You can't love somebody you don't respect",
    "Medical costs ruin families",
    "The needs of the many outweigh the needs of the few",
    "There is no such thing as a free lunch",
    "Travel broadens the mind",
]
NO_STATEMENT = [
    "Should cities ban cars?",
    "Tabs or spaces?",
    "Is it right to eat meat",
    "Cars are loud. Ban them.",
    "Şehirler özel araçları yasaklamalıdır",
    "Autos sollten verboten werden und zwar alle",
    'Say "yes" to everything',
    "Cities should ban cars, " * 8,
]


@pytest.mark.parametrize(("claim", "opposite"), NEGATED.items())
def test_a_claim_is_negated_at_its_verb(claim, opposite):
    assert stance(claim, opposed=True) == opposite
    assert stance(claim, opposed=False) == claim.rstrip(".")


@pytest.mark.parametrize("claim", BEYOND_A_NOT)
def test_a_claim_that_a_not_would_twist_is_denied_as_a_whole(claim):
    denied = stance(claim, opposed=True)
    assert denied.startswith("It is not true that ")
    assert denied.lower().endswith(claim.lower())


def test_a_name_keeps_its_capital_and_another_word_does_not():
    assert stance("Nobody should be rich", opposed=True) == "It is not true that nobody should be rich"
    assert stance("Rome fell because it was rich", opposed=True) == "It is not true that Rome fell because it was rich"


@pytest.mark.parametrize("claim", NO_STATEMENT)
def test_a_claim_that_cannot_be_said_in_a_sentence_is_yes_or_no(claim):
    assert (stance(claim, opposed=False), stance(claim, opposed=True)) == (YES, NO)


@given(st.text(min_size=1, max_size=200))
@example("is")
@example("not")
@example("The not should")
def test_the_sides_never_stand_for_the_same(claim):
    ours, theirs = stance(claim, opposed=False), stance(claim, opposed=True)
    assert ours
    assert theirs
    assert ours != theirs
    assert "\n" not in ours + theirs


def turn(number: int, bench: str, kind: str, text: str) -> Turn:
    return Turn(number, (number + 1) // 2, kind.capitalize(), bench, kind, text)


def openings(ours: str, theirs: str) -> tuple[Turn, ...]:
    return (turn(1, "proposition", "opening", ours), turn(2, "opposition", "opening", theirs))


def shaped(speech: Speech, transcript: tuple[Turn, ...], case: Case | None = None, instruction: str = "") -> Any:
    case = case or case_of("clash", "local")
    return shape(case, speech, 3, instruction, Hearing(transcript, {}))


# A grammar without recursion is a regular expression: read as one, it says what it allows.


def as_pattern(gbnf: str) -> re.Pattern[str]:
    rules = dict(line.split(" ::= ", 1) for line in gbnf.strip().splitlines())
    return re.compile(_expanded(rules["root"], rules))


def _expanded(body: str, rules: dict[str, str]) -> str:
    pieces = re.findall(r'"(?:\\.|[^"\\])*"|\[[^\]]*\]|\{\d+,\d+\}|[a-z]+|[()|?*+]', body)
    return "".join(_piece(piece, rules) for piece in pieces)


def _piece(piece: str, rules: dict[str, str]) -> str:
    if piece.startswith('"'):
        return f"(?:{re.escape(unescaped(piece[1:-1]))})"
    if piece.isalpha():
        return f"(?:{_expanded(rules[piece], rules)})"
    return piece


def unescaped(text: str) -> str:
    letters = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\"}
    found = re.compile(r"\\(?:x([0-9A-F]{2})|(.))", re.DOTALL)
    return found.sub(lambda match: chr(int(match[1], 16)) if match[1] else letters[match[2]], text)


def quotes_in(gbnf: str) -> list[str]:
    """The alternatives that a grammar offers for a quote."""
    offered = re.match(r'root ::= \(((?:"(?:\\.|[^"\\])*"(?: \| )?)+)\)', gbnf)
    return [unescaped(quote) for quote in re.findall(r'"((?:\\.|[^"\\])*)"', offered[1])] if offered else []


WHOLE = as_pattern(grammar(f"sentence {more(1, 2)}"))


@pytest.mark.parametrize(
    "text",
    [
        "The street is full. Nobody can cross it.",
        "It's a well-known café, and it isn't cheap. Why go? Don't!",
    ],
)
def test_whole_sentences_can_be_said(text):
    assert WHOLE.fullmatch(text)


@pytest.mark.parametrize(
    "text",
    [
        "One sentence only.",
        "One. Two. Three. Four.",
        "It costs 40 coins. So what?",
        "A ¼ of it is gone. So what?",
        "**No**. So what?",
        "First. - Second.",
        "So [this]. And that.",
        "So (this). And that.",
        "So: this. And that.",
        "He said “this”. And that.",
        'He said "this". And that.',
        "First.\nSecond.",
        "First.  Second.",
        "First ,second. Third.",
        "First. second.",
        "# First. Second.",
        "First. Second",
        "First 🙂. Second.",
        "First. <b. Second.",
    ],
)
def test_nothing_but_whole_sentences_can_be_said(text):
    assert not WHOLE.fullmatch(text)


@given(st.lists(st.text(max_size=40), min_size=1, max_size=4))
@example(['say "yes"', "back\\slash", "line\nbreak", "🙂‍↔️ café", "tab\t", "nul\0", "\\x41", 'end\\"'])
def test_a_text_of_any_kind_stands_in_a_grammar_as_it_is(texts):
    assert [unescaped(one) for one in re.findall(r'"((?:\\.|[^"\\])*)"', one_of(texts))] == texts
    assert all(ord(letter) >= 32 for letter in one_of(texts))
    assert literal(texts[0]).encode("utf-8", "surrogatepass")


HOSTILE = st.text(
    st.sampled_from(
        [*"abc dEf", " ", "“", "”", '"', "\\", "\n", "\r", "\t", "🙂", "é", ".", "!", "?", "…", "{", "|", "*"]
    ),
    max_size=200,
)


@given(HOSTILE)
@example('She said "no way, not ever". Then all of them left at once.')
@example("It costs \\n and \\x41 and more. A line that\nbreaks in the middle of it all. 🙂 is what they all say.")
@example("word " * 60 + ". A last sentence of a few words.")
@settings(max_examples=300)
def test_whatever_may_be_quoted_was_said_in_these_very_letters(text):
    transcript = openings("We are for it.", text)
    spoken = shaped(PRO.says("rebuttal", LIMITS), transcript)
    for quote in quotes_in(spoken.hints.grammar):
        assert quote in text
        assert SHORTEST <= len(quote.split()) <= LONGEST
        assert not set(quote) & set('“”"\n\r{|*\\')


def test_a_quote_never_holds_the_delimiter():
    case = case_of("clash", "local")
    said = f"Nobody shops in {case.delimiter} an empty town."
    spoken = shaped(PRO.says("rebuttal", LIMITS), openings("We are for it.", said), case)
    assert "Nobody shops in" in spoken.hints.grammar
    assert case.delimiter not in spoken.hints.grammar


def test_an_attack_quotes_the_opponent_and_goes_on_in_whole_sentences():
    transcript = openings("We are for it.", "No, because the streets would be dead by nine.")
    spoken = shaped(PRO.says("rebuttal", LIMITS), transcript)
    pattern = as_pattern(spoken.hints.grammar)
    before = spoken.hints.prefill
    after = next(after for opened, after in QUOTING["proposition"] if opened == before)
    said = "the streets would be dead by nine"
    assert any(
        pattern.fullmatch(f"{said}{after} {hook} they are dead today. Go and look!") for hook in ATTACKS["proposition"]
    )
    assert not pattern.search("the streets would be dead by ten")


def test_what_was_quoted_once_is_not_quoted_again_while_there_is_more():
    said = "Nobody shops in a town without cars. The streets would be dead by nine."
    transcript = (
        *openings("We are for it.", said),
        turn(3, "proposition", "rebuttal", "You say “Nobody shops in a town without cars”. They walk."),
    )
    spoken = shaped(PRO.says("question", LIMITS), transcript)
    assert quotes_in(spoken.hints.grammar) == ["The streets would be dead by nine"]


def test_the_clash_attacks_the_sentence_that_the_referee_named():
    said = "Nobody shops in a town without cars. The streets would be dead by nine. Old people would stay at home."
    instruction = "The opposition says “Old people would stay at home”. Which of you is wrong?"
    spoken = shaped(PRO.says("clash", LIMITS), openings("We are for it.", said), instruction=instruction)
    assert quotes_in(spoken.hints.grammar) == ["Old people would stay at home"]


def test_where_nothing_can_be_quoted_the_speech_does_without():
    spoken = shaped(PRO.says("rebuttal", LIMITS), openings("We are for it.", "No."))
    assert spoken.hints.prefill in ATTACKS["proposition"]
    assert as_pattern(spoken.hints.grammar).fullmatch(" they are dead today.")


def test_a_repeated_stance_and_questions_are_not_quoted():
    text = (
        "Cars should stay, because people need them every day. Who would walk that far? Shops would close by the dozen."
    )
    assert sentences(text) == ["people need them every day", "Shops would close by the dozen"]


def test_each_side_opens_with_its_stance():
    for bench, start in ((PRO, "Cities should ban"), (CON, "Cities should not ban")):
        spoken = shaped(bench.says("opening", LIMITS), ())
        assert spoken.hints.prefill == f"{start} private cars from their centres, because"
        assert as_pattern(spoken.hints.grammar).fullmatch(" they are loud. They smell. They kill.")


def test_no_prefill_ends_in_a_space():
    """After one, the model would go on with a digit."""
    for heard in play(case_of("clash", "local")).heard:
        prefill = heard.call.prompt.hints.prefill
        assert prefill == prefill.rstrip()
        if heard.kind != "ballot" and not heard.call.schema:
            assert prefill


def test_an_answer_leads_with_what_its_side_stands_for():
    transcript = (turn(5, "proposition", "question", "You say “it is so”. What good is that when nobody wants it?"),)
    spoken = shaped(CON.says("answer", LIMITS), transcript)
    assert spoken.hints.prefill.endswith(" cities should not ban private cars from their centres, because")
    question = shaped(CON.says("answer", LIMITS), transcript, case_of("clash", "local", motion="Tabs or spaces?"))
    assert question.hints.prefill == "It is so all the same, because"


def test_nothing_dealt_comes_twice_before_all_have_come():
    played = play(case_of("clash", "local", clash_rounds=6))
    for side, deck in ATTACKS.items():
        spoken = [heard for heard in played.heard if heard.bench == side and heard.kind in ("rebuttal", "clash")]
        hooks = [next(hook for hook in deck if hook in heard.call.prompt.hints.grammar) for heard in spoken]
        assert len(spoken) == len(deck) == 7
        assert sorted(hooks) == sorted(deck)


def test_the_two_sides_are_dealt_from_different_decks():
    for decks in (ATTACKS, ANSWERS, LAST_WORDS, QUOTING, QUESTIONS):
        assert not set(decks["proposition"]) & set(decks["opposition"])


def test_the_same_case_makes_the_same_calls_byte_for_byte():
    first, second = (play(case_of("clash", "local")).heard for _ in range(2))
    assert [heard.call.prompt for heard in first] == [heard.call.prompt for heard in second]
    other = play(case_of("clash", "local", seed=b"another")).heard
    assert [heard.call.prompt.hints for heard in first] != [heard.call.prompt.hints for heard in other]


def test_all_debates_start_with_the_same_words():
    """What the model has read once serves every debate: worked examples come before whatever differs."""
    one, other = (
        play(case_of("clash", "local", motion=motion)).heard for motion in (MOTION, "Cats are better than dogs")
    )
    prompts = [heard.call.prompt for heard in (*one, *other) if heard.kind != "ballot"]
    assert len({prompt.system for prompt in prompts}) == 1
    assert len({prompt.messages[:-1] for prompt in prompts}) == 1
    assert len(prompts[0].messages) > 8


def test_speakers_share_a_slot_and_ballots_keep_out_of_it():
    for heard in play(case_of("clash", "local")).heard:
        assert heard.call.prompt.hints.slot == (1 if heard.kind == "ballot" else 0)


def test_a_brief_is_short():
    """Each of its tokens is read anew, at some 15 ms."""
    case = case_of("clash", "local")
    for heard in play(case).heard:
        if heard.kind != "ballot":
            brief = heard.brief.rpartition(f"{case.delimiter}>>")[2] if not heard.call.schema else ""
            assert len(brief.split()) <= 30


def test_the_referee_picks_what_was_said_and_code_writes_the_tension():
    played = play(case_of("clash", "local"))
    [ruling] = [turn for turn in played.turns if turn.kind == "ruling"]
    Ruling.model_validate(ruling.data)
    assert ruling.data
    for side in ("proposition", "opposition"):
        [quoted] = re.findall(rf"The {side} says “([^”]+)”", ruling.data["tension"])
        assert any(quoted in turn.text for turn in played.turns if turn.bench == side and turn.round < ruling.round)


def test_the_bench_asks_the_side_that_said_it():
    played = play(case_of("clash", "local"))
    [bench] = [turn for turn in played.turns if turn.kind == "bench_question"]
    asked = BenchQuestion.model_validate(bench.data)
    [quoted] = re.findall(r"You said “([^”]+)”", asked.question)
    assert any(quoted in turn.text for turn in played.turns if turn.bench == asked.to)
    assert {turn.bench for turn in played.turns if turn.kind == "bench_answer"} == {asked.to}


def test_choices_can_be_made_before_anything_quotable_was_said():
    case = case_of("clash", "local")
    [round_] = [heard for heard in play(case, Marked(said=' "and so" {on}')).heard if heard.kind == "ruling"]
    assert round_.call.schema
    offered = round_.call.schema["properties"]["proposition"]
    assert "Cities should ban private cars from their centres" in json.dumps(offered)


def test_a_local_ballot_is_a_ballot_and_short():
    played = play(case_of("clash", "local"))
    cast = [heard for heard in played.heard if heard.kind == "ballot"]
    assert len(cast) == 2
    for turn_ in played.turns[-2:]:
        assert turn_.data
        assert set(turn_.data["scores"]) == {"proposition", "opposition"}
        assert turn_.data["strongest"]["turn"] is not None
        assert len(json.dumps(turn_.data["raw"])) < 1_200
    assert ballots.verdict(played.turns[-2:]).outcome == "too_close"
    assert all(heard.call.limits.tokens <= 240 for heard in cast)


def test_a_preset_names_its_rules():
    assert defaults("local") == {"clash_rounds": 1}
    assert defaults("", "local") == {"clash_rounds": 1}
    assert defaults("") == defaults("unheard of") == {}


def test_a_seat_without_a_preset_is_left_alone():
    speech = PRO.says("opening", LIMITS)
    plain = shaped(speech, (), case_of("clash"))
    assert plain.speech is speech
    assert not plain.hints.grammar
    assert plain.facts == {}


def test_a_speech_of_a_kind_that_the_preset_does_not_know_is_whole_sentences():
    spoken = shaped(PRO.says("something_new", LIMITS), ())
    assert as_pattern(spoken.hints.grammar).fullmatch("That is new. And so it goes.")


def test_scenes_quote_first_what_a_speech_began_with():
    case = case_of("clash", "local")
    text = "Yes, because the air would be clean again. After that comes everything else."
    later = "That is not so, because nobody can breathe now. There is nothing else to say here."
    transcript = (turn(1, "proposition", "opening", text), turn(3, "proposition", "rebuttal", later))
    scene = Scene(case, CON.says("clash", LIMITS), 9, "", Hearing(transcript, {}))
    assert scene.sentences_of("proposition")[:2] == ["the air would be clean again", "nobody can breathe now"]
