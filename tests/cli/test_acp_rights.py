from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from acp import RequestError

from tests.cli.editor import editing, worktree_of
from tests.e2e.installation import Installation
from tests.e2e.rest import new_session, script, wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.deep, pytest.mark.timeout(300), pytest.mark.any_database]
WRITE = {"tool": "write", "input": {"filePath": "made.txt", "content": "by hand\n"}}


def token_of(server: Installation, scope: str) -> str:
    with server.client() as client:
        answer = client.post("/token", json={"name": "editor", "scope": scope})
    return str(answer.json()["token"])


async def test_authenticate_checks_the_token(server: Installation) -> None:
    cwd = worktree_of(server)
    async with editing(server, cwd) as editor:
        offered = await editor.agent.initialize(protocol_version=1)
        (method,) = offered.auth_methods or []
        await editor.agent.authenticate(method_id=method.id)
        with pytest.raises(RequestError) as caught:
            await editor.agent.authenticate(method_id="nope")
        assert caught.value.code == -32602
    for token in ("", "ocw_wrong"):
        async with editing(server, cwd, OPENCODE_WEB_TOKEN=token) as editor:
            assert (await editor.agent.initialize(protocol_version=1)).protocol_version == 1
            for call in (
                editor.agent.authenticate(method_id=method.id),
                editor.agent.new_session(cwd=str(cwd), mcp_servers=[]),
            ):
                with pytest.raises(RequestError) as caught:
                    await call
                assert caught.value.code == -32000


async def test_a_token_can_lie_in_a_file(server: Installation, tmp_path: Path) -> None:
    cwd = worktree_of(server)
    file = tmp_path / "token"
    file.write_text(f"{server.token}\n")
    async with editing(
        server, cwd, "--token-file", str(file), OPENCODE_WEB_TOKEN="ocw_wrong"
    ) as editor:
        await editor.begin(cwd)


async def test_a_token_that_only_reads_prompts_nothing(server: Installation) -> None:
    cwd = worktree_of(server)
    with server.client() as client:
        session = new_session(client)
    async with editing(server, cwd, OPENCODE_WEB_TOKEN=token_of(server, "read")) as editor:
        await editor.agent.initialize(protocol_version=1)
        with pytest.raises(RequestError) as caught:
            await editor.agent.new_session(cwd=str(cwd), mcp_servers=[])
        assert caught.value.code == -32000
        await editor.agent.load_session(cwd=str(cwd), session_id=session, mcp_servers=[])
        with pytest.raises(RequestError) as caught:
            await editor.prompt(session, script([{"text": "No."}]))
        assert caught.value.code == -32000
        with server.client() as client:
            assert client.get(f"/session/{session}/message").json() == []


async def test_it_cannot_approve_what_its_person_could_not(server: Installation) -> None:
    # FEAT-0011 FR-05
    cwd = worktree_of(server)
    with server.client() as client:
        session = new_session(client)
        reader = token_of(server, "read")
        async with editing(server, cwd, answer="once", OPENCODE_WEB_TOKEN=reader) as editor:
            await editor.agent.initialize(protocol_version=1)
            await editor.agent.resume_session(cwd=str(cwd), session_id=session)
            parts = [{"type": "text", "text": script([WRITE], [{"text": "Done."}])}]
            model = {"providerID": "demo", "modelID": "inline"}
            client.post(f"/session/{session}/prompt_async", json={"parts": parts, "model": model})
            await editor.until(lambda: "did not take this answer" in editor.said())
            (request,) = client.get("/permission").json()
            with pytest.raises(RequestError):
                await editor.extension("permission/reply", requestId=request["id"], reply="once")
        assert [one["id"] for one in client.get("/permission").json()] == [request["id"]]
        client.post(f"/session/{session}/abort")
    assert not (cwd / "made.txt").exists()


