"""Django's own checks of a password, told in one sentence before and one at a time after."""

from __future__ import annotations

from typing import Any

from django.contrib.auth import password_validation


class NotEasyToGuess:
    checks = (
        password_validation.MinimumLengthValidator(8),
        password_validation.CommonPasswordValidator(),
        password_validation.UserAttributeSimilarityValidator(("email", "display_name")),
    )

    def validate(self, password: str, user: Any = None) -> None:
        for check in self.checks:
            check.validate(password, user)

    def get_help_text(self) -> str:
        return "At least 8 characters, and nothing that is easy to guess."
