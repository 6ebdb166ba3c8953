"""Every page with what it answers to whom. A new page is one line here, or a test fails.

Those of a session are in `page_session`, those of people in `access_people`.
"""

from __future__ import annotations

from tests.architecture.access_table import PUBLIC, Codes, Row

READ: Codes = (200, 200, 200, 200, 404, 302)
# 302 goes on after a form; nobody is sent to the sign-in page.
FRAMES: Codes = (200, 200, 200, 200, 404, 401)
WRITE: Codes = (302, 302, 302, 403, 404, 302)
GOVERN: Codes = (302, 302, 403, 403, 404, 302)
TO_PAGE: Codes = (302, 302, 302, 302, 404, 302)
# A form that was read and found empty.
EMPTY_WRITE: Codes = (422, 422, 422, 403, 404, 302)
EMPTY_GOVERN: Codes = (422, 422, 403, 403, 404, 302)
ADMIN_READ: Codes = (200, 200, 403, 403, 404, 302)
# There is none, which only admins are told.
NOT_FOR_ADMINS: Codes = (404, 404, 403, 403, 404, 302)
# What everybody has.
ASKER: Codes = (302, 302, 404, 404, 404, 302)
EACH: Codes = (200, 200, 200, 200, 200, 302)
NO_ACCOUNT: Codes = (404, 404, 404, 404, 404, 302)
# Nobody of the cast is one.
OPERATORS: Codes = (404, 404, 404, 404, 404, 302)

_P = "t/<slug:team>/p/<str:project>/"
_M = "t/<slug:team>/settings/models/"
_A = _M + "p/<str:provider>"
_K = "t/<slug:team>/settings/skills/"
_PLUGINS = "t/<slug:team>/settings/plugins"
_MCP = "t/<slug:team>/settings/mcp/"
_BUDGETS = "t/<slug:team>/settings/budgets"
_CHOICES = "t/<slug:team>/choices"
_TRUST = ("repository/trust", "repository/withdraw", "repository/reload")

