from __future__ import annotations

import asyncio
import base64
from pathlib import Path

import pytest
from acp import RequestError, schema

from tests.cli.editor import clone_of, editing, worktree_of
from tests.e2e.installation import Installation
from tests.e2e.rest import ask, body, new_session, script, text_of

pytestmark = [pytest.mark.e2e, pytest.mark.deep, pytest.mark.timeout(300), pytest.mark.any_database]
READ = {"tool": "read", "input": {"filePath": "till.py"}}
WRITE = {"tool": "write", "input": {"filePath": "made.txt", "content": "by hand\n"}}
BASH = {"tool": "bash", "input": {"command": "echo hello", "description": "Say hello"}}
TODOS = [
    {"content": "One", "status": "in_progress", "priority": "high"},
    {"content": "Two", "status": "cancelled", "priority": "odd"},
]
PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
    "+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


async def test_a_prompt_shows_all_that_the_agent_does(server: Installation) -> None:
    # FEAT-0011 FR-02, FR-05, FR-07
    cwd = worktree_of(server)
    turn = script(
        [{"reasoning": "Hm."}, {"text": "I look."}, READ],
        [{"tool": "todowrite", "input": {"todos": TODOS}}, WRITE],
        [{"text": "Done."}],
    )
    async with editing(server, cwd) as editor:
        session = await editor.begin(cwd)
        done = await editor.prompt(session, turn)
        assert done.stop_reason == "end_turn"
        assert done.usage is not None
        assert done.usage.total_tokens >= done.usage.input_tokens > 0
        assert editor.said("agent_thought_chunk") == "Hm."
        assert editor.said() == "I look.Done."
        begun = editor.of("tool_call")
        assert [(one["title"], one["kind"]) for one in begun] == [
            ("read", "read"),
            ("todowrite", "other"),
            ("write", "edit"),
        ]
        over = [one for one in editor.of("tool_call_update") if one["status"] == "completed"]
        assert [one["toolCallId"] for one in over] == [one["toolCallId"] for one in begun]
        going = [one for one in editor.of("tool_call_update") if one["status"] == "in_progress"]
        assert {"path": str(cwd / "till.py")} in [at for one in going for at in one["locations"]]
        (plan,) = editor.of("plan")
        assert [(one["content"], one["status"], one["priority"]) for one in plan["entries"]] == [
            ("One", "in_progress", "high"),
            ("Two", "completed", "medium"),
        ]
        (asked,) = editor.asked
        assert (asked["kind"], asked["options"]) == ("edit", 3)
        (diff,) = asked["content"]
        assert diff["path"] == str(cwd / "made.txt")
        assert (diff.get("oldText", ""), diff["newText"]) == ("", "by hand\n")
        (usage,) = editor.of("usage_update")
        assert usage["size"] > 0
        assert usage["cost"]["currency"] == "USD"
        (listed,) = editor.of("available_commands_update")
        assert "init" in [one["name"] for one in listed["availableCommands"]]
    assert (cwd / "made.txt").read_text() == "by hand\n"
    (cwd / "made.txt").unlink()


@pytest.mark.parametrize("answer", ["reject", "cancelled", "no-such-option"])
async def test_anything_but_a_yes_is_a_no(server: Installation, answer: str) -> None:
    # FEAT-0011 FR-05
    cwd = worktree_of(server)
    async with editing(server, cwd, answer=answer) as editor:
        session = await editor.begin(cwd)
        done = await editor.prompt(session, script([WRITE], [{"text": "Never."}]))
        assert (done.stop_reason, editor.said()) == ("end_turn", "")
        assert editor.of("tool_call_update")[-1]["status"] == "failed"
    assert not (cwd / "made.txt").exists()


async def test_always_is_asked_once(server: Installation) -> None:
    cwd = worktree_of(server)
    async with editing(server, cwd, answer="always") as editor:
        session = await editor.begin(cwd)
        await editor.prompt(session, script([BASH], [BASH], [{"text": "Ran."}]))
        assert len(editor.asked) == 1
        assert editor.said() == "Ran."


