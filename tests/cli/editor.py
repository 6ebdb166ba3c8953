"""An editor: the client side of the protocol's SDK, with the bridge as its agent."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from acp import schema, spawn_agent_process
from acp.client.connection import ClientSideConnection

from tests.e2e.installation import ROOT, Installation

PROGRAM = (sys.executable, "-m", "opencode_web_cli", "acp")
Json = dict[str, Any]


@dataclass
class Editor:
    answer: str = "once"
    updates: list[Json] = field(default_factory=list)
    asked: list[Json] = field(default_factory=list)
    written: list[Json] = field(default_factory=list)
    events: list[Json] = field(default_factory=list)
    news: asyncio.Event = field(default_factory=asyncio.Event)
    agent: ClientSideConnection = field(init=False)
    process: asyncio.subprocess.Process = field(init=False)

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        shape = update.model_dump(mode="json", by_alias=True, exclude_none=True)
        self.updates.append({"session": session_id, **shape})
        self.news.set()

    async def request_permission(
        self, session_id: str, tool_call: Any, options: list[Any], **_: Any
    ) -> schema.RequestPermissionResponse:
        shape = tool_call.model_dump(mode="json", by_alias=True, exclude_none=True)
        self.asked.append({"session": session_id, "options": len(options), **shape})
        self.news.set()
        if self.answer == "wait":
            await asyncio.sleep(600)
        if self.answer == "cancelled":
            denied = schema.DeniedOutcome(outcome="cancelled")
            return schema.RequestPermissionResponse(outcome=denied)
        outcome = schema.AllowedOutcome(outcome="selected", option_id=self.answer)
        return schema.RequestPermissionResponse(outcome=outcome)

    async def write_text_file(self, session_id: str, path: str, content: str, **_: Any) -> None:
        self.written.append({"path": path, "content": content})

    async def ext_notification(self, method: str, params: Json) -> None:
        assert method == "opencode/event"
        self.events.append(params)
        self.news.set()

    def of(self, kind: str, session: str = "") -> list[Json]:
        return [
            one
            for one in self.updates
            if one["sessionUpdate"] == kind and (not session or one["session"] == session)
        ]

    def said(self, kind: str = "agent_message_chunk", session: str = "") -> str:
        return "".join(one["content"].get("text", "") for one in self.of(kind, session))

    async def until(self, check: Callable[[], Any], *, seconds: float = 60) -> Any:
        async with asyncio.timeout(seconds):
            while not (found := check()):
                self.news.clear()
                await self.news.wait()
        return found

    async def begin(self, cwd: Path, model: str = "demo/inline") -> str:
        """Returns: the id of a new session whose prompts carry their script."""
        await self.agent.initialize(protocol_version=1)
        session = (await self.agent.new_session(cwd=str(cwd), mcp_servers=[])).session_id
        await self.agent.set_config_option(config_id="model", session_id=session, value=model)
        return session

    async def prompt(self, session: str, *blocks: Any) -> schema.PromptResponse:
        texts = [text_block(one) if isinstance(one, str) else one for one in blocks]
        return await self.agent.prompt(session_id=session, prompt=texts)

    async def extension(self, name: str, /, **params: Any) -> Json:
        return await self.agent.ext_method(f"opencode/{name}", params)


def text_block(text: str) -> schema.TextContentBlock:
    return schema.TextContentBlock(type="text", text=text)


def environment(server: Installation, **more: str) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(ROOT / "clients" / "python"),
        "OPENCODE_WEB_URL": server.url,
        "OPENCODE_WEB_TOKEN": server.token,
        **more,
    }


@asynccontextmanager
async def editing(
    server: Installation, cwd: Path, *options: str, answer: str = "once", **env: str
) -> AsyncIterator[Editor]:
    editor = Editor(answer)
    command, *arguments = (*PROGRAM, *options)
    async with spawn_agent_process(
        editor,  # type: ignore[arg-type]  # it has no terminals
        command,
        *arguments,
        env=environment(server, **env),
        cwd=cwd,
        transport_kwargs={"limit": 2**24},
        use_unstable_protocol=True,
    ) as (agent, process):
        editor.agent, editor.process = agent, process
        yield editor


def worktree_of(server: Installation) -> Path:
    with server.client() as client:
        rows = client.get("/project").json()
    return next(Path(one["worktree"]) for one in rows if one["id"] == server.project)


def clone_of(worktree: Path, folder: Path, remote: str) -> Path:
    """Make a copy of a project as a person has it, with a remote."""
    for command in (
        ["git", "clone", "--quiet", str(worktree), str(folder)],
        ["git", "-C", str(folder), "remote", "set-url", "origin", remote],
    ):
        subprocess.run(command, check=True, capture_output=True)
    return folder
