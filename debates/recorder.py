"""The only writer of turns: it seals what the engine delivers in PostgreSQL, the truth, and then tells the log.

Every write is made under the claim's fence. A sealed turn costs one transaction; a turn that is being spoken costs one
`Fragment` a second, and nothing a token.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Max
from django.db.models.functions import Coalesce

from .database import in_db, in_db_at_last
from .engine import events
from .engine import types as engine
from .engine.documents import TurnPart, VerdictPart
from .log import Log
from .models import Fragment, Sitting, Turn, Verdict, as_frame, verdict_frame
from .sittings import Claim, Lost, hold, release


@dataclass(slots=True)
class Open:
    """A turn being spoken: what of it was said, and whether that has been written down since."""

    started: events.TurnStarted
    text: str = ""
    unwritten: bool = False

    def frame(self) -> dict[str, Any]:
        return asdict(self.started) | {"text": self.text}


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a sitting could not go on: the bench that failed, and a sentence for the reader."""

    bench: str
    sentence: str


class Recorder:
    """Writes down one sitting, for as long as it is held."""

    def __init__(self, claim: Claim, log: Log) -> None:
        self.claim = claim
        self.log = log
        self.open: dict[int, Open] = {}
        self.failure: Failure | None = None
        self.settling = False  # a seal is on its way, or all is said: whoever breaks off must wait or is too late

    def begin(self, kind: str) -> None:
        """Every claim opens with the whole state: whatever was being spoken before it is void."""
        state = {"t": "state", "sitting": self.claim.sitting, "kind": kind, "state": "running", "open": []}
        self.log.write(state)

    async def record(self, event: events.Event) -> None:
        """Writes one event down. Raises `Lost` if the sitting is no longer ours."""
        match event:
            case events.Delta():
                self._say(event)
            case events.TurnStarted():
                self.open[event.number] = Open(event, unwritten=True)
                self.log.write({"t": "start"} | asdict(event))
            case events.RoundStarted():
                self.log.write({"t": "round"} | asdict(event))
            case events.Waiting():
                self.log.write({"t": "wait"} | asdict(event))
            case events.TurnEnded():
                await self._seal(event.turn, event.verdict)
            case events.Failed():
                await self._fail(event)
            case events.Ended():
                await in_db_at_last(release, self.claim, Sitting.State.DONE)

    def _say(self, delta: events.Delta) -> None:
        said = self.open[delta.number]
        said.text += delta.text
        said.unwritten = True
        self.log.write({"t": "delta"} | asdict(delta))

    async def _seal(self, turn: engine.Turn, verdict: engine.Verdict | None) -> None:
        self.settling = True
        row, version = await in_db_at_last(seal, self.claim, turn, verdict)
        self.open.pop(turn.number, None)
        self.log.write({"t": "turn", "turn": as_frame(row, excluded=False)})
        if version is None:
            self.settling = False
            return
        self.log.write({"t": "verdict", "verdict": verdict_frame(version)})
        self.end(Sitting.State.DONE)

    async def _fail(self, failed: events.Failed) -> None:
        self.failure = self.failure or Failure(failed.bench, failed.sentence)
        said = self.open.get(failed.number)
        if said is not None:
            await in_db_at_last(write_fragments, self.claim, {failed.number: said.frame()}, failed.sentence)
            del self.open[failed.number]
        self.log.write({"t": "failed"} | asdict(failed))

    async def keep(self, reason: str = "") -> None:
        """Writes what was said since the last time: once a second, and with a reason when the sitting is ending."""
        changed = {number: said.frame() for number, said in self.open.items() if said.unwritten or reason}
        if not changed:
            return
        for number, frame in changed.items():
            self.open[number].unwritten = False
            self.log.write({"t": "text"} | frame)
        await in_db(write_fragments, self.claim, changed, reason)

    def end(self, state: str, sentence: str = "") -> None:
        self.log.write({"t": "end", "sitting": self.claim.sitting, "state": state, "sentence": sentence})


@transaction.atomic
def seal(claim: Claim, turn: engine.Turn, verdict: engine.Verdict | None) -> tuple[Turn, Verdict | None]:
    """Seals a turn and, with the last one, the verdict and the sitting. Sealing the same turn twice is one seal."""
    try:
        sitting = hold(claim)
    except Lost:
        return _sealed_last(claim, turn)
    row = _sealed(sitting, turn)
    Fragment.objects.filter(sitting=sitting, number=turn.number).delete()
    if verdict is None:
        return row, None
    version = _version(sitting, verdict)
    if not release(claim, Sitting.State.DONE):
        raise Lost(f"sitting {claim.sitting} under fence {claim.fence}")
    return row, version


def _sealed_last(claim: Claim, turn: engine.Turn) -> tuple[Turn, Verdict]:
    """The last seal once more: its commit had ended the sitting, but its answer was lost with the connection."""
    ended = Sitting.objects.filter(pk=claim.sitting, fence=claim.fence, state=Sitting.State.DONE)
    row = Turn.objects.filter(sitting__in=ended, number=turn.number, text=turn.text).first()
    version = Verdict.objects.filter(sitting__in=ended).first()
    if row is None or version is None:
        raise Lost(f"sitting {claim.sitting} under fence {claim.fence}")
    return row, version


def _sealed(sitting: Sitting, turn: engine.Turn) -> Turn:
    """The turn's row. It may be there already: a commit whose answer was lost with the connection is tried again."""
    row = Turn.of(sitting, turn)
    try:
        with transaction.atomic():
            row.save(force_insert=True)
    except IntegrityError:
        there = Turn.objects.get(debate_id=sitting.debate_id, number=turn.number)
        if (there.sitting_id, there.text) != (sitting.pk, turn.text):
            raise
        return there
    return row


def _version(sitting: Sitting, verdict: engine.Verdict) -> Verdict:
    versions = Verdict.objects.filter(debate_id=sitting.debate_id)
    last = versions.aggregate(version=Coalesce(Max("version"), 0))["version"]
    fields = verdict.as_dict() | {"ballots": list(verdict.ballots)}
    return Verdict.objects.create(debate_id=sitting.debate_id, sitting=sitting, version=last + 1, **fields)


@transaction.atomic
def write_fragments(claim: Claim, frames: Mapping[int, dict[str, Any]], reason: str) -> None:
    """Writes the text so far of turns being spoken. Raises `Lost` if the sitting is no longer ours."""
    sitting = hold(claim)
    sealed = set(Turn.objects.filter(sitting=sitting, number__in=frames).values_list("number", flat=True))
    unsealed = [frame for number, frame in frames.items() if number not in sealed]
    rows = [Fragment(sitting=sitting, reason=reason, **frame) for frame in unsealed]
    names = ["attempt", "round", "round_name", "bench", "kind", "text", "reason", "written"]
    Fragment.objects.bulk_create(rows, update_conflicts=True, unique_fields=["sitting", "number"], update_fields=names)


@transaction.atomic
def restore(sittings: list[Sitting], turns: Sequence[TurnPart], verdicts: Sequence[VerdictPart]) -> None:
    """Writes the turns and verdicts of an imported document; a part's `sitting` counts the sittings from 1."""
    for turn in turns:
        fields = turn.model_dump(exclude={"sitting", "usage"})
        spoken = engine.Turn(usage=engine.Usage(**turn.usage.model_dump()), **fields)
        Turn.of(sittings[turn.sitting - 1], spoken).save(force_insert=True)
    for verdict in verdicts:
        sitting = sittings[verdict.sitting - 1]
        fields = verdict.model_dump(exclude={"sitting"})
        Verdict.objects.create(debate_id=sitting.debate_id, sitting=sitting, **fields)
