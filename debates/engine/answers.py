"""What referees and judges answer, as schemas, and how each answer reads aloud."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from .types import Asked, Hearing

Sentence = Annotated[str, Field(max_length=400)]


class Ruling(BaseModel):
    """The referee's: is the disagreement still live, and what exactly is the tension left?"""

    note: Sentence
    live: bool
    tension: Sentence

    def say(self) -> str:
        return f"Still live: {self.tension} {self.note}" if self.live else f"Settled. {self.note}"


class BenchQuestion(BaseModel):
    """The judge's one question to a side, to both, or to none."""

    to: Literal["proposition", "opposition", "both", "none"]
    question: Sentence

    def say(self) -> str:
        return self.question if self.to != "none" else "The bench has no question."


def plain(schema: type[BaseModel]) -> Callable[[Hearing], Asked]:
    """An answer whose data is just its fields."""

    def say(data: dict[str, Any]) -> str:
        spoken: Any = schema.model_validate(data)
        return spoken.say()

    asked = Asked(schema, lambda answer: answer.model_dump(), say)
    return lambda hearing: asked
