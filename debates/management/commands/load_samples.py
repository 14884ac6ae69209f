"""Loads the sample debates. Loading them again changes nothing, unless a file has changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from debates.documents import Unreadable, export, read, store
from debates.engine.documents import DebateDocument
from debates.models import Debate
from debates.samples import sample_files, sample_token


class Command(BaseCommand):
    help = "Loads the sample debates, and replaces those whose file has changed."

    def handle(self, *args: Any, **options: Any) -> None:
        loaded = sum(load(path) for path in sample_files())
        if loaded:
            self.stdout.write(f"Loaded {loaded} sample debate{'s' if loaded > 1 else ''}.")


@transaction.atomic
def load(path: Path) -> bool:
    """Whether the sample had to be stored: it was new, or its file had changed."""
    try:
        document = read(path.read_bytes())
    except Unreadable as error:
        raise CommandError(f"{path.name}: {error}") from error
    token = sample_token(path.stem)
    there = Debate.objects.filter(token=token).first()
    if there and same(document, export(there)):
        return False
    if there:
        there.delete()
    debate = store(document, owner=None, origin=document.origin, label=document.label, token=token)
    debate.visibility = Debate.Visibility.LINK
    debate.save(update_fields=["visibility"])
    return True


def same(document: DebateDocument, stored: DebateDocument) -> bool:
    """Whether the debate still is what its file says. What readers have added to its end since doesn't count."""
    turns, verdicts = stored.turns[: len(document.turns)], stored.verdicts[: len(document.verdicts)]
    return told(document) == told(stored.model_copy(update={"turns": turns, "verdicts": verdicts}))


def told(document: DebateDocument) -> dict[str, Any]:
    """What loading a document keeps of it; seats have no order of their own."""
    kept = document.model_dump(include={"format", "motion", "rules", "origin", "label", "turns", "verdicts"})
    return kept | {"seats": {seat.bench: seat.model_dump() for seat in document.seats}}