_BUDGET = {"limit-period": "day", "limit-kind": "hard", "limit-amount": "5"}
_LIMITS = "key/<int:credential>/limits"
_IDENTITY = (
    *("identity", "identity/new/<slug:kind>", "identity/p/<slug:slug>", "identity/policy"),
    *("identity/reset", "identity/p/<slug:slug>/delete", "identity/p/<slug:slug>/rules"),
    "identity/p/<slug:slug>/rules/<int:rule>",
)
PAGES = [
    Row("get", "setup", (302, 302, 302, 302, 302, 302)),
    Row("post", "setup", (302, 302, 302, 302, 302, 302)),
    Row("get", "manifest.webmanifest", PUBLIC),
    Row("get", "sw.js", PUBLIC),
    Row("get", "offline", PUBLIC),
    # For operators only, and nobody of the cast is one.
    Row("get", "metrics", (403, 403, 403, 403, 403, 401)),
    Row("get", "docs", EACH),
    Row("get", "docs/<slug:name>", NO_ACCOUNT),
    Row("get", "global/ready", (503, 503, 503, 503, 503, 503)),
    # Nor does the operators' console exist for them.
    *(Row("get", f"ops/{page}", OPERATORS) for page in ("", "workers", "turns", "queues")),
    *(
        Row("get", f"ops/{page}", OPERATORS)
        for page in (
            *("turns/<str:session>", "workers/<str:process>", "health", "health/findings"),
            *("events", "audit", "audit.csv", "folders", "addresses", "catalog", "emergency"),
            *("backups", "retention", "erasures", "limits", "limits/<slug:team>"),
        )
    ),
    *(
        Row("post", f"ops/{page}", OPERATORS)
        for page in (
            *("folders", "folders/<int:folder>", "emergency", "emergency/<int:member>/end"),
            *("retention", "holds", "holds/<str:hold>/release", "erasures"),
        )
    ),
    *(Row("get", f"ops/{page}", OPERATORS) for page in _IDENTITY[:3]),
    *(Row("post", f"ops/{page}", OPERATORS) for page in _IDENTITY[1:]),
    *(
        Row("post", f"ops/{page}/<slug:act>", OPERATORS, {"reason": "x"})
        for page in ("turns/<str:session>", "workers/<str:process>")
    ),
    Row("post", "ops/limits/<slug:team>", OPERATORS, {"max_turns": "3"}),
    Row("get", "ops/budgets", OPERATORS),
    Row("post", "ops/budgets", OPERATORS, _BUDGET),
    Row("post", "ops/budgets/<int:budget>/remove", OPERATORS),
    Row("post", "ops/budgets/requests/<str:asked>", OPERATORS, {"act": "deny"}),
    Row("get", "ops/plugins", OPERATORS),
    Row("post", "ops/plugins", OPERATORS),
    *(
        Row("post", f"ops/plugins/<int:plugin>/{act}", OPERATORS, {"digest": "d" * 64})
        for act in ("trust", "reload", "remove")
    ),
    Row("get", "ops/history", OPERATORS),
    Row("get", "ops/announcements", OPERATORS),
    Row("post", "ops/announcements", OPERATORS),
    Row("post", "ops/announcements/<int:announcement>/end", OPERATORS),
    Row("post", "ops/addresses", OPERATORS, {"place": "localhost:11434"}),
    Row("post", "ops/addresses/close", OPERATORS, {"place": "localhost:11434"}),
    Row("get", "sign-in/return", (302, 302, 302, 302, 302, 302)),
    # A public link: the tests of its pages have one for the team.
    Row("get", "share/<str:token>", PUBLIC),
    Row("get", "share/<str:token>/part/<str:part>", PUBLIC),
    Row("get", "t/<slug:team>/", READ),
    Row("get", "t/<slug:team>/rail", READ),
    Row("post", "t/<slug:team>/rail/shape", (204, 204, 204, 204, 404, 302), {"width": "300"}),
    # Scripts read these, and cannot follow to a sign-in page.
    Row("get", "t/<slug:team>/live", FRAMES),
    Row("get", "t/<slug:team>/board", READ),
    Row("get", "t/<slug:team>/inbox", READ),
    Row("get", "t/<slug:team>/usage", READ),
    # Somebody else's; the page refuses that, too.
    Row("get", "t/<slug:team>/usage.csv", (200, 200, 403, 403, 404, 302), query="?member=0"),
    Row("get", "t/<slug:team>/settings/budgets", READ),
    Row("post", "t/<slug:team>/settings/budgets", GOVERN, {"team": "5"}),
    # The team's: admins have it, others that of their own budget.
    Row("post", _BUDGETS + "/notices/<int:notice>/away", ASKER),
    Row(
        "post", "t/<slug:team>/settings/budgets/limits", GOVERN, {**_BUDGET, "limit-whose": "each"}
    ),
    Row("post", "t/<slug:team>/settings/budgets/limits/<int:budget>/remove", GOVERN),
    Row("get", "t/<slug:team>/settings/budgets/ask", (200, 200, 200, 403, 404, 302)),
    Row("post", "t/<slug:team>/settings/budgets/ask", (422, 422, 422, 403, 404, 302)),
    # Alice's own: admins answer it, and she puts the answer away.
    Row("post", _BUDGETS + "/requests/<str:asked>", ASKER, {"act": "deny"}),
    Row("post", _BUDGETS + "/requests/<str:asked>/away", ASKER),
    Row("get", "t/<slug:team>/search", READ),
    Row(
        "get",
        "t/<slug:team>/start/place",
        (200, 200, 200, 403, 404, 302),
        query="?project={project}",
    ),
    # A list of a form; the picked model is none of the team's.
    Row("get", _CHOICES, (200, 200, 200, 403, 404, 302), query="?project={project}"),
    Row("post", _CHOICES, (404, 404, 404, 403, 404, 302), query="?project={project}"),
    Row(
        "post",
        "t/<slug:team>/draft",
        (204, 204, 204, 403, 404, 302),
        {"text": "hi", "project": "{project}", "at": "1"},
    ),
    Row("post", "t/<slug:team>/start", WRITE, {"text": "hi", "project": "{project}"}),
    Row("get", "t/<slug:team>/p/new", (200, 200, 200, 403, 404, 302)),
    Row("post", "t/<slug:team>/p/new", EMPTY_WRITE, {"kind": "empty"}),
    Row("get", "t/<slug:team>/settings/config", READ),
    Row("post", "t/<slug:team>/settings/config", EMPTY_GOVERN, {"config": "{}"}),
    Row("get", "t/<slug:team>/settings/permissions", READ),
    Row("post", "t/<slug:team>/settings/permissions/change", EMPTY_GOVERN, {"act": "add"}),
    Row(
        "post",
        "t/<slug:team>/settings/permissions/restore",
        (400, 400, 403, 403, 404, 302),
    ),
    Row(
        "post",
        "t/<slug:team>/settings/permissions/saved/<int:rule>/revoke",
        WRITE,
    ),
    # Nobody of the table has revoked any.
    Row(
        "post",
        "t/<slug:team>/settings/permissions/saved/<int:entry>/restore",
        (409, 409, 409, 403, 404, 302),
    ),
    *(
        row
        for base in ("t/<slug:team>/settings/commands/", "t/<slug:team>/settings/agents/")
        for row in (
            Row("get", base, READ),
            Row("get", base + "new", (200, 200, 403, 403, 404, 302)),
            Row("post", base + "new", EMPTY_GOVERN),
            Row("get", base + "i/<name:name>", (404, 404, 403, 403, 404, 302)),
            Row("post", base + "i/<name:name>", (404, 404, 403, 403, 404, 302)),
            Row("get", base + "i/<name:name>/delete", (404, 404, 403, 403, 404, 302)),
            Row("post", base + "i/<name:name>/delete", (404, 404, 403, 403, 404, 302)),
        )
    ),
    Row("get", _MCP, READ),
    *(Row("get", base + "catalog", (200, 200, 403, 403, 404, 302)) for base in (_MCP, _P + "mcp/")),
    Row("get", _MCP + "new", (200, 200, 403, 403, 404, 302)),
    Row("post", _MCP + "new", EMPTY_GOVERN),
    Row("get", _P + "mcp", READ),
    Row("get", _P + "mcp/new", (200, 200, 403, 403, 404, 302)),
    Row("post", _P + "mcp/new", EMPTY_GOVERN),
    # There is none of that name.
    *(
        Row(method, base + "s/<name:name>" + act, (404, 404, 403, 403, 404, 302))
        for base in (_MCP, _P + "mcp/")
        for method, act in (
            *(("get", ""), ("post", ""), ("get", "/delete"), ("post", "/delete")),
            ("post", "/enabled"),
        )
    ),
    Row("post", _P + "mcp/s/<name:name>/accept", (404, 404, 403, 403, 404, 302)),
    Row("post", _P + "mcp/s/<name:name>/again", (404, 404, 404, 403, 404, 302)),
    *(
        Row("post", f"{_P}mcp/s/<name:name>/{act}", (404, 404, 403, 403, 404, 302))
        for act in ("sign-in", "sign-out")
    ),
    *(
        Row("post", f"{_P}mcp/s/<name:name>/{act}", (404, 404, 404, 403, 404, 302))
        for act in ("own", "own/end")
    ),
    Row("get", _P + "mcp/s/<name:name>/tools", (404, 404, 404, 404, 404, 302)),
    Row("post", _P + "mcp/s/<name:name>/tools", (404, 404, 403, 403, 404, 302)),
    Row("get", "me/notifications", EACH),
    Row("post", "me/notifications", (422, 422, 422, 422, 422, 302)),
    Row("post", "me/notifications/push", (400, 400, 400, 400, 400, 302)),
    Row("post", "me/notifications/push/<int:subscription>/remove", NO_ACCOUNT),
    Row("post", "me/notifications/webhook", (422, 422, 422, 422, 422, 302)),
    Row("post", "me/notifications/webhook/test", NO_ACCOUNT),
    Row("post", "me/notifications/webhook/secret", NO_ACCOUNT),
    Row("post", "me/notifications/webhook/remove", (302, 302, 302, 302, 302, 302)),
    Row("get", "me/mcp", EACH),
    Row("post", "me/mcp/<int:sign_in>/end", (404, 404, 404, 404, 404, 302)),
    # How MCP clients get a token; here they say nothing that is one's.
    *(
        Row("get", f".well-known/oauth-{name}", PUBLIC)
        for name in ("protected-resource", "protected-resource/mcp", "authorization-server")
    ),
    *(Row(method, "oauth/authorize", (400, 400, 400, 400, 400, 302)) for method in ("get", "post")),
    Row("post", "oauth/register", (400, 400, 400, 400, 400, 400)),
    Row("post", "oauth/token", (400, 400, 400, 400, 400, 400)),
    Row("post", "oauth/revoke", (401, 401, 401, 401, 401, 401)),
    # Back from where a server is signed in to; nobody of the table has begun that.
    Row("get", "oauth/mcp", (302, 302, 302, 302, 302, 302)),
    Row("get", "t/<slug:team>/settings/network", READ),
    Row("post", "t/<slug:team>/settings/network", EMPTY_GOVERN),
    Row("get", "t/<slug:team>/settings/secrets", READ),
    Row("post", "t/<slug:team>/settings/secrets", EMPTY_GOVERN),
    Row("post", "t/<slug:team>/settings/secrets/keys", GOVERN),
    Row("post", "t/<slug:team>/settings/secrets/<int:secret>/remove", GOVERN),
    Row("get", "t/<slug:team>/settings/sharing", READ),
    Row("post", "t/<slug:team>/settings/sharing", EMPTY_GOVERN),
    Row("get", "t/<slug:team>/settings/search", READ),
    Row("post", "t/<slug:team>/settings/search", EMPTY_GOVERN),
    Row("post", "t/<slug:team>/settings/search/test", (409, 409, 403, 403, 404, 302)),
    Row("post", "t/<slug:team>/settings/search/off", GOVERN),
    Row("get", _PLUGINS, READ),
    Row("post", _PLUGINS, EMPTY_GOVERN),
    *(
        Row("post", f"{_PLUGINS}/<int:plugin>/{act}", GOVERN, {"digest": "d" * 64})
        for act in ("trust", "reload", "remove")
    ),
    Row("get", _K, READ),
    Row("get", _K + "new", (200, 200, 403, 403, 404, 302)),
    Row("post", _K + "new", EMPTY_GOVERN),
    Row("get", _K + "s/<str:skill>", READ),
    Row("post", _K + "s/<str:skill>", EMPTY_GOVERN),
    Row("get", _K + "s/<str:skill>/delete", (200, 200, 403, 403, 404, 302)),
    Row("post", _K + "s/<str:skill>/delete", GOVERN),
    Row("get", _P, READ),
    Row("get", _P + "commands", READ),
    Row("get", _P + "mentions", (200, 200, 200, 403, 404, 302)),
    # Whoever reads the address of a form comes to the page it is on.
    *(
        Row("get", _P + form, TO_PAGE)
        for form in (
            "access",
            "delete",
            "members",
            "clone/again",
            "import",
            *_TRUST,
            "rules/<int:rule>/revoke",
            "rescued/<str:checkout>/branch",
            "rescued/<str:checkout>/discard",
            "secrets/<int:secret>/remove",
        )
    ),
    Row("get", _P + "network", READ),
    Row("post", _P + "network", GOVERN),
    Row("get", _P + "publishing", READ),
    Row("post", _P + "publishing", GOVERN),
    Row("get", _P + "secrets", READ),
    Row("post", _P + "secrets", EMPTY_GOVERN),
    Row("post", _P + "secrets/<int:secret>/remove", GOVERN),
    Row("get", _P + "repository", READ),
    # There is nothing to trust in it.
    *(Row("post", _P + act, (409, 409, 403, 403, 404, 302)) for act in (_TRUST[0], _TRUST[2])),
    Row("post", _P + "repository/withdraw", GOVERN),
    Row("get", _P + "settings", READ),
    Row("post", _P + "settings", EMPTY_GOVERN, {"config": "{}"}),
    Row("post", _P + "delete", GOVERN),
    Row("post", _P + "access", GOVERN, {"restricted": "1"}),
    Row("post", _P + "members", GOVERN, {"member": "{member_id}", "role": "viewer"}),
    # A form without its file.
    Row("post", _P + "import", (400, 400, 400, 403, 404, 302)),
    Row("get", _P + "clone", TO_PAGE),
    Row("post", _P + "clone/again", (409, 409, 409, 403, 404, 302)),
    Row("post", _P + "rules/<int:rule>/revoke", WRITE),
    Row("get", _P + "rescued", TO_PAGE),
    Row("post", _P + "rescued/<str:checkout>/branch", WRITE, {"name": "opencode/x"}),
    Row("post", _P + "rescued/<str:checkout>/discard", GOVERN),
    Row("get", _M, READ),
    Row("post", _M + "own-accounts", GOVERN, {"policy": "never"}),
    Row("get", _M + "default", ADMIN_READ),
    Row("post", _M + "default", GOVERN, {"model": "demo/tour"}),
    Row("get", _M + "uses", ADMIN_READ, query="?model=demo/tour"),
    *(Row("get", _M + page, ADMIN_READ) for page in ("new", "server", "p/<str:provider>")),
    Row("post", _M + "server", EMPTY_GOVERN),
    Row("get", "t/<slug:team>/settings/keys", ADMIN_READ),
    # What it is tried with is the demo: it is not in the catalog, and takes no key.
    Row("get", _M + "new/<str:provider>", NOT_FOR_ADMINS),
    Row("post", _M + "new/<str:provider>", NOT_FOR_ADMINS),
    Row("post", _M + "new/<str:provider>/sign-in", NOT_FOR_ADMINS),
    Row("get", _M + "sign-ins/<str:attempt>", NOT_FOR_ADMINS),
    Row("post", _M + "sign-ins/<str:attempt>/finish", NOT_FOR_ADMINS),
    Row("post", _M + "sign-ins/<str:attempt>/cancel", NOT_FOR_ADMINS),
    Row("get", _A + "/key/<int:credential>/remove", NOT_FOR_ADMINS),
    Row("post", _A + "/key/<int:credential>/remove", NOT_FOR_ADMINS),
    Row("post", _A + "/key/<int:credential>/limits", NOT_FOR_ADMINS),
    Row("post", _A + "/connection", NOT_FOR_ADMINS),
    Row("get", _A + "/check", NOT_FOR_ADMINS),
    Row("post", _A + "/check", NOT_FOR_ADMINS),
    Row("post", _A + "/key", EMPTY_GOVERN),
    Row("post", _A + "/address", EMPTY_GOVERN),
    Row("post", _A + "/enabled", GOVERN),
    Row("post", _A + "/test", EMPTY_GOVERN),
    Row("get", _A + "/delete", ADMIN_READ),
    Row("post", _A + "/delete", GOVERN),
    Row("post", _A + "/pick", GOVERN),
    Row("post", _A + "/models", EMPTY_GOVERN),
    Row("get", _A + "/m/<path:model>", ADMIN_READ),
    Row("post", _A + "/m/<path:model>", GOVERN, {"act": "off"}),
    # A person's own, which nobody of the cast has, and those of the instance.
    *(
        Row("get", base + page, codes)
        for base, codes in (("me/models/", EACH), ("ops/models/", OPERATORS))
        for page in ("", "new", "keys")
    ),
    Row("get", "ops/models/server", OPERATORS),
    Row("post", "ops/models/server", OPERATORS),
    Row("post", "ops/models/p/<str:provider>/address", OPERATORS),
    Row("post", "ops/models/p/<str:provider>/share", OPERATORS),
    *(
        Row(method, base + page, codes)
        for base, codes in (("me/models/", NO_ACCOUNT), ("ops/models/", OPERATORS))
        for method, page in (
            *(("get", "new/<str:provider>"), ("post", "new/<str:provider>")),
            ("post", "new/<str:provider>/sign-in"),
            ("get", "sign-ins/<str:attempt>"),
            *(("post", f"sign-ins/<str:attempt>/{act}") for act in ("finish", "cancel")),
            ("get", "p/<str:provider>"),
            *(
                (method, f"p/<str:provider>/{page}")
                for page in ("check", "delete", "m/<path:model>", "key/<int:credential>/remove")
                for method in ("get", "post")
            ),
            *(
                ("post", f"p/<str:provider>/{act}")
                for act in ("key", "connection", "enabled", "test", "pick", "models", _LIMITS)
            ),
        )
    ),
]
