from __future__ import annotations

import ast
from functools import cache

import pytest

from tests.architecture.sources import modules, tree_of

# FEAT-0001, the session runtime. A test that shows a requirement has its id in its name.
REQUIREMENTS = {
    "fr_01": "a prompt is a durable row before anything is scheduled",
    "fr_02": "prompts are promoted at a safe boundary only",
    "fr_03": "one baseline for each epoch, also across restarts",
    "fr_04": "one stream for each provider turn, from history as it is then",
    "fr_05": "calls run through the registry, and history gets bounded output",
    "fr_06": "oversized output is in a file, a preview of it in history",
    "fr_07": "a compaction begins an epoch with a fresh baseline",
    "fr_08": "changes of the context become durable messages at the next boundary",
    "fr_09": "a stop reaches what runs, and does nothing to what is idle",
    "fr_10": "steering and queued prompts are promoted differently",
    "fr_11": "wakes are coalesced, and different sessions run at the same time",
    "nfr_01": "drains go on from durable rows after a crash",
    "nfr_02": "the order in which sources are evaluated changes nothing",
    "nfr_03": "the allowance starts again once for each batch of prompts",
    "nfr_04": "each drain can be traced",
}
# FEAT-0002, agents and tools: `feat2_` stands before the id.
FEAT2 = {
    "fr_01": "build may do everything, plan changes no file",
    "fr_02": "tools for files, the shell and the web",
    "fr_03": "what a model sees of an output is bounded, for every tool",
    "fr_04": "file tools stay in the Location, but for managed outputs",
    "fr_05": "a call keeps the policy of the agent that issued it",
    "fr_06": "agent and model are chosen when a turn starts",
    "fr_07": "task, todo, question, plan, lsp and skill",
    "fr_08": "a tool may cut its output first",
    "fr_09": "permission requests are deferred and resolved by an API",
    "nfr_01": "nothing outside the Location is read or written",
    "nfr_02": "a success stays one when its output cannot be kept",
    "nfr_03": "the whole of an oversized output is never stored, whatever is interrupted",
}


@cache
def _test_names() -> list[str]:
    return [
        node.name
        for path in modules("tests")
        if path.name.startswith("test_")
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]


def test_every_requirement_is_shown_by_a_test(subtests: pytest.Subtests) -> None:
    for requirement in REQUIREMENTS:
        with subtests.test(requirement=requirement):
            names = [name for name in _test_names() if "_feat2_" not in name]
            assert [name for name in names if f"_{requirement}_" in name]


def test_every_requirement_of_agents_and_tools_is_shown_by_a_test(
    subtests: pytest.Subtests,
) -> None:
    for requirement in FEAT2:
        with subtests.test(requirement=requirement):
            assert [name for name in _test_names() if f"_feat2_{requirement}_" in name]
