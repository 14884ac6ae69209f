"""What a model wrote becomes an answer only as it was asked for; anything else says why not."""

import json
import time
from enum import StrEnum
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from debates.engine.providers.reading import LARGEST, Unreadable, read
from debates.engine.providers.schemas import schema_of


class Scores(BaseModel):
    a: int = Field(ge=0, le=100)
    b: int = Field(ge=0, le=100)


class Ballot(BaseModel):
    winner: Literal["a", "b", "none"]
    scores: Scores
    note: str = ""


GOOD = '{"winner": "b", "scores": {"a": 41, "b": 78}}'
BALLOT = Ballot(winner="b", scores=Scores(a=41, b=78))
EXAMPLE = '{"winner": "a", "scores": {"a": 1, "b": 2}}'
FENCE = "```"


@pytest.mark.hard_case("B25")
@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"Sure!\n{FENCE}json\n{GOOD}\n{FENCE}\nHope it helps",
        f"Sure!\n{FENCE}json\n{GOOD}",
        f"{FENCE}{FENCE}\n{GOOD}",
        f"For example {EXAMPLE}. My answer:\n{GOOD}",
        f"{GOOD}\nas asked: {{winner, scores}} and {{}}",
        f'{GOOD} and {{"winner": "a"}}',
        f"I weigh {{a}} against {{b}} (and [c]): {GOOD}.",
        f'The schema is {{"type": "object", "properties": {{"winner": {{}}}}}}. {GOOD}',
    ],
)
def test_it_takes_the_last_object_that_fits_whatever_stands_around_it(text: str) -> None:
    assert read(text, Ballot) == BALLOT


@pytest.mark.hard_case("B37")
def test_a_byte_order_mark_and_spaces_are_no_matter() -> None:
    assert read(f"\ufeff \n{GOOD}\n", Ballot) == BALLOT


@pytest.mark.hard_case("B25")
def test_a_fence_within_a_text_is_text() -> None:
    written = GOOD.replace("}}", f'}}, "note": "see {FENCE}json {{x}} {FENCE} and \\"}}\\""}}')
    assert read(written, Ballot).note == f'see {FENCE}json {{x}} {FENCE} and "}}"'


def changed(**values: Any) -> str:
    return json.dumps({"winner": "b", "scores": {"a": 41, "b": 78}} | values)


