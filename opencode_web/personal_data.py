"""What the server keeps about a person, for themselves: a page, and all of it as JSON.

Texts of sessions are the work of their team and are exported there. No secret is in it.
"""

from __future__ import annotations

from typing import Any

from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.db.models import Model, QuerySet
from django.http import HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from opencode_web.lib.json import JsonObject
from sessions.models import (
    McpSignIn,
    Message,
    OwnWebhook,
    PushSubscription,
    Schedule,
    Session,
    Terminal,
)
from sessions.visibility import seen_projects, seen_sessions
from teams.access import teams_of
from teams.actions.browsers import browsers_of
from teams.http import UserRequest, user_view
from teams.models import (
    ApiToken,
    AuditEntry,
    DirectoryAccount,
    Invite,
    Membership,
    UsageEntry,
    User,
)
from teams.policy import unmet_teams

# The newest ones; a team's admins can export all of them.
MAX_ENTRIES = 10_000
_LABELS: dict[str, Promise] = {
    "teams": gettext_lazy("Teams and roles"),
    "tokens": gettext_lazy("API tokens, without their secrets"),
    "browsers": gettext_lazy("Browsers where you are signed in"),
    "pushBrowsers": gettext_lazy("Browsers that get Web Push, without their addresses"),
    "identities": gettext_lazy("Identity providers that you are connected to"),
    "factors": gettext_lazy("Second factors, without their secrets"),
    "directory": gettext_lazy("What the directory of your company sent"),
    "groups": gettext_lazy("Groups of the directory that you are in"),
    "invitations": gettext_lazy("Invitations that you sent or accepted"),
    "sessions": gettext_lazy("Sessions that you started"),
    "schedules": gettext_lazy("Schedules that you wrote"),
    "terminals": gettext_lazy("Terminals that you opened"),
    "mcpSignIns": gettext_lazy("Your sign-ins to MCP servers, without what they granted"),
    "audit": gettext_lazy("Entries in audit logs of what you did"),
}


@require_GET
@never_cache
@user_view
def personal_data(request: UserRequest) -> HttpResponse:
    """Say what is kept, and how much of it."""
    kept = collect(request.user)
    rows = [(label, len(kept[name])) for name, label in _LABELS.items()]
    context: dict[str, object] = {
        "account": kept["account"],
        "rows": rows,
        "prompts": kept["prompts"],
        "requests": kept["modelRequests"],
    }
    return render(request, "teams/data.html", context)


@require_GET
@never_cache
@user_view
def personal_data_file(request: UserRequest) -> HttpResponse:
    """Everything as one JSON file."""
    response = JsonResponse(collect(request.user), json_dumps_params={"indent": 2})
    name = f"opencode-web-{timezone.now():%Y-%m-%d}.json"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def collect(user: User) -> dict[str, Any]:  # JSON with dates
    """Returns: what is kept about a person, by kind. A dozen queries, however much it is."""
    own_teams = teams_of(user, need=None).exclude(unmet_teams(user))
    sessions = Session.objects.filter(seen_sessions(user.pk), owner=user)
    sessions = sessions.filter(project__team__in=own_teams)
    schedules = Schedule.objects.filter(seen_projects(user.pk, prefix="project__"), author=user)
    entries = AuditEntry.objects.filter(actor=user).exclude(unmet_teams(user, "team__"))
    entries = entries.order_by("-pk")[:MAX_ENTRIES]
    return {
        "account": {
            "email": user.email,
            "name": user.name,
            "created": user.created_at,
            "lastSignIn": user.last_login,
            "lastSeen": user.last_seen_on,
            "operator": user.is_superuser,
            "theme": user.theme,
            "preferences": user.preferences,
        },
        "teams": _rows(
            Membership.objects.current().filter(user=user),
            *("team__name", "team__slug", "role", "is_approver", "created_at"),
        ),
        "tokens": _rows(
            ApiToken.objects.filter(user=user),
            *("name", "prefix", "team__slug", "scopes"),
            *("created_at", "expires_at", "last_used_at", "revoked_at"),
        ),
        "browsers": [
            {"ip": row.ip, "userAgent": row.user_agent}
            | {"signedIn": row.created_at, "lastSeen": row.last_seen_at}
            for row in browsers_of(user)
        ],
        "pushBrowsers": _rows(
            PushSubscription.objects.filter(browser__user=user), "browser__user_agent", "created_at"
        ),
        "webhook": _rows(
            OwnWebhook.objects.filter(user=user),
            "url",
            "created_at",
            "failing_since",
            "disabled_at",
        ),
        "identities": _rows(
            SocialAccount.objects.filter(user=user), "provider", "uid", "date_joined", "extra_data"
        ),
        "factors": _rows(
            Authenticator.objects.filter(user=user), "type", "created_at", "last_used_at"
        ),
        "directory": _rows(
            DirectoryAccount.objects.filter(user=user), "external_id", "data", "updated_at"
        ),
        "groups": list(user.directory_groups.order_by("name").values_list("name", flat=True)),
        "invitations": _rows(
            Invite.objects.filter(created_by=user) | Invite.objects.filter(accepted_by=user),
            *("team__slug", "role", "email", "created_at", "accepted_at", "revoked_at"),
        ),
        "sessions": _rows(
            sessions, "id", "title", "project__name", "project__team__slug", "created_at"
        ),
        "prompts": Message.objects.filter(author=user).count(),
        "modelRequests": UsageEntry.objects.filter(user=user).count(),
        "schedules": _rows(
            schedules.filter(project__team__in=own_teams),
            *("id", "name", "prompt", "cron", "timezone", "created_at"),
        ),
        "terminals": _rows(
            Terminal.objects.filter(creator=user, project__team__in=own_teams),
            "id",
            "title",
            "created_at",
            "ended_at",
        ),
        "mcpSignIns": _rows(
            McpSignIn.objects.filter(user=user, team__in=own_teams),
            *("name", "url", "team__slug", "signed_in_at", "state"),
        ),
        "audit": [_entry(entry) for entry in entries],
    }


def _rows(rows: QuerySet[Model], *names: str) -> list[dict[str, Any]]:
    return list(rows.order_by("pk").values(*names))


def _entry(entry: AuditEntry) -> JsonObject:
    return {
        "time": entry.time.isoformat(),
        "action": entry.action,
        "ip": entry.ip,
        "client": entry.client,
        "target": f"{entry.target_type} {entry.target_id}".strip(),
    }
