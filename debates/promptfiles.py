"""Prompt texts as rows: a sitting keeps the wording it was opened with, so a deploy never changes a running debate."""

from __future__ import annotations

import hashlib

from .engine.prompts import PromptBook, todays
from .models import PromptText


def keep(slug: str) -> dict[str, str]:
    """Stores today's prompt texts of a format and gives their hashes by file name, for a new sitting."""
    texts = todays(slug).texts
    hashes = {name: hashlib.sha256(text.encode()).hexdigest() for name, text in texts.items()}
    rows = [PromptText(hash=hashes[name], text=text) for name, text in texts.items()]
    PromptText.objects.bulk_create(rows, ignore_conflicts=True)
    return hashes


def book(hashes: dict[str, str]) -> PromptBook:
    """The prompts that a sitting was opened with."""
    texts = dict(PromptText.objects.filter(hash__in=hashes.values()).values_list("hash", "text"))
    return PromptBook({name: texts[hash_] for name, hash_ in hashes.items()})
