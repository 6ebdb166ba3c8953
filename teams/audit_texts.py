"""The words of the audit trail: of its actions, and of what its entries keep.

`{who}` did it, `{it}` is what was changed; other names are those of the entry's data, `{session}`
and `{project}` with the names of the rows.
"""

from __future__ import annotations

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from teams.audit import AuditAction as Did
from teams.audit_labels import LABELS

# fmt: off
SENTENCES: dict[str, Promise] = {
    Did.TEAM_CREATED: gettext_lazy("{who} created the team {name}."),
    Did.TEAM_RENAMED: gettext_lazy("{who} renamed the team from {before_name} to {after_name}."),
    Did.TEAM_DELETED: gettext_lazy("{who} deleted the team {name}."),
    Did.TEAM_TRANSFERRED: gettext_lazy("{who} made {to} the owner of the team."),
    Did.BUDGETS_CHANGED: gettext_lazy("{who} changed the budgets."),
    Did.BUDGET_REQUESTED: gettext_lazy("{who} asked for {amount} USD more of a budget."),
    Did.BUDGET_REQUEST_ANSWERED: gettext_lazy(
        "{who} answered a request for {amount} USD more of a budget."),
    Did.CONFIG_CHANGED: gettext_lazy("{who} changed the settings of {it}."),
    Did.MEMBER_JOINED: gettext_lazy("{user} joined the team as {role}."),
    Did.MEMBER_ROLE_CHANGED: gettext_lazy(
        "{who} changed the role of {user} from {before} to {after}."),
    Did.MEMBER_APPROVER_CHANGED: gettext_lazy("{who} changed whether {user} is an approver."),
    Did.GROUP_CREATED: gettext_lazy("{who} created the group {name}."),
    Did.GROUP_UPDATED: gettext_lazy("{who} changed the group {name}."),
    Did.GROUP_DELETED: gettext_lazy("{who} deleted the group {name}."),
    Did.GROUP_MEMBER_ADDED: gettext_lazy("{who} added {user} to the group {name}."),
    Did.GROUP_MEMBER_REMOVED: gettext_lazy("{who} removed {user} from the group {name}."),
    Did.MEMBER_REMOVED: gettext_lazy("{who} removed {user} from the team."),
    Did.MEMBER_LEFT: gettext_lazy("{user} left the team."),
    Did.INVITE_CREATED: gettext_lazy("{who} created an invitation for the role {role}."),
    Did.INVITE_REVOKED: gettext_lazy("{who} revoked an invitation."),
    Did.INVITE_ACCEPTED: gettext_lazy("{who} accepted an invitation."),
    Did.TOKEN_CREATED: gettext_lazy("{who} created the API token {name}."),
    Did.TOKEN_REFUSED: gettext_lazy("An API token was rejected."),
    Did.TOKEN_REVOKED: gettext_lazy("{who} revoked the API token {name}."),
    Did.SERVICE_CREATED: gettext_lazy("{who} created the service account {it}."),
    Did.SERVICE_UPDATED: gettext_lazy("{who} changed the service account {it}."),
    Did.SERVICE_DELETED: gettext_lazy("{who} deleted the service account {name}."),
    Did.PROVIDER_CREATED: gettext_lazy("{who} connected the provider {it}."),
    Did.PROVIDER_UPDATED: gettext_lazy("{who} changed the provider {it}."),
    f"{Did.PROVIDER_UPDATED}:added": gettext_lazy("{who} added a key to the provider {it}."),
    f"{Did.PROVIDER_UPDATED}:set": gettext_lazy("{who} set the key of the provider {it}."),
    f"{Did.PROVIDER_UPDATED}:rotated": gettext_lazy("{who} replaced the key of the provider {it}."),
    f"{Did.PROVIDER_UPDATED}:removed": gettext_lazy("{who} removed a key of the provider {it}."),
    f"{Did.PROVIDER_UPDATED}:renamed": gettext_lazy("{who} renamed a key of the provider {it}."),
    Did.PROVIDER_TESTED: gettext_lazy("{who} tested the provider {it}. Result: {outcome}."),
    Did.PROVIDER_DELETED: gettext_lazy("{who} deleted the provider {provider}."),
    Did.PROVIDER_SIGNED_IN: gettext_lazy("{who} signed in to the provider {it}."),
    Did.PROVIDER_SIGNED_OUT: gettext_lazy("{who} signed out of the provider {it}."),
    Did.SEARCH_SET_UP: gettext_lazy("{who} set up web search with {engine}."),
    Did.SEARCH_SWITCHED_OFF: gettext_lazy("{who} turned off web search."),
    Did.PROJECT_CREATED: gettext_lazy("{who} created the project {it}."),
    Did.PROJECT_UPDATED: gettext_lazy("{who} changed the project {it}."),
    Did.PROJECT_DELETED: gettext_lazy("{who} deleted the project {name}."),
    Did.PROJECT_ACCESS_CHANGED: gettext_lazy("{who} restricted the project {it} to its members."),
    f"{Did.PROJECT_ACCESS_CHANGED}:opened": gettext_lazy(
        "{who} opened the project {it} to the whole team."),
    Did.PROJECT_MEMBER_CHANGED: gettext_lazy(
        "{who} changed the role of {user} in the project {it}."),
    f"{Did.PROJECT_MEMBER_CHANGED}:group": gettext_lazy(
        "{who} changed the role of the group {group} in the project {it}."),
    Did.PUBLISHING_SET_UP: gettext_lazy("{who} set up publishing for the project {it}."),
    Did.SECRET_SET: gettext_lazy("{who} set the secret {name} of the project {it}."),
    Did.SECRET_REMOVED: gettext_lazy("{who} removed the secret {name} of the project {it}."),
    Did.TEAM_SECRET_SET: gettext_lazy("{who} set the team secret {name}."),
    Did.TEAM_SECRET_REMOVED: gettext_lazy("{who} removed the team secret {name}."),
    Did.TEAM_PLUGIN_ADDED: gettext_lazy("{who} added the plugin {name}."),
    Did.TEAM_PLUGIN_TRUSTED: gettext_lazy("{who} trusted the plugin {name} ({digest})."),
    Did.TEAM_PLUGIN_RELOADED: gettext_lazy("{who} reloaded the plugin {name}."),
    Did.TEAM_PLUGIN_REMOVED: gettext_lazy("{who} removed the plugin {name}."),
    Did.KEY_HIDING_CHANGED: gettext_lazy("{who} turned on hiding well-known keys."),
    f"{Did.KEY_HIDING_CHANGED}:shown": gettext_lazy("{who} turned off hiding well-known keys."),
    Did.KEY_ALLOWED: gettext_lazy(
        "{who} allowed a text that looks like a key ({kinds}) in the project {it}."),
    Did.MCP_SIGNED_IN: gettext_lazy("{who} signed in to the MCP server {server} in {it}."),
    Did.MCP_SIGNED_OUT: gettext_lazy("{who} signed out of the MCP server {server} in {it}."),
    Did.MCP_PROGRAM_ACCEPTED: gettext_lazy(
        "{who} accepted the program of the MCP server {server} in {it}."),
    Did.SESSION_CREATED: gettext_lazy("{who} created the session {it}."),
    Did.SESSION_RENAMED: gettext_lazy("{who} renamed the session {it}."),
    Did.SESSION_DELETED: gettext_lazy("{who} deleted the session {title}."),
    Did.SESSION_EXPIRED: gettext_lazy("A session was removed because its retention ended."),
    Did.SESSION_ARCHIVED: gettext_lazy("{who} archived the session {it}."),
    f"{Did.SESSION_ARCHIVED}:restored": gettext_lazy("{who} unarchived the session {it}."),
    Did.SESSION_PRIVACY_CHANGED: gettext_lazy("{who} made the session {it} private."),
    f"{Did.SESSION_PRIVACY_CHANGED}:opened": gettext_lazy(
        "{who} opened the session {it} to its project."),
    Did.SESSION_EXPORTED: gettext_lazy("{who} exported the session {it}."),
    Did.SESSION_RULES_CHANGED: gettext_lazy(
        "{who} changed the permission rules of the session {it}."),
    Did.SESSION_RESUMED: gettext_lazy("{who} resumed the session {it}."),
    Did.SESSION_INTERRUPTED: gettext_lazy("{who} stopped the session {it}."),
    Did.COMMAND_STOPPED: gettext_lazy("{who} stopped a command in the session {it}."),
    Did.SESSION_REVERTED: gettext_lazy("{who} rolled back the session {it}."),
    Did.SESSION_UNREVERTED: gettext_lazy("{who} restored the session {it} after a rollback."),
    Did.FILE_EDITED: gettext_lazy("{who} edited {file} in the session {it}."),
    Did.FILE_DOWNLOADED: gettext_lazy("{who} downloaded {file} from the session {it}."),
    Did.PERMISSION_ADMINS_ASKED: gettext_lazy(
        "{who} asked the admins about a request in the session {it}."
    ),
    Did.FILE_STAGED: gettext_lazy("{who} staged {file} in the session {it}."),
    Did.FILE_UNSTAGED: gettext_lazy("{who} unstaged {file} in the session {it}."),
    Did.FILE_REVERTED: gettext_lazy("{who} rolled back {file} in the session {it}."),
    Did.FILE_RESTORED: gettext_lazy("{who} restored {file} in the session {it}."),
    Did.SESSION_FORKED: gettext_lazy("{who} forked the session {it}."),
    Did.SESSION_IMPORTED: gettext_lazy("{who} imported the session {it}."),
    Did.SHARE_CREATED: gettext_lazy("{who} shared the session {session}."),
    Did.SHARE_OPENED: gettext_lazy("{who} opened a share link of the session {session}."),
    f"{Did.SHARE_OPENED}:public": gettext_lazy(
        "Someone opened a public link to the session {session}."),
    Did.SHARE_REVOKED: gettext_lazy("{who} revoked a share link of the session {session}."),
    Did.CHECKOUT_COMMITTED: gettext_lazy("{who} committed the changes of the session {it}."),
    Did.CHECKOUT_MERGED: gettext_lazy(
        "{who} merged the branch {branch} of the session {it} into {into}."),
    Did.CHECKOUT_PUSHED: gettext_lazy("{who} pushed the branch {branch} of the session {it}."),
    Did.CHECKOUT_DROPPED: gettext_lazy("{who} removed the worktree of the session {it}."),
    Did.CHECKOUT_RESTORED: gettext_lazy("{who} restored the worktree of the session {it}."),
    Did.CHECKOUT_BRANCHED: gettext_lazy("{who} kept rescued work of the project {it} as a branch."),
    Did.CHECKOUT_DISCARDED: gettext_lazy("{who} discarded rescued work of the project {it}."),
    Did.CHECKOUT_SWITCHED: gettext_lazy("{who} switched the branch of the session {it}."),
    Did.CHECKOUT_RENAMED: gettext_lazy("{who} renamed the branch of the session {it}."),
    Did.PULL_REQUEST_OPENED: gettext_lazy("{who} opened a pull request from the session {it}."),
    Did.PATCH_APPLIED: gettext_lazy("{who} applied a patch to the project {it}."),
    Did.MESSAGE_DELETED: gettext_lazy("{who} deleted messages of the session {it}."),
    Did.PART_DELETED: gettext_lazy("{who} deleted a part of a message in the session {it}."),
    Did.PART_EDITED: gettext_lazy("{who} edited a part of a message in the session {it}."),
    Did.PROMPT_ADMITTED: gettext_lazy("{who} sent a prompt to the session {it}."),
    Did.PROMPT_CHANGED: gettext_lazy("{who} changed a waiting prompt in the session {it}."),
    Did.PROMPT_CANCELLED: gettext_lazy("{who} removed a waiting prompt from the session {it}."),
    Did.PERMISSION_DENIED: gettext_lazy(
        "A rule denied {permission} in the session {it}, which {who} had prompted."),
    Did.PERMISSION_REPLIED: gettext_lazy(
        "{who} replied “{reply}” to a request for {permission} in the session {it}."),
    Did.QUESTION_REPLIED: gettext_lazy("{who} replied to a question in the session {it}."),
    Did.REPOSITORY_TRUSTED: gettext_lazy("{who} trusted the agent files of the project {it}."),
    Did.REPOSITORY_TRUST_WITHDRAWN: gettext_lazy(
        "{who} withdrew the trust in the agent files of the project {it}."),
    Did.PLUGINS_RELOADED: gettext_lazy("{who} reloaded the plugins of the project {it}."),
    Did.SKILL_SAVED: gettext_lazy("{who} saved the skill {name}."),
    Did.SKILL_DELETED: gettext_lazy("{who} deleted the skill {name}."),
    Did.TERMINAL_OPENED: gettext_lazy("{who} opened a terminal in the project {project}."),
    Did.TERMINAL_REMOVED: gettext_lazy("{who} closed a terminal in the project {project}."),
    Did.TERMINAL_SHOWN: gettext_lazy("{who} let others watch a terminal in the project {project}."),
    Did.TERMINAL_HIDDEN: gettext_lazy("{who} hid a terminal in the project {project} from others."),
    Did.PREVIEW_OPENED: gettext_lazy(
        "{who} opened a preview of port {port} in the project {project}."),
    Did.RULE_CREATED: gettext_lazy("{who} added a permission rule."),
    Did.RULE_REVOKED: gettext_lazy("{who} revoked the rule for {permission} “{pattern}”."),
    Did.RULE_RESTORED: gettext_lazy("{who} restored the rule for {permission} “{pattern}”."),
    Did.SCHEDULE_CREATED: gettext_lazy("{who} created the schedule {it}."),
    Did.SCHEDULE_UPDATED: gettext_lazy("{who} changed the schedule {it}."),
    Did.SCHEDULE_PAUSED: gettext_lazy("{who} paused the schedule {it}."),
    Did.SCHEDULE_RESUMED: gettext_lazy("{who} resumed the schedule {it}."),
    Did.SCHEDULE_RUN: gettext_lazy("{who} ran the schedule {it}."),
    Did.SCHEDULE_DELETED: gettext_lazy("{who} deleted the schedule {name}."),
    Did.INTEGRATION_CREATED: gettext_lazy(
        "{who} let comments on the forge start sessions of {name}."
    ),
    Did.INTEGRATION_UPDATED: gettext_lazy("{who} changed the integration of {name}."),
    Did.INTEGRATION_DELETED: gettext_lazy("{who} removed the integration of {name}."),
    Did.INTEGRATION_REPEATED: gettext_lazy(
        "{who} repeated a delivery of the integration of {name}."
    ),
    Did.INTEGRATION_RULE_ADDED: gettext_lazy("{who} added a rule to the integration of {name}."),
    Did.INTEGRATION_RULE_CHANGED: gettext_lazy(
        "{who} changed a rule of the integration of {name}."
    ),
    Did.INTEGRATION_RULE_REMOVED: gettext_lazy(
        "{who} removed a rule of the integration of {name}."
    ),
    Did.SLACK_CONNECTED: gettext_lazy("{who} connected the Slack workspace {name}."),
    Did.SLACK_CHANGED: gettext_lazy("{who} changed the Slack workspace {name}."),
    Did.SLACK_REMOVED: gettext_lazy("{who} removed the Slack workspace {name}."),
    Did.ACCOUNT_LINKED: gettext_lazy("{who} linked the account {name} on {host}."),
    Did.ACCOUNT_UNLINKED: gettext_lazy("{who} unlinked the account {name} of {member} on {host}."),
    Did.WEBHOOK_CREATED: gettext_lazy("{who} created the webhook {it}."),
    Did.WEBHOOK_UPDATED: gettext_lazy("{who} changed the webhook {it}."),
    Did.WEBHOOK_DISABLED: gettext_lazy("{who} disabled the webhook {it}."),
    Did.WEBHOOK_DELETED: gettext_lazy("{who} deleted the webhook {name}."),
    Did.WEBHOOK_PINGED: gettext_lazy("{who} sent a test to the webhook {it}."),
    Did.WEBHOOK_REDELIVERED: gettext_lazy("{who} repeated a delivery of the webhook {it}."),
    Did.EMERGENCY_BEGAN: gettext_lazy(
        "{who} took emergency access to the team {it} as {role} until {until}. Reason: {reason}"),
    Did.EMERGENCY_ENDED: gettext_lazy("The emergency access of {user} to the team {it} ended."),
    Did.OPERATOR_STOPPED_TURN: gettext_lazy(
        "The operator {who} stopped the session {it}: {reason}"),
    Did.OPERATOR_KILLED_TURN: gettext_lazy("The operator {who} killed the session {it}: {reason}"),
    Did.OPERATOR_REQUEUED_TURN: gettext_lazy(
        "The operator {who} requeued the session {it}: {reason}"),
    Did.OPERATOR_ASSIGNED_FOLDER: gettext_lazy("The operator {who} assigned the folder {name}."),
    Did.OPERATOR_WITHDREW_FOLDER: gettext_lazy("The operator {who} withdrew the folder {name}."),
    Did.OPERATOR_SET_LIMITS: gettext_lazy(
        "The operator {who} changed the limits of the team {it}."),
    Did.USER_CREATED: gettext_lazy("{who} created the account {it}."),
    Did.USER_RENAMED: gettext_lazy("{who} renamed the account {it}."),
    Did.USER_UPDATED: gettext_lazy("{who} updated the account {it}."),
    Did.USER_PASSWORD_CHANGED: gettext_lazy("{who} changed the password of {it}."),
    Did.USER_SIGNED_IN: gettext_lazy("{who} signed in."),
    Did.USER_SIGN_IN_FAILED: gettext_lazy("A sign-in as {account} failed."),
    f"{Did.USER_SIGN_IN_FAILED}:second": gettext_lazy("A second factor of {account} was wrong."),
    f"{Did.USER_SIGNED_OUT}:own": gettext_lazy("{who} signed out."),
    Did.USER_SIGNED_OUT: gettext_lazy("{who} signed out browsers of {it}."),
    Did.USER_UNLOCKED: gettext_lazy("{who} unlocked the account {it}."),
    Did.USER_DEACTIVATED: gettext_lazy("{who} deactivated the account {it}: {reason}"),
    Did.USER_REACTIVATED: gettext_lazy("{who} reactivated the account {it}: {reason}"),
    Did.USER_MADE_OPERATOR: gettext_lazy("{who} made {it} an operator: {reason}"),
    Did.USER_NO_OPERATOR: gettext_lazy("{who} removed {it} as an operator: {reason}"),
    Did.USAGE_EXPORTED: gettext_lazy("{who} exported usage."),
    Did.ACCESS_DENIED: gettext_lazy("{who} was denied access: {method} {route}."),
    Did.AUDIT_PRUNED: gettext_lazy("{who} removed old audit entries, up to number {until}."),
    Did.AUDIT_EXPORTED: gettext_lazy("{who} exported the audit log."),
    Did.RETENTION_CHANGED: gettext_lazy("{who} changed how long data is kept."),
    Did.HOLD_SET: gettext_lazy("{who} set a legal hold. Reason: {reason}"),
    Did.HOLD_RELEASED: gettext_lazy("{who} released a legal hold. Its reason was: {reason}"),
    Did.ERASURE_REQUESTED: gettext_lazy("{who} had something erased for good."),
    Did.ERASURE_DONE: gettext_lazy("Something was erased for good, as {who} had asked."),
    Did.TEAM_EXPORTED: gettext_lazy("{who} exported the team."),
    f"{Did.TEAM_EXPORTED}:requested": gettext_lazy("{who} requested an export of the team."),
    f"{Did.TEAM_EXPORTED}:failed": gettext_lazy("The export that {who} had requested failed."),
    f"{Did.TEAM_EXPORTED}:downloaded": gettext_lazy("{who} downloaded an export of the team."),
    Did.TEAM_IMPORTED: gettext_lazy("{who} imported the team from another server."),
    Did.RESET_CREATED: gettext_lazy("{who} created a password reset link for {it}."),
    Did.MFA_ADDED: gettext_lazy("{who} set up a second factor."),
    Did.MFA_REMOVED: gettext_lazy("{who} removed a second factor."),
    Did.MFA_CODES_CREATED: gettext_lazy("{who} created new recovery codes."),
    Did.IDENTITY_CREATED: gettext_lazy("{who} set up the identity provider {name}."),
    Did.IDENTITY_UPDATED: gettext_lazy("{who} changed the identity provider {name}."),
    Did.IDENTITY_DELETED: gettext_lazy("{who} deleted the identity provider {name}."),
    Did.IDENTITY_LINKED: gettext_lazy("{who} connected the identity provider {provider}."),
    Did.IDENTITY_UNLINKED: gettext_lazy("{who} disconnected the identity provider {provider}."),
    Did.DIRECTORY_TOKEN_CREATED: gettext_lazy("{who} created the SCIM token {name}."),
    Did.DIRECTORY_TOKEN_REVOKED: gettext_lazy("{who} revoked the SCIM token {name}."),
    Did.DIRECTORY_GROUP_SAVED: gettext_lazy("{who} saved the directory group {name}."),
    Did.DIRECTORY_GROUP_DELETED: gettext_lazy("{who} deleted the directory group {name}."),
    Did.POLICY_CHANGED: gettext_lazy("{who} changed the sign-in policy."),
    f"{Did.POLICY_CHANGED}:teams": gettext_lazy("{who} changed who may create teams."),
    Did.APPROVALS_CHANGED: gettext_lazy("{who} changed what a second person must approve."),
    Did.CHANGE_REQUESTED: gettext_lazy("{who} asked for approval of a change ({kind})."),
    Did.CHANGE_APPROVED: gettext_lazy("{who} approved a change of {asker} ({kind})."),
    Did.CHANGE_REJECTED: gettext_lazy("{who} rejected a change of {asker} ({kind})."),
    Did.CHANGE_WITHDRAWN: gettext_lazy("{who} withdrew a request for approval ({kind})."),
    Did.CHANGE_EXPIRED: gettext_lazy("Nobody decided on a change of {asker} ({kind})."),
    Did.CHANGE_FAILED: gettext_lazy(
        "{who} approved a change of {asker} that no longer fitted ({kind})."),
    Did.BACKUP_CREATED: gettext_lazy("{who} made a backup of this server."),
    Did.BACKUP_RESTORED: gettext_lazy("{who} restored a backup of this server."),
    Did.KEYS_ROTATED: gettext_lazy("{who} encrypted all stored secrets with the newest key."),
    Did.CATALOG_REFRESHED: gettext_lazy("{who} refreshed the model catalog."),
    Did.CATALOG_REFUSED: gettext_lazy("{who} got a model catalog that was rejected."),
    Did.ADDRESS_ALLOWED: gettext_lazy("{who} allowed an address."),
    Did.ADDRESS_CLOSED: gettext_lazy("{who} blocked an address."),
    Did.ANNOUNCEMENT_POSTED: gettext_lazy("{who} posted an announcement: {text}"),
    Did.ANNOUNCEMENT_ENDED: gettext_lazy("{who} ended an announcement: {text}"),
    Did.OPERATOR_DRAINED_WORKER: gettext_lazy("{who} drained a worker."),
    Did.OPERATOR_RESUMED_WORKER: gettext_lazy("{who} resumed a worker."),
}
# fmt: on

