"""What people may send, and what becomes of it."""

from __future__ import annotations

import uuid
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import TextChoices

from accounts.models import User

from . import promptfiles, seating, sittings
from .claims import clean_claim
from .documents import LARGEST, TOO_LARGE, Unreadable, read, store
from .engine.documents import DebateDocument
from .engine.formats import find_format
from .engine.presets import defaults
from .models import Debate, Sitting, new_seed


class ClaimField(forms.CharField):
    """A claim. What is wrong with it is said in one sentence."""

    def to_python(self, value: Any) -> str:
        try:
            return clean_claim(value or "")
        except ValueError as refusal:
            raise ValidationError(str(refusal)) from None


class SentBefore(Exception):
    """A form with this key started another debate."""

    def __init__(self, debate: Debate) -> None:
        self.debate = debate
        super().__init__(debate.pk)


class Length(TextChoices):
    WHOLE = "whole", "Whole: cross-examination, open rounds, the bench, last words"
    SHORT = "short", "Short: openings and rebuttals"


class ClashForm(forms.Form):
    claim = ClaimField(
        label="What should be argued?",
        strip=False,
        widget=forms.Textarea(attrs={"rows": 3, "dir": "auto", "placeholder": "Cities should ban private cars"}),
    )
    length = forms.ChoiceField(choices=Length, initial=Length.WHOLE, required=False, widget=forms.RadioSelect)
    visibility = forms.ChoiceField(
        choices=Debate.Visibility.choices, initial=Debate.Visibility.PRIVATE, widget=forms.RadioSelect
    )
    form_key = forms.UUIDField(initial=uuid.uuid4, widget=forms.HiddenInput)

    def save(self, owner: User) -> Debate:
        """Starts the debate, or gives the one that this very form has already started.

        Raises `SentBefore` where that was about something else, and `seating.NobodyToSpeak`.
        """
        try:
            with transaction.atomic():
                return self._start(owner)
        except IntegrityError:
            debate = Debate.objects.filter(owner=owner, form_key=self.cleaned_data["form_key"]).first()
            if debate is None:
                raise
        if debate.deleted:
            self.cleaned_data["form_key"] = uuid.uuid4()
            return self.save(owner)
        if debate.motion != self.cleaned_data["claim"]:
            raise SentBefore(debate)
        return debate

    def _start(self, owner: User) -> Debate:
        format, seed = find_format("clash"), new_seed()
        seats = seating.deal(format, seed)
        length: dict[str, Any] = {"quick": True} if self.cleaned_data["length"] == Length.SHORT else {}
        debate = Debate.objects.create(
            owner=owner,
            format=format.slug,
            motion=self.cleaned_data["claim"],
            rules=defaults(*(seat.preset for seat in seats)) | length,
            visibility=self.cleaned_data["visibility"],
            form_key=self.cleaned_data["form_key"],
        )
        for seat in seats:
            seat.debate = debate
        debate.seats.bulk_create(seats)
        sittings.open_sitting(debate, Sitting.Kind.DEBATE, owner, promptfiles.keep(format.slug), seed)
        return debate


class ShareForm(forms.ModelForm):
    class Meta:
        model = Debate
        fields = ("visibility",)
        widgets = {"visibility": forms.RadioSelect}


class ImportForm(forms.Form):
    """A debate document to be replayed."""

    file = forms.FileField(label="A debate that was exported as JSON")

    def clean_file(self) -> DebateDocument:
        """The document that the file holds."""
        file = self.cleaned_data["file"]
        if file.size > LARGEST:
            raise ValidationError(TOO_LARGE)
        try:
            return read(file.read())
        except Unreadable as error:
            raise ValidationError(str(error)) from error

    def save(self, owner: User) -> Debate:
        return store(self.cleaned_data["file"], owner, Debate.Origin.IMPORTED, "Imported")
