"""What is written to the audit trail, by this app and by those above it."""

from __future__ import annotations

import secrets
from enum import StrEnum
from functools import partial
from typing import Final, Literal, TypedDict

from django.db import transaction
from django.db.models import Model
from django.utils import timezone
from django.utils.translation import gettext as _

from opencode_web.lib.approval import current_approval
from opencode_web.lib.bus import publish
from opencode_web.lib.compiled import CompiledInsert
from opencode_web.lib.errors import Invalid
from opencode_web.lib.json import JsonObject
from opencode_web.lib.origin import Origin, current_origin
from teams.access import is_operator, refuse_outlasting, settings_group
from teams.audit_chain.hashes import digest_of, hash_personal
from teams.audit_chain.personal import personal_names
from teams.models import ActorKind, AuditEntry, Team, User


class AuditAction(StrEnum):
    """`<object>.<what happened>`. Names are stable: people filter by them and export them."""

    TEAM_CREATED = "team.created"
    TEAM_RENAMED = "team.renamed"
    TEAM_DELETED = "team.deleted"
    TEAM_TRANSFERRED = "team.transferred"
    BUDGETS_CHANGED = "budgets.changed"
    BUDGET_REQUESTED = "budget.requested"
    BUDGET_REQUEST_ANSWERED = "budget.request_answered"
    CONFIG_CHANGED = "config.changed"
    MEMBER_JOINED = "member.joined"
    MEMBER_ROLE_CHANGED = "member.role_changed"
    MEMBER_APPROVER_CHANGED = "member.approver_changed"
    GROUP_CREATED = "group.created"
    GROUP_UPDATED = "group.updated"
    GROUP_DELETED = "group.deleted"
    GROUP_MEMBER_ADDED = "group.member_added"
    GROUP_MEMBER_REMOVED = "group.member_removed"
    MEMBER_REMOVED = "member.removed"
    MEMBER_LEFT = "member.left"
    INVITE_CREATED = "invite.created"
    INVITE_REVOKED = "invite.revoked"
    INVITE_ACCEPTED = "invite.accepted"
    TOKEN_CREATED = "token.created"  # noqa: S105 - a name, no secret
    TOKEN_REFUSED = "token.refused"  # noqa: S105 - a name, no secret
    TOKEN_REVOKED = "token.revoked"  # noqa: S105 - a name, no secret
    SERVICE_CREATED = "service.created"
    SERVICE_UPDATED = "service.updated"
    SERVICE_DELETED = "service.deleted"
    USER_CREATED = "user.created"
    USER_RENAMED = "user.renamed"
    USER_UPDATED = "user.updated"
    USER_PASSWORD_CHANGED = "user.password_changed"  # noqa: S105 - a name, no secret
    USER_SIGNED_IN = "user.signed_in"
    USER_SIGN_IN_FAILED = "user.sign_in_failed"
    USER_SIGNED_OUT = "user.signed_out"
    USER_UNLOCKED = "user.unlocked"
    USER_DEACTIVATED = "user.deactivated"
    USER_REACTIVATED = "user.reactivated"
    USER_MADE_OPERATOR = "user.made_operator"
    USER_NO_OPERATOR = "user.no_operator"
    RESET_CREATED = "reset.created"
    MFA_ADDED = "mfa.added"
    MFA_REMOVED = "mfa.removed"
    MFA_CODES_CREATED = "mfa.codes_created"
    IDENTITY_CREATED = "identity.created"
    IDENTITY_UPDATED = "identity.updated"
    IDENTITY_DELETED = "identity.deleted"
    IDENTITY_LINKED = "identity.linked"
    IDENTITY_UNLINKED = "identity.unlinked"
    DIRECTORY_TOKEN_CREATED = "directory.token_created"  # noqa: S105 - a name, no secret
    DIRECTORY_TOKEN_REVOKED = "directory.token_revoked"  # noqa: S105 - a name, no secret
    DIRECTORY_GROUP_SAVED = "directory.group_saved"
    DIRECTORY_GROUP_DELETED = "directory.group_deleted"
    POLICY_CHANGED = "policy.changed"
    APPROVALS_CHANGED = "approvals.changed"
    CHANGE_REQUESTED = "change.requested"
    CHANGE_APPROVED = "change.approved"
    CHANGE_REJECTED = "change.rejected"
    CHANGE_WITHDRAWN = "change.withdrawn"
    CHANGE_EXPIRED = "change.expired"
    CHANGE_FAILED = "change.failed"
    PROVIDER_CREATED = "provider.created"
    PROVIDER_UPDATED = "provider.updated"
    PROVIDER_TESTED = "provider.tested"
    PROVIDER_DELETED = "provider.deleted"
    PROVIDER_SIGNED_IN = "provider.signed_in"
    PROVIDER_SIGNED_OUT = "provider.signed_out"
    SEARCH_SET_UP = "search.set_up"
    SEARCH_SWITCHED_OFF = "search.switched_off"
    PROJECT_CREATED = "project.created"
    PROJECT_UPDATED = "project.updated"
    PROJECT_DELETED = "project.deleted"
    PROJECT_ACCESS_CHANGED = "project.access_changed"
    PROJECT_MEMBER_CHANGED = "project.member_changed"
    PUBLISHING_SET_UP = "publishing.set_up"
    SECRET_SET = "secret.set"  # noqa: S105 - a name, no secret
    SECRET_REMOVED = "secret.removed"  # noqa: S105 - a name, no secret
    TEAM_SECRET_SET = "secret.team_set"  # noqa: S105 - as above
    TEAM_SECRET_REMOVED = "secret.team_removed"  # noqa: S105 - as above
    TEAM_PLUGIN_ADDED = "plugin.added"
    TEAM_PLUGIN_TRUSTED = "plugin.trusted"
    TEAM_PLUGIN_RELOADED = "plugin.reloaded"
    TEAM_PLUGIN_REMOVED = "plugin.removed"
    KEY_HIDING_CHANGED = "secret.key_hiding_changed"
    KEY_ALLOWED = "secret.key_allowed"
    MCP_SIGNED_IN = "mcp.signed_in"
    MCP_SIGNED_OUT = "mcp.signed_out"
    SESSION_CREATED = "session.created"
    SESSION_RENAMED = "session.renamed"
    SESSION_DELETED = "session.deleted"
    SESSION_EXPIRED = "session.expired"
    SESSION_ARCHIVED = "session.archived"
    SESSION_EXPORTED = "session.exported"
    SESSION_PRIVACY_CHANGED = "session.privacy_changed"
    SESSION_RULES_CHANGED = "session.rules_changed"
    SESSION_RESUMED = "session.resumed"
    SESSION_INTERRUPTED = "session.interrupted"
    COMMAND_STOPPED = "command.stopped"
    SESSION_REVERTED = "session.reverted"
    SESSION_UNREVERTED = "session.unreverted"
    FILE_REVERTED = "file.reverted"
    FILE_RESTORED = "file.restored"
    FILE_STAGED = "file.staged"
    FILE_UNSTAGED = "file.unstaged"
    SESSION_FORKED = "session.forked"
    SESSION_IMPORTED = "session.imported"
    SHARE_CREATED = "share.created"
    SHARE_OPENED = "share.opened"
    SHARE_REVOKED = "share.revoked"
    CHECKOUT_COMMITTED = "checkout.committed"
    CHECKOUT_MERGED = "checkout.merged"
    CHECKOUT_PUSHED = "checkout.pushed"
    CHECKOUT_DROPPED = "checkout.dropped"
    CHECKOUT_RESTORED = "checkout.restored"
    CHECKOUT_BRANCHED = "checkout.branched"
    CHECKOUT_DISCARDED = "checkout.discarded"
    CHECKOUT_SWITCHED = "checkout.switched"
    CHECKOUT_RENAMED = "checkout.renamed"
    PULL_REQUEST_OPENED = "pull.opened"
    PATCH_APPLIED = "patch.applied"
    FILE_DOWNLOADED = "file.downloaded"
    FILE_EDITED = "file.edited"
    MESSAGE_DELETED = "message.deleted"
    PART_DELETED = "part.deleted"
    PART_EDITED = "part.edited"
    PROMPT_ADMITTED = "prompt.admitted"
    PROMPT_CHANGED = "prompt.changed"
    PROMPT_CANCELLED = "prompt.cancelled"
    PERMISSION_DENIED = "permission.denied"
    PERMISSION_REPLIED = "permission.replied"
    PERMISSION_ADMINS_ASKED = "permission.admins_asked"
    QUESTION_REPLIED = "question.replied"
    REPOSITORY_TRUSTED = "repository.trusted"
    REPOSITORY_TRUST_WITHDRAWN = "repository.trust_withdrawn"
    PLUGINS_RELOADED = "repository.plugins_reloaded"
    MCP_PROGRAM_ACCEPTED = "mcp.program_accepted"
    SKILL_SAVED = "skill.saved"
    SKILL_DELETED = "skill.deleted"
    TERMINAL_OPENED = "terminal.opened"
    TERMINAL_REMOVED = "terminal.removed"
    TERMINAL_SHOWN = "terminal.shown"
    TERMINAL_HIDDEN = "terminal.hidden"
    PREVIEW_OPENED = "preview.opened"
    RULE_CREATED = "rule.created"
    RULE_REVOKED = "rule.revoked"
    RULE_RESTORED = "rule.restored"
    SCHEDULE_CREATED = "schedule.created"
    SCHEDULE_UPDATED = "schedule.updated"
    SCHEDULE_PAUSED = "schedule.paused"
    SCHEDULE_RESUMED = "schedule.resumed"
    SCHEDULE_RUN = "schedule.run"
    SCHEDULE_DELETED = "schedule.deleted"
    INTEGRATION_CREATED = "integration.created"
    INTEGRATION_UPDATED = "integration.updated"
    INTEGRATION_DELETED = "integration.deleted"
    INTEGRATION_REPEATED = "integration.repeated"
    INTEGRATION_RULE_ADDED = "integration.rule_added"
    INTEGRATION_RULE_CHANGED = "integration.rule_changed"
    INTEGRATION_RULE_REMOVED = "integration.rule_removed"
    SLACK_CONNECTED = "slack.connected"
    SLACK_CHANGED = "slack.changed"
    SLACK_REMOVED = "slack.removed"
    ACCOUNT_LINKED = "account.linked"
    ACCOUNT_UNLINKED = "account.unlinked"
    WEBHOOK_CREATED = "webhook.created"
    WEBHOOK_UPDATED = "webhook.updated"
    WEBHOOK_DISABLED = "webhook.disabled"
    WEBHOOK_DELETED = "webhook.deleted"
    WEBHOOK_PINGED = "webhook.pinged"
    WEBHOOK_REDELIVERED = "webhook.redelivered"
    USAGE_EXPORTED = "usage.exported"
    ACCESS_DENIED = "access.denied"
    AUDIT_PRUNED = "audit.pruned"
    AUDIT_EXPORTED = "audit.exported"
    RETENTION_CHANGED = "retention.changed"
    HOLD_SET = "hold.set"
    HOLD_RELEASED = "hold.released"
    ERASURE_REQUESTED = "erasure.requested"
    ERASURE_DONE = "erasure.done"
    TEAM_EXPORTED = "team.exported"
    TEAM_IMPORTED = "team.imported"
    BACKUP_CREATED = "backup.created"
    BACKUP_RESTORED = "backup.restored"
    KEYS_ROTATED = "keys.rotated"
    CATALOG_REFRESHED = "catalog.refreshed"
    CATALOG_REFUSED = "catalog.refused"
    ADDRESS_ALLOWED = "address.allowed"
    ADDRESS_CLOSED = "address.closed"
    ANNOUNCEMENT_POSTED = "announcement.posted"
    ANNOUNCEMENT_ENDED = "announcement.ended"
    EMERGENCY_BEGAN = "emergency.began"
    EMERGENCY_ENDED = "emergency.ended"
    OPERATOR_STOPPED_TURN = "operator.stopped_turn"
    OPERATOR_KILLED_TURN = "operator.killed_turn"
    OPERATOR_REQUEUED_TURN = "operator.requeued_turn"
    OPERATOR_DRAINED_WORKER = "operator.drained_worker"
    OPERATOR_RESUMED_WORKER = "operator.resumed_worker"
    OPERATOR_ASSIGNED_FOLDER = "operator.assigned_folder"
    OPERATOR_WITHDREW_FOLDER = "operator.withdrew_folder"
    OPERATOR_SET_LIMITS = "operator.set_limits"


