"""The truth about debates. Verbs on the QuerySets are the vocabulary of queries; only `sittings` changes a sitting's
state once it is queued, and only `recorder` writes turns."""

from __future__ import annotations

import secrets
import string
from datetime import timedelta
from typing import TYPE_CHECKING, Any, ClassVar

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.db import models
from django.db.models.functions import Now
from django.urls import reverse

from .engine import types as engine

if TYPE_CHECKING:
    from accounts.models import User

TOKEN_ALPHABET = string.ascii_letters + string.digits
TOKEN_LENGTH = 22  # 131 bits
UNDO_FOR = timedelta(days=1)  # how long a deletion can be taken back
MOST_VERDICTS = 20  # versions of one debate's verdict
MOST_WORDS = 8  # of a search; each is a pass over the transcripts


def new_token() -> str:
    """The name of a debate in its permalink: it can't be guessed, and it isn't the key, so it can be renewed."""
    return "".join(secrets.choice(TOKEN_ALPHABET) for _ in range(TOKEN_LENGTH))


def is_token(text: str) -> bool:
    return len(text) == TOKEN_LENGTH and text.isascii() and text.isalnum()


def new_seed() -> bytes:
    return secrets.token_bytes(32)


class DebateQuerySet(models.QuerySet["Debate"]):
    def visible_to(self, user: User | AnonymousUser) -> DebateQuerySet:
        """What may be seen by whoever holds the link."""
        shared = models.Q(visibility=Debate.Visibility.LINK)
        there = self.filter(deleted=None)
        return there.filter(shared | models.Q(owner=user)) if user.is_authenticated else there.filter(shared)

    def owned_by(self, user: User | AnonymousUser) -> DebateQuerySet:
        return self.filter(deleted=None, owner=user) if user.is_authenticated else self.none()

    def deleted_by(self, user: User | AnonymousUser) -> DebateQuerySet:
        """What its owner deleted and may still bring back."""
        return self.filter(deleted__isnull=False, owner=user) if user.is_authenticated else self.none()

    def to_erase(self) -> DebateQuerySet:
        return self.filter(deleted__lt=Now() - UNDO_FOR)

    def holding(self, words: str) -> DebateQuerySet:
        """Every word, in the motion or in a speech."""
        found = self
        for word in words.split()[:MOST_WORDS]:
            said = models.Exists(Turn.objects.filter(debate=models.OuterRef("pk"), text__icontains=word))
            found = found.filter(models.Q(motion__icontains=word) | said)
        return found


class Debate(models.Model):
    class Visibility(models.TextChoices):
        PRIVATE = "private", "Only I can see it"
        LINK = "link", "Anyone with the link can see it"

    class Origin(models.TextChoices):
        """Where its words come from. What wasn't spoken here, live, is labelled for what it is."""

        LIVE = "live", "Argued here"
        RECORDED = "recorded", "Recorded run"
        WRITTEN = "written", "Hand-written sample"
        IMPORTED = "imported", "Imported"

    token = models.CharField(max_length=TOKEN_LENGTH, unique=True, default=new_token, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.CASCADE, related_name="debates")
    origin = models.CharField(max_length=10, choices=Origin, default=Origin.LIVE)
    label = models.CharField(max_length=120, blank=True, help_text="The ribbon of a sample or import, in full.")
    format = models.CharField(max_length=20)
    motion = models.CharField(max_length=400)
    rules = models.JSONField(default=dict)
    visibility = models.CharField(max_length=10, choices=Visibility, default=Visibility.PRIVATE)
    fence = models.BigIntegerField(default=0, help_text="Raised at every claim of one of its sittings.")
    form_key = models.UUIDField(null=True, editable=False, help_text="Names the form it came from, sent once or often.")
    created = models.DateTimeField(db_default=Now())
    deleted = models.DateTimeField(null=True, editable=False, help_text="Gone for everybody; erased a day later.")

    objects: ClassVar[DebateQuerySet] = DebateQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        ordering = ("-created", "-pk")
        constraints = (models.UniqueConstraint("owner", "form_key", name="debate_once_a_form"),)

    def __str__(self) -> str:
        return self.motion

    def get_absolute_url(self) -> str:
        return reverse("debate", args=[self.token])

    @property
    def is_live(self) -> bool:
        """Whether it was argued here. Nothing is ever added to a sample or an import: its words are not ours."""
        return self.origin == self.Origin.LIVE

    def may_be_judged(self) -> bool:
        """Whether a fresh judgement may be opened, once nothing is open."""
        return self.is_live and 0 < self.verdicts.count() < MOST_VERDICTS