# Kinds of actions that people ask for together: name, label and what the actions begin with.
GROUPS: dict[str, tuple[Promise, tuple[str, ...]]] = {
    "@accounts": (gettext_lazy("Sign-ins, accounts and tokens"), ("user.", "token.")),
    "@members": (
        gettext_lazy("Members, invitations and service accounts"),
        ("member.", "group.", "invite.", "service.", "team."),
    ),
    "@sessions": (
        gettext_lazy("Sessions, prompts and terminals"),
        (
            *("session.", "prompt.", "message.", "part.", "question.", "command.", "file."),
            *("terminal.", "preview."),
        ),
    ),
    "@permissions": (
        gettext_lazy("Permissions, rules and denials"),
        (
            *("permission.", "rule.", "access.", "session.rules_changed", "repository.", "mcp."),
            *("approvals.", "change."),
        ),
    ),
    "@git": (
        gettext_lazy("Git and pull requests"),
        ("checkout.", "pull.", "patch.", "publishing."),
    ),
    "@settings": (
        gettext_lazy("Settings, providers and secrets"),
        (
            *("config.", "provider.", "search.", "secret.", "budgets.", "skill.", "project."),
            *("catalog.", "address.", "retention.", "hold.", "erasure."),
        ),
    ),
    "@exports": (
        gettext_lazy("Exports, downloads and share links"),
        ("session.exported", "file.downloaded", "usage.exported", "audit.", "share."),
    ),
    "@automation": (gettext_lazy("Schedules and webhooks"), ("schedule.", "webhook.")),
    "@operators": (gettext_lazy("Operators"), ("operator.", "announcement.")),
}

