"""Where no mail server is set up, letters land in var/mail. Whoever runs `manage.py up` reads them on the page that
tells of them: only the newest letter that this very browser asked for, and only on this very machine."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path

from django.conf import settings
from django.http import HttpRequest
from django.http.request import split_domain_port

FILES = "django.core.mail.backends.filebased.EmailBackend"
SEPARATOR = b"-" * 79  # what Django's backend writes after each letter
ASKED = "letter_to"  # the session's word for the address last written to
FORWARDED = ("Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-IP", "Via")
LOOKED_AT = 200


def may_read(request: HttpRequest) -> bool:
    """Whether the request comes from this machine, past no proxy, to a site that `manage.py up` runs without SMTP."""
    return (
        settings.UNDER_UP
        and settings.EMAIL_BACKEND == FILES
        and is_loopback(request.META.get("REMOTE_ADDR", ""))
        and is_loopback(split_domain_port(request.get_host())[0].strip("[]"))
        and not any(name in request.headers for name in FORWARDED)
    )


def is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def asked_for(request: HttpRequest, address: str) -> None:
    """Notes that this browser made us write to the address."""
    if may_read(request):
        request.session[ASKED] = address


def newest(request: HttpRequest) -> EmailMessage | None:
    """The last letter to the address that this browser made us write to, if it may be shown."""
    address = request.session.get(ASKED) if may_read(request) else None
    return next((letter for letter in _letters() if is_to(letter, address)), None) if address else None


def is_to(letter: EmailMessage, address: str) -> bool:
    return any(to.addr_spec.lower() == address.lower() for to in letter["To"].addresses)


def _letters() -> Iterator[EmailMessage]:
    """The newest first."""
    written = sorted(Path(settings.EMAIL_FILE_PATH).glob("*.log"), key=lambda path: path.stat().st_mtime_ns)
    for path in written[: -LOOKED_AT - 1 : -1]:
        for letter in reversed(path.read_bytes().split(SEPARATOR)[:-1]):
            yield message_from_bytes(letter.lstrip(), policy=policy.default)