class Seat(models.Model):
    """A bench of one debate with the model that fills it. Sides are dealt to seats once, when the debate is made."""

    debate = models.ForeignKey(Debate, on_delete=models.CASCADE, related_name="seats")
    bench = models.CharField(max_length=20)
    provider = models.CharField(max_length=20)
    model = models.CharField(max_length=200)
    preset = models.CharField(max_length=20, blank=True)

    class Meta:
        constraints = (models.UniqueConstraint("debate", "bench", name="seat_one_a_bench"),)

    def __str__(self) -> str:
        return f"{self.bench}: {self.provider} {self.model}"

    def as_engine(self) -> engine.Seat:
        return engine.Seat(self.bench, self.provider, self.model, self.preset)


class PromptText(models.Model):
    """A prompt file as it was: a sitting goes on with its own, whatever was deployed since."""

    hash = models.CharField(max_length=64, primary_key=True)
    text = models.TextField()

    def __str__(self) -> str:
        return self.hash[:12]


class SittingQuerySet(models.QuerySet["Sitting"]):
    def open(self) -> SittingQuerySet:
        return self.filter(state__in=(Sitting.State.QUEUED, Sitting.State.RUNNING))

    def held(self, pk: int, fence: int) -> SittingQuerySet:
        """The sitting, if whoever claimed it under this fence still holds it."""
        return self.filter(pk=pk, state=Sitting.State.RUNNING, fence=fence)


class Sitting(models.Model):
    """One unit of work on a debate, and its own queue entry: a Celery message is only a hint at it."""

    class Kind(models.TextChoices):
        DEBATE = "debate", "debate"
        JUDGEMENT = "judgement", "fresh judgement"

    class State(models.TextChoices):
        QUEUED = "queued", "queued"
        RUNNING = "running", "running"
        DONE = "done", "done"
        FAILED = "failed", "failed"
        STOPPED = "stopped", "stopped"

    debate = models.ForeignKey(Debate, on_delete=models.CASCADE, related_name="sittings")
    kind = models.CharField(max_length=20, choices=Kind, default=Kind.DEBATE)
    state = models.CharField(max_length=10, choices=State, default=State.QUEUED)
    seed = models.BinaryField(default=new_seed)
    prompts = models.JSONField(default=dict, help_text="Prompt file name to the hash of its text.")
    first_number = models.IntegerField(null=True, help_text="Number of its first turn, set at the first claim.")
    fence = models.BigIntegerField(null=True)
    lease_until = models.DateTimeField(null=True)
    attempts = models.IntegerField(default=0)
    stop_asked = models.BooleanField(default=False)
    failed_bench = models.CharField(max_length=20, blank=True)
    failure = models.CharField(max_length=300, blank=True, help_text="One sentence for the reader.")
    opened_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    paid_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    opened = models.DateTimeField(db_default=Now())
    hinted = models.DateTimeField(db_default=Now(), help_text="When a worker was last told of it.")
    started = models.DateTimeField(null=True)
    ended = models.DateTimeField(null=True)

    objects: ClassVar[SittingQuerySet] = SittingQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        ordering = ("pk",)
        constraints = (
            models.UniqueConstraint("debate", condition=models.Q(state="running"), name="sitting_one_running_a_debate"),
        )
        indexes = (models.Index("state", "lease_until", name="sitting_by_state"),)

    def __str__(self) -> str:
        return f"{self.kind} of {self.debate_id}, {self.state}"


