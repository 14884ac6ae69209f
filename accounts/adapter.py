"""Where the site differs from allauth's ways."""

from __future__ import annotations

import logging
from typing import Any

from allauth.account import adapter
from allauth.core import context
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.models import Authenticator
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from django.contrib import messages
from django.http import HttpRequest

from . import letters
from .models import User

log = logging.getLogger(__name__)
UNSENT = "The letter could not be sent. Try again in a few minutes."


class AccountAdapter(adapter.DefaultAccountAdapter):  # type: ignore[misc]
    error_messages = adapter.DefaultAccountAdapter.error_messages | {
        "account_inactive": "This account is closed.",
        "duplicate_email": "That is your address already.",
        "email_password_mismatch": "No account has this address with this password.",
        "email_taken": "Another account has this address.",
        "enter_current_password": "That is not your present password.",
        "incorrect_code": "That is not the code. Look at the newest one again.",
        "incorrect_password": "That is not your password.",
        "rate_limited": "That was too often. Wait a minute, then try again.",
        "same_as_current": "That is the address already.",
        "too_many_login_attempts": "That failed too often. Wait a few minutes, then sign in again.",
    }

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """A mail server that is away costs a letter, which can be asked for again, and not the page."""
        try:
            super().send_mail(template_prefix, email, context)
        except OSError:
            log.exception("A letter could not be sent")
            messages.error(current_request(), UNSENT)
        else:
            letters.asked_for(current_request(), email)

    def get_password_change_redirect_url(self, request: HttpRequest) -> str:
        return "/account/"

    def get_email_verification_redirect_url(self, email_address: Any) -> str:
        return "/account/"


def current_request() -> HttpRequest:
    return context.request


class SocialAccountAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]
    def populate_user(self, request: HttpRequest, sociallogin: Any, data: dict[str, Any]) -> User:
        """Others see the provider's user name until another display name is chosen."""
        user: User = super().populate_user(request, sociallogin, data)
        user.display_name = (data.get("username") or "")[:40]
        return user


class MFAAdapter(DefaultMFAAdapter):  # type: ignore[misc]
    error_messages = DefaultMFAAdapter.error_messages | {
        "incorrect_code": "This code or passkey isn't the right one.",
        "unverified_email": "Confirm your address first.",
    }

    def generate_authenticator_name(self, user: User, type: str) -> str:
        others = Authenticator.objects.filter(user=user, type=type).count()
        return f"Passkey {others + 1}" if others else "Passkey"
