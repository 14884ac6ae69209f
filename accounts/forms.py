from __future__ import annotations

import unicodedata
from typing import Any

from allauth.mfa.webauthn import forms as webauthn
from django import forms
from django.core.exceptions import ValidationError

from .models import User

JOINERS = "\u200c\u200d"  # letters of Persian and of emoji hang on them


class DisplayNameForm(forms.ModelForm):
    class Meta:
        model = User
        fields = ("display_name",)
        widgets = {"display_name": forms.TextInput(attrs={"dir": "auto", "autocomplete": "nickname"})}

    def clean_display_name(self) -> str:
        name = " ".join(self.cleaned_data["display_name"].split())
        if any(unicodedata.category(sign)[0] == "C" and sign not in JOINERS for sign in name):
            raise ValidationError("The name has a sign in it that can't be seen.")
        return name


class AddPasskeyForm(webauthn.AddWebAuthnForm):  # type: ignore[misc]
    """A key serves for signing in alone, if it can; else as a second step after the password."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["name"].label = "Name it, to tell it from others"
        self.fields["passwordless"].label = "Sign in with it alone, without the password"
        self.fields["passwordless"].help_text = ""
        self.fields["passwordless"].initial = True
