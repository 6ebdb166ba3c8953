"""How many requests a caller may make in a minute: a token, or a person with a browser."""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from opencode_web.lib.counters import count
from opencode_web.lib.errors import TooManyRequests
from sessions.config.model import Limits
from teams.auth import Principal

WINDOW_S = 60


@dataclass(frozen=True)
class Rate:
    """What a caller has left in this window. Units: requests, seconds."""

    limit: int
    used: int
    reset_s: int

    @property
    def remaining(self) -> int:
        return max(0, self.limit - self.used)


def count_request(request: HttpRequest, principal: Principal) -> None:
    """Count the request once. A stream counts when it is opened.

    Raises: TooManyRequests.
    """
    limit = _limit_of(principal)
    if not limit:
        return
    name = principal.token_id or f"user.{principal.user.pk}"
    counted = count(f"api.{name}", window_s=WINDOW_S)
    rate = Rate(limit, counted.number, counted.reset_s)
    request.rate = rate  # type: ignore[attr-defined]  # for the headers of the answer
    if rate.used > limit:
        raise TooManyRequests(
            f"Too many requests: {limit} a minute are allowed. Try again in {rate.reset_s} s.",
            limit=limit,
            retryAfter=rate.reset_s,
        )


def with_rate(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
    """Say in the answer what is left. Source: draft-ietf-httpapi-ratelimit-headers-06."""
    rate = getattr(request, "rate", None)
    if isinstance(rate, Rate):
        response["RateLimit-Limit"] = str(rate.limit)
        response["RateLimit-Remaining"] = str(rate.remaining)
        response["RateLimit-Reset"] = str(rate.reset_s)
    return response


def _limit_of(principal: Principal) -> int:
    """Returns: requests a minute; 0 for any number. A team can allow its tokens fewer."""
    most: int = settings.API_REQUESTS_PER_MINUTE
    # As it is stored: a request is no place to check all settings of a team.
    stored = principal.team.config.get("limits") if principal.team else None
    wanted = stored.get(_FIELD) if isinstance(stored, dict) else None
    if not isinstance(wanted, int) or wanted < 1:
        return most
    return min(wanted, most) if most else wanted


_FIELD = "requests_per_minute"
assert _FIELD in Limits.model_fields
