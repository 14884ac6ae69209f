"""Prompts are files: strict Jinja2 templates, each rendered from the transcript of earlier rounds only.

A template is a chat in parts: `{{ part("system") }}` starts what is the same for all speeches of a debate (rules,
motion), `part("user")` and `part("assistant")` the exchange (worked examples, the transcript, which only grows, and
last the speaker's brief), `part("prefill")` the words that the answer must start with. What stays the same comes first,
so that it may be cached. Whatever a user or a model wrote enters through `data()`, which fences it with the sitting's
delimiter; a text that holds the delimiter loses it first.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import DictLoader, Environment, StrictUndefined, meta

from .fence import fence
from .providers.base import Message, Prompt
from .shape import Shape
from .types import Case, Hearing, Speech, Turn

FOLDER = Path(__file__).resolve().parent.parent / "prompts"
MARK = "\0"  # starts a part; no text that enters a prompt can hold it


class PromptBook:
    """The prompt texts of a sitting, by file name relative to the prompts' folder."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.texts = dict(texts)
        self._hashes: dict[str, str] = {}
        self._templates = Environment(
            loader=DictLoader(self.texts),
            undefined=StrictUndefined,
            autoescape=False,
            trim_blocks=True,
            lstrip_blocks=True,
        )

    @classmethod
    def of_format(cls, slug: str, folder: Path = FOLDER) -> PromptBook:
        """Today's files: those of the format and the partials that all formats share."""
        files = [*folder.glob("*.md"), *folder.glob(f"{slug}/**/*.md")]
        return cls({path.relative_to(folder).as_posix(): path.read_text("utf-8") for path in sorted(files)})

    def name_for(self, case: Case, speech: Speech) -> str:
        """The speech's prompt file, in the wording for its seat's preset where there is one."""
        preset = case.seats[speech.bench].preset
        special = f"{case.format.slug}/{preset}/{speech.kind}.md"
        return special if preset and special in self.texts else f"{case.format.slug}/{speech.kind}.md"

    def hash_of(self, name: str) -> str:
        """SHA-256 over a template and everything that it is made of. Kept: finding that out parses the templates."""
        if name not in self._hashes:
            digest = hashlib.sha256()
            for part in self._made_of(name, set()):
                digest.update(f"{part}\0{self.texts[part]}\0".encode())
            self._hashes[name] = digest.hexdigest()
        return self._hashes[name]

    def _made_of(self, name: str, seen: set[str]) -> list[str]:
        if name in seen:
            return []
        seen.add(name)
        others = meta.find_referenced_templates(self._templates.parse(self.texts[name]))
        return [name] + [part for other in others for part in self._made_of(str(other), seen)]

    def render(self, name: str, facts: Mapping[str, Any]) -> list[tuple[str, str]]:
        """The template's parts in order: (role, text), empty ones left out. Raises where a fact is missing."""
        whole = self._templates.get_template(name).render(facts, part=lambda role: f"{MARK}{role}{MARK}")
        pieces = whole.split(MARK)[1:]
        parts = zip(pieces[::2], pieces[1::2], strict=True)
        return [(role, text.strip()) for role, text in parts if text.strip()]


@cache
def todays(slug: str) -> PromptBook:
    """Today's prompts of a format, read once a process."""
    return PromptBook.of_format(slug)


def compose(case: Case, shaped: Shape, instruction: str, hearing: Hearing) -> Prompt:
    """The prompt of one speech as its preset shaped it. It holds nothing of the round in which the speech is made."""
    name = case.prompts.name_for(case, shaped.speech)
    facts = _facts(case, shaped.speech, instruction, hearing) | dict(shaped.facts)
    parts = case.prompts.render(name, facts)
    prefill = "\n".join(text for role, text in parts if role == "prefill")
    return Prompt(
        system="\n\n".join(text for role, text in parts if role == "system"),
        messages=_merged([part for part in parts if part[0] in ("user", "assistant")]),
        name=name,
        hash=case.prompts.hash_of(name),
        hints=replace(shaped.hints, prefill=prefill or shaped.hints.prefill),
    )


def _facts(case: Case, speech: Speech, instruction: str, hearing: Hearing) -> dict[str, Any]:
    opponent = next((side for side in case.format.sides if side != speech.bench), "")
    said = [turn for turn in hearing.transcript if turn.bench == opponent and turn.text]
    return dict(speech.facts) | {
        "data": lambda text: fence(text, case.delimiter),
        "delimiter": case.delimiter,
        "motion": case.motion,
        "rules": case.rules,
        "bench": speech.bench,
        "opponent": opponent,
        "opponent_said": said[-1].text if said else None,
        "words": speech.limits.words,
        "instruction": instruction,
        "rounds": by_round([turn for turn in hearing.transcript if turn.text]),
        "names": hearing.names,
    }


def by_round(turns: Sequence[Turn]) -> list[tuple[str, list[Turn]]]:
    """Turns under the names of their rounds, in order."""
    rounds: list[tuple[str, list[Turn]]] = []
    last = None
    for turn in turns:
        if last is None or (turn.round, turn.round_name) != (last.round, last.round_name):
            rounds.append((turn.round_name, []))
        rounds[-1][1].append(turn)
        last = turn
    return rounds


def _merged(parts: Sequence[tuple[str, str]]) -> tuple[Message, ...]:
    messages: list[Message] = []
    for role, text in parts:
        if messages and messages[-1].role == role:
            messages[-1] = Message(role, f"{messages[-1].text}\n\n{text}")
        else:
            messages.append(Message(role, text))
    return tuple(messages)