SETTINGS_CHANGED: Final = "settings"


class SettingsChanged(TypedDict):
    """What is published then. `project` is an id, or None for everything of the team."""

    t: Literal["settings"]
    team: str
    project: str | None


# Changes of what clients have read at their start: models, agents, commands, tools, rules.
_OF_SETTINGS = frozenset(
    {
        AuditAction.CONFIG_CHANGED,
        AuditAction.PROVIDER_CREATED,
        AuditAction.PROVIDER_UPDATED,
        AuditAction.PROVIDER_DELETED,
        AuditAction.PROVIDER_SIGNED_IN,
        AuditAction.PROVIDER_SIGNED_OUT,
        AuditAction.SEARCH_SET_UP,
        AuditAction.SEARCH_SWITCHED_OFF,
        AuditAction.MCP_SIGNED_IN,
        AuditAction.MCP_SIGNED_OUT,
        AuditAction.MCP_PROGRAM_ACCEPTED,
        AuditAction.REPOSITORY_TRUSTED,
        AuditAction.REPOSITORY_TRUST_WITHDRAWN,
        AuditAction.PLUGINS_RELOADED,
        *(AuditAction.TEAM_PLUGIN_TRUSTED, AuditAction.TEAM_PLUGIN_RELOADED),
        AuditAction.TEAM_PLUGIN_REMOVED,
        *(AuditAction.SKILL_SAVED, AuditAction.SKILL_DELETED),
        AuditAction.RULE_CREATED,
        AuditAction.RULE_REVOKED,
        AuditAction.RULE_RESTORED,
    }
)

