from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.fakes import FakeToolContext
from tools.lsp.patience import Patience
from tools.lsp.pool import Pool, ServerState
from tools.lsp.spec import ServerSpec
from tools.lsp.workspace import Workspace
from tools.sandbox.base import Sandbox
from tools.sandbox.bubblewrap import BubblewrapSandbox
from tools.sandbox.select import probe, select_sandbox

SPEC = ServerSpec(
    "scripted",
    frozenset({".txt"}),
    (("python3", "server.py"),),
    env=(("SCRIPTED", "yes"),),
    initialization=json.dumps({"scripted": {"level": 3}, "other": True}),
)


# Nothing of this is waited for on a host that has time.
LONG = Patience(start_s=120, request_s=60, ready_s=60, found_s=60, pull_s=60)


@dataclass
class Project:
    """A worktree whose files a scripted server looks at."""

    context: FakeToolContext
    pool: Pool
    states: list[ServerState] = field(default_factory=list)

    async def on_state(self, state: ServerState) -> None:
        self.states.append(state)

    @property
    def folder(self) -> Path:
        return self.context.worktree

    def play(self, **script: Any) -> None:
        (self.folder / "script.json").write_text(json.dumps(script))

    def switch_on(self, *specs: ServerSpec) -> Workspace:
        sandbox = self.context.sandbox
        assert isinstance(sandbox, BubblewrapSandbox)
        found = Workspace.of(self.pool, sandbox, specs, self.on_state)
        assert found is not None
        self.context.language_servers = found
        return found

    async def heard(self) -> list[dict[str, Any]]:
        """What the server was told, as it says itself."""
        found = await self.context.call(
            "lsp",
            operation="workspaceSymbol",
            filePath="a.txt",
            line=1,
            character=1,
            query="q",
        )
        return json.loads(found.output)[0]["heard"]


@pytest.fixture
def sandbox(worktree: Path, tmp_path: Path) -> Sandbox:
    report = probe()
    assert report.ok, report.sentence
    return select_sandbox(worktree=worktree, session_dir=tmp_path / "session", network=False)


MakeProject = Callable[..., Project]


@pytest_asyncio.fixture
async def project(context: FakeToolContext, sandbox: Sandbox) -> AsyncIterator[Project]:
    context.sandbox = sandbox
    server = Path(__file__).parent / "server.py"
    (context.worktree / "server.py").write_text(server.read_text())
    (context.worktree / "a.txt").write_text("def one\nplain\n")
    pool = Pool(4, patience=LONG)
    made = Project(context, pool)
    made.play()
    made.switch_on(SPEC)
    yield made
    await pool.close()
    assert len(pool) == 0