class Turn(models.Model):
    """A speech as delivered. Its text may be erased, never changed."""

    debate = models.ForeignKey(Debate, on_delete=models.CASCADE, related_name="turns")
    sitting = models.ForeignKey(Sitting, on_delete=models.CASCADE, related_name="turns")
    number = models.IntegerField()
    round = models.IntegerField()
    round_name = models.CharField(max_length=40)
    bench = models.CharField(max_length=20)
    kind = models.CharField(max_length=20)
    text = models.TextField(blank=True)
    data = models.JSONField(null=True)
    failure = models.CharField(max_length=300, blank=True)
    prompt = models.CharField(max_length=80)
    prompt_hash = models.CharField(max_length=64)
    model = models.CharField(max_length=200)
    tokens_read = models.IntegerField(default=0)
    tokens_cached = models.IntegerField(default=0)
    tokens_written = models.IntegerField(default=0)
    calls = models.IntegerField(default=1)
    sealed = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ("number",)
        constraints = (models.UniqueConstraint("debate", "number", name="turn_number_once_a_debate"),)

    def __str__(self) -> str:
        return f"{self.number} {self.bench} {self.kind}"

    @classmethod
    def of(cls, sitting: Sitting, turn: engine.Turn) -> Turn:
        return cls(
            debate_id=sitting.debate_id,
            sitting=sitting,
            tokens_read=turn.usage.read,
            tokens_cached=turn.usage.cached,
            tokens_written=turn.usage.written,
            **{name: getattr(turn, name) for name in SHARED_FIELDS},
        )

    def as_engine(self) -> engine.Turn:
        usage = engine.Usage(self.tokens_read, self.tokens_cached, self.tokens_written)
        return engine.Turn(usage=usage, **{name: getattr(self, name) for name in SHARED_FIELDS})


# What a turn's row and the engine's turn have in common, by name.
SHARED_FIELDS = (
    *("number", "round", "round_name", "bench", "kind", "text", "data", "failure"),
    *("prompt", "prompt_hash", "model", "calls"),
)


class Fragment(models.Model):
    """The unsealed text of a speech that is running, was stopped or failed; at most one write a second."""

    sitting = models.ForeignKey(Sitting, on_delete=models.CASCADE, related_name="fragments")
    number = models.IntegerField()
    attempt = models.IntegerField()
    round = models.IntegerField()
    round_name = models.CharField(max_length=40)
    bench = models.CharField(max_length=20)
    kind = models.CharField(max_length=20)
    text = models.TextField(blank=True)
    reason = models.CharField(max_length=300, blank=True)
    written = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ("number",)
        constraints = (models.UniqueConstraint("sitting", "number", name="fragment_one_a_turn"),)

    def __str__(self) -> str:
        return f"{self.number} {self.bench}, unsealed"


class Verdict(models.Model):
    """One version of the verdict, written in the transaction that seals its last ballot."""

    debate = models.ForeignKey(Debate, on_delete=models.CASCADE, related_name="verdicts")
    sitting = models.OneToOneField(Sitting, on_delete=models.CASCADE, related_name="verdict")
    version = models.IntegerField()
    outcome = models.CharField(max_length=10)
    winner = models.CharField(max_length=20, null=True)  # noqa: DJ001 - None is "nobody", not an empty name
    scores = models.JSONField(null=True)
    confidence = models.IntegerField(null=True)
    reason = models.CharField(max_length=400, blank=True)
    ballots = models.JSONField(default=list)
    details = models.JSONField(default=dict)
    given = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ("version",)
        constraints = (models.UniqueConstraint("debate", "version", name="verdict_version_once_a_debate"),)

    def __str__(self) -> str:
        return f"v{self.version}: {self.winner or self.outcome}"


def as_frame(turn: Turn, excluded: bool) -> dict[str, Any]:
    """A sealed turn as pages and exports see it (docs/live.md); `excluded` turns count in nothing later."""
    names = ("number", "round", "round_name", "bench", "kind", "text", "data", "failure", "model")
    return {name: getattr(turn, name) for name in names} | {"sitting": turn.sitting_id, "excluded": excluded}


def verdict_frame(verdict: Verdict) -> dict[str, Any]:
    names = ("version", "outcome", "winner", "scores", "confidence", "reason", "ballots", "details")
    return {name: getattr(verdict, name) for name in names} | {"sitting": verdict.sitting_id}
