"""What endpoints say when they refuse, in their many dialects, and which kind of error it is."""

from __future__ import annotations

import email.utils
import json
import math
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .base import Kind, ProviderError

NO_WEIGHTS = "The model's weights are not on this machine."
NOT_A_MODEL = "Something other than a model answered at the provider's address."

# The first that fits names the kind; codes and types come before the words of the message.
DIALECTS: tuple[tuple[Kind, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(pattern))
    for kind, pattern in (
        (Kind.MODEL_MISSING, r"missing_model_error"),
        (Kind.WAKING, r"loading model|unavailable_error|model is (currently )?loading"),
        (
            Kind.TOO_LONG,
            r"context_length_exceeded|exceed_context_size|maximum context length|prompt is too long|input is too long"
            r"|exceeds? the (available |maximum |model's )*context|context (window|length|size)"
            r"|too many (input |prompt )?tokens|request too large",
        ),
        (
            Kind.OUT_OF_QUOTA,
            r"insufficient[_ ](quota|credits?|balance|funds)|billing_(hard_limit|not_active)|credit balance"
            r"|out of credits|payment required|requires more credits",
        ),
        (
            Kind.KEY_REJECTED,
            r"invalid_api_key|authentication_error|api[_ ]key (is )?(not valid|invalid|expired)"
            r"|(invalid|incorrect|wrong|missing|no|expired) (x-)?api[- _]?key|unauthorized",
        ),
        (
            Kind.MODEL_MISSING,
            r"model_not_found|invalid[_ ]model\b|not a valid model|no such model|unknown model"
            r"|access to (the )?model|model\b.{0,120}(not found|does not exist|not exist|is not available)",
        ),
        (Kind.REFUSED, r"content_filter|content_policy|content management policy|moderation|flagged"),
        (Kind.OVERLOADED, r"overloaded"),
        (Kind.THROTTLED, r"rate_limit|rate limit|too many requests|throttl|resource_exhausted"),
        (Kind.BAD_REQUEST, r"must alternate|jinja|chat template"),
    )
)

STATUSES: Mapping[int, Kind] = {
    401: Kind.KEY_REJECTED,
    402: Kind.OUT_OF_QUOTA,
    403: Kind.KEY_REJECTED,
    404: Kind.MODEL_MISSING,
    408: Kind.OVERLOADED,
    409: Kind.OVERLOADED,
    413: Kind.TOO_LONG,
    425: Kind.OVERLOADED,
    429: Kind.THROTTLED,
}

MEANT_BY_MARKUP = frozenset({401, 402, 413, 429})  # statuses that mean what they say even with a web page as body


@dataclass(frozen=True, slots=True)
class Refusal:
    """An endpoint's own account of why it does not answer. `status` is HTTP's, or the code in the body."""

    status: int | None
    code: str = ""
    param: str = ""
    message: str = ""
    retry_after: float | None = None
    markup: bool = False

    @property
    def words(self) -> str:
        return f"{self.code} {self.message}".lower()

    @property
    def kind(self) -> Kind:
        if self.markup:
            return self._by_status() if self._status_is_meant() else Kind.BAD_REQUEST
        return next((kind for kind, dialect in DIALECTS if dialect.search(self.words)), self._by_status())

    def _status_is_meant(self) -> bool:
        return self.status is not None and (self.status >= 500 or self.status in MEANT_BY_MARKUP)

    def _by_status(self) -> Kind:
        """An error without a status came in the middle of a 200: something broke behind the endpoint."""
        if self.status is None or self.status >= 500 or self.status < 300:
            return Kind.OVERLOADED
        return STATUSES.get(self.status, Kind.BAD_REQUEST)

    def error(self, key: str) -> ProviderError:
        """For the reader a sentence of ours; for the log what was said, without the key."""
        detail = scrub(f"{self.status or 200} {self.code} {self.param} {self.message[:500]}", key)
        return ProviderError(self.kind, retry_after=self.retry_after, detail=detail, sentence=self._sentence())

    def _sentence(self) -> str:
        """Where ours says more than the kind's."""
        if self.markup and self.kind is Kind.BAD_REQUEST:
            return NOT_A_MODEL
        return NO_WEIGHTS if "missing_model_error" in self.code else ""


def read_refusal(text: str, status: int | None, headers: Mapping[str, str]) -> Refusal:
    """From a response's body, whatever it is."""
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        markup = text.lstrip().startswith("<")
        return Refusal(status, message="" if markup else text, retry_after=retry_after(headers), markup=markup)
    return refusal_in(body, status, headers)


def refusal_in(body: object, status: int | None = None, headers: Mapping[str, str] | None = None) -> Refusal:
    """From a parsed error object: OpenAI's, OpenRouter's, Mistral's, Gemini's, vLLM's, llama.cpp's or Ollama's."""
    if isinstance(body, list) and body:
        body = body[0]
    inner: Any = body.get("error", body) if isinstance(body, dict) else body
    if not isinstance(inner, dict):
        inner = {"message": inner if isinstance(inner, str) else ""}
    code = inner.get("code")
    said = " ".join(str(inner[name]) for name in ("code", "type", "status") if inner.get(name))
    message = _message(inner)
    return Refusal(
        status=status or (int(code) if str(code).isdecimal() and 100 <= int(code) <= 599 else None),
        code=said,
        param=str(inner.get("param") or ""),
        message=message,
        retry_after=_seconds(retry_after(headers or {}), _delay_in(message)),
    )


def _message(inner: Mapping[str, Any]) -> str:
    """The words for people, and where they are a list of complaints, its places and messages but not the input."""
    said = inner.get("message") or inner.get("detail") or ""
    complaints = said.get("detail", said) if isinstance(said, dict) else said
    if isinstance(complaints, list):
        complaints = "; ".join(_complaint(item) for item in complaints)
    metadata = inner.get("metadata")
    raw = metadata.get("raw", "") if isinstance(metadata, dict) else ""
    return f"{complaints} {raw}".strip()[:2000]


def _complaint(item: object) -> str:
    if not isinstance(item, dict):
        return str(item)
    place = ".".join(str(part) for part in item.get("loc", ()))
    return f"{place}: {item.get('msg', '')} ({item.get('type', '')})"


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds until the provider wants to be asked again. A date counts from the response's own clock."""
    milliseconds, said = headers.get("retry-after-ms"), headers.get("retry-after", "")
    try:
        return _sane(float(milliseconds) / 1000 if milliseconds else float(said))
    except ValueError:
        pass
    until, now = _moment(said), _moment(headers.get("date", ""))
    return None if until is None else _sane(until - (time.time() if now is None else now))


def _moment(text: str) -> float | None:
    parsed = email.utils.parsedate_tz(text) if text else None
    return email.utils.mktime_tz(parsed) if parsed else None


def _sane(seconds: float) -> float | None:
    return max(0.0, seconds) if math.isfinite(seconds) else None


def _delay_in(message: str) -> float | None:
    found = re.search(r"(?:try again|retry) in (\d+(?:\.\d+)?) ?(ms|s)\b", message, re.IGNORECASE)
    return float(found[1]) / (1000 if found[2] == "ms" else 1) if found else None


def _seconds(*candidates: float | None) -> float | None:
    return next((seconds for seconds in candidates if seconds is not None), None)


def scrub(text: str, key: str) -> str:
    """Without the key, nor what is shaped like one."""
    if len(key) > 3:
        text = text.replace(key, "[key]")
    return re.sub(r"\b(?:sk|pk|key|gsk|xai|Bearer)[-_ ][\w*.-]{6,}", "[key]", text)