# What people call the kinds of rows.
KINDS: dict[str, Promise] = {
    "allowedaddress": gettext_lazy("Address"),
    "announcement": gettext_lazy("Announcement"),
    "apitoken": gettext_lazy("API token"),
    "backup": gettext_lazy("Backup"),
    "checkout": gettext_lazy("Worktree"),
    "directorygroup": gettext_lazy("Directory group"),
    "directorytoken": gettext_lazy("SCIM token"),
    "erasure": gettext_lazy("Erasure"),
    "identityprovider": gettext_lazy("Identity provider"),
    "invite": gettext_lazy("Invitation"),
    "legalhold": gettext_lazy("Legal hold"),
    "membership": gettext_lazy("Member"),
    "permissionrequest": gettext_lazy("Permission request"),
    "project": gettext_lazy("Project"),
    "providerconfig": gettext_lazy("Provider"),
    "savedrule": gettext_lazy("Rule"),
    "schedule": gettext_lazy("Schedule"),
    "serverprocess": gettext_lazy("Process"),
    "session": gettext_lazy("Session"),
    "share": gettext_lazy("Share link"),
    "team": gettext_lazy("Team"),
    "teamexport": gettext_lazy("Export"),
    "teamgroup": gettext_lazy("Group"),
    "teamfolder": gettext_lazy("Folder"),
    "teamskill": gettext_lazy("Skill"),
    "terminal": gettext_lazy("Terminal"),
    "user": gettext_lazy("Account"),
    "webhook": gettext_lazy("Webhook"),
}


def action_label(action: str) -> str:
    """Returns: what the action is in a few words; itself if there are none."""
    return str(LABELS.get(action, action))


def kind_label(kind: str) -> str:
    """Returns: what people call rows of this kind."""
    return str(KINDS.get(kind, kind))
