"""Events come out the same however the network cuts the bytes."""

import json

import pytest

from debates.engine.providers.sse import Event, EventReader, Malformed

TEXT = "ığ 漢字 👩‍👩‍👧"
FRAMES = [
    ": KEEP 1\n\n",
    f"data: {json.dumps({'content': TEXT}, ensure_ascii=False)}\n\n",
    "id: 7\nretry: 10\nevent: error\ndata:tight\n\n",
    "data: one\ndata: two\ndata\n\n",
    ": KEEP 2\n\n\n",
    "data: [DONE]\n\n",
]
EVENTS = [
    Event("", json.dumps({"content": TEXT}, ensure_ascii=False)),
    Event("error", "tight"),
    Event("", "one\ntwo\n"),
    Event("", "[DONE]"),
]


def read(*chunks: bytes) -> list[Event]:
    reader = EventReader()
    return [event for chunk in chunks for event in reader.feed(chunk)] + reader.close()


def bytewise(raw: bytes) -> list[bytes]:
    return [raw[index : index + 1] for index in range(len(raw))]


@pytest.mark.hard_case("B01")
@pytest.mark.hard_case("B02")
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_it_reads_the_same_events_whole_and_byte_by_byte(newline: str) -> None:
    raw = "".join(FRAMES).replace("\n", newline).encode()
    assert read(raw) == EVENTS
    assert read(*bytewise(raw)) == EVENTS


@pytest.mark.hard_case("B02")
@pytest.mark.hard_case("B22")
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_it_reads_the_same_events_for_every_cut_in_two(newline: str) -> None:
    raw = "".join(FRAMES).replace("\n", newline).encode()
    for cut in range(len(raw)):
        assert read(raw[:cut], raw[cut:]) == EVENTS


def test_it_passes_over_a_byte_order_mark() -> None:
    assert read(*bytewise("\ufeffdata: x\n\n".encode())) == [Event("", "x")]


@pytest.mark.parametrize("end", ["", "\n", "\r", "\r\n"])
def test_the_last_event_counts_without_its_blank_line(end: str) -> None:
    assert read(f"data: [DONE]{end}".encode()) == [Event("", "[DONE]")]


@pytest.mark.hard_case("B22")
def test_a_stream_that_ends_inside_a_character_is_malformed() -> None:
    reader = EventReader()
    reader.feed('data: {"content":"漢'.encode()[:-1])
    with pytest.raises(Malformed):
        reader.close()


@pytest.mark.parametrize("endless", [b"x" * 600, b"data: " + b"x" * 600, b"data: xxxxxxxxx\n" * 60])
def test_an_endless_event_is_malformed(endless: bytes) -> None:
    reader = EventReader(longest=500)
    with pytest.raises(Malformed):
        [reader.feed(chunk) for chunk in bytewise(endless)]


def test_many_events_within_the_bound_are_fine() -> None:
    reader = EventReader(longest=100)
    raw = b"data: " + b"x" * 80 + b"\n\n"
    assert len([event for _ in range(50) for chunk in bytewise(raw) for event in reader.feed(chunk)]) == 50


def test_it_knows_whether_there_were_events_at_all() -> None:
    reader = EventReader()
    reader.feed(b'{"error": {}}\n\n: comment\n\n')
    assert not reader.began
    reader.feed(b"data: x\n\n")
    assert reader.began