async def test_sub_agents_ask_in_the_name_of_their_session(server: Installation) -> None:
    # FEAT-0011 FR-05
    cwd = worktree_of(server)
    inner = script([WRITE], [{"text": "Written."}])
    task = {"description": "write it", "prompt": inner, "subagent_type": "general"}
    async with editing(server, cwd, answer="reject") as editor:
        session = await editor.begin(cwd)
        done = await editor.prompt(
            session, script([{"tool": "task", "input": task}], [{"text": "Asked."}])
        )
        assert done.stop_reason == "end_turn"
        (asked,) = editor.asked
        assert asked["session"] == session
        assert asked["title"].startswith("Sub-agent: ")
        (call,) = editor.of("tool_call")
        assert asked["toolCallId"] == call["toolCallId"]


async def test_cancel_stops_the_turn_and_closes_requests(server: Installation) -> None:
    # FEAT-0011 FR-02
    cwd = worktree_of(server)
    async with editing(server, cwd, answer="wait") as editor:
        session = await editor.begin(cwd)
        running = asyncio.create_task(editor.prompt(session, script([WRITE], [{"text": "No."}])))
        await editor.until(lambda: editor.asked)
        await editor.agent.cancel(session_id=session)
        done = await running
        assert done.stop_reason == "cancelled"
        assert editor.of("tool_call_update")[-1]["status"] == "failed"
        with server.client() as client:
            assert client.get("/permission").json() == []
        editor.answer = "once"
        again = await editor.prompt(session, script([{"text": "Still here."}]))
        assert (again.stop_reason, editor.said()) == ("end_turn", "Still here.")


async def test_a_failed_turn_is_an_error(server: Installation) -> None:
    cwd = worktree_of(server)
    wrong = {"error": {"status": 400, "message": "It is all wrong."}}
    async with editing(server, cwd) as editor:
        session = await editor.begin(cwd)
        with pytest.raises(RequestError, match=r"It is all wrong\.") as caught:
            await editor.prompt(session, script([wrong]))
        assert caught.value.code == -32603
        assert editor.of("usage_update")


async def test_sessions_are_listed_loaded_resumed_forked_and_closed(server: Installation) -> None:
    # FEAT-0011 FR-02
    cwd = worktree_of(server)
    with server.client() as client:
        session = new_session(client)
        ask(client, session, script([READ], [{"text": "Seen."}]))
    async with editing(server, cwd) as editor:
        await editor.agent.initialize(protocol_version=1)
        listed = (await editor.agent.list_sessions(cwd=str(cwd))).sessions
        (row,) = [one for one in listed if one.session_id == session]
        assert row.cwd == str(cwd)
        await editor.agent.load_session(cwd=str(cwd), session_id=session, mcp_servers=[])
        assert "<<script" in editor.said("user_message_chunk")
        assert editor.said() == "Seen."
        kinds = [one["sessionUpdate"] for one in editor.updates][:4]
        assert kinds == [
            *("user_message_chunk", "tool_call", "tool_call_update", "agent_message_chunk"),
        ]
        await editor.agent.close_session(session_id=session)
        with pytest.raises(RequestError, match="session not found"):
            await editor.prompt(session, "Hello?")
        editor.updates.clear()
        await editor.agent.resume_session(cwd=str(cwd), session_id=session)
        assert editor.said() == ""
        done = await editor.prompt(session, script([{"text": "Gone on."}]))
        assert (done.stop_reason, editor.said()) == ("end_turn", "Gone on.")
        editor.updates.clear()
        fork = await editor.agent.fork_session(cwd=str(cwd), session_id=session)
        assert fork.session_id != session
        assert editor.said(session=fork.session_id) == "Seen.Gone on."


