"""The preset for a small model on llama.cpp's server: what such a model can't be told, its speech is built to have.

stance      A speech that could be made for either side starts with the speaker's own stance, as a prefill.
quote       What a speaker attacks is picked, by grammar, from the sentences that its opponent said.
dealt       What introduces a quote and what follows it, and how questions, answers and last words open, is dealt from
            the sitting's seed, so that none comes twice in a debate before all have come. The two sides have different
            ones: that is their temperament.
choice      The referee and the judge pick sentences that were said (`choices`); code writes the tension and the
            question.

What each is for was seen with Qwen2.5-Coder-Instruct 1.5B.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from . import choices
from .grammar import grammar, literal, more, one_of
from .providers.base import Hints
from .scene import Scene
from .shape import Shape
from .stance import NO, YES, lowered
from .types import Asked, Case, Hearing, Speech

DEFAULTS = {"clash_rounds": 1}  # this model can't tell a settled argument from a live one

# It would speak of its opponent, not to it, and a "However" is where it changes sides.
UNSAID = (" opposition", " proposition", " Opposition", " Proposition", " debate", " However", " Although", " although")
# DRY stops the loops of a small model. It spoils free quoting, but what a grammar quotes comes out exact all the same.
SAMPLING = {
    "top_p": 0.92,
    "min_p": 0.06,
    "repeat_penalty": 1.0,
    "dry_multiplier": 0.8,
    "dry_base": 1.4,  # at the usual 1.75 it glues words together to get away from a phrase, at 1.25 it loops
    "dry_allowed_length": 3,
    "dry_penalty_last_n": 4096,
    # It would speak of its opponent, and of the debate, instead of to it.
    "logit_bias": [
        [f" {word}", False] for word in ("opposition", "proposition", "Opposition", "Proposition", "debate")
    ],
}
TEMPERATURE = 0.6  # at 0.5 it loops, at 0.8 it drifts
FIRST_TEMPERATURE = 0.5  # of an opening, which has nothing to repeat
SPEAKERS, OTHERS = 0, 1  # slots: what shares the speakers' prefix, and what would evict it

PRO, CON = "proposition", "opposition"

# Before and after a quote.
QUOTING: Mapping[str, tuple[tuple[str, str], ...]] = {
    PRO: (("You say “", "”."), ("You tell us “", "”."), ("Your words are “", "”.")),
    CON: (("You said “", "”."), ("I heard “", "”."), ("You rest on “", "”.")),
}
# What goes on after a quote: a denial whose reason the speaker must find. It keeps a small model on its side.
ATTACKS: Mapping[str, tuple[str, ...]] = {
    PRO: (
        "You are wrong about that, because",
        "That is simply not so, because",
        "You can't mean that, because",
        "I say the opposite, because",
        "Try it and you will see it fail, because",
        "That is where you go wrong, because",
        "Nobody should believe that, because",
    ),
    CON: (
        "That is not true, because",
        "That does not follow, because",
        "That is a mistake, because",
        "I doubt that, because",
        "It does not hold, because",
        "That claims too much, because",
        "I see no reason in that, because",
    ),
}
# How a question opens. Each asks for an answer that holds "even then".
QUESTIONS: Mapping[str, tuple[str, ...]] = {
    PRO: ("How can that be true when", "What good is that when", "Who believes that when"),
    CON: ("How does that help when", "Why does that matter when", "What is left of that when"),
}
ANSWERS: Mapping[str, tuple[str, ...]] = {
    PRO: ("Even then", "All the same,"),
    CON: ("Even so,", "Even in that case"),
}
LAST_WORDS: Mapping[str, tuple[str, ...]] = {
    PRO: ("and nothing you said changes that, because", "and that is still true, because"),
    CON: ("and that still stands, because", "and you never got around it, because"),
}


@dataclass(frozen=True, slots=True)
class Line:
    """What a speech starts with, the grammar's root for what follows, and the most tokens that may take."""

    prefill: str
    root: str
    tokens: int
    temperature: float = TEMPERATURE


def opening(scene: Scene) -> Line:
    return Line(f"{scene.stance}, because", f'" " statement {more(1, 2)}', 120, FIRST_TEMPERATURE)


