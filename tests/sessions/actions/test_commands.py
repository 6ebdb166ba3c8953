from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from opencode_web.lib.errors import Conflict, Invalid, NotFound
from opencode_web.lib.ids import new_id
from sessions.access import SessionAccess
from sessions.actions.commands import CommandCall, run_command
from sessions.actions.composer_input import admit_typed
from sessions.actions.prompts import PromptDraft
from sessions.commands.catalog import command_to_wire, load_commands
from sessions.config.effective import project_config
from sessions.models import Project, Session, SessionInput
from sessions.repository.globs import forget_found
from sessions.repository.skills import Skill
from teams.models import User
from tests.sessions.agents.test_brought import trust
from tests.sessions.factories import INLINE, session_access

pytestmark = pytest.mark.django_db
Write = Callable[[str, str], None]


@pytest.fixture
def write(project: Project) -> Write:
    forget_found()

    def write(path: str, text: str) -> None:
        file = Path(project.directory, path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        forget_found()

    return write


@pytest.fixture
def access(alice: User, session: Session) -> SessionAccess:
    return session_access(alice, session)


def call(access: SessionAccess, name: str, arguments: str = "", **fields: Any) -> SessionInput:
    return run_command(access, CommandCall(name, arguments, model=INLINE, **fields))


def text_of(row: SessionInput) -> str:
    return str(row.data["parts"][0]["text"])


def command_of(row: SessionInput) -> dict[str, Any]:
    mark: dict[str, Any] = row.data["parts"][0]["metadata"]["command"]
    return mark


def test_a_command_of_the_repository_becomes_a_prompt(access: SessionAccess, write: Write) -> None:
    write(".opencode/command/fix.md", "---\ndescription: d\nagent: plan\n---\nFix $1 in $2.\n")
    row = call(access, "fix", 'this "a b.py" now')
    assert text_of(row) == "Fix this in a b.py now."
    assert row.data["info"]["agent"] == "plan"
    assert command_of(row) == {"name": "fix", "arguments": 'this "a b.py" now'}


def test_a_command_of_the_settings_goes_before_one_of_the_repository(
    access: SessionAccess, write: Write
) -> None:
    access.project.config = {"command": {"fix": {"template": "Ours", "model": "demo/inline"}}}
    write(".opencode/command/fix.md", "Theirs")
    assert text_of(call(access, "fix")) == "Ours"


def test_a_skill_is_a_command_and_a_text_alone(access: SessionAccess, write: Write) -> None:
    write(".claude/skills/x/SKILL.md", "---\nname: ship\n---\nRun !`date` first.")
    row = call(access, "ship", "now")
    folder = f"{access.project.directory}/.claude/skills/x"
    assert text_of(row).startswith(
        f"Run !`date` first.\n\nBase directory for this skill: {folder}\n"
    )
    assert "pieces" not in command_of(row)


def test_shell_parts_wait_for_the_turn(access: SessionAccess, write: Write) -> None:
    access.project.config = {"command": {"log": {"template": "Log: !`git log $1`."}}}
    row = call(access, "log", "main")
    assert text_of(row) == "Log: !`git log main`."
    assert command_of(row)["pieces"] == [
        {"text": "Log: "},
        {"shell": "git log main"},
        {"text": "."},
    ]


def test_shell_parts_of_a_repository_are_run_with_trust_only(
    access: SessionAccess, write: Write, adam: User
) -> None:
    write(".opencode/command/log.md", "Log: !`git log`")
    row = call(access, "log")
    assert text_of(row) == (
        "Log: (Not run, because nobody has trusted this repository's files: `git log`)"
    )
    assert "pieces" not in command_of(row)
    trust(access.project, adam)
    assert command_of(call(access, "log"))["pieces"][1] == {"shell": "git log"}


def test_a_built_in_command_is_replaced_with_trust_only(
    access: SessionAccess, write: Write, adam: User
) -> None:
    write(".opencode/command/review.md", "Obey.")
    assert "careful colleague" in text_of(call(access, "review"))
    trust(access.project, adam)
    assert text_of(call(access, "review")) == "Obey."


def test_files_and_agents_that_are_mentioned_come_along(
    access: SessionAccess, write: Write
) -> None:
    write("src/a.py", "x")
    write("src/odd#L2", "x")
    access.project.config = {
        "command": {"see": {"template": "@src/a.py @src @explore @no @../x @../x#L1 $1"}}
    }
    row = call(access, "see", "@src/a.py")
    parts = row.data["parts"]
    files = [part["url"] for part in parts if part["type"] == "file"]
    folder = access.project.directory
    assert files == [f"file://{folder}/src/a.py", f"file://{folder}/src"]
    assert [part["name"] for part in parts if part["type"] == "agent"] == ["explore"]
    lines = call(access, "see", "@src/a.py#L10-20 @src#L3 @src/odd#L2").data["parts"]
    assert [part["url"] for part in lines if part["type"] == "file"][2:] == [
        f"file://{folder}/src/a.py?start=10&end=20",
        f"file://{folder}/src",
        f"file://{folder}/src/odd%23L2",
    ]


def test_a_mentioned_agent_may_have_spaces_in_its_name(access: SessionAccess) -> None:
    names = ("Plan", "Plan Builder", "Plan Builder - deep")
    access.project.config = {
        "agent": {name: {"prompt": "x"} for name in names},
        "command": {"see": {"template": "$ARGUMENTS"}},
    }

    def named(text: str) -> list[str]:
        parts = call(access, "see", text).data["parts"]
        return [part["name"] for part in parts if part["type"] == "agent"]

    assert named("@Plan Builder, then @Plan Builder - deep.") == [*names[1:]]
    assert named("@Plan Builders and a@Plan Builder") == ["Plan"]


def test_a_task_for_a_sub_agent(access: SessionAccess, write: Write) -> None:
    row = call(access, "review", "main")
    assert command_of(row)["subtask"]["agent"] == "general"
    access.project.config = {
        "command": {
            "look": {"template": "Look", "agent": "explore"},
            "here": {"template": "Look", "agent": "explore", "subtask": False},
        }
    }
    assert command_of(call(access, "look"))["subtask"]["agent"] == "explore"
    assert call(access, "look").data["info"]["agent"] == "build"
    here = call(access, "here")
    assert here.data["info"]["agent"] == "explore"
    assert "subtask" not in command_of(here)


def test_an_unknown_one_is_answered_with_those_there_are(access: SessionAccess) -> None:
    with pytest.raises(Invalid, match=r'Command not found: "x"\. Available commands: init, review'):
        call(access, "x")


def test_one_for_an_agent_that_is_gone_says_so(access: SessionAccess) -> None:
    access.project.config = {"command": {"a": {"template": "x", "agent": "gone"}}}
    with pytest.raises(
        Invalid, match=r'needs the agent "gone", which is not available here\. Agents:'
    ):
        call(access, "a")


def test_a_retry_returns_the_first_whatever_the_template_says_by_now(
    access: SessionAccess,
) -> None:
    access.project.config = {"command": {"a": {"template": "one !`date`"}}}
    message_id = new_id("msg")
    first = call(access, "a", "x", message_id=message_id)
    access.project.config = {"command": {"a": {"template": "two"}}}
    again = call(access, "a", "x", message_id=message_id)
    assert (again.pk, text_of(again)) == (first.pk, text_of(first))
    assert SessionInput.objects.count() == 1
    with pytest.raises(Conflict):
        call(access, "a", "other", message_id=message_id)


def test_a_viewer_runs_none(session: Session, vera: User) -> None:
    with pytest.raises(NotFound):
        call(session_access(vera, session), "review")
    assert not SessionInput.objects.exists()


def typed(access: SessionAccess, text: str) -> SessionInput:
    return admit_typed(access, PromptDraft([{"type": "text", "text": text}], model=INLINE))


def test_what_is_typed_is_a_command_when_there_is_one(access: SessionAccess) -> None:
    access.project.config = {"command": {"fix": {"template": "Fix $ARGUMENTS."}}}
    assert text_of(typed(access, "/fix it all")) == "Fix it all."
    assert text_of(typed(access, "/usr/bin/x is broken")) == "/usr/bin/x is broken"
    assert text_of(typed(access, "please /fix it")) == "please /fix it"


def test_a_client_cannot_name_what_is_run(access: SessionAccess) -> None:
    pieces = {"command": {"name": "x", "arguments": "", "pieces": [{"shell": "id"}]}, "kept": 1}
    read = {"read": {"filePath": "/etc/hostname"}}
    draft = PromptDraft(
        [{"type": "text", "text": "hi", "metadata": {**pieces, **read}}], model=INLINE
    )
    row = admit_typed(access, draft)
    assert row.data["parts"][0]["metadata"] == {"kept": 1}


def test_the_wire_says_what_is_ignored(access: SessionAccess, write: Write) -> None:
    write(".opencode/commands/deep/log.md", "---\ndescription: d\n---\n!`git log` $2 $ARGUMENTS")
    config = project_config(access.project)
    commands = load_commands(config, [Skill("review", "d", "t"), Skill("ship", "d", "t")])
    assert list(commands) == ["deep/log", "init", "review", "ship"]
    assert command_to_wire(commands["deep/log"]) == {
        "name": "deep/log",
        "source": "command",
        "template": "!`git log` $2 $ARGUMENTS",
        "hints": ["$2", "$ARGUMENTS"],
        "description": "d",
        "repository": {
            "path": ".opencode/commands/deep/log.md",
            "ignoredUntilTrusted": ["shell"],
        },
    }
    assert commands["review"].source == "command"
    assert command_to_wire(commands["ship"])["source"] == "skill"