# What goes on to have effect after somebody has left the team. An operator in an emergency reads,
# works and takes away, and sets none of these.
LASTING = frozenset(
    {
        AuditAction.TEAM_RENAMED,
        AuditAction.BUDGETS_CHANGED,
        AuditAction.BUDGET_REQUEST_ANSWERED,
        AuditAction.CONFIG_CHANGED,
        AuditAction.MEMBER_ROLE_CHANGED,
        AuditAction.MEMBER_APPROVER_CHANGED,
        AuditAction.GROUP_CREATED,
        AuditAction.GROUP_UPDATED,
        AuditAction.GROUP_MEMBER_ADDED,
        AuditAction.INVITE_CREATED,
        AuditAction.SERVICE_CREATED,
        AuditAction.SERVICE_UPDATED,
        AuditAction.PROVIDER_CREATED,
        AuditAction.PROVIDER_UPDATED,
        AuditAction.PROVIDER_SIGNED_IN,
        AuditAction.SEARCH_SET_UP,
        AuditAction.PROJECT_UPDATED,
        AuditAction.PROJECT_ACCESS_CHANGED,
        AuditAction.PROJECT_MEMBER_CHANGED,
        AuditAction.SESSION_PRIVACY_CHANGED,
        AuditAction.PUBLISHING_SET_UP,
        AuditAction.SECRET_SET,
        AuditAction.TEAM_SECRET_SET,
        AuditAction.KEY_HIDING_CHANGED,
        AuditAction.KEY_ALLOWED,
        AuditAction.MCP_SIGNED_IN,
        AuditAction.MCP_PROGRAM_ACCEPTED,
        AuditAction.REPOSITORY_TRUSTED,
        *(AuditAction.PLUGINS_RELOADED, AuditAction.TEAM_PLUGIN_ADDED),
        *(AuditAction.TEAM_PLUGIN_TRUSTED, AuditAction.TEAM_PLUGIN_RELOADED),
        *(AuditAction.SKILL_SAVED, AuditAction.RULE_CREATED, AuditAction.RULE_RESTORED),
        *(AuditAction.SCHEDULE_CREATED, AuditAction.SCHEDULE_UPDATED),
        AuditAction.SCHEDULE_RESUMED,
        *(AuditAction.INTEGRATION_CREATED, AuditAction.INTEGRATION_UPDATED),
        *(AuditAction.INTEGRATION_RULE_ADDED, AuditAction.INTEGRATION_RULE_CHANGED),
        *(AuditAction.SLACK_CONNECTED, AuditAction.SLACK_CHANGED),
        *(AuditAction.ACCOUNT_LINKED, AuditAction.RETENTION_CHANGED),
        *(AuditAction.WEBHOOK_CREATED, AuditAction.WEBHOOK_UPDATED),
    }
)

