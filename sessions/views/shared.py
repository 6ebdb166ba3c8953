"""What a link opens: pages without scripts, for people who may have no account.

Their own policy lets them load style sheets, fonts and icons of this server and nothing else. Only
a link for the team looks at who is signed in.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.urls import reverse
from django.views.decorators.http import require_safe

from opencode_web.lib.counters import count
from opencode_web.lib.errors import NotFound
from sessions.access import access_session
from sessions.actions.shares import mark_opened
from sessions.models import Share
from sessions.present.pages.shared import load_shared, load_shared_row
from sessions.shares.access import access_shared
from sessions.shares.links import share_token
from teams.auth import authenticate_user
from teams.http import client_ip
from teams.models import User

_POLICY = (
    "default-src 'none'; style-src 'self'; font-src 'self'; img-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "Referrer-Policy": "no-referrer",
    "X-Robots-Tag": "noindex, nofollow, noarchive",
    "Cache-Control": "private, no-store",
}
# Pages that one address may open in a minute; a link cannot be guessed in any case.
_MOST, _WINDOW_S = 120, 60
_View = Callable[..., HttpResponse]


def _of_link(view: _View) -> _View:
    """Fetch what the token opens, for whom it is. All that opens nothing looks the same."""

    @wraps(view)
    def wrapped(request: HttpRequest, token: str, **names: str) -> HttpResponse:
        counted = count(f"share.{client_ip(request)}", window_s=_WINDOW_S)
        if counted.number > _MOST:
            response = _page("sessions/shared_refused.html", {"wait_s": counted.reset_s}, 429)
            response["Retry-After"] = str(counted.reset_s)
            return response
        try:
            share = access_shared(token)
            if share.scope != Share.Scope.PUBLIC:
                user = request.user
                if not isinstance(user, User):
                    return _closed(redirect_to_login(request.get_full_path()))
                access_session(authenticate_user(user), share.session_id)
            return view(request, share, **names)
        except NotFound:
            return _page("sessions/shared_refused.html", {}, 404)

    return wrapped


@require_safe
@_of_link
def shared(request: HttpRequest, share: Share) -> HttpResponse:
    """The newest turns of a session, or those before a cursor."""
    text = request.GET.get("before", "")
    before = int(text) if text.isdecimal() and len(text) < 16 else None
    view = load_shared(share, before=before)
    reader = request.user
    mark_opened(share, user=reader if isinstance(reader, User) else None)
    return _page("sessions/shared.html", {"shared": view})


@require_safe
@_of_link
def shared_part(request: HttpRequest, share: Share, part: str) -> HttpResponse:
    """The whole of what one tool said."""
    back = reverse("shared", kwargs={"token": share_token(share.pk)})
    row = load_shared_row(share, part)
    return _page("sessions/shared_part.html", {"row": row, "back_url": back})


def _page(template: str, context: dict[str, object], status: int = 200) -> HttpResponse:
    # Without the request: nothing of whoever reads it is on the page.
    return _closed(HttpResponse(render_to_string(template, context), status=status))


def _closed(response: HttpResponse) -> HttpResponse:
    for name, value in _HEADERS.items():
        response[name] = value
    return response
