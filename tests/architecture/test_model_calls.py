from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path

from providers.funding import FundedRequest
from providers.key_tests import probe
from providers.stream import stream
from tests.architecture.sources import ROOMS, modules, name_of, tree_of

# What reaches a model or its address: who may use it. Everybody else goes by `fund`.
DOOR = {
    "providers.llm": {"providers/stream.py"},
    "providers.llm.stream": set[str](),
    "providers.llm.connection.Connection": set[str](),
    "providers.stream.call": {"providers/key_tests.py"},
    "providers.transport.Pool": set[str](),
    "providers.transport.pool": {"providers/stream.py"},
    # A test of a key; and what is no call of a model: lists of models, and signing in.
    "providers.transport.one_time_pool": {
        "providers/listings.py",
        "providers/key_tests.py",
        "providers/sign_ins.py",
    },
    "providers.testing.ScriptedProvider": {"providers/stream.py"},
    "providers.funding.FundedRequest": {
        "providers/actions/room.py",
        "providers/guard.py",
        "providers/key_tests.py",
        "providers/stream.py",
        "sessions/runner/calls/model_requests.py",
        "sessions/runner/log/funds.py",
        "sessions/runner/log/single_request.py",
        "sessions/runner/log/steps.py",
        "sessions/runner/drain/title_request.py",
        "sessions/runner/turn/plugin_messages.py",
        "sessions/runner/turn/plugin_request.py",
    },
    "litellm": set[str](),
    "openai": set[str](),
    "anthropic": set[str](),
}


def _imported(path: Path) -> Iterator[str]:
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _made(path: Path) -> Iterator[str]:
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield node.func.id


def test_models_are_reached_by_one_door() -> None:
    found: dict[str, set[str]] = {name: set() for name in DOOR}
    for path in modules(*ROOMS):
        for name in found.keys() & set(_imported(path)):
            found[name].add(name_of(path))
    assert found == DOOR


def test_only_funding_makes_a_request_that_may_be_sent() -> None:
    makers = {name_of(path) for path in modules(*ROOMS) if "FundedRequest" in _made(path)}
    assert makers == {"providers/funding.py"}
    for call in (stream, probe):
        assert inspect.get_annotations(call, eval_str=True)["request"] is FundedRequest