async def test_a_page_of_sessions_leads_to_the_next(server: Installation) -> None:
    cwd = worktree_of(server)
    with server.client() as client:
        made = {new_session(client) for _ in range(105)}
    async with editing(server, cwd) as editor:
        await editor.agent.initialize(protocol_version=1)
        first = await editor.agent.list_sessions(cwd=str(cwd))
        assert len(first.sessions) == 100
        rest = await editor.agent.list_sessions(cwd=str(cwd), cursor=first.next_cursor)
        found = [one.session_id for one in (*first.sessions, *rest.sessions)]
        assert made <= set(found)
        assert len(found) == len(set(found))


async def test_options_go_along_with_the_next_prompt(server: Installation) -> None:
    # FEAT-0011 FR-01, FR-08
    cwd = worktree_of(server)
    async with editing(server, cwd) as editor:
        session = await editor.begin(cwd)
        await editor.agent.set_session_mode(session_id=session, mode_id="plan")
        await editor.prompt(session, script([{"text": "Planned."}]))
        with server.client() as client:
            info = client.get(f"/session/{session}").json()
        assert (info["agent"], info["model"]["id"]) == ("plan", "inline")
        for option, value in (("mode", "none"), ("model", "no/such"), ("zzz", "x")):
            with pytest.raises(RequestError) as caught:
                await editor.agent.set_config_option(
                    config_id=option, session_id=session, value=value
                )
            assert caught.value.code == -32602


async def test_what_a_prompt_can_carry(server: Installation, tmp_path: Path) -> None:
    # FEAT-0011 FR-06
    cwd = worktree_of(server)
    text = schema.TextResourceContents(uri=f"{(cwd / 'till.py').as_uri()}#L2", text="unsaved")
    blocks = (
        script([{"text": "Seen."}]),
        schema.ImageContentBlock(type="image", mime_type="image/png", data=PIXEL),
        schema.EmbeddedResourceContentBlock(type="resource", resource=text),
        schema.ResourceContentBlock(
            type="resource_link", name="till", uri=(cwd / "till.py").as_uri()
        ),
        schema.ResourceContentBlock(type="resource_link", name="doc", uri="https://example.com/d"),
    )
    outside = tmp_path / "secret.txt"
    outside.write_text("not yours")
    (cwd / "link.txt").symlink_to(outside)
    async with editing(server, cwd) as editor:
        session = await editor.begin(cwd)
        await editor.prompt(session, *blocks)
        with server.client() as client:
            asked, *_ = client.get(f"/session/{session}/message").json()
        shown = text_of(asked)
        assert f"[{cwd}/till.py:2]\nunsaved" in shown
        assert "https://example.com/d" in shown
        files = [part for part in asked["parts"] if part["type"] == "file"]
        assert base64.b64decode(files[0]["url"].partition("base64,")[2])[1:4] == b"PNG"
        for path in (outside, cwd / "link.txt", cwd / ".." / "secret.txt"):
            link = schema.ResourceContentBlock(
                type="resource_link", name="secret", uri=f"file://{path}"
            )
            with pytest.raises(RequestError, match="outside the folder"):
                await editor.prompt(session, "Look:", link)
    (cwd / "link.txt").unlink()


