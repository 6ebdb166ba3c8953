from __future__ import annotations

import re
from dataclasses import dataclass, field

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from opencode_web.lib.crypto import encrypt
from opencode_web.lib.errors import Conflict, Invalid, NotFound
from opencode_web.lib.ids import new_id
from opencode_web.lib.json import JsonObject, object_of, text_of
from opencode_web.lib.text import clean_text
from sessions.access import access_project
from sessions.integrations.setup import no_address
from sessions.integrations.slack.api import Slack, SlackError, slack_of
from sessions.models import SLACK, Integration, OutsideReply, SlackChannel, SlackWorkspace
from teams.access import TeamAccess, require_role
from teams.audit import AuditAction, record
from teams.auth import authenticate_user
from teams.models import Role

_CHANNEL = re.compile(r"[CG][A-Z0-9]{2,20}")
_MAX_TOKEN_CHARS = 300


@dataclass(frozen=True)
class Tokens:
    """What an admin pastes; empty for what is to stay as it is."""

    bot: str = field(default="", repr=False)
    app: str = field(default="", repr=False)
    secret: str = field(default="", repr=False)


@dataclass(frozen=True)
class _Found:
    """The workspace that a bot token is of, as Slack says."""

    workspace: str
    name: str
    bot_user: str


async def probe(tokens: Tokens) -> _Found | None:
    """Ask Slack whom the tokens are of. Returns: None without a bot token.

    Raises: Invalid, saying which one is wrong and why.
    """
    for name, token, prefix in (("bot", tokens.bot, "xoxb-"), ("app", tokens.app, "xapp-")):
        if token and not (token.startswith(prefix) and token.isascii() and token.isprintable()):
            text = _("This token does not begin with %(prefix)s.") % {"prefix": prefix}
            raise Invalid(text, field=f"{name}_token")
    try:
        if tokens.app:
            await Slack(tokens.app).call("apps.connections.open")
    except SlackError as exc:
        raise Invalid(_(exc.told), field="app_token") from exc
    if not tokens.bot:
        return None
    try:
        said = await Slack(tokens.bot).call("auth.test")
    except SlackError as exc:
        raise Invalid(_(exc.told), field="bot_token") from exc
    name = clean_text(text_of(said, "team"))[:100]
    return _Found(text_of(said, "team_id")[:40], name, text_of(said, "user_id")[:40])


@transaction.atomic
def connect_slack(
    access: TeamAccess, tokens: Tokens, found: _Found | None, *, ip: str | None = None
) -> SlackWorkspace:
    """Connect the team's workspace, or change its tokens, as `probe` has found them.

    Raises: Invalid without a token or a way to hear of messages; Conflict for the app of
    another workspace; Forbidden below admin.
    """
    require_role(access, Role.ADMIN)
    if tokens == Tokens():
        raise Invalid(_("Paste the bot token."), field="bot_token")
    row = find_workspace(access)
    is_new = row is None
    if row is None:
        if found is None:
            raise Invalid(_("Paste the bot token."), field="bot_token")
        if not (tokens.app or tokens.secret):
            raise Invalid(_("Paste the app token or the signing secret."), field="app_token")
        now = timezone.now()
        made = Integration(id=new_id("igr"), team=access.team, kind=SLACK, created_at=now)
        made.created_by = access.user
        made.save(force_insert=True)
        row = SlackWorkspace(integration=made, workspace=found.workspace)
    if found is not None:
        if row.workspace != found.workspace:
            raise Conflict(_("This app is of another workspace. Remove this one first."))
        row.bot_token, row.bot_user, row.name = encrypt(tokens.bot), found.bot_user, found.name
    if tokens.app:
        row.app_token = encrypt(tokens.app)
    if tokens.secret:
        row.integration.secret = encrypt(tokens.secret)
        row.integration.refused = 0
        row.integration.save(update_fields=["secret", "refused"])
    # Whoever speaks with Slack does so with the old tokens, and finds that somebody else may.
    row.problem, row.served_by, row.served_until = "", "", None
    row.save(force_insert=is_new)
    done = AuditAction.SLACK_CONNECTED if is_new else AuditAction.SLACK_CHANGED
    _record(done, access, row, ip, change="tokens")
    return row