def attack(scene: Scene) -> Line:
    """A rebuttal or a speech of the open clash: an exact quote, then what is wrong with it."""
    before, after = scene.dealt("quoting", QUOTING, QUOTERS)
    hook = scene.dealt("attacks", ATTACKS, ATTACKERS)
    return _quoting(scene, before, f"{after} {hook} ", f"statement {more(0, 1)}", 150)


def question(scene: Scene) -> Line:
    before, after = scene.dealt("quoting", QUOTING, QUOTERS)
    asked = scene.dealt("questions", QUESTIONS, ["question"])
    return _quoting(scene, before, f"{after} {asked} ", "question", 80)


def _quoting(scene: Scene, before: str, after: str, then: str, tokens: int) -> Line:
    """Where the opponent said nothing that can be quoted, the speech does without."""
    quotes = scene.quotable()
    if not quotes:
        return Line(after.lstrip("”. ").rstrip(), f'" " {then}', tokens)
    return Line(before, f"{one_of(quotes)} {literal(after)} {then}", tokens)


def answer(scene: Scene) -> Line:
    """Leads with the answer, which is the speaker's stance: whatever the question supposes, it holds."""
    return _standing(scene, f"{scene.dealt('answers', ANSWERS, ['answer'])} ", "It is so all the same,")


def bench_answer(scene: Scene) -> Line:
    return _standing(scene, "It is true: ", "It is true")


def _standing(scene: Scene, start: str, alone: str) -> Line:
    """`alone` is said by a side whose stance is no more than yes or no."""
    sayable = scene.stance not in (YES, NO)
    prefill = f"{start}{lowered(scene.stance)}, because" if sayable else f"{alone} because"
    return Line(prefill, f'" " statement {more(0, 1)}', 70)


def last_word(scene: Scene) -> Line:
    last = scene.dealt("last words", LAST_WORDS, ["last_word"])
    return Line(f"{scene.stance}, {last}", f'" " statement {more(1, 1)}', 70)


def any_other(scene: Scene) -> Line:
    return Line("", f"sentence {more(1, 2)}", 100)


ATTACKERS = ("rebuttal", "clash")
QUOTERS = (*ATTACKERS, "question")
LINES: Mapping[str, Callable[[Scene], Line]] = {
    "opening": opening,
    "rebuttal": attack,
    "question": question,
    "answer": answer,
    "clash": attack,
    "bench_answer": bench_answer,
    "last_word": last_word,
}
CHOICE_TOKENS = 240  # three sentences and a few numbers
CHOICES: Mapping[str, Callable[[Scene], Asked]] = {
    "ruling": choices.ruling,
    "bench_question": choices.bench_question,
    "ballot": choices.ballot,
}


def shape(case: Case, speech: Speech, number: int, instruction: str, hearing: Hearing) -> Shape:
    """The shape of one speech, the same at every resume: whatever is random is drawn from the sitting's seed."""
    scene = Scene(case, speech, number, instruction, hearing)
    facts = {"stances": scene.stances(), "said": scene.said(), "heard": scene.heard()}
    return _spoken(scene, facts) if speech.asks is None else _chosen(scene, facts)


def _spoken(scene: Scene, facts: Mapping[str, Any]) -> Shape:
    line = LINES.get(scene.speech.kind, any_other)(scene)
    limits = replace(scene.speech.limits, tokens=line.tokens, temperature=line.temperature)
    hints = Hints(grammar(line.root), SPEAKERS, SAMPLING, line.prefill)
    return Shape(replace(scene.speech, limits=limits), hints, facts)


def _chosen(scene: Scene, facts: Mapping[str, Any]) -> Shape:
    """A choice, where one is made of this speech. A ballot's prompt has a prefix of its own."""
    choose = CHOICES.get(scene.speech.kind)
    hints = Hints(slot=OTHERS if scene.speech.shown else SPEAKERS)
    if choose is None:
        return Shape(scene.speech, hints, facts)
    asked, limits = choose(scene), replace(scene.speech.limits, tokens=CHOICE_TOKENS)
    return Shape(replace(scene.speech, limits=limits, asks=lambda hearing: asked), hints, facts)
