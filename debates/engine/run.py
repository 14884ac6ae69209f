"""Runs a sitting: takes a format's rounds one by one, has their speeches made at the same time, yields what happens.

Resuming is running again with the turns that are already sealed. They are not spoken again, and every prompt is byte
for byte the one of an uncut run: it depends on the case and on earlier rounds, never on what else is under way.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any

from .ballots import CODE_NAMES
from .events import Delta, Ended, Event, Failed, RoundStarted, Slot, TurnEnded, TurnStarted, Waiting
from .fence import Unfenced
from .presets import shape
from .prompts import compose
from .providers.base import Call, Kind, Prompt, Provider, ProviderError
from .providers.decide import decide
from .speech import SpeechFilter, placeholder, printable
from .types import Case, Hearing, Round, Rounds, Seat, Speech, Turn, Usage, Verdict

ATTEMPTS = 3  # at one speech; an empty answer is asked for once more only
LONGEST_PAUSE = 60.0  # seconds; a provider that asks for more fails the speech, which can be taken up later
MOST_UNREAD = 8_000  # characters kept of an answer that could not be read
FIRST_PAUSE = 1.0  # seconds before the second attempt, doubled for the third, unless the provider names a time

Pause = Callable[[float], Awaitable[None]]
Providers = Callable[[Seat], Provider]


async def run(
    case: Case, provider_of: Providers, sealed: Mapping[int, Turn] | None = None, pause: Pause = asyncio.sleep
) -> AsyncGenerator[Event, None]:
    """Yields the events of a sitting, from where `sealed` (turns by number) leaves off. Close it to stop."""
    sealed = sealed or {}
    rounds = case.format.sittings[case.kind](case.rules)
    transcript, number, index = list(case.heard), case.first, 0
    step: Round | Verdict = next(rounds)
    while isinstance(step, Round):
        index += 1
        stage = Stage(case, step, index, number, tuple(transcript), provider_of, pause)
        yield stage.opened()
        ended = {slot: sealed[slot] for slot in stage.numbers if slot in sealed}
        failed = False
        if len(ended) == len(stage.numbers):
            step = _next(case, rounds, stage, ended)
        async with aclosing(stage.speak(skip=ended)) as events:
            async for event in events:
                failed = failed or isinstance(event, Failed)
                if isinstance(event, TurnEnded):
                    ended[event.turn.number] = event.turn
                    if len(ended) == len(stage.numbers):
                        step = _next(case, rounds, stage, ended)
                        event = replace(event, verdict=step if isinstance(step, Verdict) else None)
                yield event
        if failed:
            return
        transcript += [ended[slot] for slot in stage.numbers]
        number += len(stage.numbers)
    yield Ended(step)


def _next(case: Case, rounds: Rounds, stage: Stage, ended: Mapping[int, Turn]) -> Round | Verdict:
    """The round that follows these turns, or the verdict they come to."""
    try:
        return rounds.send([ended[slot] for slot in stage.numbers])
    except StopIteration as stop:
        verdict: Verdict = stop.value
    judges = {case.seats[ended[slot].bench] for slot in stage.numbers}
    named = {"judges": sorted(seat.model for seat in judges), "small_judge": any(seat.preset for seat in judges)}
    return replace(verdict, details=verdict.details | named)


@dataclass(frozen=True)
class Stage:
    """One round being spoken: everything that its speeches have in common."""

    case: Case
    round: Round
    index: int
    first: int
    transcript: tuple[Turn, ...]
    provider_of: Providers
    pause: Pause

    @property
    def numbers(self) -> range:
        return range(self.first, self.first + len(self.round.speeches))

    def opened(self) -> RoundStarted:
        pairs = zip(self.numbers, self.round.speeches, strict=True)
        slots = tuple(Slot(number, speech.bench, speech.kind) for number, speech in pairs)
        return RoundStarted(self.index, self.round.name, slots, self.round.instruction)

    async def speak(self, skip: Mapping[int, Turn]) -> AsyncGenerator[Event, None]:
        """All speeches but the sealed ones, at the same time. One that fails lets the others of its round finish."""
        heard: asyncio.Queue[Event | None] = asyncio.Queue()
        pairs = zip(self.numbers, self.round.speeches, strict=True)
        speakers = [Speaker(self, speech, number, heard.put_nowait) for number, speech in pairs if number not in skip]
        tasks = [asyncio.create_task(speaker.deliver()) for speaker in speakers]
        for task in tasks:
            task.add_done_callback(lambda done: heard.put_nowait(None))
        try:
            for _ in tasks:
                while event := await heard.get():
                    yield event
            for task in tasks:
                task.result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


class Speaker:
    """One speech on its way to being a turn."""

    def __init__(self, stage: Stage, speech: Speech, number: int, emit: Callable[[Event], None]) -> None:
        self.stage, self.number, self.emit = stage, number, emit
        self.case = stage.case
        self.seat = stage.case.seats[speech.bench]
        self.hearing = self._hearing(speech)
        self.shape = shape(self.case, speech, number, stage.round.instruction, self.hearing)
        self.speech = self.shape.speech
        self.usage = Usage()
        self.calls = 0
        self.text = ""
        self.thinks_aloud = False  # reasoning came unmarked, up to a closing tag: hide all before it the next time

    async def deliver(self) -> None:
        """Makes the speech; tells of it by events, failures included."""
        try:
            turn = await (self._decide() if self.speech.asks else self._speak())
        except ProviderError as error:
            if not self.speech.optional:
                self.emit(Failed(self.number, self.speech.bench, error.kind, str(error), self.text))
                return
            turn = self._turn(text="", failure=str(error), prompt=None)
        self.emit(TurnEnded(turn))

    async def _speak(self) -> Turn:
        prompt = self._prompt()
        for attempt in range(1, ATTEMPTS + 1):
            self._started(attempt)
            try:
                await self._say(prompt, attempt)
                return self._turn(text=self.text, prompt=prompt)
            except ProviderError as error:
                await self._wait_or_give_up(error, attempt)
        raise AssertionError("the last attempt returns or raises")

    async def _say(self, prompt: Prompt, attempt: int) -> None:
        """One attempt. What streams and what is sealed come from the same filter."""
        own, others = self.speech.bench, [bench.name for bench in self.case.format.benches]
        words, rest = self.speech.limits.words, [name for name in others if name != own]
        filtered = SpeechFilter(words, own_names=[own], other_names=rest, reasoning=self.thinks_aloud)
        unfenced = Unfenced(self.case.delimiter)
        call = self._call(prompt)
        try:
            async with aclosing(self.stage.provider_of(self.seat).stream(call)) as pieces:
                async for piece in pieces:
                    self._delta(attempt, filtered.feed(unfenced.feed(piece)))
                    if filtered.closed:
                        break
        finally:
            self._charge(call)
        self._delta(attempt, filtered.feed(unfenced.finish()))
        self._delta(attempt, filtered.finish(cut=call.cut or filtered.full))
        self.text = filtered.text
        if filtered.leaked and not self.thinks_aloud:
            self.thinks_aloud = True
            raise ProviderError(Kind.EMPTY, sentence="The model thought aloud instead of speaking.")
        if placeholder(self.text):
            raise ProviderError(Kind.EMPTY)

    def _delta(self, attempt: int, text: str) -> None:
        if text:
            self.emit(Delta(self.number, attempt, len(self.text), text))
            self.text += text

    async def _decide(self) -> Turn:
        prompt = self._prompt()
        assert self.speech.asks is not None
        asked = self.speech.asks(self.hearing)
        what = f"The {self.speech.bench}'s {self.speech.kind.replace('_', ' ')}"
        for attempt in range(1, ATTEMPTS + 1):
            self._started(attempt)
            call = self._call(prompt)
            try:
                decision = await decide(self._provider(), call, asked.schema, lambda text: None, what=what)
            except ProviderError as error:
                self._charge(call)
                await self._wait_or_give_up(error, attempt)
                continue
            self.usage += decision.usage
            self.calls += decision.calls
            if decision.value is None:
                text = printable(decision.text[:MOST_UNREAD])
                return self._turn(text=text, failure=decision.failure, prompt=prompt)
            data = printable(asked.read(decision.value))
            return self._turn(text=asked.say(data), data=data, prompt=prompt)
        raise AssertionError("the last attempt returns or raises")

    def _provider(self) -> Provider:
        return self.stage.provider_of(self.seat)

    async def _wait_or_give_up(self, error: ProviderError, attempt: int) -> None:
        """Waits before the next attempt, or raises: the same call can't succeed, or was tried often enough."""
        last = 2 if error.kind is Kind.EMPTY else ATTEMPTS
        seconds = error.retry_after or FIRST_PAUSE * 2 ** (attempt - 1)
        if not error.again or attempt >= last or seconds > LONGEST_PAUSE:
            raise error
        self.emit(Waiting(self.number, f"{error} Trying again."))
        await self.stage.pause(seconds)

    def _prompt(self) -> Prompt:
        return compose(self.case, self.shape, self.stage.round.instruction, self.hearing)

    def _hearing(self, speech: Speech) -> Hearing:
        """What a speech is about. A ballot shows its sides under code-names drawn for this turn."""
        drawn = self.case.draw("code names", self.number)
        names = sorted(CODE_NAMES, key=lambda name: drawn[CODE_NAMES.index(name)])
        return Hearing(self.stage.transcript, dict(zip(speech.shown, names, strict=False)))

    def _call(self, prompt: Prompt) -> Call:
        return Call(prompt, self.speech.limits, waiting=lambda reason: self.emit(Waiting(self.number, reason)))

    def _charge(self, call: Call) -> None:
        self.usage += call.usage
        self.calls += 1

    def _started(self, attempt: int) -> None:
        self.text = ""
        round_ = self.stage.round
        self.emit(TurnStarted(self.number, attempt, self.speech.bench, self.speech.kind, self.stage.index, round_.name))

    def _turn(self, text: str, prompt: Prompt | None, data: dict[str, Any] | None = None, failure: str = "") -> Turn:
        return Turn(
            number=self.number,
            round=self.stage.index,
            round_name=self.stage.round.name,
            bench=self.speech.bench,
            kind=self.speech.kind,
            text=text,
            data=data,
            failure=failure,
            prompt=prompt.name if prompt else "",
            prompt_hash=prompt.hash if prompt else "",
            model=self.seat.model,
            usage=self.usage,
            calls=self.calls,
        )