@transaction.atomic
def remove_slack(access: TeamAccess, *, ip: str | None = None) -> None:
    """Take and write nothing there any more. The sessions stay.

    Raises: NotFound; Forbidden below admin.
    """
    require_role(access, Role.ADMIN)
    row = require_workspace(access)
    _record(AuditAction.SLACK_REMOVED, access, row, ip)
    row.integration.delete()


async def name_of_channel(row: SlackWorkspace, channel: str) -> str:
    """Ask Slack for a channel. Returns: its name; "" for direct messages. Raises: Invalid."""
    if not channel:
        return ""
    if not _CHANNEL.fullmatch(channel):
        text = _("A channel's ID begins with C or G. Slack shows it in the channel's details.")
        raise Invalid(text, field="channel")
    try:
        said = await slack_of(row).ask("conversations.info", channel=channel)
    except SlackError as exc:
        raise Invalid(_(exc.told), field="channel") from exc
    about = object_of(said, "channel")
    if about.get("is_member") is not True:
        raise Invalid(_("The app is not in this channel. Invite it there."), field="channel")
    return clean_text(text_of(about, "name"))[:100]


@transaction.atomic
def allow_channel(
    access: TeamAccess, channel: str, *, name: str, project_id: str, ip: str | None = None
) -> SlackChannel:
    """Have agents be talked to in a channel, or in direct messages, about a project of the team.

    Raises: NotFound; Invalid for a project that the caller does not see; Forbidden below admin.
    """
    require_role(access, Role.ADMIN)
    row = require_workspace(access)
    found = access_project(authenticate_user(access.user), project_id, need=Role.ADMIN)
    if found.team.team.pk != access.team.pk:
        raise Invalid(_("Choose a project of this team."), field="project")
    kept, _is_new = SlackChannel.objects.update_or_create(
        workspace=row, channel=channel, defaults={"name": name, "project": found.project}
    )
    _write_anew(row)
    where = name or "direct messages"
    _record(AuditAction.SLACK_CHANGED, access, row, ip, channel=where, project=found.project.name)
    return kept


@transaction.atomic
def forbid_channel(access: TeamAccess, channel_id: int, *, ip: str | None = None) -> None:
    """Say nothing there any more. Raises: NotFound; Forbidden below admin."""
    require_role(access, Role.ADMIN)
    row = require_workspace(access)
    kept = row.channels.filter(pk=channel_id).first()
    if kept is None:
        raise NotFound("Channel")
    _record(AuditAction.SLACK_CHANGED, access, row, ip, channel=kept.name, change="removed")
    kept.delete()
    _write_anew(row)


def _write_anew(row: SlackWorkspace) -> None:
    """What is shown may not be any more."""
    row.integration.replies.all().write_anew(OutsideReply.State.SHOWN, now=timezone.now())


def find_workspace(access: TeamAccess) -> SlackWorkspace | None:
    """Returns: the team's; None without one."""
    rows = SlackWorkspace.objects.select_related("integration")
    return rows.filter(integration__team=access.team, integration__kind=SLACK).first()


def require_workspace(access: TeamAccess) -> SlackWorkspace:
    """Raises: NotFound while there is none."""
    row = find_workspace(access)
    if row is None:
        raise NotFound("Integration")
    return row


def slack_host(workspace: str) -> str:
    """Returns: whose accounts those of a workspace are, for linked accounts."""
    return f"{workspace}.slack.com"


def address_of_slack(row: SlackWorkspace | None) -> str:
    """Returns: where Slack sends to; empty while this server does not know its own address."""
    if not settings.PUBLIC_URL or row is None:
        return ""
    return f"{settings.PUBLIC_URL}/integrations/slack/{row.pk}"


def problems_of_slack(row: SlackWorkspace) -> list[str]:
    """Returns: what stands in the way, as sentences that say what to do."""
    found = [_(row.problem)] if row.problem else []
    if not row.app_token and not settings.PUBLIC_URL:
        found.append(no_address())
    if row.integration.refused:
        found.append(
            _("Slack's requests have a wrong signature. Paste the signing secret of the app again.")
        )
    if not row.channels.exists():
        found.append(_("No channel is allowed yet, so the app answers nobody."))
    return found


def _record(
    action: AuditAction, access: TeamAccess, row: SlackWorkspace, ip: str | None, **more: str
) -> None:
    data: JsonObject = {"name": row.name, **more}
    record(action, actor=access.user, team=access.team, target=access.team, data=data, ip=ip)
