from __future__ import annotations

from django.utils.translation import gettext as _

from opencode_web.lib.db import in_db
from opencode_web.lib.public_url import site_origin
from sessions.integrations.slack.api import FINAL, SlackError, slack_of
from sessions.integrations.slack.blocks import escape, fallback, link, section
from sessions.integrations.slack.setup import slack_host
from sessions.models import LinkedAccount, NotificationKind, PushSubscription, SlackWorkspace
from sessions.notifications.channels.base import Message, OneAddress, Result
from teams.auth import Principal
from teams.models import Team, User


class SlackChannel(OneAddress):
    """A direct message to the person's linked account.

    Only about the team whose workspace it is: that of the account which was linked first.
    """

    name = "slack"
    label = "Slack"
    usual_kinds: frozenset[NotificationKind] = frozenset()

    def unavailable(self, user: User) -> str:
        if _find(user) is not None:
            return ""
        return _("Link your account on your team's Slack page first.")

    def principal(
        self, user: User, device: PushSubscription | None, team: Team
    ) -> Principal | None:
        found = _find(user)
        is_its = found is not None and found[0].integration.team_id == team.pk
        return super().principal(user, device, team) if is_its else None

    async def send(self, user: User, device: PushSubscription | None, message: Message) -> Result:
        found = await in_db(_find, user)
        if found is None:
            return Result("No account is linked.", is_final=True)
        workspace, account = found
        origin = site_origin()
        title = [section(f"*{escape(message.title)}*")] if message.title else []
        lines = [
            section(f"{escape(line.what)}: {link(origin + line.path, line.subject)}")
            for line in message.lines[: 49 - len(title)]
        ]
        blocks = [*title, *lines]
        try:
            # An account's ID stands for the conversation that it has with the app.
            await slack_of(workspace).call(
                "chat.postMessage", channel=account, text=fallback(blocks), blocks=list(blocks)
            )
        except SlackError as exc:
            return Result(str(exc), is_final=exc.code in FINAL, wait_s=exc.wait_s)
        return Result()


def _find(user: User) -> tuple[SlackWorkspace, str] | None:
    """Returns: the workspace, and the ID of the person's account there."""
    rows = LinkedAccount.objects.filter(user=user, linked_at__isnull=False)
    for account in rows.filter(host__endswith=slack_host("")).order_by("linked_at", "pk"):
        spaces = SlackWorkspace.objects.filter(integration__team=account.team_id)
        for workspace in spaces.select_related("integration"):
            if slack_host(workspace.workspace) == account.host:
                return workspace, account.outside_id
    return None
