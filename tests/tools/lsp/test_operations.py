from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from tests.tools.lsp.conftest import SPEC, Project
from tools.base import PermissionDenied, ToolError
from tools.context import PermissionAsk

TEXT = "def alpha\n\N{GRINNING FACE} alpha beta\n"


def _uri(project: Project) -> str:
    return (project.folder / "a.txt").as_uri()


def _span(line: int, start: int, end: int) -> dict[str, Any]:
    return {
        "start": {"line": line, "character": start},
        "end": {"line": line, "character": end},
    }


async def _ask(project: Project, operation: str, line: int = 2, character: int = 3) -> Any:
    result = await project.context.call(
        "lsp", operation=operation, filePath="a.txt", line=line, character=character
    )
    assert result.title == f"{operation} a.txt:{line}:{character}"
    try:
        return json.loads(result.output)
    except ValueError:
        return result.output


async def test_feat2_fr_07_every_lsp_operation_answers_with_what_the_server_found(
    project: Project,
) -> None:
    (project.folder / "a.txt").write_text(TEXT)
    uri = _uri(project)
    first = {"uri": uri, "range": _span(0, 4, 9)}
    # The face is one character for people and two units for the server.
    second = {"uri": uri, "range": _span(1, 3, 8)}
    called = {"name": "alpha", "kind": 12, "uri": uri, "range": {}, "selectionRange": {}}
    caller = {**called, "uri": "file:///x", "name": "alpha_caller", "data": [1]}
    expected = {
        "goToDefinition": [first],
        "findReferences": [first, second],
        "goToImplementation": [first, second],
        "hover": [{"contents": {"kind": "markdown", "value": "about alpha"}}],
        "documentSymbol": [{"name": "alpha", "kind": 12}],
        "prepareCallHierarchy": [{**called, "data": [1]}],
        "incomingCalls": [{"from": caller, "fromRanges": []}],
        "outgoingCalls": [{"to": caller, "fromRanges": []}],
    }
    assert {operation: await _ask(project, operation) for operation in expected} == expected
    assert [state.status for state in project.states] == ["connected"]


@pytest.mark.parametrize(
    ("operation", "character"),
    [("hover", 3), ("goToDefinition", 3), ("incomingCalls", 3), ("hover", 500)],
)
async def test_nothing_at_a_place_is_said(project: Project, operation: str, character: int) -> None:
    (project.folder / "a.txt").write_text("a - b -\n")
    found = await _ask(project, operation, line=1, character=character)
    assert found == f"No results found for {operation}"


async def test_an_operation_that_the_server_does_not_offer_finds_nothing(project: Project) -> None:
    project.play(capabilities={"hoverProvider": False})
    assert await _ask(project, "hover", 1, 1) == "No results found for hover"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"filePath": "missing.txt"}, "File not found: "),
        ({"filePath": "other.zzz"}, "No LSP server available for this file type."),
        ({"filePath": "../out.txt"}, "outside the project"),
        ({"line": 99}, "there is no line 99"),
        ({"line": 0}, "line"),
        ({"operation": "rename"}, "operation"),
        ({"filePath": "."}, "No LSP server available"),
    ],
)
async def test_a_call_that_cannot_be_answered_says_why(
    project: Project, arguments: dict[str, Any], message: str
) -> None:
    (project.folder / "other.zzz").write_text("x")
    call = {"operation": "hover", "filePath": "a.txt", "line": 1, "character": 1, **arguments}
    with pytest.raises(ToolError, match=message):
        await project.context.call("lsp", **call)


async def test_without_language_servers_there_are_none(project: Project) -> None:
    project.context.language_servers = None
    with pytest.raises(ToolError, match="No LSP server available"):
        await _ask(project, "hover", 1, 1)


async def test_it_asks_to_read_the_file_and_for_itself(project: Project) -> None:
    await _ask(project, "hover", 1, 5)
    asks = [(ask.permission, ask.patterns) for ask in project.context.asks]
    assert asks == [("read", ("a.txt",)), ("lsp", ("*",))]


async def test_what_may_not_be_read_is_not_asked_about(project: Project) -> None:
    def deny(ask: PermissionAsk) -> None:
        if ask.permission == "read":
            raise PermissionDenied("Denied.")

    project.context.on_ask = deny
    with pytest.raises(PermissionDenied):
        await _ask(project, "hover", 1, 5)
    assert project.states == []
    assert len(project.pool) == 0


@pytest.mark.parametrize(
    ("mode", "message"),
    [
        ("fails", "could not answer: internal error"),
        ("refuses", "does not work: scripted"),
        ("dies", "does not work: scripted"),
    ],
)
async def test_a_server_that_cannot_answer_is_an_error_for_the_model(
    project: Project, mode: str, message: str
) -> None:
    project.play(mode=mode)
    with pytest.raises(ToolError, match=message):
        await _ask(project, "hover", 1, 5)


async def test_a_server_that_has_to_be_asked_again_is(project: Project) -> None:
    project.play(mode="busy")
    assert await _ask(project, "hover", 1, 5) == [
        {"contents": {"kind": "markdown", "value": "about one"}}
    ]


async def test_two_servers_of_a_file_are_both_asked(project: Project) -> None:
    project.switch_on(SPEC, replace(SPEC, id="second"))
    found = await _ask(project, "documentSymbol", 1, 1)
    assert found == [{"name": "one", "kind": 12}] * 2
    assert sorted(state.id for state in project.states) == ["scripted", "second"]
