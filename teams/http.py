"""Typed requests, the two decorators of pages, and answers for htmx and for plain browsers."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.forms import BaseForm
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django_htmx.http import HttpResponseClientRedirect
from django_htmx.middleware import HtmxDetails

from opencode_web.lib.errors import Conflict, Forbidden, Invalid
from opencode_web.lib.origin import Origin, identify
from teams.access import TeamAccess, access_team
from teams.actions.browsers import note_browser
from teams.browser import BrowserSession
from teams.models import Invite, Membership, Role, Team, User
from teams.policy import unmet_teams

P = ParamSpec("P")
T = TypeVar("T")

# Key of the browser's session: the team to open at `/`.
LAST_TEAM = "last_team"
# Key of the browser's session: the invitation this browser has opened.
INVITE = "invite"
# Key of the browser's session: the page that asked for another sign-in.
AFTER_SECURITY = "after_security"


class UserRequest(HttpRequest):
    """A request of somebody who is signed in."""

    user: User
    htmx: HtmxDetails


class TeamRequest(UserRequest):
    """A request of a member about one team."""

    team: Team
    membership: Membership
    access: TeamAccess


def user_view(
    view: Callable[Concatenate[UserRequest, P], HttpResponseBase],
) -> Callable[Concatenate[HttpRequest, P], HttpResponseBase]:
    """Let only signed-in people in; others are sent to the sign-in page and come back."""

    @wraps(view)
    def wrapped(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        if not request.user.is_authenticated:
            return _to_sign_in(request)
        _note(request, request.user)
        return view(request, *args, **kwargs)  # type: ignore[arg-type]  # checked above

    return wrapped


def team_view(
    *, need: Role | None = Role.VIEWER
) -> Callable[
    [Callable[Concatenate[TeamRequest, P], HttpResponseBase]], Callable[..., HttpResponseBase]
]:
    """Resolve the URL's `team` (a slug or id) to `request.team`, `.membership` and `.access`.

    `need` is None for what everybody in the team may see. Raises, when called: NotFound for
    outsiders and whoever sees nothing of the team's work, Forbidden when a role lacks `need`.
    """

    def decorate(
        view: Callable[Concatenate[TeamRequest, P], HttpResponseBase],
    ) -> Callable[..., HttpResponseBase]:
        @wraps(view)
        def wrapped(
            request: HttpRequest, team: str, *args: P.args, **kwargs: P.kwargs
        ) -> HttpResponseBase:
            if not request.user.is_authenticated:
                return _to_sign_in(request)
            _note(request, request.user)
            access = access_team(request.user, team, need=need)
            # The whole typed request is made here and nowhere else.
            request.access, request.team = access, access.team  # type: ignore[attr-defined]
            request.membership = access.membership  # type: ignore[attr-defined]
            if request.session.get(LAST_TEAM) != access.team.pk:
                request.session[LAST_TEAM] = access.team.pk
            return view(request, *args, **kwargs)  # type: ignore[arg-type]  # made above

        return wrapped

    return decorate


def shell_access(request: HttpRequest) -> TeamAccess | None:
    """Returns: the team whose inbox a page has: its own, else the last one that was open, else the
    person's first. None for who is in no team whose sign-in policy they meet."""
    access: TeamAccess | None = getattr(request, "access", None)
    if access is not None or not isinstance(request.user, User):
        return access
    own = Membership.objects.current().filter(user=request.user).select_related("team")
    own = own.exclude(unmet_teams(request.user, "team__"))
    rows = list(own.order_by("team__name", "team_id"))
    last = request.session.get(LAST_TEAM)
    row = next((row for row in rows if row.team_id == last), rows[0] if rows else None)
    return None if row is None else TeamAccess(row.team, row, request.user)


def has_open_invite(request: HttpRequest) -> bool:
    """Whether this browser has opened an invitation that can still be accepted."""
    invite_id = request.session.get(INVITE)
    return bool(invite_id) and Invite.objects.open().filter(pk=invite_id).exists()


def client_ip(request: HttpRequest) -> str | None:
    """The address a request came from; behind proxies as `ForwardedClient` has put it."""
    return request.META.get("REMOTE_ADDR") or None


def origin_of(request: HttpRequest) -> Origin:
    """Returns: where the request comes from; nobody is identified yet."""
    return Origin(client_ip(request), request.META.get("HTTP_USER_AGENT", ""))


def attempt(form: BaseForm, action: Callable[[], T]) -> T | None:
    """Run an action for a bound form.

    Returns: what it returns, or None when the form is wrong; a fault the action finds becomes an
    error of the form.
    """
    if not form.is_valid():
        return None
    try:
        return action()
    except (Invalid, Conflict, Forbidden) as exc:
        form.add_error(None, exc.message)
        return None


def changed_fields(form: BaseForm) -> dict[str, Any]:
    """Returns: what the person changed in a valid form whose fields `show_hidden_initial`.

    A field that was left alone must not undo what somebody else has saved since the page was read.
    """
    return {name: form.cleaned_data[name] for name in form.changed_data}


def show(
    request: HttpRequest,
    page: str,
    fragment: str,
    context: dict[str, object],
    *,
    status: int = 200,
) -> HttpResponse:
    """Render the fragment for htmx and the page that includes it for everybody else."""
    template = fragment if getattr(request, "htmx", False) else page
    return render(request, template, context, status=status)


def done(request: HttpRequest, message: str, *, to: str) -> HttpResponse:
    """Leave a message for the next page and go there."""
    messages.success(request, message)
    return go(request, to=to)


def go(request: HttpRequest, *, to: str) -> HttpResponse:
    """Redirect. htmx is told by its own header, so that the whole page changes."""
    if getattr(request, "htmx", False):
        return HttpResponseClientRedirect(to)
    return redirect(to)


def _note(request: HttpRequest, user: User) -> None:
    identify(user.pk)
    browser = BrowserSession.of(request.session)
    if browser is not None:
        user_agent = request.META.get("HTTP_USER_AGENT", "")
        note_browser(user, browser, ip=client_ip(request), user_agent=user_agent)


def _to_sign_in(request: HttpRequest) -> HttpResponse:
    if getattr(request, "htmx", False):
        # The page says so and stays: what was written on it would be lost on the way.
        return HttpResponse(status=401)
    # Only a page that was read can be come back to.
    target = request.get_full_path() if request.method == "GET" else reverse("home")
    return redirect_to_login(target)
