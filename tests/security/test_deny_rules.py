from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.fakes import FakeToolContext
from tests.security.deny import DENIED
from tests.security.evasions import BARE, BARE_DIFF, EVALUATING, REMOVING
from tools.context import PermissionAsk
from tools.errors import PermissionDenied, PermissionRejected, ToolError
from tools.permissions.config import parse_ruleset
from tools.permissions.rules import Action, Level, Subject, judge
from tools.sandbox.select import select_sandbox

RULES = tuple(
    replace(rule, level=Level.PROJECT)
    for rule in parse_ruleset({"*": "allow", "bash": {"*": "allow", "rm *": "deny"}})
)


def decide(ask: PermissionAsk) -> None:
    subjects = ask.subjects or tuple(map(Subject, ask.patterns))
    verdict = judge(ask.permission, subjects, RULES, opaque=ask.opaque)
    if verdict.action is Action.DENY:
        raise PermissionDenied("a rule denies it")
    if verdict.action is Action.ASK:
        # Somebody sees the command as it is, and says no.
        raise PermissionRejected


def guard(folder: Path) -> FakeToolContext:
    """A call's context, with a file that no command may remove."""
    worktree = folder / "project"
    (worktree / "sub").mkdir(parents=True)
    (worktree / "precious").write_text("kept")
    (worktree / "notes.txt").write_text("a[$(unlink precious)]\n")
    (folder / "outputs").mkdir()
    sandbox = select_sandbox(worktree=worktree, session_dir=folder / "session", network=False)
    return FakeToolContext(
        worktree=worktree, output_dir=folder / "outputs", sandbox=sandbox, on_ask=decide
    )


@pytest.fixture
def guarded(tmp_path: Path) -> FakeToolContext:
    return guard(tmp_path)


async def test_what_no_rule_denies_runs(guarded: FakeToolContext) -> None:
    result = await guarded.call("bash", command="echo 'rm precious' > note; cat note precious")
    assert result.output == "rm precious\nkept"


async def test_feat2_nfr_01_a_denied_command_has_no_spelling(tmp_path: Path) -> None:
    got_through = []
    for number, command in enumerate([*DENIED, *REMOVING, *EVALUATING]):
        guarded, is_refused = guard(tmp_path / str(number)), False
        try:
            await guarded.call("bash", command=command, timeout=5_000)
        except ToolError:
            is_refused = True
        precious = guarded.worktree / "precious"
        is_kept = precious.is_file() and precious.read_text() == "kept"
        if not is_kept or (is_refused and guarded.updates):
            got_through.append(command)
    assert got_through == []


async def test_a_repository_made_by_commands_starts_no_program(guarded: FakeToolContext) -> None:
    result = await guarded.call("bash", command=f"{BARE}; {BARE_DIFF}")
    assert "+b" in result.output
    assert (guarded.worktree / "precious").read_text() == "kept"


async def test_where_a_command_runs_counts(guarded: FakeToolContext) -> None:
    (guarded.worktree / ".git").mkdir()
    with pytest.raises(PermissionRejected):
        await guarded.call("bash", command="echo x > config", workdir=".git")
    await guarded.call("bash", command="ls -la", workdir=".git")
