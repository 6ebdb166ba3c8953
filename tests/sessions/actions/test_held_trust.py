from __future__ import annotations

from pathlib import Path

import pytest

from opencode_web.lib.errors import Forbidden
from sessions.actions.change_approval import approve_request
from sessions.actions.change_requests import set_approvals
from sessions.actions.mcp_programs import accept_mcp_program
from sessions.actions.trust import trust_repository
from sessions.config.effective import project_config
from sessions.mcp.programs import digest_of_programs, programs_in
from sessions.models import ChangeKind, ChangeRequest, McpProgram, Project, RepositoryTrust
from teams.models import Team, User
from tests.sessions.held_changes import Status, ask, at, of

pytestmark = pytest.mark.django_db


@pytest.fixture
def held(team: Team, project: Project, alice: User, adam: User) -> Path:
    """The folder of a project that brings an agent and the program of an MCP server."""
    folder = Path(project.directory)
    (folder / ".opencode" / "agent").mkdir(parents=True)
    (folder / ".opencode" / "agent" / "release.md").write_text("Release it.")
    (folder / "server.py").write_text("print()")
    project.config = {"mcp": {"shop": {"type": "local", "command": ["python3", "server.py"]}}}
    project.save()
    set_approvals(of(alice, team), [ChangeKind.RULES])
    return folder


def trust(user: User, project: Project) -> object:
    return trust_repository(at(user, project), digest=project_config(project).brought.digest)


def accept(user: User, project: Project) -> object:
    server = project_config(project).mcp["shop"]
    digest = digest_of_programs(programs_in(Path(project.directory), server))
    return accept_mcp_program(at(user, project), "shop", digest=digest)


def test_a_second_person_lets_an_mcp_server_run_its_files(
    held: Path, team: Team, project: Project, alice: User, adam: User, bob: User
) -> None:
    row = ask(lambda: accept(adam, project))
    assert (row.what, row.told) == ("trust.program", {"name": "shop", "files": ["server.py"]})
    for person in (adam, bob):
        with pytest.raises(Forbidden):
            approve_request(of(person, team), row)
    assert not McpProgram.objects.exists()
    assert approve_request(of(alice, team), row).status == Status.APPROVED
    assert McpProgram.objects.get().accepted_by == adam


@pytest.mark.parametrize("what", ["program", "repository"])
def test_trust_in_files_that_have_changed_since_ends_with_the_reason(
    what: str, held: Path, team: Team, project: Project, alice: User, adam: User
) -> None:
    act = accept if what == "program" else trust
    path = "server.py" if what == "program" else ".opencode/agent/release.md"
    row = ask(lambda: act(adam, project))
    (held / path).write_text("import os")
    ended = approve_request(of(alice, team), row, note="Fine")
    assert (ended.status, ended.note) == (
        Status.FAILED,
        "The files have changed. Review them again.",
    )
    assert not McpProgram.objects.exists()
    assert not RepositoryTrust.objects.exists()


def test_to_ask_for_trust_in_other_files_withdraws_the_earlier_request(
    held: Path, project: Project, adam: User
) -> None:
    other = ask(lambda: accept(adam, project))
    first = ask(lambda: trust(adam, project))
    (held / ".opencode" / "agent" / "release.md").write_text("Release it twice.")
    second = ask(lambda: trust(adam, project))
    status = dict(ChangeRequest.objects.values_list("pk", "status"))
    assert status == {
        other.pk: Status.PENDING,
        first.pk: Status.WITHDRAWN,
        second.pk: Status.PENDING,
    }
