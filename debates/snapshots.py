"""What a viewer is sent first, and again whenever the log alone can't serve it: the truth from PostgreSQL, joined with
what the log says about the turns now being spoken.

The mark is taken first and PostgreSQL read after it. Every seal is committed before it is in the log, so whatever
happens between the two arrives twice at worst, never not at all.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .board import Mark
from .log import encode
from .models import Fragment, Sitting, Turn, Verdict, as_frame, verdict_frame

# Bytes of turns in one frame; a single turn is bounded by its speech's limits, far below.
FRAME_BYTES = 200_000
LOST = (Sitting.State.FAILED, Sitting.State.STOPPED)
OPEN = (Sitting.State.QUEUED, Sitting.State.RUNNING)


@dataclass(frozen=True, slots=True)
class Past:
    """A debate as PostgreSQL knows it, its turns already serialised. `over`: nothing more will come of itself."""

    state: dict[str, Any]
    fence: int
    over: bool
    turns: tuple[tuple[int, str], ...]
    fragments: dict[int, dict[str, Any]]
    verdicts: tuple[dict[str, Any], ...]

    def frames(self, mark: Mark, after: int) -> Iterator[str]:
        """The `turns` frames above `after`, then the `snapshot` that is true at the mark."""
        start = self.known(after)
        for turns in batches([turn for number, turn in self.turns if number > start]):
            yield f'{{"t":"turns","turns":[{",".join(turns)}]}}'
        yield encode(
            {
                "t": "snapshot",
                "at": mark.at and f"{mark.at[0]}-{mark.at[1]}",
                "state": self.state,
                "round": mark.round,
                "open": self.open(mark),
                "verdicts": self.verdicts,
            }
        )

    def open(self, mark: Mark) -> list[dict[str, Any]]:
        """Turns being spoken, or broken off. A fragment stands in where the log has a hole, knows less than
        PostgreSQL does, or where it says why there won't be more."""
        outdated = mark.at is None or mark.at[0] < self.fence
        turns = {turn["number"]: turn for turn in mark.open if not outdated}
        for number, fragment in self.fragments.items():
            known = turns.get(number)
            if known is None:
                better = outdated or self.over or not mark.whole
            else:
                better = bool(fragment["reason"]) or (number in mark.holes and says_more(fragment, known))
            if better:
                turns[number] = fragment
        sealed = {number for number, _ in self.turns}
        return [turns[number] for number in sorted(turns) if number not in sealed]

    def known(self, after: int) -> int:
        """What a page claims to have, if there is such a turn."""
        return after if any(number == after for number, _ in self.turns) else 0

    def reach(self, after: int) -> int:
        """The last turn up to which none is missing for who has those up to `after`."""
        numbers = {number for number, _ in self.turns}
        reach = self.known(after)
        while reach + 1 in numbers:
            reach += 1
        return reach


def says_more(fragment: dict[str, Any], known: dict[str, Any]) -> bool:
    return fragment["attempt"] == known["attempt"] and len(fragment["text"]) > len(known["text"])


def batches(turns: list[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    size = 0
    for turn in turns:
        length = len(turn.encode()) + 1
        if batch and size + length > FRAME_BYTES:
            yield batch
            batch, size = [], 0
        batch.append(turn)
        size += length
    if batch:
        yield batch


def read_past(debate_pk: int) -> Past:
    """Four queries. The order matters: what is read later may be younger, so a state of `done` is read first and
    the turns that belong to it last."""
    sittings = list(Sitting.objects.filter(debate_id=debate_pk).defer("seed", "prompts"))
    now = current(sittings)
    fragments = Fragment.objects.filter(sitting=now)
    verdicts = [verdict_frame(verdict) for verdict in Verdict.objects.filter(debate_id=debate_pk)]
    unsealed = {fragment.number: fragment_frame(fragment) for fragment in fragments}
    passed = superseded(sittings)
    turns = Turn.objects.filter(debate_id=debate_pk)
    return Past(
        state=state_frame(now, sittings),
        fence=(now and now.fence) or 0,
        over=now is not None and now.state not in OPEN,
        turns=tuple((turn.number, encode(as_frame(turn, turn.sitting_id in passed))) for turn in turns),
        fragments=unsealed,
        verdicts=tuple(verdicts),
    )


def current(sittings: list[Sitting]) -> Sitting | None:
    """The sitting that a debate is at: the oldest open one (they take turns), else the newest."""
    still_open = [sitting for sitting in sittings if sitting.state in OPEN]
    return next(iter(still_open), sittings[-1] if sittings else None)


def superseded(sittings: list[Sitting]) -> set[int]:
    """Sittings that came to nothing and were followed by others: their turns count in nothing later."""
    return {sitting.pk for sitting in sittings[:-1] if sitting.state in LOST}


def state_frame(now: Sitting | None, sittings: list[Sitting]) -> dict[str, Any]:
    """`queued` counts this debate's sittings that wait for their turn."""
    return {
        "state": now.state if now else Sitting.State.QUEUED,
        "sitting": now and now.pk,
        "kind": now and now.kind,
        "sentence": now.failure if now else "",
        "queued": sum(sitting.state == Sitting.State.QUEUED for sitting in sittings),
    }


def fragment_frame(fragment: Fragment) -> dict[str, Any]:
    names = ("number", "attempt", "bench", "kind", "round", "round_name", "text", "reason")
    return {name: getattr(fragment, name) for name in names}


def is_over(debate_pk: int) -> bool:
    """Whether all of a debate's sittings have ended."""
    return not Sitting.objects.filter(debate_id=debate_pk).open().exists()
