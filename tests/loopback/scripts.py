"""Scripts: from a request to an answer. The built-in one plays a short debate; `Rules` reads scripts from JSON."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from .answers import Answer
from .values import value_for

Script = Callable[["Request"], Answer]


@dataclass
class Request:
    """One request as it came. `number` counts from 1 in order of arrival, `at` is in seconds since the server began,
    `at_once` how many were being answered then, this one included. `key` is a digest of the key that it carried.
    `connection` numbers connections.
    `state` is "open", "answered" (to the script's end) or "gone" (the caller went away before that)."""

    number: int
    at: float
    at_once: int
    connection: int
    headers: dict[str, str]
    key: str
    body: dict[str, Any]
    state: str = "open"
    mark: str = field(init=False)

    def __post_init__(self) -> None:
        self.mark = mark(self.messages)

    @property
    def messages(self) -> list[dict[str, Any]]:
        messages = self.body.get("messages")
        return messages if isinstance(messages, list) else []

    @property
    def model(self) -> str:
        return str(self.body.get("model", ""))

    @property
    def last(self) -> str:
        """The text of the last message."""
        return str(self.messages[-1].get("content", "")) if self.messages else ""

    @property
    def schema(self) -> dict[str, Any] | None:
        """The JSON schema that the answer must fit; {} where any JSON object will do."""
        form = self.body.get("response_format") or {}
        if form.get("type") == "json_object":
            return {}
        return form["json_schema"]["schema"] if form.get("type") == "json_schema" else None

    @property
    def limit(self) -> int | None:
        """In tokens."""
        return self.body.get("max_completion_tokens") or self.body.get("max_tokens")

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


SENTENCES = (
    "The people who carry the cost are never the people who carry the gain.",
    "A rule that works on paper still has to survive a wet Monday morning.",
    "Nobody plans for the second year, and the second year is where it breaks.",
    "Habits follow the road that is laid for them, so lay a better road.",
    "What looks like freedom for one household is a wall for the next.",
    "The other side counts what it can see and forgets what it cannot.",
    "Money spent on the cure is money that was refused to the cause.",
    "A shopkeeper learns within a month what a ministry learns within a decade.",
    "If the promise were true, the towns that kept it would be richer.",
    "You cannot ask for trust and keep the books closed at the same time.",
    "The burden lands on the tired, the old and those who work at night.",
    "Every shortcut in this plan runs through somebody else's front garden.",
    "It is cheap to begin and dear to maintain, and only the beginning is on offer.",
    "Small steps that can be undone beat one large step that cannot.",
)


def mark(messages: Sequence[Mapping[str, Any]]) -> str:
    """The name of a town, made from the whole prompt: no two prompts have the same."""
    digest = hashlib.sha256(json.dumps(list(messages), sort_keys=True).encode()).digest()
    syllables = [consonant + vowel for consonant in "bdfglmnprstv" for vowel in "aeiou"]
    return "".join(syllables[byte % len(syllables)] for byte in digest[:6]).capitalize()


def builtin(request: Request) -> Answer:
    """A speech of 80-140 words (fewer where the token limit is lower) that holds the prompt's mark, or for a schema an
    object that fits it."""
    if request.schema is not None:
        return Answer(json=value_for(request.schema, request.mark) or {"mark": request.mark})
    return Answer(text=speech(request.mark, request.limit))


def speech(name: str, limit: int | None) -> str:
    seed = hashlib.sha256(name.encode()).digest()
    said = [f"Look at {name}, a town that tried this for a year."]
    order = sorted(range(len(SENTENCES)), key=lambda index: seed[index])
    target = min(80 + seed[-1] % 45, limit or 1_000)
    for index in order:
        words = sum(len(sentence.split()) for sentence in said)
        if words >= target or words + len(SENTENCES[index].split()) > (limit or 1_000):
            break
        said.append(SENTENCES[index])
    return " ".join(said)


class Rules:
    """A script as JSON:

    {"rules": [{"when": {...}, "answer": {...} or [{...}, ...]}, ...], "otherwise": {...}}

    The first rule whose every condition holds answers: `model` (its name), `contains` (in the last message),
    `anywhere` (in any), `schema` (true or false), `has` (fields of the body), `call` (the request's number since the
    script was set). With a list, a rule's first match takes the first answer, and so on; the last one stays.
    Answers hold fields of `Answer`; what they leave out is the built-in answer's. `otherwise` goes for all the rest.
    """

    def __init__(self, script: Mapping[str, Any]) -> None:
        unknown = set(script) - {"rules", "otherwise"}
        if unknown:
            raise ValueError(f"unknown in a script: {', '.join(sorted(unknown))}")
        self._rules: list[Mapping[str, Any]] = [*script.get("rules", []), {"answer": script.get("otherwise", {})}]
        self._matched: Counter[int] = Counter()
        self._calls = 0

    def __call__(self, request: Request) -> Answer:
        self._calls += 1
        for index, rule in enumerate(self._rules):
            if all(self._holds(name, wanted, request) for name, wanted in rule.get("when", {}).items()):
                answers = rule["answer"] if isinstance(rule["answer"], list) else [rule["answer"]]
                fields = answers[min(self._matched[index], len(answers) - 1)]
                self._matched[index] += 1
                return completed(fields, request)
        raise AssertionError("the last rule holds for all")

    def _holds(self, name: str, wanted: Any, request: Request) -> bool:
        if name == "has":
            return all(field in request.body for field in wanted)
        if name == "anywhere":
            return any(wanted in str(message.get("content", "")) for message in request.messages)
        if name == "contains":
            return wanted in request.last
        found = {"model": request.model, "schema": request.schema is not None, "call": self._calls}
        return bool(found[name] == wanted)


def completed(fields: Mapping[str, Any], request: Request) -> Answer:
    """The built-in answer with these fields; one that brings its own text, or none, doesn't get the built-in one."""
    own = {"text", "json", "frames", "body"} & set(fields)
    return Answer(**fields) if own else replace(builtin(request), **fields)


def as_script(script: object) -> Script:
    """From whatever a test or a file has."""
    if script is None or script == "builtin":
        return builtin
    if isinstance(script, Answer):
        return lambda request: script
    if isinstance(script, Mapping):
        return Rules(script)
    if isinstance(script, list):
        return _in_order(script)
    assert callable(script)
    return script


def _in_order(answers: list[Answer]) -> Script:
    """The first answer for the first call, and so on; the last one stays."""
    left = list(answers)
    return lambda request: left.pop(0) if len(left) > 1 else left[0]
