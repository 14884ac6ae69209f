"""Imports a debate document as a labelled replay."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from accounts.models import User
from debates.documents import Unreadable, read, store
from debates.models import Debate


class Command(BaseCommand):
    help = "Imports a debate document (docs/document.md) as a labelled replay."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--owner", metavar="EMAIL", help="whose debate it becomes; nobody's where none is named")

    def handle(self, *args: Any, file: Path, owner: str | None, **options: Any) -> None:
        try:
            document = read(file.read_bytes())
            user = User.objects.get_by_natural_key(owner) if owner else None
        except (OSError, Unreadable, User.DoesNotExist) as error:
            raise CommandError(str(error)) from error
        debate = store(document, user, Debate.Origin.IMPORTED, "Imported")
        debate.visibility = Debate.Visibility.LINK
        debate.save(update_fields=["visibility"])
        self.stdout.write(settings.SITE_URL + debate.get_absolute_url())
