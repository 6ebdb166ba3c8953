"""Every route with what it answers to whom. A new route is one line here, or a test fails."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

CAST = ("alice", "adam", "bob", "vera", "charlie", "nobody")
# The owner, an admin, a member and a viewer of the team, an outsider, somebody not signed in.
Codes = tuple[int, int, int, int, int, int]

READ: Codes = (200, 200, 200, 200, 404, 302)
# 302 goes on after a form; nobody is sent to the sign-in page.
WRITE: Codes = (302, 302, 302, 403, 404, 302)
GOVERN: Codes = (302, 302, 403, 403, 404, 302)
# What changes history: the session of the table works.
AT_REST: Codes = (409, 409, 409, 403, 404, 302)
TO_PAGE: Codes = (302, 302, 302, 302, 404, 302)
# A form that was read and found empty.
EMPTY_WRITE: Codes = (422, 422, 422, 403, 404, 302)
EMPTY_GOVERN: Codes = (422, 422, 403, 403, 404, 302)

API_READ: Codes = (200, 200, 200, 200, 404, 401)
API_WRITE: Codes = (200, 200, 200, 403, 404, 401)
API_GOVERN: Codes = (200, 200, 403, 403, 404, 401)
API_AT_REST: Codes = (409, 409, 409, 403, 404, 401)
# Answers about the caller's own teams, whichever they are.
API_OWN: Codes = (200, 200, 200, 200, 200, 401)
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


_HERE = "?directory={directory}"
_P = "t/<slug:team>/p/<str:project>/"
_S = "t/<slug:team>/s/<str:session>"
_M = "t/<slug:team>/settings/models/"
_TEXT = {"parts": [{"type": "text", "text": "hi"}]}

PAGES = [
    Row("get", "setup", (302, 302, 302, 302, 302, 302)),
    Row("post", "setup", (302, 302, 302, 302, 302, 302)),
    # For operators only, and nobody of the cast is one.
    Row("get", "metrics", (403, 403, 403, 403, 403, 401)),
    Row("get", "t/<slug:team>/", READ),
    Row("get", "t/<slug:team>/rail", READ),
    Row("post", "t/<slug:team>/start", WRITE, {"text": "hi", "project": "{project}"}),
    Row("get", "t/<slug:team>/p/new", (200, 200, 200, 403, 404, 302)),
    Row("post", "t/<slug:team>/p/new", EMPTY_WRITE, {"kind": "empty"}),
    Row("get", "t/<slug:team>/settings/config", READ),
    Row("post", "t/<slug:team>/settings/config", GOVERN, {"config": "{}"}),
    Row("get", _P, READ),
    # Whoever reads the address of a form comes to the page it is on.
    *(
        Row("get", _P + form, TO_PAGE)
        for form in ("settings", "delete", "clone/again", "import", "rules/<int:rule>/revoke")
    ),
    Row("post", _P + "settings", GOVERN, {"config": "{}"}),
    Row("post", _P + "delete", GOVERN),
    # A form without its file.
    Row("post", _P + "import", (400, 400, 400, 403, 404, 302)),
    Row("get", _P + "clone", TO_PAGE),
    Row("post", _P + "clone/again", (409, 409, 409, 403, 404, 302)),
    Row("post", _P + "rules/<int:rule>/revoke", WRITE),
    Row("get", _S, READ),
    Row("get", _S + "/turns", READ),
    Row("get", _S + "/window", READ),
    Row("get", _S + "/file", (404, 404, 404, 404, 404, 302)),
    Row("get", _S + "/part/<str:part>", READ),
    Row("get", _S + "/part/<str:part>/body", READ),
    Row("post", _S + "/prompt", WRITE, {"text": "hi"}),
    # Whose prompt it is, the session's owner and admins.
    Row("get", _S + "/queue/<str:prompt>/edit", (200, 200, 403, 403, 404, 302)),
    Row("post", _S + "/queue/<str:prompt>/edit", GOVERN, {"revision": "0", "text": "other"}),
    Row("post", _S + "/queue/<str:prompt>/deliver", GOVERN, {"revision": "0"}),
    Row("post", _S + "/queue/<str:prompt>/remove", GOVERN),
    Row("post", _S + "/queue/<str:prompt>/move", WRITE),
    Row("post", _S + "/compact", WRITE),
    Row("post", _S + "/stop", WRITE),
    Row("post", _S + "/resume", WRITE),
    Row("post", _S + "/retry", WRITE),
    Row("post", _S + "/permission/<str:permission>", WRITE, {"reply": "once"}),
    Row("post", _S + "/question/<str:question>", WRITE, {"own0": "Red"}),
    Row("post", _S + "/restore", AT_REST),
    Row("get", _S + "/turn/<str:turn>/menu", (200, 200, 200, 403, 404, 302)),
    Row("post", _S + "/turn/<str:turn>/fork", WRITE),
    Row("post", _S + "/turn/<str:turn>/revert", AT_REST),
    Row("post", _S + "/turn/<str:turn>/delete", AT_REST),
    Row("post", _S + "/rename", WRITE, {"title": "Other"}),
    Row("post", _S + "/archive", WRITE),
    Row("post", _S + "/delete", WRITE),
    Row("get", _M, READ),
    Row("get", _M + "new", (200, 200, 403, 403, 404, 302)),
    Row("post", _M + "new", EMPTY_GOVERN),
    Row("get", _M + "p/<str:provider>", (200, 200, 403, 403, 404, 302)),
    Row("post", _M + "p/<str:provider>/key", EMPTY_GOVERN),
    Row("post", _M + "p/<str:provider>/address", EMPTY_GOVERN),
    Row("post", _M + "p/<str:provider>/enabled", GOVERN),
    Row("post", _M + "p/<str:provider>/test", EMPTY_GOVERN),
    Row("get", _M + "p/<str:provider>/delete", (200, 200, 403, 403, 404, 302)),
    Row("post", _M + "p/<str:provider>/delete", GOVERN),
    Row("post", _M + "p/<str:provider>/pick", GOVERN),
    Row("post", _M + "p/<str:provider>/models", EMPTY_GOVERN),
]

API = [
    Row("get", "doc", PUBLIC),
    Row("get", "global/health", PUBLIC),
    Row("get", "agent", API_READ, query=_HERE),
    Row("get", "provider", API_READ, query=_HERE),
    Row("get", "config/providers", API_READ, query=_HERE),
    Row("get", "command", API_OWN),
    Row("get", "lsp", API_OWN),
    Row("get", "formatter", API_OWN),
    Row("get", "mcp", API_OWN),
    Row("get", "config", API_READ, query=_HERE),
    Row("patch", "config", API_GOVERN, query=_HERE),
    Row("get", "path", API_READ, query=_HERE),
    Row("get", "project", API_OWN),
    Row("get", "project/current", API_READ, query=_HERE),
    Row("get", "vcs", API_READ, query=_HERE),
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
    Row("post", "session/<session_id>/fork", API_WRITE),
    Row("post", "session/<session_id>/revert", API_AT_REST, {"messageID": "{message_id}"}),
    Row("post", "session/<session_id>/unrevert", API_AT_REST),
    Row("post", "session/<session_id>/prompt_async", (204, 204, 204, 403, 404, 401), _TEXT),
    Row(
        "post",
        "session/<session_id>/summarize",
        API_WRITE,
        {"providerID": "demo", "modelID": "inline"},
    ),
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
    Row("get", "event", API_READ, query=_HERE),
    Row("get", "global/event", API_OWN),
]

# What is not ours route by route. prefix of the route: who watches it instead.
ELSEWHERE = {
    "admin/": "test_only_operators_reach_the_admin",
    "^(?:agent|": "test_an_unknown_address_of_the_api_is_not_found_by_anybody",
}