MAX_REASON = 300
_ENTRIES = CompiledInsert(AuditEntry)


def clean_reason(text: str) -> str:
    """Raises: Invalid when it is empty or too long."""
    why = " ".join(text.split())
    if not why or len(why) > MAX_REASON:
        raise Invalid(
            _("Enter a reason of at most %(most)s characters.") % {"most": MAX_REASON},
            field="reason",
        )
    return why


def record(
    action: AuditAction,
    *,
    actor: User | None,
    team: Team | None,
    target: Model | None = None,
    data: JsonObject | None = None,
    ip: str | None = None,
) -> AuditEntry:
    """Append one entry. Must be called inside the transaction of the change it tells of.

    Where the request came from is known without `ip`, and who has approved the change. Attached
    clients are told of changed settings once that is committed.

    `data` must hold no secret, prompt or file content: every admin of the team can read it.

    Raises: Forbidden, which undoes the change, for one that would outlast its actor's emergency.
    """
    if team is not None and actor is not None and action in LASTING:
        refuse_outlasting(actor, team)
    if team is not None and action in _OF_SETTINGS:
        is_project = target is not None and target._meta.model_name == "project"
        project_id = target.pk if is_project and target else getattr(target, "project_id", None)
        body: SettingsChanged = {"t": SETTINGS_CHANGED, "team": team.pk, "project": project_id}
        transaction.on_commit(partial(publish, settings_group(team.pk), body))
    origin = _origin_for(actor)
    told = data or {}
    if (approval := current_approval()) is not None:
        told = {
            **told,
            "change_request": approval.request_id,
            "approved_by": approval.by_email,
        }
    personal = personal_names(action, told)
    entry = AuditEntry(
        action=action.value,
        actor=actor,
        actor_kind=_kind_of(action, actor, team),
        actor_email=actor.email if actor else "",
        token=origin.token_id if actor else "",
        team=team,
        target_type=target._meta.model_name or "" if target else "",
        target_id=str(target.pk) if target else "",
        data={key: value for key, value in told.items() if key not in personal},
        names={key: value for key, value in told.items() if key in personal},
        ip=origin.ip or ip,
        client=origin.client,
        time=timezone.now(),
        salt=secrets.token_hex(16),
    )
    entry.personal_hash = hash_personal(entry)
    entry.digest = digest_of(entry)
    _ENTRIES.write([entry])
    return entry


def _origin_for(actor: User | None) -> Origin:
    """Returns: where the request in hand comes from, unless it is somebody else's: a worker goes on
    with what others have asked for."""
    origin = current_origin()
    if origin is None or (actor and origin.user_id not in {None, actor.pk}):
        return Origin()
    return origin


def _kind_of(action: AuditAction, actor: User | None, team: Team | None) -> ActorKind:
    if actor is None:
        return ActorKind.SERVER
    if actor.service_of_id:
        return ActorKind.SERVICE
    if is_operator(actor) and (team is None or action.startswith("operator.")):
        return ActorKind.OPERATOR
    return ActorKind.PERSON
