"""static/js/debate/pacer.js by a clock of the test's own: no second of these is waited for."""

from __future__ import annotations

import random

import pytest

from . import made

# Feeds texts that arrive at the given rates and notes what is shown; `then` is called once at its time.
RUN = """async ({ turns, options, at, act, until }) => {
  const { Pacer } = await import("/static/js/debate/pacer.js");
  const pacer = new Pacer({ ...options, pace: options.pace === "instant" ? Infinity : options.pace ?? 1 });
  const end = Math.max(...turns.map(({ from, text, rate }) => from + text.length / rate));
  const seen = [];
  let acted = false, now = 0, finishedAt = null;
  for (; now < until && finishedAt === null; now += 1 / 60) {
    const items = turns.filter(({ from }) => from <= now).map(({ text, from, rate, spoken = true }, place) => {
      const length = Math.min(text.length, Math.floor((now - from) * rate));
      const closed = length >= text.length;
      return { number: place + 1, attempt: 1, spoken, text: spoken ? text.slice(0, length) : "", closed };
    });
    pacer.feed(items, now >= end, now);
    if (!acted && at !== null && now >= at) { acted = true; pacer[act](); }
    pacer.tick(now);
    seen.push([now, pacer.current, items.map((item) => pacer.length(item))]);
    if (now >= end && pacer.finished) finishedAt = now;
  }
  return { end, finishedAt, seen };
}"""
SPEECHES = [text for _, _, text in made.SPEECHES]


@pytest.fixture
def run(page):
    page.goto("/")

    def run(turns, at=None, act="drain", until=900, **options):
        return page.evaluate(RUN, {"turns": turns, "options": options, "at": at, "act": act, "until": until})

    return run


def arriving(rate: float, rounds: int = 2) -> list[dict]:
    """Rounds of two speeches that arrive at once, the next round when both are there."""
    turns, now = [], 0.3
    for place in range(0, 2 * rounds, 2):
        pair = [SPEECHES[place % 4], SPEECHES[place % 4 + 1]]
        turns += [{"text": text, "from": now, "rate": rate} for text in pair]
        now += max(map(len, pair)) / rate + 0.2
    return turns


@pytest.mark.parametrize("seed", range(12))
def test_all_is_on_screen_within_1_6_times_the_time_the_server_took(run, seed):
    rng = random.Random(seed)
    told = run(arriving(rng.uniform(15, 2000), rounds=rng.randint(1, 8)))
    assert told["finishedAt"] is not None
    assert told["finishedAt"] <= max(1.6 * told["end"], told["end"] + 0.2) + 0.2, f"seed {seed}"


def test_it_types_one_speech_at_a_time_in_order(run):
    for _, current, lengths in run(arriving(300))["seen"]:
        assert all(length == 0 for length in lengths[current + 1 :])


def test_it_reads_at_a_reader_s_pace_where_nothing_presses(run):
    told = run([{"text": SPEECHES[0], "from": 0, "rate": 10_000}], live=False)
    assert 15 <= len(SPEECHES[0]) / told["finishedAt"] <= 40


def test_it_pauses_at_the_end_of_a_sentence(run):
    told = run([{"text": "One two. Three four.", "from": 0, "rate": 10_000}], live=False)
    lengths = [row[2][0] for row in told["seen"] if row[2]]
    assert lengths.count(len("One two.")) > 4 * lengths.count(len("One t"))


@pytest.mark.parametrize(("pace", "factor"), [(0.5, 2), (2, 0.5), (4, 0.25)])
def test_the_pace_can_be_chosen(run, pace, factor):
    turns = [{"text": SPEECHES[0], "from": 0, "rate": 10_000}]
    usual, chosen = run(turns, live=False)["finishedAt"], run(turns, live=False, pace=pace)["finishedAt"]
    assert chosen == pytest.approx(usual * factor, rel=0.1)


def test_instant_shows_what_arrives_as_it_arrives(run):
    told = run(arriving(80), pace="instant")
    assert told["finishedAt"] == pytest.approx(told["end"], abs=0.1)


def test_a_turn_can_be_skipped_also_while_it_is_spoken(run):
    turns = [{"text": SPEECHES[0], "from": 0, "rate": 60}, {"text": SPEECHES[1], "from": 0, "rate": 10_000}]
    seen = run(turns, at=1, act="skipTurn")["seen"]
    arrived = [(now, lengths[0]) for now, current, lengths in seen if current == 0 and now > 1.1]
    assert all(length >= int(now * 60) - 2 for now, length in arrived)
    assert [lengths[1] for now, current, lengths in seen if current == 0][-1] == 0


def test_skipping_to_the_verdict_shows_all_that_is_there_and_all_that_comes(run):
    told = run(arriving(60), at=2, act="toVerdict")
    assert told["finishedAt"] == pytest.approx(told["end"], abs=0.1)


def test_a_drained_backlog_does_not_hurry_what_comes_next(run):
    text = "word " * 400
    seen = run([{"text": text, "from": 0, "rate": 40}], at=20, act="drain")["seen"]
    drained = next(row[2][0] for row in seen if row[0] >= 20.05)
    later = next(row[2][0] for row in seen if row[0] >= 22)
    assert drained >= 790
    assert later - drained <= 100


def test_half_a_character_is_never_shown(run):
    family = "👩‍👩‍👧‍👦"
    told = run([{"text": f"{family}{family} क्षि e\u0301.", "from": 0, "rate": 10_000}], live=False)
    lengths = {row[2][0] for row in told["seen"] if row[2]}
    assert not lengths & set(range(1, len(family.encode("utf-16-le")) // 2))
