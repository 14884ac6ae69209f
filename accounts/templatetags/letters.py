from __future__ import annotations

from typing import Any

from django import template

from accounts import letters

register = template.Library()


@register.inclusion_tag("account/_letter.html", takes_context=True)
def letter(context: template.Context) -> dict[str, Any]:
    """The letter that the page speaks of, where it may be shown; else nothing."""
    found = letters.newest(context["request"])
    return {"text": found.get_content().strip() if found else "", "subject": found["Subject"] if found else ""}
