from __future__ import annotations

from pathlib import Path

import pytest

from tests.tools.mcp.caller import Person
from tests.tools.mcp.servers import LENT, PACKAGES, canned, genuine
from tools.errors import ToolError
from tools.mcp.client import arguments_of, ask_for_tools, call_tool, list_resources, read_resource
from tools.mcp.content import read_contents, read_result
from tools.mcp.stdio import Program
from tools.sandbox.base import Command, RefusingSandbox, Sandbox
from tools.sandbox.select import select_sandbox


@pytest.fixture
def sandbox(tmp_path: Path, worktree: Path) -> Sandbox:
    return select_sandbox(
        worktree=worktree, session_dir=tmp_path / "session", network=False, lent=LENT
    )


def command(argv: tuple[str, ...], cwd: Path) -> Command:
    return Command(
        argv=argv, cwd=cwd, timeout_s=None, env={"TOKEN": "me", "PYTHONPATH": str(PACKAGES)}
    )


async def test_a_genuine_server_says_what_it_has_and_is_called(
    sandbox: Sandbox, worktree: Path
) -> None:
    shop = Program(sandbox, command(genuine(worktree), worktree))
    offer = await ask_for_tools(shop, timeout_s=30)
    assert offer.instructions == "Ask for stock first."
    assert [tool["name"] for tool in offer.tools] == ["stock", "broken", "picture"]
    [restock] = offer.prompts
    assert (restock["name"], arguments_of(restock)[0]["name"]) == ("restock", "item")
    said = "Order $2 of $1, and nothing else."
    assert restock["messages"] == [{"role": "user", "content": {"type": "text", "text": said}}]
    given = await call_tool(
        shop, "stock", {"item": "tea", "count": 3}, timeout_s=30, caller=Person()
    )
    assert read_result(given).output == "3 of tea for me"
    with pytest.raises(ToolError, match="Error executing tool broken"):
        read_result(await call_tool(shop, "broken", {}, timeout_s=30, caller=Person()))
    [file] = read_result(
        await call_tool(shop, "picture", {}, timeout_s=30, caller=Person())
    ).attachments
    assert (file.mime, file.url) == ("image/png", "data:image/png;base64,cG5n")


async def test_a_genuine_server_lists_and_gives_what_can_be_read(
    sandbox: Sandbox, worktree: Path
) -> None:
    shop = Program(sandbox, command(genuine(worktree), worktree))
    offer = await ask_for_tools(shop, timeout_s=30)
    assert [one["uri"] for one in offer.resources or ()] == ["shop://opening-hours"]
    [hours] = await list_resources(shop, templates=False, timeout_s=30)
    assert (hours["name"], hours["mimeType"]) == ("hours", "text/plain")
    [shelf] = await list_resources(shop, templates=True, timeout_s=30)
    assert shelf["uriTemplate"] == "shop://shelf/{number}"
    read = await read_resource(shop, "shop://shelf/7", timeout_s=30)
    assert read_contents(read).output == "shelf 7: tea"
    with pytest.raises(ToolError, match="shop://nothing"):
        await read_resource(shop, "shop://nothing", timeout_s=30)


async def test_a_server_that_fails_to_list_resources_keeps_its_tools(
    sandbox: Sandbox, worktree: Path
) -> None:
    hello = {"capabilities": {"tools": {}, "resources": {}}}
    endless = {"resources": [], "nextCursor": "x"}
    stock = {"tools": [{"name": "stock"}]}
    argv = canned(worktree, {"initialize": hello, "tools/list": stock, "resources/list": endless})
    offer = await ask_for_tools(Program(sandbox, command(argv, worktree)), timeout_s=10)
    assert (len(offer.tools), offer.resources) == (1, ())
    [problem] = offer.problems
    assert problem.startswith("Resources cannot be listed: The server returns the same page")


