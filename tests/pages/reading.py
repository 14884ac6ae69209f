"""What tests of the pages send, and what they read."""

from __future__ import annotations

import re
import uuid
from html import unescape
from typing import Any

from django.test import Client

from accounts.models import User
from debates.models import Debate

CLAIM = "Cities should ban private cars from their centres"


def browser_of(user: User | None) -> Client:
    client = Client()
    if user:
        client.force_login(user)
    return client


def sent(claim: str = CLAIM, **fields: Any) -> dict[str, Any]:
    return {"claim": claim, "visibility": "private", "form_key": str(uuid.uuid4())} | fields


def kept_text(response) -> str:
    """What stands in the claim's field."""
    [field] = re.findall(r"<textarea[^>]*>\n?(.*?)</textarea>", response.content.decode(), re.DOTALL)
    return unescape(field)


def shown(client: Client, debate: Debate) -> str:
    """The page as a reader without a script sees it: no templates, no data."""
    page = client.get(debate.get_absolute_url()).content.decode()
    return unescape(re.sub(r"<(template|script)\b.*?</\1>", "", page, flags=re.DOTALL))
