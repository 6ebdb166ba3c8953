"""The pages of a session with what they answer to whom."""

from __future__ import annotations

from tests.architecture.access_table import Codes, Row
from tests.architecture.page_table import EMPTY_GOVERN, FRAMES, GOVERN, READ, TO_PAGE, WRITE

# What changes history: the session of the table works.
AT_REST: Codes = (409, 409, 409, 403, 404, 302)

_S = "t/<slug:team>/s/<str:session>"

PAGES = [
    Row("get", _S + "/live", FRAMES),
    Row("get", _S, READ),
    Row("get", _S + "/turns", READ),
    Row("get", _S + "/window", READ),
    Row("get", _S + "/attachment/<str:part>", (404, 404, 404, 404, 404, 302)),
    Row("post", _S + "/panel", (204, 204, 204, 204, 404, 302), {"shown": "context", "width": "45"}),
    Row("get", _S + "/file", (404, 404, 404, 404, 404, 302)),
    Row("get", _S + "/file/lines", (404, 404, 404, 404, 404, 302)),
    Row("get", _S + "/review/picture", (404, 404, 404, 404, 404, 302)),
    Row("post", _S + "/review/look", TO_PAGE, {"view": "split"}),
    Row("post", _S + "/review/viewed", (404, 404, 404, 404, 404, 302)),
    Row("post", _S + "/review/comment", (404, 404, 404, 403, 404, 302)),
    Row("post", _S + "/review/comment/<int:comment>/edit", (404, 404, 404, 403, 404, 302)),
    Row("post", _S + "/review/comment/<int:comment>/remove", (404, 404, 404, 403, 404, 302)),
    Row("post", _S + "/review/revert", (404, 404, 404, 403, 404, 302)),
    Row("post", _S + "/review/commit", AT_REST, {"message": "Mend", "source": "uncommitted"}),
    Row("post", _S + "/review/stage", (404, 404, 404, 403, 404, 302)),
    Row("post", _S + "/review/send", (404, 404, 404, 403, 404, 302)),
    # By itself each leads to the page.
    Row("get", _S + "/review/folder", TO_PAGE),
    Row("get", _S + "/files", TO_PAGE),
    Row("get", _S + "/terminals", TO_PAGE),
    Row("get", _S + "/previews", TO_PAGE),
    Row("post", _S + "/preview", (404, 404, 404, 403, 404, 302)),
    Row("get", _S + "/preview/<str:label>", (404, 404, 404, 403, 404, 302)),
    *(
        Row(method, _S + "/files/edit", (400, 400, 400, 403, 404, 302))
        for method in ("get", "post")
    ),
    Row("get", _S + "/files/raw", (404, 404, 404, 404, 404, 302)),
    Row("get", _S + "/files/download", (404, 404, 404, 404, 404, 302)),
    Row("get", _S + "/part/<str:part>", READ),
    Row("get", _S + "/part/<str:part>/body", READ),
    # What the part of the table calls has changed no file.
    Row("get", _S + "/part/<str:part>/lines", (404, 404, 404, 404, 404, 302)),
    Row("get", _S + "/part/<str:part>/picture/<int:number>", (404, 404, 404, 404, 404, 302)),
    # What the part of the table calls is no command.
    Row("post", _S + "/part/<str:part>/stop", (404, 404, 404, 403, 404, 302)),
    Row("post", _S + "/prompt", WRITE, {"text": "hi"}),
    # Whose prompt it is, the session's owner and admins.
    Row("get", _S + "/queue/<str:prompt>/edit", (200, 200, 403, 403, 404, 302)),
    Row("post", _S + "/queue/<str:prompt>/edit", GOVERN, {"revision": "0", "text": "other"}),
    Row("post", _S + "/queue/<str:prompt>/deliver", GOVERN, {"revision": "0"}),
    Row("post", _S + "/queue/<str:prompt>/remove", GOVERN),
    Row("post", _S + "/queue/<str:prompt>/move", WRITE),
    Row("post", _S + "/queue/<str:prompt>/restore/<str:message>", (409, 409, 409, 403, 404, 302)),
    Row("post", _S + "/compact", WRITE),
    Row("post", _S + "/stop", WRITE),
    Row("post", _S + "/resume", WRITE),
    Row("post", _S + "/retry", WRITE),
    Row("post", _S + "/permission/<str:permission>", WRITE, {"reply": "once"}),
    # Members can answer this one themselves.
    Row("post", _S + "/permission/<str:permission>/admins", (400, 400, 400, 403, 404, 302)),
    Row("post", _S + "/permissions/once", WRITE),
    Row("post", _S + "/question/<str:question>", WRITE, {"own0": "Red"}),
    Row("post", _S + "/restore", AT_REST),
    Row("get", _S + "/turn/<str:turn>/menu", (200, 200, 200, 403, 404, 302)),
    Row("post", _S + "/turn/<str:turn>/fork", WRITE),
    Row("post", _S + "/fork", WRITE),
    Row("post", _S + "/turn/<str:turn>/revert", AT_REST),
    Row("post", _S + "/file/revert", AT_REST, {"turn": "{message_id}", "file": "a"}),
    Row("post", _S + "/file/undo", AT_REST, {"file": "a"}),
    Row("post", _S + "/turn/<str:turn>/delete", AT_REST),
    Row("get", _S + "/publish", READ),
    Row("post", _S + "/publish/<str:act>", (404, 404, 404, 403, 404, 302)),
    # The session of the table is compared with no other.
    Row("get", _S + "/compare", (404, 404, 404, 404, 404, 302)),
    Row("post", _S + "/compare/keep", (404, 404, 404, 403, 404, 302)),
    Row("post", _S + "/compare/stop", (404, 404, 404, 403, 404, 302)),
    # The session of the table works in the project's folder.
    Row("get", _S + "/worktree", (404, 404, 404, 404, 404, 302)),
    Row("post", _S + "/worktree/<str:act>", (404, 404, 404, 403, 404, 302)),
    # Of another member's session, who is the first.
    Row("get", _S + "/share", (200, 200, 403, 403, 404, 302)),
    Row("post", _S + "/share", EMPTY_GOVERN),
    Row("post", _S + "/share/<str:share>/revoke", GOVERN),
    Row("get", _S + "/rename", (200, 200, 200, 403, 404, 302)),
    Row("post", _S + "/rename", WRITE, {"title": "Other"}),
    Row("post", _S + "/archive", WRITE),
    Row("post", _S + "/privacy", GOVERN, {"private": "1"}),
    Row("get", _S + "/menu", READ),
    Row("get", _S + "/sub/<str:child>", READ),
    Row("get", _S + "/find", READ),
    Row("post", _S + "/pin", (302, 302, 302, 302, 404, 302), {"pinned": "1"}),
    Row("post", _S + "/delete", WRITE),
]
