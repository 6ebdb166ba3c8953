"""The page on which a person decides what a client may do.

Nothing leads from here to a client's address but a button that the person presses, also no fault:
anybody can register any address.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import urlencode, urlsplit

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from opencode_web.lib.errors import Invalid
from opencode_web.mcp_server.oauth.clients import McpClient, is_allowed, is_loopback, known_client
from opencode_web.mcp_server.oauth.codes import Grant, issue_code
from opencode_web.mcp_server.oauth.metadata import (
    SCOPES,
    is_resource,
    issuer_url,
    resource_url,
)
from teams.access import teams_of
from teams.browser import BrowserSession
from teams.http import LAST_TEAM, UserRequest, attempt, user_view
from teams.models import Scope, Team, User
from teams.models.token import new_token_id
from teams.policy import require_policy

MAX_STATE_CHARS = 2_000
_CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}")
_NAMES = (
    *("response_type", "client_id", "redirect_uri", "state", "scope", "resource"),
    *("code_challenge", "code_challenge_method"),
)
_OFFERED = {
    Scope.READ: gettext_lazy("Read: projects, sessions and their transcripts"),
    Scope.WRITE: gettext_lazy(
        "Read and write: also start, continue and stop sessions, answer questions, and allow what "
        "agents ask to do"
    ),
}


@dataclass(frozen=True)
class Asked:
    """A request of a client. `scopes` are those that the person may choose of."""

    client: McpClient
    redirect_uri: str
    state: str
    scopes: tuple[Scope, ...]
    challenge: str

    @property
    def name(self) -> str:
        return self.client.name or self.host

    @property
    def host(self) -> str:
        return urlsplit(self.redirect_uri).netloc

    @property
    def is_local(self) -> bool:
        return is_loopback(self.redirect_uri)


class ConsentForm(forms.Form):
    """What a client may do."""

    team = forms.ModelChoiceField(
        Team.objects.none(), label=gettext_lazy("Team"), empty_label=None, to_field_name="slug"
    )
    scope = forms.ChoiceField(label=gettext_lazy("Access"), widget=forms.RadioSelect)

    def __init__(self, data: object, *, user: User, asked: Asked, team: Team | None) -> None:
        super().__init__(data, initial={"team": team})  # type: ignore[arg-type]  # a QueryDict
        self.fields["team"].queryset = teams_of(user, need=None)  # type: ignore[attr-defined]
        offered = [(scope.value, _OFFERED[scope]) for scope in asked.scopes]
        self.fields["scope"].choices = offered  # type: ignore[attr-defined]


@require_http_methods(["GET", "POST"])
@never_cache
@user_view
def authorize(request: UserRequest) -> HttpResponse:
    """Source: RFC 6749, 4.1.1, and RFC 7636."""
    asked = _read(request)
    if request.method == "POST" and "deny" in request.POST:
        return _back(request, asked, error="access_denied")
    teams = teams_of(request.user, need=None)
    last = teams.filter(pk=request.session.get(LAST_TEAM)).first()
    given = request.POST if request.method == "POST" else None
    form = ConsentForm(given, user=request.user, asked=asked, team=last)
    code = attempt(form, lambda: _grant(request, asked, form)) if given is not None else None
    if code is not None:
        return _back(request, asked, code=code)
    return render(
        request,
        "account/authorize.html",
        {"asked": asked, "form": form, "has_teams": teams.exists()},
        status=200 if given is None else 422,
    )


def _grant(request: UserRequest, asked: Asked, form: ConsentForm) -> str:
    """Returns: a code. Raises: PolicyUnmet."""
    team = form.cleaned_data["team"]
    require_policy(request.user, team)
    browser = BrowserSession.of(request.session)
    return issue_code(
        Grant(
            token=new_token_id(),
            user=request.user.pk,
            browser=browser.digest if browser else "",
            team=team.pk,
            scope=Scope(form.cleaned_data["scope"]),
            client=asked.client.digest,
            name=asked.name,
            redirect_uri=asked.redirect_uri,
            challenge=asked.challenge,
        )
    )


def _read(request: HttpRequest) -> Asked:
    """Raises: Invalid, for people."""
    given = request.GET
    if twice := next((name for name in _NAMES if len(given.getlist(name)) > 1), None):
        raise _fault(_("%(name)s is there twice.") % {"name": twice})
    client = known_client(given.get("client_id", ""))
    if client is None:
        raise _fault(_("This server does not know the client."))
    only = client.redirect_uris[0] if len(client.redirect_uris) == 1 else ""
    uri = given.get("redirect_uri", only)
    if not is_allowed(uri) or not client.has_redirect_uri(uri):
        raise _fault(_("The client has not registered the address that it wants you back at."))
    if given.get("response_type") != "code":
        raise _fault(_("%(name)s must be %(value)s.") % {"name": "response_type", "value": "code"})
    if given.get("code_challenge_method") != "S256":
        raise _fault(
            _("%(name)s must be %(value)s.") % {"name": "code_challenge_method", "value": "S256"}
        )
    challenge, state = given.get("code_challenge", ""), given.get("state", "")
    if not _CHALLENGE.fullmatch(challenge):
        raise _fault(_("code_challenge is no S256 challenge."))
    if len(state) > MAX_STATE_CHARS:
        raise _fault(_("state is too long."))
    if (wanted := given.get("resource", "")) and not is_resource(request, wanted):
        said = _("It asks for access to another address than %(url)s.")
        raise _fault(said % {"url": resource_url(request)})
    # Others are names of other servers, and may be ignored. Source: RFC 6749, 3.3.
    named = {scope for scope in SCOPES if scope in given.get("scope", "").split()}
    only_read = named == {Scope.READ}
    return Asked(client, uri, state, (Scope.READ,) if only_read else SCOPES, challenge)


def _fault(why: str) -> Invalid:
    said = _("The MCP client cannot be connected. %(why)s Connect again from the client.")
    return Invalid(said % {"why": why})


def _back(request: HttpRequest, asked: Asked, **answer: str) -> HttpResponse:
    """Returns: the way back to the client. Source: RFC 9207 for `iss`."""
    if asked.state:
        answer["state"] = asked.state
    query = urlencode({**answer, "iss": issuer_url(request)})
    joint = "&" if urlsplit(asked.redirect_uri).query else "?"
    url = f"{asked.redirect_uri}{joint}{query}"
    return render(request, "account/leaving.html", {"provider": {"name": asked.name}, "url": url})
