"""Who may watch a debate: Origin, session and visibility, as plain synchronous functions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module

from django.conf import settings
from django.contrib.auth import get_user
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest, parse_cookie
from django.http.request import split_domain_port, validate_host

from accounts.models import User

from .models import TOKEN_LENGTH, Debate
from .snapshots import is_over

Headers = Iterable[tuple[bytes, bytes]]


@dataclass(frozen=True, slots=True)
class Ticket:
    """What a viewer came with; it is looked at again whenever access to the debate changes."""

    token: str
    session: str


@dataclass(frozen=True, slots=True)
class Admitted:
    debate_pk: int
    over: bool


def same_origin(headers: Headers) -> bool:
    """Whether a page of this very site opened the socket: a browser sends that site's cookies along for any page,
    so a missing, "null" or foreign Origin, or one of another port, is refused."""
    hosts, origins = values(headers, b"host"), values(headers, b"origin")
    if len(hosts) != 1 or len(origins) != 1:
        return False
    host = hosts[0].lower()
    schemes = ("https",) if settings.SECURE_SSL else ("http", "https")
    domain, _ = split_domain_port(host)
    return validate_host(domain, settings.ALLOWED_HOSTS) and origins[0].lower() in [f"{s}://{host}" for s in schemes]


def values(headers: Headers, name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in headers if key == name]


def ticket(token: str, headers: Headers) -> Ticket:
    cookies = parse_cookie("; ".join(values(headers, b"cookie")))
    return Ticket(token, cookies.get(settings.SESSION_COOKIE_NAME, ""))


def admit(ticket: Ticket) -> Admitted | None:
    """The debate that the ticket opens; None if there is none or it isn't for its holder to see."""
    if len(ticket.token) != TOKEN_LENGTH or not (ticket.token.isascii() and ticket.token.isalnum()):
        return None
    visible = Debate.objects.visible_to(holder(ticket.session))
    debate_pk = visible.filter(token=ticket.token).values_list("pk", flat=True).first()
    return Admitted(debate_pk, is_over(debate_pk)) if debate_pk is not None else None


def holder(session_key: str) -> User | AnonymousUser:
    if not session_key:
        return AnonymousUser()
    request = HttpRequest()
    request.session = import_module(settings.SESSION_ENGINE).SessionStore(session_key)
    user = get_user(request)
    return user if isinstance(user, User) else AnonymousUser()


def refused(debate_pk: int, tickets: Iterable[Ticket]) -> set[Ticket]:
    """Those that don't open the debate any more."""
    return {ticket for ticket in tickets if (admitted := admit(ticket)) is None or admitted.debate_pk != debate_pk}