async def test_a_copy_elsewhere_is_found_by_its_remote_and_paths_are_mapped(
    server: Installation, tmp_path: Path
) -> None:
    worktree = worktree_of(server)
    address = f"https://git.example.com/{server.team}/till.git"
    server.run(
        "from sessions.models import Project\n"
        f"Project.objects.filter(pk={server.project!r}).update(git_url={address!r})"
    )
    copy = clone_of(worktree, tmp_path / "copy", f"git@GIT.example.com:{server.team}/till")
    (copy / "till.py").write_text("local change\n")
    (copy / "new.md").write_text("only here\n")
    async with editing(server, copy) as editor:
        session = await editor.begin(copy)
        await editor.until(lambda: "are copies" in editor.said())
        editor.updates.clear()
        links = [
            schema.ResourceContentBlock(type="resource_link", name=name, uri=(copy / name).as_uri())
            for name in ("till.py", "new.md", "README.md")
            if (copy / name).exists()
        ]
        await editor.prompt(session, script([READ], [WRITE], [{"text": "Done."}]), *links)
        places = [
            at["path"] for one in editor.of("tool_call_update") for at in one.get("locations", ())
        ]
        assert str(copy / "till.py") in places
        assert not [path for path in places if path.startswith(str(worktree))]
        assert editor.asked[0]["content"][0]["path"] == str(copy / "made.txt")
        with server.client() as client:
            asked, *_ = client.get(f"/session/{session}/message").json()
        assert f"[{worktree}/till.py]\nlocal change" in text_of(asked)
        assert f"[{worktree}/new.md]\nonly here" in text_of(asked)
    assert not (copy / "made.txt").exists()
    (worktree / "made.txt").unlink()


async def test_mirror_changes_the_copy_of_the_editor(server: Installation) -> None:
    cwd = worktree_of(server)
    writes = schema.ClientCapabilities(fs=schema.FileSystemCapabilities(write_text_file=True))
    async with editing(server, cwd, "--mirror") as editor:
        session = await editor.begin(cwd)
        await editor.agent.initialize(protocol_version=1, client_capabilities=writes)
        await editor.prompt(session, script([WRITE], [{"text": "Done."}]))
        assert editor.written == [{"path": str(cwd / "made.txt"), "content": "by hand\n"}]
    (cwd / "made.txt").unlink()


async def test_a_folder_of_no_project_says_which_there_are(
    server: Installation, tmp_path: Path
) -> None:
    async with editing(server, tmp_path) as editor:
        await editor.agent.initialize(protocol_version=1)
        with pytest.raises(RequestError, match="--project") as caught:
            await editor.agent.new_session(cwd=str(tmp_path), mcp_servers=[])
        assert [one["id"] for one in caught.value.data["projects"]] == [server.project]
        with pytest.raises(RequestError, match="no folder"):
            await editor.agent.new_session(cwd="relative", mcp_servers=[])
    async with editing(server, tmp_path, "--project", server.project) as editor:
        session = await editor.begin(tmp_path)
        await editor.prompt(session, script([READ], [{"text": "Seen."}]))
        assert {"path": str(tmp_path / "till.py")} in editor.of("tool_call_update")[0]["locations"]


async def test_colleagues_are_seen_and_their_answers_count(server: Installation) -> None:
    # FEAT-0011 FR-04
    cwd = worktree_of(server)
    async with editing(server, cwd, answer="wait") as editor:
        session = await editor.begin(cwd)
        with server.client() as client:
            prompt = body(script([WRITE], [{"text": "From the browser."}]))
            client.post(f"/session/{session}/prompt_async", json=prompt)
            await editor.until(lambda: editor.asked)
            (request,) = client.get("/permission").json()
            client.post(f"/permission/{request['id']}/reply", json={"reply": "once"})
        await editor.until(lambda: editor.said() == "From the browser.")
        assert "<<script" in editor.said("user_message_chunk")
    (cwd / "made.txt").unlink()


async def test_questions_are_asked_with_their_options(server: Installation) -> None:
    cwd = worktree_of(server)
    options = [{"label": "Red", "description": ""}, {"label": "Blue", "description": ""}]
    question = {"question": "Which color?", "header": "Color", "options": options}
    ask_it = {"tool": "question", "input": {"questions": [question]}}
    async with editing(server, cwd, answer="answer-1") as editor:
        session = await editor.begin(cwd)
        done = await editor.prompt(session, script([ask_it], [{"text": "Thanks."}]))
        assert (done.stop_reason, editor.said()) == ("end_turn", "Thanks.")
        (asked,) = editor.asked
        assert (asked["title"], asked["options"]) == ("Which color?", 3)
        assert "Blue" in editor.of("tool_call_update")[-1]["content"][0]["content"]["text"]
