"""What the debate page says, in one place: templates and the page's script both take their words from here."""

from __future__ import annotations

from typing import Any

BENCHES = {
    "proposition": "Proposition",
    "opposition": "Opposition",
    "referee": "Referee",
    "judge": "Judge",
}
KINDS = {
    "opening": "opening",
    "rebuttal": "rebuttal",
    "question": "question",
    "answer": "answer",
    "clash": "open clash",
    "bench_answer": "answer to the bench",
    "last_word": "last word",
    "ruling": "ruling",
    "bench_question": "question from the bench",
}
# Turns that are not shown as speeches: ballots stand in the verdict card.
UNSPOKEN = ("ballot",)
STRUCTURED = ("ruling", "bench_question", "ballot")

STATES = {
    "queued": "Waiting to be taken up.",
    "running": "Being argued now.",
    "judging": "The judge is weighing both sides.",
    "done": "Finished.",
    "stopped": "Stopped.",
    "failed": "The debate could not go on.",
}
# A debate's state where there is room for a word or two only.
BRIEFLY = {
    "queued": "waiting",
    "running": "being argued",
    "done": "finished",
    "stopped": "stopped",
    "failed": "broken off",
}
LIVE = {
    "speaking": "The {bench} is speaking.",
    "writing": "writing",
    "ready": "ready",
    "waiting": "waiting",
    "unsealed": "Broken off here, not counted.",
    "referee": "The referee is ruling on what is still open.",
    "judge": "The judge is considering a question.",
    "ballot": "The judge is weighing both sides.",
    "catching_up": "Connecting.",
    "lost": "Connection lost. Catching up as soon as it is back.",
    "gone": "This debate can't be seen here any more.",
    "ended": "{bench}, {kind}: finished.",
    "latest": "Jump to latest",
    "live": "Still live",
    "settled": "Settled",
    "to": "To the {bench}",
    "to_both": "To both sides",
    "to_none": "No question",
}
VERDICT = {
    "heading": "Verdict",
    "version": "Verdict, version {n}",
    "winner": "{side}, {how}",
    "winner_bare": "{side}",
    "too_close": "Too close to call",
    "unjudged": "Unjudged",
    "leaning": "leaning",
    "clear": "clear",
    "strong": "strong",
    "sure": "A fresh judgement would agree about {n} times in 10.",
    "claimed": "The judge itself claimed {numbers} %.",
    "strongest": "Strongest",
    "weakest": "Weakest",
    "unsettled": "Left open",
    "ballot": "Ballot {n}",
    "read_first": "It read the {side} first.",
    "named": "It named the {side}, {n} % sure by its own account.",
    "named_none": "It named neither side, {n} % sure by its own account.",
    "reconciled": "It had named the {side}; the scores decide.",
    "reconciled_none": "It had named neither side; the scores decide.",
    "judged_by": "Judged by {models}.",
    "small": "The model on this machine is too small to judge: in our test it named whichever side it read first"
    " 11 times in 12. Take this as no verdict.",
}


def bench(name: str) -> str:
    return BENCHES.get(name, name.replace("_", " ").capitalize())


def kind(name: str) -> str:
    return KINDS.get(name, name.replace("_", " "))


def for_script() -> dict[str, Any]:
    """The same words for `static/js/debate`."""
    return {"benches": BENCHES, "kinds": KINDS, "states": STATES, "live": LIVE, "verdict": VERDICT}
