"""Wall time of a whole Clash against its critical path: the sum over rounds of the slowest call.

    .venv/bin/python -m benchmarks.wall [--rate 50] [--reps 3]

A loopback server speaks at a fixed rate; what is printed is the ratio in each run and its median. The goal is at most
1.02 times the critical path + 100 ms.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import platform
import statistics
import time
from collections import defaultdict
from collections.abc import AsyncGenerator
from contextlib import aclosing

from debates.engine.events import Ended, RoundStarted
from debates.engine.formats import find_format
from debates.engine.prompts import todays
from debates.engine.providers.base import Call, Provider
from debates.engine.providers.openai_compatible import OpenAICompatible
from debates.engine.run import run
from debates.engine.types import Case, Seat
from tests.loopback import LoopbackModel


class Timed:
    """A provider that notes how long each of its calls took, in seconds, by round."""

    def __init__(self, inner: Provider) -> None:
        self.inner = inner
        self.round = 0
        self.calls: dict[int, list[float]] = defaultdict(list)

    async def stream(self, call: Call) -> AsyncGenerator[str, None]:
        round_, began = self.round, time.perf_counter()
        try:
            async with aclosing(self.inner.stream(call)) as pieces:
                async for piece in pieces:
                    yield piece
        finally:  # also where the word limit ends the speech before its model does
            self.calls[round_].append(time.perf_counter() - began)

    @property
    def critical_path(self) -> float:
        return sum(max(calls) for calls in self.calls.values())


async def once(url: str, seed: bytes) -> tuple[float, float, int]:
    """Wall seconds, critical path and calls of one debate."""
    format_ = find_format("clash")
    seats = {bench.name: Seat(bench.name, "openai", "scripted-1") for bench in format_.benches}
    motion = "Cities should ban private cars from their centres"
    case = Case(format_, motion, format_.rules(clash_rounds=2), seats, seed, todays("clash"))
    timed = Timed(OpenAICompatible(url, "sk-loopback", "scripted-1"))
    began = time.perf_counter()
    async for event in run(case, lambda seat: timed):
        if isinstance(event, RoundStarted):
            timed.round = event.round
        assert not isinstance(event, Ended) or event.verdict.ballots
    return time.perf_counter() - began, timed.critical_path, sum(map(len, timed.calls.values()))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rate", type=float, default=50.0, help="tokens a second")
    parser.add_argument("--reps", type=int, default=3)
    asked = parser.parse_args()
    print(f"Python {platform.python_version()}, load {os.getloadavg()[0]:.1f}, {asked.rate:g} tokens/s")
    ratios = []
    with LoopbackModel({"otherwise": {"rate": asked.rate}}) as model:
        for rep in range(asked.reps):
            wall, path, calls = asyncio.run(once(model.url, str(rep).encode()))
            ratios.append(wall / path)
            print(f"{calls} calls, wall {wall:.2f} s, critical path {path:.2f} s, ratio {wall / path:.4f}")
    print(f"median ratio {statistics.median(ratios):.4f}")


if __name__ == "__main__":
    main()
