"""The words of what entries of the audit trail keep: the names of fields, and values of ours."""

from __future__ import annotations

from datetime import datetime

from django.utils.formats import date_format
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

_FIELDS: dict[str, Promise] = {
    "account": gettext_lazy("Account"),
    "after": gettext_lazy("After"),
    "agent": gettext_lazy("Agent"),
    "always": gettext_lazy("Always allowed"),
    "approved_by": gettext_lazy("Approved by"),
    "asker": gettext_lazy("Asked by"),
    "before": gettext_lazy("Before"),
    "branch": gettext_lazy("Branch"),
    "browsers": gettext_lazy("Browsers"),
    "changes": gettext_lazy("Changes"),
    "change_request": gettext_lazy("Request"),
    "characters": gettext_lazy("Characters"),
    "commit": gettext_lazy("Commit"),
    "count": gettext_lazy("Count"),
    "days": gettext_lazy("Days"),
    "delivery": gettext_lazy("Delivery"),
    "email": gettext_lazy("E-mail"),
    "engine": gettext_lazy("Search engine"),
    "everywhere": gettext_lazy("All projects"),
    "file": gettext_lazy("File"),
    "files": gettext_lazy("Files"),
    "folder": gettext_lazy("Folder"),
    "format": gettext_lazy("Format"),
    "group": gettext_lazy("Group"),
    "host": gettext_lazy("Host"),
    "into": gettext_lazy("Into"),
    "key": gettext_lazy("Key"),
    "keys": gettext_lazy("Settings"),
    "kind": gettext_lazy("Kind"),
    "kinds": gettext_lazy("Kinds"),
    "links": gettext_lazy("Links"),
    "message": gettext_lazy("Message"),
    "messages": gettext_lazy("Messages"),
    "method": gettext_lazy("Method"),
    "model": gettext_lazy("Model"),
    "name": gettext_lazy("Name"),
    "network": gettext_lazy("Network"),
    "others": gettext_lazy("Other requests"),
    "outcome": gettext_lazy("Result"),
    "parts": gettext_lazy("Parts"),
    "path": gettext_lazy("Path"),
    "pattern": gettext_lazy("Pattern"),
    "patterns": gettext_lazy("Patterns"),
    "period": gettext_lazy("Period"),
    "permission": gettext_lazy("Permission"),
    "port": gettext_lazy("Port"),
    "prefix": gettext_lazy("Prefix"),
    "project": gettext_lazy("Project"),
    "projects": gettext_lazy("Projects"),
    "provider": gettext_lazy("Provider"),
    "reason": gettext_lazy("Reason"),
    "reply": gettext_lazy("Response"),
    "request": gettext_lazy("Request"),
    "role": gettext_lazy("Role"),
    "route": gettext_lazy("Route"),
    "rule": gettext_lazy("Rule"),
    "scope": gettext_lazy("Scope"),
    "second_person": gettext_lazy("Second person"),
    "server": gettext_lazy("MCP server"),
    "session": gettext_lazy("Session"),
    "sharing": gettext_lazy("Sharing"),
    "slug": gettext_lazy("Address"),
    "soft": gettext_lazy("Only notify (soft)"),
    "title": gettext_lazy("Title"),
    "tokens_revoked": gettext_lazy("Revoked tokens"),
    "until": gettext_lazy("Until"),
    "user": gettext_lazy("Person"),
    "user_agent": gettext_lazy("Browser"),
    "warn_percent": gettext_lazy("Warn at (percent)"),
}
_YES_OR_NO: dict[str, Promise] = {"true": gettext_lazy("yes"), "false": gettext_lazy("no")}
# Values that are words of ours, by field.
_VALUES: dict[str, dict[str, Promise]] = {
    # Of a test call: the class of its error.
    "outcome": {
        "ok": gettext_lazy("works"),
        "AuthError": gettext_lazy("the key was rejected"),
        "QuotaExceeded": gettext_lazy("the account has no credit left"),
        "RateLimited": gettext_lazy("too many requests"),
        "NetworkError": gettext_lazy("no connection"),
        "UnknownModel": gettext_lazy("unknown model"),
        "BadRequest": gettext_lazy("the request was rejected"),
        "ServerError": gettext_lazy("server error"),
    },
    "period": {
        "day": gettext_lazy("Day"),
        "week": gettext_lazy("Week"),
        "month": gettext_lazy("Month"),
    },
    # Those of MCP servers and other programs are names.
    "permission": {
        "bash": gettext_lazy("shell commands"),
        "doom_loop": gettext_lazy("repeated tool calls"),
        "edit": gettext_lazy("editing files"),
        "external_directory": gettext_lazy("folders outside the project"),
        "glob": gettext_lazy("looking for files"),
        "grep": gettext_lazy("searching files"),
        "list": gettext_lazy("listing files"),
        "read": gettext_lazy("reading files"),
        "skill": gettext_lazy("loading skills"),
        "task": gettext_lazy("sub-agents"),
        "webfetch": gettext_lazy("fetching web pages"),
        "websearch": gettext_lazy("searching the web"),
    },
    "reply": {
        "once": gettext_lazy("Allow once"),
        "always": gettext_lazy("Allow and remember"),
        "reject": gettext_lazy("Reject"),
    },
    "scope": {
        "session": gettext_lazy("Session"),
        "project": gettext_lazy("Project"),
        "team": gettext_lazy("Team"),
        "each": gettext_lazy("Each member"),
        "instance": gettext_lazy("Server"),
        "member": gettext_lazy("Member"),
        "service": gettext_lazy("Each service account"),
        "unpriced": gettext_lazy("Models without a known price"),
        "warning": gettext_lazy("Warn at (percent)"),
    },
    "everywhere": _YES_OR_NO,
    "second_person": _YES_OR_NO,
    "soft": _YES_OR_NO,
}


def field_label(name: str) -> str:
    """Returns: the name of a field of the data, also of a nested one such as `before.name`."""
    return ", ".join(str(_FIELDS.get(part, part)) for part in name.split("."))


def said_value(name: str, value: str) -> str:
    """Returns: the value of a field; one of ours in words, and a time as pages show it, in UTC."""
    if name == "until" and "T" in value:
        return date_format(datetime.fromisoformat(value), "DATETIME_FORMAT") + " UTC"
    return str(_VALUES.get(name, {}).get(value, value))
