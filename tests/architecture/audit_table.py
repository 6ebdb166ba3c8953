"""Every route that changes something, with what it leaves in the audit log, or why nothing.

The first pattern that fits counts. A new route is one line here, or a test fails.
"""

from __future__ import annotations

from teams.audit import AuditAction as Did

_P = r"t/<slug:team>/p/<str:project>/"
_I = rf"{_P}(integration|trackers/<str:tracker>)"
_S = r"t/<slug:team>/s/<str:session>/"
_SET = r"t/<slug:team>/settings/"
_A = r"project/<project_id>/integration"
_MODELS = r"(t/<slug:team>/settings|me|ops)/models/"
_ONE_ACCOUNT = _MODELS + r"p/<str:provider>/"

_VIEW = "how one person sees pages; nobody else is affected"
_DRAFT = "a text that nobody has sent"
_UNSENT = "a comment that nobody has sent: sending it admits a prompt"
_REMOTE = "steers the caller's own screen"
_NOTHING = "changes nothing here; the route exists for OpenCode's clients"
_ATTEMPT = "a sign-in at a provider that has not ended: its end is recorded"

Recorded = Did | str

DOORS: dict[str, Recorded] = {
    # Of the server, and of people.
    "post setup": Did.USER_CREATED,
    r"post ops/folders": Did.OPERATOR_ASSIGNED_FOLDER,
    r"post ops/folders/<int:folder>": Did.OPERATOR_WITHDREW_FOLDER,
    r"(post ops/limits|patch instance/teams)/.+": Did.OPERATOR_SET_LIMITS,
    r"post ops/turns/.+": Did.OPERATOR_STOPPED_TURN,
    r"post ops/workers/.+": Did.OPERATOR_DRAINED_WORKER,
    r"post (ops|instance)/announcements": Did.ANNOUNCEMENT_POSTED,
    r"(post|delete) (ops|instance)/announcements/.+": Did.ANNOUNCEMENT_ENDED,
    "post announcement_hide": "hides it in one browser",
    "post emergency_dismiss": _VIEW,
    r"post ops/addresses": Did.ADDRESS_ALLOWED,
    r"post ops/addresses/close": Did.ADDRESS_CLOSED,
    "post ops/identity/new/<slug:kind>": Did.IDENTITY_CREATED,
    "post ops/identity/p/<slug:slug>/delete": Did.IDENTITY_DELETED,
    "post ops/identity/p/.+": Did.IDENTITY_UPDATED,
    "post (ops/identity/)?policy": Did.POLICY_CHANGED,
    r"post (ops|t/<slug:team>/settings)/retention": Did.RETENTION_CHANGED,
    r"post (ops|t/<slug:team>/settings)/holds": Did.HOLD_SET,
    r"post (ops|t/<slug:team>/settings)/holds/<str:hold>/release": Did.HOLD_RELEASED,
    rf"post (ops/erasures|{_SET}erase|instance/erasures|erasure)": Did.ERASURE_REQUESTED,
    "post t/<slug:team>/settings/export": Did.TEAM_EXPORTED,
    "post ops/(identity|people/<int:person>)/reset": Did.RESET_CREATED,
    "post forgot": Did.RESET_CREATED,
    "post ops/people/teams": Did.POLICY_CHANGED,
    "post ops/people/<int:person>/<slug:act>": Did.USER_DEACTIVATED,
    "post ops/people/<int:person>/teams/<str:team>": Did.MEMBER_ROLE_CHANGED,
    "post ops/directory": Did.DIRECTORY_TOKEN_CREATED,
    "post ops/directory/tokens/<int:credential>": Did.DIRECTORY_TOKEN_REVOKED,
    "post ops/directory/rules.*": Did.IDENTITY_UPDATED,
    "(post|put|patch|delete) scim/v2/Users.*": Did.USER_UPDATED,
    "(post|put|patch) scim/v2/Groups.*": Did.DIRECTORY_GROUP_SAVED,
    "delete scim/v2/Groups.*": Did.DIRECTORY_GROUP_DELETED,
    "post scim/v2/.search": "answers that there is no such search",
    "post ops/emergency": Did.EMERGENCY_BEGAN,
    "post ops/emergency/<int:member>/end": Did.EMERGENCY_ENDED,
    "post (ops|t/<slug:team>/settings)/budgets/requests/<str:asked>": Did.BUDGET_REQUEST_ANSWERED,
    "post budget/requests/<ask_id>": Did.BUDGET_REQUEST_ANSWERED,
    # The tests of MCP clients see it; this request names no code and no token.
    "post oauth/token": Did.TOKEN_CREATED,
    "post oauth/revoke": Did.TOKEN_REVOKED,
    "post oauth/authorize": "gives a code, which makes a token",
    "post oauth/register": "signs what a client says of itself, and keeps nothing",
    f"post ({_SET}budgets/ask|budget/requests)": Did.BUDGET_REQUESTED,
    f"post {_SET}budgets/requests/<str:asked>/away": "its asker has read the answer",
    f"(post (ops/budgets|{_SET}budgets/limits).*|(put|delete) budget/limits.*)": (
        Did.BUDGETS_CHANGED
    ),
    f"(post {_SET}approvals|put approval)": Did.APPROVALS_CHANGED,
    f"post ({_SET}approvals/<str:change>|approval/requests/<change_id>)": Did.CHANGE_WITHDRAWN,
    "post member_approver": Did.MEMBER_APPROVER_CHANGED,
    "post mfa_add_.+": Did.MFA_ADDED,
    "post mfa_(deactivate|remove)_.+": Did.MFA_REMOVED,
    "post mfa_generate_recovery_codes": Did.MFA_CODES_CREATED,
    "post provider_disconnect": Did.IDENTITY_UNLINKED,
    "post (sign_in_company|sign_in_with)": "sends the browser to an identity provider",
    "post saml_acs": Did.USER_SIGNED_IN,
    r"post (general|new_team)": Did.TEAM_CREATED,
    "post transfer": Did.TEAM_TRANSFERRED,
    "post delete": Did.TEAM_DELETED,
    "post leave": Did.MEMBER_LEFT,
    "patch member/<member_id>": Did.MEMBER_APPROVER_CHANGED,
    "post member_role": Did.MEMBER_ROLE_CHANGED,
    "post groups?": Did.GROUP_CREATED,
    "patch group/<group_id>": Did.GROUP_UPDATED,
    "(post group_delete|delete group/<group_id>)": Did.GROUP_DELETED,
    "(post group_member|put group/.+)": Did.GROUP_MEMBER_ADDED,
    "delete group/.+": Did.GROUP_MEMBER_REMOVED,
    rf"(post {_P}access|put project/<project_id>/access)": Did.PROJECT_ACCESS_CHANGED,
    rf"(post {_P}members|put project/<project_id>/access/member)": Did.PROJECT_MEMBER_CHANGED,
    rf"(post {_S}privacy|put session/<session_id>/privacy)": Did.SESSION_PRIVACY_CHANGED,
    "(post member_remove|delete member/<member_id>)": Did.MEMBER_REMOVED,
    "post (invite_create|invitation)": Did.INVITE_CREATED,
    "post member_token": Did.TOKEN_REVOKED,
    "(post invite_revoke|delete invitation/<invitation_id>)": Did.INVITE_REVOKED,
    "(post services|post service-account)": Did.SERVICE_CREATED,
    "(post service|post service_enabled|patch service-account/<account_id>)": Did.SERVICE_UPDATED,
    "(post service_delete|delete service-account/<account_id>)": Did.SERVICE_DELETED,
    "post (service_token|service-account/<account_id>/token|tokens|token)": Did.TOKEN_CREATED,
    "(post (service|token)_revoke|delete (service-account/<account_id>/)?token/.+)": (
        Did.TOKEN_REVOKED
    ),
    "post profile": Did.USER_RENAMED,
    "post password": Did.USER_PASSWORD_CHANGED,
    "post devices?(_others)?": Did.USER_SIGNED_OUT,
    "post (appearance|theme_save|shortcut|shortcuts_.+)": _VIEW,
    "post me/notifications": _VIEW,
    "post me/notifications/push.*": "where a browser takes messages, until it is signed out",
    "post me/notifications/webhook.*": "where messages to the person go",
    # Settings.
    r"(post|put) (t/<slug:team>/settings/budgets|budget)": Did.BUDGETS_CHANGED,
    r"post t/<slug:team>/settings/budgets/notices/.+": _VIEW,
    rf"post {_SET}(config|permissions/change|permissions/restore|network|sharing)": (
        Did.CONFIG_CHANGED
    ),
    rf"post {_SET}permissions/saved/.+": Did.RULE_REVOKED,
    rf"post ({_SET}(commands|agents)|({_SET}|{_P})mcp)/(new|[is]/<name:name>(/delete|/enabled)?)": (
        Did.CONFIG_CHANGED
    ),
    rf"post {_P}mcp/s/<name:name>/accept": Did.MCP_PROGRAM_ACCEPTED,
    rf"post {_P}mcp/s/<name:name>/tools": Did.CONFIG_CHANGED,
    rf"post {_P}mcp/s/<name:name>/again": "connects again; no setting changes",
    rf"post {_P}mcp/s/<name:name>/(sign-in|own)": Did.MCP_SIGNED_IN,
    rf"post {_P}mcp/s/<name:name>/(sign-out|own/end)": Did.MCP_SIGNED_OUT,
    "post me/mcp/<int:sign_in>/end": Did.MCP_SIGNED_OUT,
    rf"post (ops/|{_SET})plugins": Did.TEAM_PLUGIN_ADDED,
    rf"post (ops/|{_SET})plugins/<int:plugin>/trust": Did.TEAM_PLUGIN_TRUSTED,
    rf"post (ops/|{_SET})plugins/<int:plugin>/reload": Did.TEAM_PLUGIN_RELOADED,
    rf"post (ops/|{_SET})plugins/<int:plugin>/remove": Did.TEAM_PLUGIN_REMOVED,
    rf"post {_SET}secrets": Did.TEAM_SECRET_SET,
    rf"post {_SET}secrets/keys": Did.KEY_HIDING_CHANGED,
    rf"post {_SET}secrets/<int:secret>/remove": Did.TEAM_SECRET_REMOVED,
    rf"post {_SET}search": Did.SEARCH_SET_UP,
    rf"post {_SET}search/off": Did.SEARCH_SWITCHED_OFF,
    rf"post {_SET}search/test": "searches once; nothing is kept",
    rf"post {_SET}skills/s/<str:skill>/delete": Did.SKILL_DELETED,
    rf"post {_SET}skills/.+": Did.SKILL_SAVED,
    rf"post {_SET}webhooks/": Did.WEBHOOK_CREATED,
    rf"post {_SET}webhooks/w/<str:webhook>(/secret|/enabled)?": Did.WEBHOOK_UPDATED,
    rf"post {_SET}webhooks/w/<str:webhook>/ping": Did.WEBHOOK_PINGED,
    rf"post {_SET}webhooks/w/<str:webhook>/delete": Did.WEBHOOK_DELETED,
    rf"post {_SET}webhooks/w/<str:webhook>/delivery/.+": Did.WEBHOOK_REDELIVERED,
    "post webhook": Did.WEBHOOK_CREATED,
    "(patch webhook/<webhook_id>|post webhook/<webhook_id>/secret)": Did.WEBHOOK_UPDATED,
    "delete webhook/<webhook_id>": Did.WEBHOOK_DELETED,
    "post webhook/<webhook_id>/ping": Did.WEBHOOK_PINGED,
    "post webhook/<webhook_id>/delivery/.+": Did.WEBHOOK_REDELIVERED,
    # Models.
    rf"post {_SET}models/(own-accounts|default)": Did.CONFIG_CHANGED,
    rf"post {_MODELS}(server|new/<str:provider>)": Did.PROVIDER_CREATED,
    rf"post {_MODELS}(new/<str:provider>/sign-in|sign-ins/<str:attempt>/cancel)": _ATTEMPT,
    rf"post {_MODELS}sign-ins/<str:attempt>/finish": Did.PROVIDER_SIGNED_IN,
    rf"post {_ONE_ACCOUNT}delete": Did.PROVIDER_DELETED,
    rf"post {_ONE_ACCOUNT}(test|check)": Did.PROVIDER_TESTED,
    rf"post {_ONE_ACCOUNT}.+": Did.PROVIDER_UPDATED,
    r"put auth/<provider_id>": Did.PROVIDER_CREATED,
    r"delete auth/<provider_id>": Did.PROVIDER_SIGNED_OUT,
    r"post provider/<provider_id>/oauth/authorize": _ATTEMPT,
    r"post provider/<provider_id>/oauth/callback": Did.PROVIDER_SIGNED_IN,
    r"post api/integration/<integration_id>/connect/key": Did.PROVIDER_CREATED,
    r"post api/integration/<integration_id>/connect/oauth": _ATTEMPT,
    r"post api/integration/attempt/<attempt_id>/complete": Did.PROVIDER_SIGNED_IN,
    r"delete api/integration/attempt/<attempt_id>": _ATTEMPT,
    r"(patch|delete) api/credential/<credential_id>": Did.PROVIDER_UPDATED,
    # Projects.
    rf"post ({_P[:-2]}new|t/<slug:team>/p/new|project)": Did.PROJECT_CREATED,
    rf"post {_P}(network|settings)": Did.CONFIG_CHANGED,
    rf"post {_P}publishing": Did.PUBLISHING_SET_UP,
    rf"post {_I}": Did.INTEGRATION_CREATED,
    rf"post {_P}integration/secret": Did.INTEGRATION_UPDATED,
    rf"post {_I}/remove": Did.INTEGRATION_DELETED,
    rf"post {_I}/link": "a code that links nothing until it comes in a comment",
    rf"post {_I}/link/.+": Did.ACCOUNT_UNLINKED,
    rf"post {_I}/rules/.+/up": Did.INTEGRATION_RULE_CHANGED,
    rf"post {_I}/rules": Did.INTEGRATION_RULE_ADDED,
    rf"post {_I}/rules/[^/]+": Did.INTEGRATION_RULE_CHANGED,
    rf"post {_I}/rules/.+/remove": Did.INTEGRATION_RULE_REMOVED,
    rf"post {_I}/again/.+": Did.INTEGRATION_REPEATED,
    rf"post {_P}integration/app/connect": "GitHub, which has to agree, is not there",
    rf"post {_P}integration/app/(dis.+|remove)": Did.INTEGRATION_UPDATED,
    rf"put {_A}": Did.INTEGRATION_UPDATED,
    r"put project/<project_id>/tracker/.+": Did.INTEGRATION_UPDATED,
    rf"delete {_A}": Did.INTEGRATION_DELETED,
    rf"post {_A}/secret": Did.INTEGRATION_UPDATED,
    rf"post {_A}/rule": Did.INTEGRATION_RULE_ADDED,
    rf"patch {_A}/rule/.+": Did.INTEGRATION_RULE_CHANGED,
    rf"delete {_A}/rule/.+": Did.INTEGRATION_RULE_REMOVED,
    rf"post {_A}/delivery/.+": Did.INTEGRATION_REPEATED,
    rf"post {_SET}slack": Did.SLACK_CONNECTED,
    rf"post {_SET}slack/remove": Did.SLACK_REMOVED,
    rf"post {_SET}slack/again/.+": Did.INTEGRATION_REPEATED,
    rf"post {_SET}slack/channels.*": Did.SLACK_CHANGED,
    rf"post {_SET}slack/link": "a code that links nothing until it comes in a message",
    rf"post {_SET}slack/link/.+": Did.ACCOUNT_UNLINKED,
    "post integrations/.+": "what it asks for is recorded when it is done",
    rf"post {_P}secrets": Did.SECRET_SET,
    rf"post {_P}secrets/.+": Did.SECRET_REMOVED,
    rf"post {_P}repository/trust": Did.REPOSITORY_TRUSTED,
    rf"post {_P}repository/withdraw": Did.REPOSITORY_TRUST_WITHDRAWN,
    rf"post {_P}repository/reload": Did.PLUGINS_RELOADED,
    rf"post {_P}delete": Did.PROJECT_DELETED,
    rf"post {_P}import": Did.SESSION_IMPORTED,
    rf"post {_P}clone/again": "a clone that has failed is tried again as it was",
    rf"post {_P}rules/.+": Did.RULE_REVOKED,
    rf"post {_P}rescued/<str:checkout>/branch": Did.CHECKOUT_BRANCHED,
    rf"post {_P}rescued/<str:checkout>/discard": Did.CHECKOUT_DISCARDED,
    rf"post {_P}schedules": Did.SCHEDULE_CREATED,
    rf"post {_P}schedules/<str:schedule>": Did.SCHEDULE_UPDATED,
    rf"post ({_P}schedules/<str:schedule>|schedule/<schedule_id>)/run": Did.SCHEDULE_RUN,
    rf"(post {_P}schedules/<str:schedule>/paused|patch schedule/<schedule_id>)": (
        Did.SCHEDULE_PAUSED
    ),
    rf"(post {_P}schedules/<str:schedule>/delete|delete schedule/.+)": Did.SCHEDULE_DELETED,
    "post schedule": Did.SCHEDULE_CREATED,
    "patch project/<project_id>": Did.PROJECT_UPDATED,
    r"(put|patch) (global/)?config": Did.CONFIG_CHANGED,
    r"(post|delete) mcp": Did.CONFIG_CHANGED,
    r"post mcp/<path:name>/(connect|disconnect)": Did.CONFIG_CHANGED,
    r"post mcp/<path:name>/auth(/authenticate)?": _ATTEMPT,
    r"post mcp/<path:name>/auth/callback": Did.MCP_SIGNED_IN,
    r"delete mcp/<path:name>/auth": Did.MCP_SIGNED_OUT,
    "put project/current": "where the clients of one API token begin",
    "post project/git/init": "the folder is a git repository already, or becomes an empty one",
    "post project/init": _NOTHING,
    # Sessions.
    "post t/<slug:team>/(rail/shape|choices)": _VIEW,
    rf"post {_S}(panel|pin|review/(look|viewed))": _VIEW,
    "post t/<slug:team>/draft": _DRAFT,
    rf"post {_S}review/comment.*": _UNSENT,
    "post t/<slug:team>/start": Did.SESSION_CREATED,
    rf"post {_S}(prompt|compact|review/send|queue/<str:prompt>/restore/.+)": Did.PROMPT_ADMITTED,
    rf"post {_S}queue/<str:prompt>/(edit|deliver|move)": Did.PROMPT_CHANGED,
    rf"post {_S}queue/<str:prompt>/remove": Did.PROMPT_CANCELLED,
    rf"post {_S}(stop|compare/stop)": Did.SESSION_INTERRUPTED,
    rf"post {_S}(resume|retry)": Did.SESSION_RESUMED,
    rf"post {_S}permission/<str:permission>/admins": Did.PERMISSION_ADMINS_ASKED,
    rf"post {_S}(permission/<str:permission>|permissions/once)": Did.PERMISSION_REPLIED,
    rf"post {_S}question/.+": Did.QUESTION_REPLIED,
    rf"post {_S}restore": Did.SESSION_UNREVERTED,
    rf"post {_S}(turn/<str:turn>/)?fork": Did.SESSION_FORKED,
    rf"post {_S}turn/<str:turn>/revert": Did.SESSION_REVERTED,
    rf"post {_S}(file/revert|review/revert)": Did.FILE_REVERTED,
    rf"post {_S}file/undo": Did.FILE_RESTORED,
    rf"post {_S}turn/<str:turn>/delete": Did.MESSAGE_DELETED,
    rf"post {_S}review/stage": Did.FILE_STAGED,
    rf"post {_S}review/commit": Did.CHECKOUT_COMMITTED,
    rf"post {_S}(publish|worktree)/<str:act>": Did.CHECKOUT_PUSHED,
    rf"post {_S}preview": Did.PREVIEW_OPENED,
    rf"post {_S}files/edit": Did.FILE_EDITED,
    rf"post {_S}part/<str:part>/stop": Did.COMMAND_STOPPED,
    rf"post {_S}compare/keep": Did.SESSION_DELETED,
    rf"post {_S}share": Did.SHARE_CREATED,
    rf"post {_S}share/.+": Did.SHARE_REVOKED,
    rf"post {_S}rename": Did.SESSION_RENAMED,
    rf"post {_S}archive": Did.SESSION_ARCHIVED,
    rf"post {_S}delete": Did.SESSION_DELETED,
    # Sessions, by the API.
    "post (session|api/session|experimental/worktree|experimental/project/<project_id>/copy)": (
        Did.SESSION_CREATED
    ),
    "post session/import": Did.SESSION_IMPORTED,
    "patch session/<session_id>": Did.SESSION_RENAMED,
    "delete (session/<session_id>|experimental/(worktree|project/<project_id>/copy))": (
        Did.SESSION_DELETED
    ),
    "post (api/)?session/<session_id>/(message|prompt|prompt_async|command|summarize|compact)": (
        Did.PROMPT_ADMITTED
    ),
    "post session/<session_id>/(shell|init)": Did.PROMPT_ADMITTED,
    "delete session/<session_id>/message/<message_id>": Did.MESSAGE_DELETED,
    "delete session/<session_id>/message/<message_id>/part/<part_id>": Did.PART_DELETED,
    "patch session/<session_id>/message/<message_id>/part/<part_id>": Did.PART_EDITED,
    "post session/<session_id>/worktree/look": "looks at the worktree; nothing changes",
    "post session/<session_id>/worktree/commit": Did.CHECKOUT_COMMITTED,
    "post session/<session_id>/worktree/merge": Did.CHECKOUT_MERGED,
    "post session/<session_id>/worktree/push": Did.CHECKOUT_PUSHED,
    "post session/<session_id>/worktree/drop": Did.CHECKOUT_DROPPED,
    "post (session/<session_id>/worktree/restore|experimental/worktree/reset)": (
        Did.CHECKOUT_RESTORED
    ),
    "post session/<session_id>/fork": Did.SESSION_FORKED,
    "post (session/<session_id>/revert|api/session/<session_id>/revert/(stage|commit))": (
        Did.SESSION_REVERTED
    ),
    "post (session/<session_id>/unrevert|api/session/<session_id>/revert/clear)": (
        Did.SESSION_UNREVERTED
    ),
    "post session/<session_id>/revert/file": Did.FILE_REVERTED,
    "post session/<session_id>/unrevert/file": Did.FILE_RESTORED,
    "post session/<session_id>/share": Did.SHARE_CREATED,
    "delete session/<session_id>/share": Did.SHARE_REVOKED,
    "post (session/<session_id>/abort|api/session/<session_id>/interrupt)": (
        Did.SESSION_INTERRUPTED
    ),
    "post api/session/<session_id>/wait": "waits for the end of the turn",
    "post api/session/<session_id>/(agent|model)": "every prompt records its agent and model",
    "(post session/<session_id>/input/order|patch session/<session_id>/input/<input_id>)": (
        Did.PROMPT_CHANGED
    ),
    "delete session/<session_id>/input/<input_id>": Did.PROMPT_CANCELLED,
    "post (permission/<request_id>/reply|(api/)?session/<session_id>/permission.+)": (
        Did.PERMISSION_REPLIED
    ),
    "post (api/session/<session_id>/)?question/<question_id>/(reply|reject)": Did.QUESTION_REPLIED,
    "delete api/permission/saved/<rule>": Did.RULE_REVOKED,
    "post (api/)?pty": Did.TERMINAL_OPENED,
    "put (api/)?pty/<pty_id>": "the title or the size of one's own terminal",
    "delete (api/)?pty/<pty_id>": Did.TERMINAL_REMOVED,
    "post (api/)?pty/<pty_id>/connect-token": "a ticket for one's own terminal, for a minute",
    "post vcs/apply": Did.PATCH_APPLIED,
    # What OpenCode's clients call, and what changes nothing here.
    "post tui/.+": _REMOTE,
    "post log": "a line for the server's log",
    "post (instance/dispose|global/dispose|global/upgrade|sync/.+)": _NOTHING,
    "(post|delete) experimental/(workspace|console|control-plane).*": _NOTHING,
    "post experimental/project/<project_id>/copy/.+": _NOTHING,
    "post experimental/session/<session_id>/background": "lets a sub-agent go on by itself",
}

# What has nothing to do in the world of the tables, and succeeds all the same.
IDLE = frozenset(
    {
        "post setup",
        "post t/<slug:team>/settings/search/off",
        f"post {_P}repository/withdraw",
        *(f"post {_P}rescued/<str:checkout>/{act}" for act in ("branch", "discard")),
        *(f"post {_S}{act}" for act in ("resume", "retry", "permissions/once")),
        *(f"post {_S}queue/<str:prompt>/{act}" for act in ("deliver", "move")),
        "delete auth/<provider_id>",
        "delete group/<group_id>/member/<member_id>",
        "patch session/<session_id>/input/<input_id>",
    }
)
