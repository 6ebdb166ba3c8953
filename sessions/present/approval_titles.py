"""What a change does that a second person has to approve, in a few words."""

from __future__ import annotations

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from opencode_web.lib.json import JsonObject, text_of
from sessions.models import ChangeKind, ChangeRequest

# What each change does; `:new` where there was nothing before.
_TITLES: dict[str, Promise] = {
    "account.delete": gettext_lazy("Delete the provider %(name)s and the prices of its models"),
    "approvals.set": gettext_lazy("No longer ask for approval"),
    "budget.set": gettext_lazy("Change a budget"),
    "budgets.set": gettext_lazy("Change budgets"),
    "checkout.merge": gettext_lazy("Merge %(branch)s into %(into)s"),
    "checkout.push": gettext_lazy("Push %(branch)s to %(url)s"),
    "checkout.request": gettext_lazy("Open a pull request from %(branch)s into %(into)s"),
    "limits.project": gettext_lazy("Change the spending limits in the settings of %(project)s"),
    "limits.team": gettext_lazy("Change the spending limits in the settings of the team"),
    "prices.account": gettext_lazy("Lower prices of models of %(name)s"),
    "prices.project": gettext_lazy("Lower prices of models in the settings of %(project)s"),
    "prices.team": gettext_lazy("Lower prices of models in the settings of the team"),
    "rules.project": gettext_lazy("Change the permission rules of the project %(project)s"),
    "rules.team": gettext_lazy("Change the permission rules of the team"),
    "secret.remove": gettext_lazy("Remove the secret %(name)s of the project %(project)s"),
    "secret.set": gettext_lazy("Replace the secret %(name)s of the project %(project)s"),
    "secret.set:new": gettext_lazy("Add the secret %(name)s to the project %(project)s"),
    "team_secret.remove": gettext_lazy("Remove the team secret %(name)s"),
    "team_secret.set": gettext_lazy("Replace the team secret %(name)s"),
    "team_secret.set:new": gettext_lazy("Add the team secret %(name)s"),
    "trust.plugin": gettext_lazy("Trust the plugin %(name)s"),
    "trust.program": gettext_lazy("Let the MCP server %(name)s of %(project)s run its files"),
    "trust.repository": gettext_lazy("Trust the agent files of the project %(project)s"),
}


def title_of(row: ChangeRequest) -> str:
    """Returns: what the change does, in a few words."""
    told: JsonObject = row.told
    key = f"{row.what}:new" if told.get("new") else row.what
    text = _TITLES.get(key) or _TITLES.get(row.what)
    names = ("name", "branch", "into", "url")
    values = {one: text_of(told, one) for one in names}
    values["project"] = row.project.name if row.project else ""
    return str(text) % values if text else str(ChangeKind(row.kind).label)
