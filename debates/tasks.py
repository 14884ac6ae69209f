"""Celery's side: a message is a hint that a debate has work, and this process's one worker loop does it."""

from __future__ import annotations

from typing import Any

from celery import shared_task
from celery.signals import worker_shutting_down

from .worker import Worker

worker = Worker()


@worker_shutting_down.connect
def drain(**kwargs: Any) -> None:
    worker.drain()


@shared_task(name="debates.run_sitting", acks_late=False, max_retries=0)
def run_sitting(debate: int) -> None:
    """Sits until the debate has nothing open, or another worker has it."""
    worker.sit(debate)