async def test_sessions_of_others_are_as_unknown_ones(server: Installation) -> None:
    cwd = worktree_of(server)
    stranger = server.have_person("eve@elsewhere.example.com", "Elsewhere")
    place = {"directory": stranger["project"]}
    with server.client(params=place) as client:
        client.headers["Authorization"] = f"Bearer {stranger['token']}"
        theirs = new_session(client)
    async with editing(server, cwd) as editor:
        await editor.agent.initialize(protocol_version=1)
        told = []
        for unknown in (theirs, "ses_doesnotexist0000", "", "../x", "ses_/../../project"):
            with pytest.raises(RequestError) as caught:
                await editor.agent.load_session(cwd=str(cwd), session_id=unknown, mcp_servers=[])
            told.append((caught.value.code, str(caught.value).partition(unknown or "!")[0]))
        assert {code for code, _ in told} == {-32602}
        assert told[0] == told[1]
    token = stranger["token"]
    async with editing(server, cwd, OPENCODE_WEB_TOKEN=token) as editor:
        await editor.agent.initialize(protocol_version=1)
        with pytest.raises(RequestError) as caught:
            await editor.agent.new_session(cwd=str(cwd), mcp_servers=[])
        assert server.project not in str(caught.value.data)


async def test_extensions_have_what_the_protocol_lacks(server: Installation) -> None:
    # FEAT-0011 FR-01 to FR-08
    cwd = worktree_of(server)
    async with editing(server, cwd) as editor:
        session = await editor.begin(cwd)
        here: dict[str, Any] = {"sessionId": session}
        await editor.extension("event/subscribe", **here)
        await editor.prompt(session, script([{"text": "Counted."}]))
        assert "session.status" in [one["event"]["type"] for one in editor.events]

        agents = (await editor.extension("agent/list", cwd=str(cwd)))["agents"]
        assert {"build", "plan"} <= {one["name"] for one in agents}
        made = {"name": "poet", "agent": {"description": "Rhymes", "mode": "primary"}}
        created = await editor.extension("agent/create", **here, **made)
        assert created["agent"]["description"] == "Rhymes"
        await editor.extension("agent/delete", **here, name="poet")
        for name, code in (("poet", -32602), ("build", -32601)):
            with pytest.raises(RequestError) as caught:
                await editor.extension("agent/delete", **here, name=name)
            assert caught.value.code == code

        found = await editor.extension("session/get", **here)
        assert (found["session"]["id"], found["status"]["type"]) == (session, "idle")

        tools = (await editor.extension("tool/list", **here))["tools"]
        (bash,) = [tool for tool in tools if tool["id"] == "bash"]
        assert bash["rule"]["permission"] in ("bash", "*")
        done = await editor.extension(
            "tool/call", **here, name="bash", input={"command": "echo called"}
        )
        assert "called" in done["result"]["state"]["output"]
        with pytest.raises(RequestError, match="only these tools"):
            await editor.extension("tool/call", **here, name="task", input={})

        read = await editor.extension("file/read", **here, path="till.py")
        assert read["file"]["content"].strip() == (cwd / "till.py").read_text().strip()
        listed = await editor.extension("file/list", **here)
        assert "till.py" in [one["name"] for one in listed["entries"]]
        lines = await editor.extension("file/find", **here, pattern="def ")
        assert lines["lines"]
        assert "till.py" in (await editor.extension("file/find", **here, query="till"))["files"]
        assert "files" in await editor.extension("file/status", **here)
        with pytest.raises(RequestError, match="outside the folder"):
            await editor.extension("file/read", **here, path="../../etc/passwd")

        usage = await editor.extension("usage", **here)
        assert usage["models"]["demo/inline"]["input"] > 0
        assert isinstance((await editor.extension("config/get", **here))["config"], dict)
        assert (await editor.extension("permission/list", **here))["requests"] == []
        await editor.extension("session/abort", **here)
        await editor.extension("session/delete", **here)
        with pytest.raises(RequestError):
            await editor.extension("session/get", **here)
        with pytest.raises(RequestError) as caught:
            await editor.extension("nothing")
        assert caught.value.code == -32601


async def test_a_request_from_before_is_asked_and_can_be_answered(server: Installation) -> None:
    # FEAT-0011 FR-05
    cwd = worktree_of(server)
    with server.client() as client:
        session = new_session(client)
        parts = [{"type": "text", "text": script([WRITE], [{"text": "Done."}])}]
        model = {"providerID": "demo", "modelID": "inline"}
        client.post(f"/session/{session}/prompt_async", json={"parts": parts, "model": model})
        wait_for(lambda: client.get("/permission").json())
    async with editing(server, cwd) as editor:
        await editor.agent.initialize(protocol_version=1)
        await editor.agent.load_session(cwd=str(cwd), session_id=session, mcp_servers=[])
        await editor.until(lambda: "Done." in editor.said())
        assert len(editor.asked) == 1
    (cwd / "made.txt").unlink()
