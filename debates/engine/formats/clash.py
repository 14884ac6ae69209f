"""Clash: two sides argue a claim, a referee decides how long it stays interesting, a judge asks and rules."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from .. import ballots
from ..answers import BenchQuestion, Ruling, plain
from ..types import Bench, Format, Limits, Round, Rounds, Speech

PRO = Bench("proposition", side=True)
CON = Bench("opposition", side=True)
REFEREE = Bench("referee")
JUDGE = Bench("judge")
SIDES = (PRO, CON)


class ClashRules(BaseModel):
    """The counts and limits of a Clash. The defaults are the published ones; words are a speech's most."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    quick: bool = False  # openings, rebuttals and the ballots only
    clash_rounds: int = Field(default=6, ge=0, le=6)
    turn_words: int = Field(default=150, ge=70, le=400)
    question_words: int = Field(default=60, ge=20, le=200)
    answer_words: int = Field(default=140, ge=40, le=400)
    bench_answer_words: int = Field(default=120, ge=40, le=400)
    last_word_words: int = Field(default=140, ge=40, le=400)


def debate(rules: ClashRules) -> Rounds:
    """The rule book, top to bottom. In each round nobody hears the others of that round."""
    yield both("Opening", "opening", rules.turn_words)
    yield both("Rebuttal", "rebuttal", rules.turn_words)
    if not rules.quick:
        yield both("Cross-examination", "question", rules.question_words)
        yield both("Answers", "answer", rules.answer_words)
        yield from open_clash(rules)
        yield from from_the_bench(rules)
        yield both("Last word", "last_word", rules.last_word_words)
    return (yield from judgement(rules))


def open_clash(rules: ClashRules) -> Any:
    """Up to six more rounds, each on the tension that the referee says is left; a referee that fails closes it."""
    for left in range(rules.clash_rounds, 0, -1):
        [ruling] = yield Round("Ruling", (REFEREE.decides("ruling", plain(Ruling), structured(200), left=left),))
        if ruling.data is None or not ruling.data["live"]:
            return
        yield both("Open clash", "clash", rules.turn_words, ruling.data["tension"])


def from_the_bench(rules: ClashRules) -> Any:
    """The judge may put one question where something load-bearing went undefended; one that fails is skipped."""
    [asked] = yield Round("Bench", (JUDGE.decides("bench_question", plain(BenchQuestion), structured(200)),))
    if asked.data is None or asked.data["to"] == "none":
        return
    answering = [side for side in SIDES if asked.data["to"] in (side.name, "both")]
    limits = spoken(rules.bench_answer_words)
    speeches = tuple(side.says("bench_answer", limits) for side in answering)
    yield Round("Bench answers", speeches, asked.data["question"])


def judgement(rules: ClashRules) -> Rounds:
    """Two ballots at once, the sides swapped in the second."""
    votes = yield Round("Ballots", (cast(PRO, CON), cast(CON, PRO)))
    return ballots.verdict(votes)


def both(name: str, kind: str, words: int, instruction: str = "") -> Round:
    return Round(name, tuple(side.says(kind, spoken(words)) for side in SIDES), instruction)


def cast(first: Bench, second: Bench) -> Speech:
    shown = (first.name, second.name)
    return Speech(JUDGE.name, "ballot", structured(500), ballots.ballot, shown=shown, optional=True)


def spoken(words: int) -> Limits:
    """Room for the words in any script: up to three tokens a word, and some to end the sentence."""
    return Limits(words, tokens=3 * words + 60)


def structured(tokens: int) -> Limits:
    return Limits(words=0, tokens=tokens, temperature=0.0)


FORMAT = Format(
    slug="clash",
    name="Clash",
    benches=(PRO, CON, REFEREE, JUDGE),
    rules=ClashRules,
    sittings={"debate": debate, "judgement": judgement},
)