def test_what_a_resource_holds_is_text_and_files(subtests: pytest.Subtests) -> None:
    cases = [
        ([{"uri": "a", "text": "one"}, {"uri": "b", "text": "two"}], "one\n\ntwo", 0),
        ([{"uri": "a", "mimeType": "image/png", "blob": "cG5n"}], "", 1),
        ([{"uri": "a", "mimeType": "video/mp4", "blob": "cG5n"}], "[A file a of type video/mp4", 0),
        ([{"uri": "a", "mimeType": "application/json", "blob": "e30="}], "{}", 0),
        ([{"uri": "a", "mimeType": "text/x-python", "blob": "cGFzcw=="}], "pass", 0),
        ([{"uri": "a", "mimeType": "text/plain", "blob": "//79"}], "[A file a cannot be read]", 0),
        ([], "It is empty.", 0),
        ("nonsense", "It is empty.", 0),
    ]
    for contents, output, files in cases:
        with subtests.test(contents=contents):
            read = read_contents({"contents": contents})
            assert read.output.startswith(output)
            assert len(read.attachments) == files


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (("sh", "-c", "echo lost >&2; exit 3"), "exited without a response: lost"),
        (("no-such-program",), "no-such-program|ended without"),
        (("sh", "-c", "while :; do echo '{}'; done"), "too many messages that nobody asked for"),
        (("sh", "-c", "tr '\\0' '{' < /dev/zero"), "more than 16 MiB at once"),
        (("sleep", "60"), "longer than 2 s"),
    ],
)
async def test_a_server_that_does_not_answer_is_an_error(
    argv: tuple[str, ...], said: str, sandbox: Sandbox, worktree: Path
) -> None:
    with pytest.raises(ToolError, match=said):
        await ask_for_tools(Program(sandbox, command(argv, worktree)), timeout_s=2)


async def test_pages_that_repeat_are_an_error(sandbox: Sandbox, worktree: Path) -> None:
    argv = canned(worktree, {"tools/list": {"tools": [], "nextCursor": "x"}})
    with pytest.raises(ToolError, match="same page"):
        await ask_for_tools(Program(sandbox, command(argv, worktree)), timeout_s=10)


async def test_without_a_sandbox_nothing_is_started(worktree: Path) -> None:
    program = Program(RefusingSandbox("no walls"), command(("true",), worktree))
    with pytest.raises(ToolError, match="no walls"):
        await ask_for_tools(program, timeout_s=5)


def test_results_are_read(subtests: pytest.Subtests) -> None:
    cases = [
        ({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, "a\n\nb"),
        ({"content": [], "structuredContent": {"a": 1}}, '{"a": 1}'),
        (
            {
                "content": [{"type": "image", "mimeType": "image/png", "data": "cG5n"}],
                "structuredContent": [1],
            },
            "[1]",
        ),
        (
            {"content": [{"type": "resource_link", "name": "n", "uri": "u", "description": "d"}]},
            "[Resource n: u, d]",
        ),
        (
            {"content": [{"type": "image", "mimeType": "x/y", "data": "AA=="}]},
            "[A file of type x/y",
        ),
        ({"content": [{"type": "image", "mimeType": "image/png", "data": "?"}]}, "[A file cannot"),
        ({"content": [{"type": "resource", "resource": {"text": "in it"}}]}, "in it"),
        ({"content": [{"type": "resource_link", "name": "n", "uri": "u:1"}]}, "[Resource n: u:1]"),
        ({"content": "nonsense"}, ""),
        ({"content": [{"type": "text", "text": "a\0b"}]}, "a\ufffdb"),
    ]
    for result, output in cases:
        with subtests.test(result=result):
            assert read_result(result).output.startswith(output)


def test_a_failure_without_words_has_some() -> None:
    with pytest.raises(ToolError, match="MCP tool returned an error"):
        read_result({"content": [], "isError": True})
    with pytest.raises(ToolError, match="why"):
        read_result({"content": [], "structuredContent": {"why": "full"}, "isError": True})
