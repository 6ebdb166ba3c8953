"""Every route of the API with what it answers to whom. A new one is a line here, or a test fails.

Pages are in `page_table`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

CAST = ("alice", "adam", "bob", "vera", "charlie", "nobody")
# The owner, an admin, a member and a viewer of the team, an outsider, somebody not signed in.
Codes = tuple[int, int, int, int, int, int]

API_READ: Codes = (200, 200, 200, 200, 404, 401)
API_WRITE: Codes = (200, 200, 200, 403, 404, 401)
API_GOVERN: Codes = (200, 200, 403, 403, 404, 401)
API_AT_REST: Codes = (409, 409, 409, 403, 404, 401)
NO_CHECKOUT: Codes = (404, 404, 404, 403, 404, 401)
# Done, without a word.
DONE: Codes = (204, 204, 204, 403, 404, 401)
# A terminal of the first.
ITS_PERSON: Codes = (200, 403, 404, 404, 404, 401)
# Answers about the caller's own teams, whichever they are.
API_OWN: Codes = (200, 200, 200, 200, 200, 401)
# MCP servers that nobody has.
NO_SUCH: Codes = (404, 404, 404, 403, 404, 401)
NOWHERE: Codes = (404, 404, 404, 404, 404, 401)
PUBLIC: Codes = (200, 200, 200, 200, 200, 200)


@dataclass(frozen=True)
class Row:
    """`send` is a form for a page and JSON for the API; `{name}` in `query` is filled in."""

    method: str
    route: str
    codes: Codes
    send: dict[str, Any] = field(default_factory=dict)
    query: str = ""

    def __str__(self) -> str:
        return f"{self.method} {self.route}"


_COPY = "experimental/project/<project_id>/copy"
_HERE = "?directory={directory}"
_ATTEMPT = "api/integration/attempt/<attempt_id>"
_NONE_TO_MEMBERS: Codes = (404, 404, 404, 403, 404, 401)
_DEMO = {"id": "inline", "providerID": "demo"}
_BAD_ENVIRONMENT = {"env": {"1": "x"}}
_KEY = {"type": "api", "key": "k"}
_TEXT = {"parts": [{"type": "text", "text": "hi"}]}


def _removed(route: str) -> Codes:
    done = 204 if route.startswith("api/") else 200
    return (done, done, 404, 404, 404, 401)


API = [
    Row("get", "doc", PUBLIC),
    Row("get", "global/health", PUBLIC),
    Row("get", "token", API_OWN),
    Row("post", "token", API_OWN, {"name": "matrix"}),
    Row("delete", "token/<token_id>", (404, 404, 404, 404, 404, 401)),
    Row("get", "agent", API_READ, query=_HERE),
    Row("get", "provider", API_READ, query=_HERE),
    Row("get", "config/providers", API_READ, query=_HERE),
    Row("get", "command", API_READ, query=_HERE),
    Row("get", "skill", API_READ, query=_HERE),
    Row("get", "lsp", API_OWN),
    Row("get", "formatter", API_OWN),
    Row("get", "mcp", API_READ, query=_HERE),
    # Nobody has one yet.
    Row("post", "mcp", API_GOVERN, {"name": "x", "config": {"command": ["x"]}}, query=_HERE),
    Row("delete", "mcp", (404, 404, 403, 403, 404, 401), query=_HERE),
    Row("post", "mcp/<path:name>/disconnect", (404, 404, 403, 403, 404, 401), query=_HERE),
    Row("delete", "mcp/<path:name>/auth", NO_SUCH, query=_HERE),
    *(
        Row("post", f"mcp/<path:name>/{act}", NO_SUCH, {"code": "x"}, query=_HERE)
        for act in ("auth", "auth/callback", "auth/authenticate", "connect")
    ),
    Row("get", "config", API_READ, query=_HERE),
    Row("get", "config/repository", API_READ, query=_HERE),
    Row("patch", "config", API_GOVERN, query=_HERE),
    Row("put", "config", API_GOVERN, query=_HERE),
    Row("get", "global/config", API_READ, query="?team=acme"),
    Row("patch", "global/config", API_GOVERN, query="?team=acme"),
    # The demo takes no key.
    Row("put", "auth/<provider_id>", (400, 400, 400, 403, 404, 401), _KEY, query=_HERE),
    Row("delete", "auth/<provider_id>", API_GOVERN, query=_HERE),
    Row("get", "provider/auth", API_READ, query=_HERE),
    *(
        Row(
            "post",
            f"provider/<provider_id>/oauth/{act}",
            (400, 400, 400, 403, 404, 401),
            {"method": 0},
            query=_HERE,
        )
        for act in ("authorize", "callback")
    ),
    Row("post", "log", API_OWN, {"service": "x", "level": "info", "message": "x"}),
    Row("get", "log", (403, 403, 403, 403, 403, 401)),
    # Nobody of the cast is an operator.
    Row("get", "instance/samples", (403, 403, 403, 403, 403, 401)),
    Row("get", "instance/teams", (403, 403, 403, 403, 403, 401)),
    Row("patch", "instance/teams/<slug>", (403, 403, 403, 403, 403, 401), {"turns": 3}),
    Row(
        "post",
        "instance/erasures",
        (403, 403, 403, 403, 403, 401),
        {"kind": "team", "what": "acme", "confirm": "acme"},
    ),
    Row("get", "instance/announcements", (200, 200, 200, 200, 200, 401)),
    Row("post", "instance/announcements", (403, 403, 403, 403, 403, 401), {"text": "x"}),
    Row("delete", "instance/announcements/<announcement_id>", (403, 403, 403, 403, 403, 401)),
    Row("post", "instance/dispose", API_READ, query=_HERE),
    Row("post", "global/dispose", API_OWN),
    Row("post", "global/upgrade", API_OWN),
    Row("get", "path", API_READ, query=_HERE),
    Row("get", "project", API_OWN),
    Row("post", "project", API_WRITE, {"name": "other"}, query="?team=acme"),
    Row("get", "project/current", API_READ, query=_HERE),
    # A browser has no token.
    Row("put", "project/current", (400, 400, 400, 400, 404, 401), query=_HERE),
    Row("post", "project/git/init", API_WRITE, query=_HERE),
    Row("post", "project/init", API_WRITE, query=_HERE),
    Row("patch", "project/<project_id>", API_WRITE, {"name": "other"}),
    Row("get", "project/<project_id>/directories", API_READ),
    Row("get", "vcs", API_READ, query=_HERE),
    Row("get", "file", API_READ, query=f"{_HERE}&path=."),
    Row("get", "file/content", API_READ, query=f"{_HERE}&path=a"),
    Row("get", "file/status", API_READ, query=_HERE),
    Row("get", "find", API_READ, query=f"{_HERE}&pattern=a"),
    Row("get", "find/file", API_READ, query=f"{_HERE}&query=a"),
    Row("get", "find/symbol", API_READ, query=f"{_HERE}&query=a"),
    Row("get", "vcs/status", API_READ, query=_HERE),
    Row("get", "vcs/diff", API_READ, query=f"{_HERE}&mode=git"),
    Row("get", "vcs/diff/raw", API_READ, query=_HERE),
    # It does not fit.
    Row("post", "vcs/apply", (400, 400, 400, 403, 404, 401), {"patch": "x"}, query=_HERE),
    Row("get", "session", API_READ, query=_HERE),
    Row("post", "session", API_WRITE, query=_HERE),
    Row("get", "session/status", API_OWN),
    Row("get", "session/<session_id>", API_READ),
    Row("patch", "session/<session_id>", API_WRITE, {"title": "Other"}),
    Row("delete", "session/<session_id>", API_WRITE),
    Row("get", "session/<session_id>/children", API_READ),
    Row("get", "session/<session_id>/todo", API_READ),
    Row("get", "session/<session_id>/diff", API_READ),
    Row("get", "session/<session_id>/message", API_READ),
    Row("post", "session/<session_id>/message", API_WRITE, {**_TEXT, "noReply": True}),
    Row("get", "session/<session_id>/message/<message_id>", API_READ),
    Row("delete", "session/<session_id>/message/<message_id>", API_AT_REST),
    Row("delete", "session/<session_id>/message/<message_id>/part/<part_id>", API_AT_REST),
    Row("patch", "session/<session_id>/message/<message_id>/part/<part_id>", API_AT_REST),
    Row("post", "session/import", API_WRITE, {"info": {}, "messages": []}, query=_HERE),
    Row("get", "session/<session_id>/export", API_READ),
    Row("get", "session/<session_id>/log", API_READ),
    Row("get", "experimental/worktree", API_READ, query=_HERE),
    Row("post", "experimental/worktree", API_WRITE, query=_HERE),
    Row("delete", "experimental/worktree", NOWHERE, {"directory": "/x"}),
    Row("post", "experimental/worktree/reset", NOWHERE, {"directory": "/x"}),
    Row("post", f"{_COPY}/generate-name", API_READ),
    Row("post", f"{_COPY}/refresh", (204, 204, 204, 204, 404, 401)),
    Row("post", _COPY, API_WRITE, {"strategy": "git_worktree"}),
    Row("delete", _COPY, NO_SUCH, {"directory": "/x"}),
    *(
        Row("get", f"experimental/{what}", API_OWN)
        for what in ("capabilities", "console", "console/orgs", "resource", "session")
    ),
    *(Row("get", f"experimental/workspace{what}", API_OWN) for what in ("", "/adapter", "/status")),
    Row(
        "post",
        "experimental/console/switch",
        (400, 400, 400, 400, 400, 401),
        {"accountID": "x", "orgID": "y"},
    ),
    Row("get", "experimental/tool/ids", API_READ, query=_HERE),
    Row("get", "experimental/tool", API_READ, query=f"{_HERE}&provider=demo&model=inline"),
    Row("post", "experimental/session/<session_id>/background", API_WRITE),
    Row(
        "post",
        "experimental/control-plane/move-session",
        (400, 400, 400, 403, 404, 401),
        {"sessionID": "{session_id}", "destination": {"directory": "/x"}},
    ),
    Row(
        "post",
        "experimental/workspace",
        (400, 400, 400, 403, 404, 401),
        {"type": "worktree"},
        query=_HERE,
    ),
    Row("post", "experimental/workspace/sync-list", (204, 204, 204, 204, 204, 401)),
    Row("delete", "experimental/workspace/<workspace_id>", NOWHERE),
    Row(
        "post",
        "experimental/workspace/warp",
        (204, 204, 204, 403, 404, 401),
        {"id": None, "sessionID": "{session_id}"},
    ),
    *(
        Row("post", f"tui/{name}", API_OWN, send)
        for name, send in (
            ("append-prompt", {"text": "x"}),
            ("execute-command", {"command": "x"}),
            ("show-toast", {"message": "x", "variant": "info"}),
            ("publish", {"type": "tui.prompt.append", "properties": {"text": "x"}}),
            ("control/response", {}),
            *((name, {}) for name in ("open-help", "open-sessions", "open-themes", "open-models")),
            *((name, {}) for name in ("submit-prompt", "clear-prompt")),
        )
    ),
    Row("post", "tui/select-session", API_READ, {"sessionID": "{session_id}"}),
    Row("post", "sync/start", API_OWN),
    Row("post", "sync/replay", (400,) * 5 + (401,), {"directory": "/x", "events": []}),
    Row("post", "sync/steal", API_WRITE, {"sessionID": "{session_id}"}),
    Row("post", "sync/history", API_OWN),
    # As on its page: this session has none.
    Row("get", "session/<session_id>/worktree", (404, 404, 404, 404, 404, 401)),
    Row("post", "session/<session_id>/worktree/look", (404, 404, 404, 404, 404, 401)),
    *(
        Row("post", f"session/<session_id>/worktree/{act}", NO_CHECKOUT, {"message": "x"})
        for act in ("commit", "merge", "push", "drop", "restore")
    ),
    Row("post", "session/<session_id>/fork", API_WRITE),
    Row("post", "session/<session_id>/revert", API_AT_REST, {"messageID": "{message_id}"}),
    Row("post", "session/<session_id>/unrevert", API_AT_REST),
    Row(
        "post",
        "session/<session_id>/revert/file",
        API_AT_REST,
        {"messageID": "{message_id}", "file": "a"},
    ),
    Row("post", "session/<session_id>/unrevert/file", API_AT_REST, {"file": "a"}),
    Row("post", "session/<session_id>/prompt_async", (204, 204, 204, 403, 404, 401), _TEXT),
    # It waits for the end of the turn, which no worker of the table makes; so: an unknown one.
    Row(
        "post",
        "session/<session_id>/command",
        (400, 400, 400, 403, 404, 401),
        {"command": "nothing", "arguments": ""},
    ),
    Row(
        "post",
        "session/<session_id>/summarize",
        API_WRITE,
        {"providerID": "demo", "modelID": "inline"},
    ),
    Row("post", "session/<session_id>/compact", API_WRITE),
    Row("post", "session/<session_id>/prompt", API_WRITE, {**_TEXT, "noReply": True}),
    # The session of the table works. Nobody waits for what no worker does.
    Row("post", "session/<session_id>/shell", API_AT_REST, {"command": "ls"}),
    Row(
        "post",
        "session/<session_id>/init",
        (404, 404, 404, 403, 404, 401),
        {"providerID": "none", "modelID": "none"},
    ),
    # The session of another member, who is the first.
    Row("post", "session/<session_id>/share", API_GOVERN),
    Row("delete", "session/<session_id>/share", API_GOVERN),
    Row("post", "session/<session_id>/abort", API_WRITE),
    Row(
        "post",
        "api/session/<session_id>/prompt",
        API_WRITE,
        {"prompt": {"text": "hi"}, "delivery": "queue"},
    ),
    Row("get", "session/<session_id>/input", API_READ),
    Row("post", "session/<session_id>/input/order", (409, 409, 409, 403, 404, 401), {"ids": []}),
    Row("get", "session/<session_id>/input/<input_id>", API_READ),
    # Whose prompt it is, the session's owner and admins.
    Row("patch", "session/<session_id>/input/<input_id>", API_GOVERN, {"revision": 0}),
    Row("delete", "session/<session_id>/input/<input_id>", API_GOVERN),
    Row("get", "permission", API_READ, query=_HERE),
    Row("post", "permission/<request_id>/reply", API_WRITE, {"reply": "once"}),
    Row(
        "post",
        "session/<session_id>/permissions/<request_id>",
        API_WRITE,
        {"response": "once"},
    ),
    Row("get", "question", API_READ, query=_HERE),
    Row("post", "question/<question_id>/reply", API_WRITE, {"answers": [["Red"]]}),
    Row("post", "question/<question_id>/reject", API_WRITE),
    Row("get", "pty/shells", API_OWN),
    Row("get", "pty", API_READ, query=_HERE),
    # It waits for a worker, which the table has not; so: what is refused before.
    Row("post", "pty", (400, 400, 400, 403, 404, 401), _BAD_ENVIRONMENT, query=_HERE),
    *(
        row
        for top in ("pty/<pty_id>", "api/pty/<pty_id>")
        for row in (
            # One's own, and admins see that it is there and end it.
            Row("get", top, (200, 200, 404, 404, 404, 401)),
            Row("put", top, ITS_PERSON, {"title": "Other"}),
            Row("delete", top, _removed(top)),
            # The header that it takes is missing.
            Row("post", f"{top}/connect-token", (403, 403, 404, 404, 404, 401)),
            # No websocket.
            Row("get", f"{top}/connect", (400, 403, 404, 404, 404, 401)),
        )
    ),
    Row("get", "api/session", API_READ, query=_HERE),
    Row("post", "api/session", API_WRITE, query=_HERE),
    Row("get", "api/session/active", API_OWN),
    *(
        Row("get", f"api/session/<session_id>{below}", API_READ)
        for below in (
            *("", "/message", "/message/<message_id>", "/context", "/history", "/event"),
            *("/permission", "/permission/<request_id>", "/question"),
        )
    ),
    Row("post", "api/session/<session_id>/agent", DONE, {"agent": "plan"}),
    Row("post", "api/session/<session_id>/model", DONE, {"model": _DEMO}),
    Row("post", "api/session/<session_id>/compact", DONE),
    Row("post", "api/session/<session_id>/interrupt", DONE),
    # It waits for the end of the turn; nobody is kept out of that who may see it.
    Row(
        "post",
        "api/session/<session_id>/wait",
        (503, 503, 503, 503, 404, 401),
        query="?timeout=0.1",
    ),
    Row(
        "post", "api/session/<session_id>/revert/stage", API_AT_REST, {"messageID": "{message_id}"}
    ),
    Row("post", "api/session/<session_id>/revert/clear", API_AT_REST),
    Row("post", "api/session/<session_id>/revert/commit", API_AT_REST),
    Row("post", "api/session/<session_id>/permission/<request_id>/reply", DONE, {"reply": "once"}),
    Row(
        "post",
        "api/session/<session_id>/question/<question_id>/reply",
        DONE,
        {"answers": [["Red"]]},
    ),
    Row("post", "api/session/<session_id>/question/<question_id>/reject", DONE),
    Row("get", "api/permission/saved", API_OWN),
    Row("delete", "api/permission/saved/<rule>", DONE),
    *(
        Row("get", f"api/{name}", API_READ, query=_HERE)
        for name in (
            *("permission/request", "question/request", "location", "agent", "provider", "model"),
            *("command", "skill", "reference", "integration", "provider/<provider_id>"),
            *("integration/<integration_id>", "fs/list"),
        )
    ),
    Row("get", "api/health", API_OWN),
    Row("get", "api/fs/find", API_READ, query=f"{_HERE}&query=a"),
    Row("get", "api/fs/read/<path:path>", API_READ, query=_HERE),
    # The demo takes no key.
    Row(
        "post",
        "api/integration/<integration_id>/connect/key",
        (400, 400, 400, 403, 404, 401),
        {"key": "k"},
        query=_HERE,
    ),
    Row(
        "post",
        "api/integration/<integration_id>/connect/oauth",
        _NONE_TO_MEMBERS,
        {"methodID": "x"},
        query=_HERE,
    ),
    Row("get", _ATTEMPT, _NONE_TO_MEMBERS, query=_HERE),
    Row("delete", _ATTEMPT, _NONE_TO_MEMBERS, query=_HERE),
    Row("post", f"{_ATTEMPT}/complete", _NONE_TO_MEMBERS, {"code": "x"}, query=_HERE),
    Row("delete", "api/credential/<credential_id>", _NONE_TO_MEMBERS, query=_HERE),
    Row("patch", "api/credential/<credential_id>", _NONE_TO_MEMBERS, {"label": "x"}, query=_HERE),
    Row("get", "api/pty", API_READ, query=_HERE),
    Row("post", "api/pty", (400, 400, 400, 403, 404, 401), _BAD_ENVIRONMENT, query=_HERE),
    Row("get", "event", API_READ, query=_HERE),
    Row("get", "global/event", API_OWN),
    Row("get", "api/event", API_OWN),
    Row("get", "tui/control/next", (204, 204, 204, 204, 204, 401), query="?wait=0"),
]

# Names that lead on to the routes above, and are not in the description of the API.
_OF = "project/<str:project_id>"
ALIASES = [
    Row("get", f"{_OF}/session", API_READ),
    Row("get", f"{_OF}/agent", API_READ),
    Row("get", f"{_OF}/find/file", API_READ, query="?query=a"),
    Row("get", f"{_OF}/session/<str:session_id>", API_READ),
    Row("get", f"{_OF}/session/<str:session_id>/<path:rest>", API_READ),
    Row("get", "global", API_OWN),
    Row("get", "global/sync-event", API_OWN),
]

# What is not ours route by route. prefix of the route: who watches it instead.
ELSEWHERE = {
    "admin/": "test_only_operators_reach_the_admin",
    "scim/v2(?:": "test_an_unknown_address_of_scim_is_for_the_directory_alone",
    "^(?:agent|": "test_an_unknown_address_of_the_api_is_not_found_by_anybody",
}
