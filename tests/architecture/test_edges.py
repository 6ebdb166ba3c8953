from __future__ import annotations

import ast
import re
from pathlib import Path

from tests.architecture.sources import ROOMS, modules, name_of, tree_of

# Anything else lets our own faults propagate. file: how many, and at which edge.
CATCH_ALL = {
    "opencode_web/lib/plugins/loading.py": (2, "a package of others: its import, and what it has"),
    "opencode_web/lib/plugins/calls.py": (3, "one call of a hook: its thread, and both who wait"),
    "sessions/runner/drain/coordinator.py": (2, "a Celery task: its start, and the drain"),
    "sessions/jobs/erasure.py": (1, "a Celery task: an erasure, which fails all the same"),
    "sessions/jobs/clones.py": (1, "a Celery task: the clone of a project"),
    "sessions/checkouts/jobs.py": (1, "a Celery task: the job of a worktree"),
    "sessions/consumers/live.py": (1, "one stream connection"),
    "sessions/consumers/terminal.py": (1, "one stream connection"),
    "sessions/views/live.py": (1, "one stream connection"),
    "sessions/stream/rooms.py": (1, "one stream connection"),
    "opencode_web/mcp_server/server.py": (1, "one tool call"),
    "sessions/integrations/handle.py": (1, "one delivery of a forge"),
    "sessions/integrations/replies.py": (1, "one answer on a forge"),
    "sessions/notifications/send.py": (1, "one message to a person"),
    "sessions/integrations/slack/answers.py": (1, "one message in Slack"),
    "sessions/integrations/slack/service.py": (1, "one workspace, served on the loop of a process"),
    "tools/registry.py": (1, "one tool call"),
    "tools/lsp/pool.py": (1, "one language server"),
    "tools/mcp/pool.py": (1, "one MCP server"),
    "providers/listings.py": (1, "a Celery task: the list of one account of all"),
    "providers/llm/stream.py": (1, "one provider stream, whose faults are told apart by one table"),
}
# Settings are the one place that reads the environment. file: why it touches it all the same.
ENVIRONMENT = {
    "opencode_web/settings.py": "the configuration",
    "opencode_web/asgi.py": "names the settings module",
    "opencode_web/celery.py": "names the settings module",
    "opencode_web/management/commands/up.py": "switches celery's checks off",
    "opencode_web/backup/postgres.py": "hands PostgreSQL's programs their search path and locale",
    "providers/llm/adapters/litellm.py": "switches off what litellm fetches when it is loaded",
    "sessions/git/process.py": "hands git its search path and locale",
}


def _catches_all(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(isinstance(kind, ast.Name) and kind.id == "Exception" for kind in kinds)


def _swallows_cancel(handler: ast.ExceptHandler) -> bool:
    names = {
        node.id for node in ast.walk(handler.type or ast.Constant(0)) if isinstance(node, ast.Name)
    }
    raises = any(isinstance(node, ast.Raise) for node in ast.walk(handler))
    return "BaseException" in names and not raises


def _handlers(path: Path) -> list[ast.ExceptHandler]:
    tree = tree_of(path)
    return [node for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler)]


def test_everything_is_caught_at_the_edges_only() -> None:
    counts = {name_of(path): sum(map(_catches_all, _handlers(path))) for path in modules(*ROOMS)}
    found = {name: count for name, count in counts.items() if count}
    assert found == {name: count for name, (count, _) in CATCH_ALL.items()}


def test_a_cancelled_task_is_never_swallowed() -> None:
    found = [
        f"{name_of(path)}:{handler.lineno}"
        for path in modules(*ROOMS)
        for handler in _handlers(path)
        if _swallows_cancel(handler)
    ]
    assert found == []


def test_only_settings_read_the_environment() -> None:
    reads = re.compile(r"\bos\.(?:environ|getenv)\b")
    found = {name_of(path) for path in modules(*ROOMS) if reads.search(path.read_text())}
    assert found == set(ENVIRONMENT)