@pytest.mark.hard_case("B37")
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no JSON object"),
        (f"{FENCE}json\n{FENCE}", "no JSON object"),
        ("WINNER: b", "no JSON object"),
        ("[1, 2]", "no JSON object"),
        (GOOD[:-1], "no JSON object|missing|not asked"),
        (GOOD.replace("}}", "},}"), "no JSON object|missing|not asked"),
        (GOOD.replace('"', "'"), "no JSON object"),
        ('{"winner": "a", "winner": "b", "scores": {"a": 1, "b": 2}}', "“winner” twice"),
        ('{"winner": "b", "scores": {"a": 1, "b": 2, "b": 3}}', "“b” twice"),
        (changed(scores={"a": "41", "b": 78}), "“scores.a” should be a valid integer"),
        (changed(scores={"a": 41.5, "b": 78}), "“scores.a” should be a valid integer"),
        (changed(scores={"a": 41.0, "b": 78}), "“scores.a” should be a valid integer"),
        (changed(scores={"a": True, "b": 78}), "“scores.a” should be a valid integer"),
        (changed(scores={"a": 141, "b": 78}), "“scores.a” should be less than or equal to 100"),
        (changed(scores={"a": None, "b": 78}), "“scores.a” should be"),
        (changed(winner="B"), "“winner” should be 'a', 'b' or 'none'"),
        (changed(winner=["b"]), "“winner” should be"),
        (changed(reason="extra"), "“reason” was not asked for"),
        (changed(scores={"a": 1, "b": 2, "c": 3}), "“scores.c” was not asked for"),
        ('{"kazanan": "b", "puanlar": {"a": 1, "b": 2}}', "“winner” is missing"),
        (changed().replace("41", "1" + "0" * 400), "too large"),
        (changed().replace("41", "1e999"), "too large"),
        (changed().replace("41", "NaN"), "NaN"),
        (changed().replace("41", "-Infinity"), "-Infinity"),
        ('{"a":' * 5_000 + "1" + "}" * 5_000, "deeper than 50"),
        ("[" * 5_000, "deeper than 50"),
        (changed(note="x" * LARGEST), "longer than 200 KB"),
        (changed(note="ığ" * (LARGEST // 4)), "longer than 200 KB"),
        (r'{"winner": "b", "scores": {"a": 1, "b": 2}, "note": "\ud83d"}', "."),
    ],
)
def test_it_refuses_what_was_not_asked_for_and_says_why(text: str, reason: str) -> None:
    with pytest.raises(Unreadable, match=reason):
        read(text, Ballot)


@pytest.mark.hard_case("B26")
@pytest.mark.parametrize("cut", range(len(GOOD)))
def test_no_truncated_object_is_ever_an_answer(cut: int) -> None:
    with pytest.raises(Unreadable):
        read(GOOD[:cut], Ballot)


class Side(StrEnum):
    PRO = "pro"


class Declared(BaseModel):
    side: Side
    pair: tuple[int, float]


def test_what_json_can_not_say_otherwise_is_declared_by_the_schema() -> None:
    assert read('{"side": "pro", "pair": [1, 2]}', Declared) == Declared(side=Side.PRO, pair=(1, 2.0))


HOSTILE = {
    "asterisks": "*" * 400_000,
    "backticks": "`" * 400_000,
    "parentheses": "(" * 400_000,
    "braces": "{" * 400_000,
    "a word": "WINNER: " * 50_000,
    "asterisks within the size": "*" * LARGEST,
    "braces within the size": "{" * LARGEST,
    "pairs of braces": "{}" * (LARGEST // 2),
    "quotes": '{"' * (LARGEST // 2),
    "escapes": '{"\\' * (LARGEST // 3),
    "open strings": '{"a":"' * (LARGEST // 6),
    "deep enough": '{"a":[' * 24 + "1," * 90_000,
    "deep and closed": ('{"a":[' * 24 + "1]}" * 24) * 500,
    "one line": "a {b} [c] " * 19_000,
    "digits": '{"a":' + "1" * 190_000,
    "spaces": '{"a"' + " " * 190_000,
    "backslashes": '{"a":"' + "\\" * 190_000,
    "almost objects": '{"x} ' * 38_000,
    "twice the same key, over and over": '{"a":1,"a":1,' * 15_000,
    "one key, many times": "{" + '"a":1,' * 30_000 + '"a":1}',
    "many keys": "{" + ",".join(f'"{number}":1' for number in range(16_000)) + ',"15999":1}',
    "half objects": '{"winner":"b","scores":{"a":1,' * 6_000,
}


@pytest.mark.hard_case("B38")
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_is_refused_in_linear_time(name: str) -> None:
    """Bounded in processor time, with a wide margin: quadratic reading takes much longer."""
    began = time.process_time()
    with pytest.raises(Unreadable):
        read(HOSTILE[name], Ballot)
    assert time.process_time() - began < 2.0


@pytest.mark.hard_case("B38")
def test_it_does_not_look_for_an_object_for_ever() -> None:
    with pytest.raises(Unreadable, match="too many braces"):
        read('{"x} ' * 600 + GOOD, Ballot)
    assert read('{"x} ' * 400 + GOOD, Ballot) == BALLOT


class Inner(BaseModel):
    """Words for the model."""

    kind: Literal["x"] = "x"
    minimum: Annotated[int, Field(ge=1)] = 1


class Outer(BaseModel):
    title: str
    inner: Inner
    many: list[Inner] = []
    maybe: Inner | None = None


def test_a_schema_is_written_out_closed_and_with_every_key_required() -> None:
    schema = schema_of(Outer)
    assert "$" not in json.dumps(schema)
    assert schema["required"] == ["title", "inner", "many", "maybe"]
    assert schema["additionalProperties"] is False
    inner = schema["properties"]["inner"]
    assert (inner["required"], inner["additionalProperties"]) == (["kind", "minimum"], False)
    assert inner["properties"]["minimum"] == {"type": "integer", "minimum": 1}
    assert inner["description"] == "Words for the model."
    assert schema["properties"]["many"]["items"] == inner
    assert schema["properties"]["maybe"]["anyOf"][0] == inner


class Endless(BaseModel):
    more: list["Endless"] = []


def test_a_schema_within_itself_is_refused_when_it_is_written() -> None:
    with pytest.raises(TypeError, match="Endless"):
        schema_of(Endless)
