from __future__ import annotations

import io
import json
import subprocess
import tarfile
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from opencode_web.backup.errors import BackupError, DamagedBackup
from opencode_web.transfer.jobs import go_on_with_exports
from opencode_web.transfer.load import import_team
from opencode_web.transfer.shapes import FORMAT
from sessions.actions.erasure import request_team_erasure
from sessions.actions.rebuild import rebuild_session
from sessions.events.replay import Rows, read_rows
from sessions.jobs.erase_files import export_file
from sessions.jobs.erasure import run_erasure
from sessions.models import (
    Message,
    Part,
    Project,
    ProjectSecret,
    SavedRule,
    Session,
    SessionInput,
    State,
    TeamSkill,
)
from teams.audit_chain.verify import verify_chain
from teams.models import Membership, Role, Team, TeamExport, User
from tests.factories import make_team, make_user
from tests.opencode_web.transfer.archives import (
    Files,
    changed_team,
    export,
    files_of,
    gone,
    pack,
    say,
)
from tests.sessions.factories import make_project, make_session, prompt
from tests.sessions.story import Story

pytestmark = pytest.mark.django_db(transaction=True)

_OUTPUTS = "outputs.tar.gz"
SECRET = "sk-verysecretvalue1234567890"


@pytest.fixture(autouse=True)
def data(tmp_path: Path, settings: Settings) -> Path:
    settings.DATA_DIR = tmp_path / "data"
    settings.WORKTREES_DIR = tmp_path / "worktrees"
    settings.HOST_NAME = "local"
    return tmp_path


@pytest.fixture
def old(alice: User, team: Team, bob: User, tmp_path: Path) -> Project:
    """A project with history, sessions in every state, and secrets."""
    project = make_project(team, tmp_path / "shop")
    root = Path(project.directory)
    (root / "till.py").write_text("total = 1\n")
    (root / "link").symlink_to("till.py")
    git = ["git", "-C", str(root), "-c", "user.name=A", "-c", "user.email=a@x"]
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "-qm", "First"], check=True)
    (root / "open.txt").write_text("not committed")
    team.config = {
        "agent": {"review": {"prompt": "Be kind"}},
        "permission": {"bash": "ask"},
        "mcp": {"x": {"type": "remote", "url": "https://x.example", "headers": {"A": SECRET}}},
    }
    team.save()
    ProjectSecret.objects.create(
        project=project, name="TOKEN", value=SECRET, updated_at=team.created_at
    )
    TeamSkill.objects.create(
        team=team, name="release", description="d", text="t", updated_at=team.created_at
    )
    session = make_session(alice, project, title="Parent")
    story = Story(session, bob)
    story.ask("fix it")
    story.answer()
    story.done("read", {"filePath": "till.py"}, "total = 1")
    Story(make_session(alice, project, parent=session), alice).ask("below")
    asking = make_session(alice, project, title="Asking")
    Story(asking, alice).ask("may I")
    Story(asking, alice).answer()
    prompt(bob, Session.objects.get(pk=asking.pk), "later", delivery="queue")
    SavedRule.objects.create(
        project=project, permission="bash", pattern="ls *", created_at=session.created_at
    )
    return project


def comparable(session_id: str) -> dict[str, Rows]:
    """What is the same on every server: not accounts, projects' places, and what ended there."""
    rows = read_rows(session_id)
    for table in rows.values():
        for row in table.values():
            for name in ("owner_id", "author_id", "user_id", "team_id", "folder"):
                row.pop(name, None)
    return rows


def test_a_team_comes_back_on_another_server_as_it_was(
    alice: User, bob: User, team: Team, old: Project, tmp_path: Path
) -> None:
    settled = Session.objects.get(title="Parent")
    Session.objects.filter(pk=settled.pk).update(state=State.IDLE)
    ids = set(Session.objects.values_list("pk", flat=True))
    path = export(team, tmp_path / "acme.team")
    assert SECRET.encode() not in b"".join(files_of(path).values())
    before = {pk: comparable(pk) for pk in ids}
    gone(team)
    bob.delete()
    new_owner = make_user("olga@example.com")
    out = io.StringIO()
    call_command("team", "import", str(path), owner=new_owner.email, stdout=out)
    told = out.getvalue()
    assert "secret TOKEN of the project shop" in told
    assert "mcp.x.headers.A" in told
    assert "1 person has no account here and cannot sign in." in told
    made = Team.objects.get(slug="acme")
    roles = {row.user.email: row.role for row in Membership.objects.filter(team=made)}
    assert roles == {new_owner.email: Role.OWNER, alice.email: Role.ADMIN}
    assert set(Session.objects.values_list("pk", flat=True)) == ids
    for pk in ids:
        assert rebuild_session(pk, write=False) == []
        after = comparable(pk)
        for table in ("Message", "Part", "TodoList", "Compaction", "ContextEpoch"):
            unsettled = {key for key, row in before[pk][table].items() if _is_open(row)}
            assert {k: v for k, v in before[pk][table].items() if k not in unsettled} == {
                k: v for k, v in after[table].items() if k not in unsettled
            }
        assert Session.objects.get(pk=pk).state == State.IDLE
    assert not SessionInput.objects.filter(status="admitted").exists()
    said = Message.objects.get(session=settled, role="user")
    assert said.author is not None
    assert (said.author.name, said.author.is_active) == ("Bob", False)
    assert "bob@" not in said.author.email
    project = Project.objects.get()
    assert project.pk == old.pk
    root = Path(project.directory)
    assert root.is_relative_to(tmp_path / "worktrees" / "managed")
    log = ["git", "-C", str(root), "log", "--format=%s"]
    assert subprocess.run(log, capture_output=True, text=True, check=True).stdout == "First\n"
    assert (root / "open.txt").read_text() == "not committed"
    assert (root / "link").is_symlink()
    assert made.config["agent"] == {"review": {"prompt": "Be kind"}}
    assert TeamSkill.objects.get(team=made).name == "release"
    assert SavedRule.objects.get().pattern == "ls *"
    assert verify_chain(made.pk).problem == ""
    with pytest.raises(CommandError, match="already"):
        call_command("team", "import", str(path), owner=new_owner.email)


def test_large_outputs_open_where_the_new_server_keeps_them(
    alice: User, team: Team, old: Project, tmp_path: Path, settings: Settings
) -> None:
    session = Session.objects.get(title="Parent")
    folder = tmp_path / "data" / "tool-output"
    elsewhere = make_project(make_team(alice, name="Other"), tmp_path / "elsewhere")
    other = make_session(alice, elsewhere, title="Foreign")
    for one in (session, other):
        (folder / one.pk).mkdir(parents=True)
        (folder / one.pk / "tool_1").write_text(f"whole of {one.title}")
    story = Story(session, alice)
    story.answer()
    path = str(folder / session.pk / "tool_1")
    part = story.done("bash", {"command": "make"}, f"All is in {path}.", outputPath=path)
    archive = export(team, tmp_path / "acme.team")
    assert other.title.encode() not in files_of(archive)[_OUTPUTS]
    Session.objects.filter(project__team=team).update(state=State.IDLE)
    run_erasure(request_team_erasure(None, team, confirm=team.slug).pk)
    assert not Path(path).exists()

    settings.DATA_DIR = tmp_path / "another"
    import_team(archive, owner=alice, say=say)
    state = Part.objects.get(pk=part).data["state"]
    here = tmp_path / "another" / "tool-output" / session.pk / "tool_1"
    assert state["metadata"]["outputPath"] == str(here)
    assert state["output"] == f"All is in {here}."
    assert here.read_text() == "whole of Parent"
    assert rebuild_session(session.pk, write=False) == []


def test_who_has_edited_what_was_said_is_known_on_the_other_server(
    alice: User, bob: User, team: Team, old: Project, tmp_path: Path
) -> None:
    session = Session.objects.get(title="Parent")
    session.writers.add(alice)
    archive = export(team, tmp_path / "acme.team")
    gone(team)
    import_team(archive, owner=bob, say=say)
    assert list(Session.objects.get(pk=session.pk).writers.all()) == [alice]


def _is_open(row: dict[str, Any]) -> bool:
    """Whether it was unfinished, so that the import has ended it."""
    data = row.get("data") or {}
    time = data.get("time") or {}
    status = (data.get("state") or {}).get("status")
    return (
        (data.get("role") == "assistant" and "completed" not in time)
        or status in ("pending", "running")
        or ("time" in data and data.get("type") in ("text", "reasoning") and "end" not in time)
    )


def changed_event(number: int, change: Callable[[Any], None]) -> Callable[[Files], None]:
    def change_files(files: Files) -> None:
        lines = [json.loads(line) for line in files["events.jsonl.gz"].splitlines()]
        change(lines[number])
        files["events.jsonl.gz"] = b"".join(json.dumps(line).encode() + b"\n" for line in lines)

    return change_files


def with_tar(*infos: tarfile.TarInfo, name: str = "project-0.tar.gz") -> Callable[[Files], None]:
    def change_files(files: Files) -> None:
        raw = io.BytesIO()
        with tarfile.open(fileobj=raw, mode="w") as tar:
            for info in infos:
                tar.addfile(info, io.BytesIO(b"x" * info.size))
        files[name] = raw.getvalue()

    return change_files


def entry(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.size = kind, link, 1 if kind == tarfile.REGTYPE else 0
    return info


def lying(**change: Any) -> Callable[[Any], None]:
    return lambda manifest: manifest["files"][0].update(change)


LIES: dict[str, Callable[[Any], None]] = {
    "hash": lying(sha256="0" * 64),
    "bomb": lying(content_bytes=10),
    "huge": lying(content_bytes=10**15),
    "negative": lying(content_bytes=-(10**15)),
    "name": lying(name="../x.gz"),
    "format": lambda manifest: manifest.update(format=FORMAT + 1),
    "list": lambda manifest: manifest.update(files=[]),
}


def test_a_hostile_archive_makes_nothing(
    alice: User, charlie: User, team: Team, old: Project, tmp_path: Path
) -> None:
    good = files_of(export(team, tmp_path / "good.team"))
    gone(team)
    other = make_project(Team.objects.get(slug="globex"), tmp_path / "other")
    foreign = make_session(charlie, other)
    theirs = Story(foreign, charlie).ask("theirs")
    before = read_rows(foreign.pk)
    prior = sorted(Team.objects.values_list("slug", flat=True))

    def names(line: Any) -> None:
        line["data"]["info"]["id"] = theirs

    def project_of_others(line: Any) -> None:
        line["data"]["project_id"] = other.pk

    def below_others(line: Any) -> None:
        line["data"]["parent_id"] = foreign.pk

    def elsewhere(line: Any) -> None:
        line["session"] = foreign.pk

    def skips(line: Any) -> None:
        line["seq"] = 9

    lines = [json.loads(line) for line in good["events.jsonl.gz"].splitlines()]
    message = next(n for n, line in enumerate(lines) if line["type"] == "message.updated")
    projects = json.loads(good["team.json.gz"])["projects"]
    changes: dict[str, Callable[[Files], None]] = {
        "leads out": with_tar(entry("../../out")),
        "absolute": with_tar(entry("/tmp/out")),
        "hard link": with_tar(entry("a", tarfile.LNKTYPE, "/etc/passwd")),
        "device": with_tar(entry("a", tarfile.CHRTYPE)),
        "through a link": with_tar(entry("d", tarfile.SYMTYPE, "/tmp"), entry("d/out")),
        "sparse": with_tar(entry("a", tarfile.GNUTYPE_SPARSE)),
        "twice": with_tar(entry("a"), entry("a")),
        "outputs of others": with_tar(entry(foreign.pk, tarfile.DIRTYPE), name=_OUTPUTS),
        "outputs linked": with_tar(entry(lines[0]["session"], tarfile.SYMTYPE), name=_OUTPUTS),
        "outputs from anywhere": changed_team(outputs="a"),
        "message of others": changed_event(message, names),
        "project of others": changed_event(0, project_of_others),
        "below others": changed_event(0, below_others),
        "session of others": changed_event(0, elsewhere),
        "gap": changed_event(1, skips),
        "type": changed_event(1, lambda line: line.update(type="zebra")),
        "newer": changed_event(1, lambda line: line.update(version=99)),
        "sessions missing": changed_team(sessions=[]),
        "bad project": changed_team(projects=[{**projects[0], "id": "prj_..x"}]),
        "project there": changed_team(projects=[{**projects[0], "id": other.pk}]),
        "unknown key": changed_team(zebra=1),
        "deep": lambda files: files.update({"team.json.gz": b"[" * 200_000}),
    }
    attempts = [(name, change, lambda _m: None) for name, change in changes.items()]
    attempts += [(name, lambda _f: None, lie) for name, lie in LIES.items()]
    accepted, refused = [], dict[str, str]()
    for name, change, lie in attempts:
        files = dict(good)
        change(files)
        path = pack(files, tmp_path / "bad.team", lie=lie)
        try:
            import_team(path, owner=alice, say=say)
            accepted.append(name)
        except (BackupError, DamagedBackup) as exc:
            refused[name] = str(exc)
    assert accepted == []
    for name, why in (
        ("sparse", "sparse"),
        ("bomb", "more in it"),
        ("message of others", "already"),
    ):
        assert why in refused[name]
    assert sorted(Team.objects.values_list("slug", flat=True)) == prior
    assert read_rows(foreign.pk) == before
    assert Project.objects.get() == other
    assert list((tmp_path / "worktrees" / "managed").iterdir()) == []
    assert not (tmp_path / "out").exists()
    # The same without a change is taken.
    import_team(pack(good, tmp_path / "fine.team"), owner=alice, say=say)


def test_what_is_no_archive_or_would_be_overwritten_is_told(
    alice: User, team: Team, tmp_path: Path
) -> None:
    path = tmp_path / "x.team"
    path.write_bytes(b"not a tar")
    with pytest.raises(CommandError, match="exists already"):
        call_command("team", "export", "acme", str(path))
    with pytest.raises(CommandError, match="not an archive"):
        call_command("team", "import", str(path), owner=alice.email)
    with pytest.raises(CommandError, match="no team"):
        call_command("team", "export", "none", str(path))
    with pytest.raises(CommandError, match="no account"):
        call_command("team", "import", str(path), owner="nobody@example.com")
    assert path.read_bytes() == b"not a tar"


async def _collect(pieces: AsyncIterator[bytes]) -> list[bytes]:
    return [piece async for piece in pieces]


def test_an_owner_has_it_made_and_downloads_it_until_it_expires(
    alice: User, adam: User, team: Team, old: Project, client: Client
) -> None:
    client.force_login(alice)
    url = "/t/acme/settings/export"
    assert client.post(url).status_code == 302
    assert client.post(url).status_code == 409
    row = TeamExport.objects.get()
    assert client.get(f"{url}/{row.pk}").status_code == 404
    go_on_with_exports()
    page = client.get(url).content.decode()
    assert "secret TOKEN of the project shop" in page
    got = client.get(f"{url}/{row.pk}")
    assert got["Content-Disposition"].startswith('attachment; filename="acme-')
    data = b"".join(async_to_sync(_collect)(got.streaming_content))
    assert data == export_file(row.pk).read_bytes()
    assert len(data) == int(got["Content-Length"])
    client.force_login(adam)
    assert client.get(f"{url}/{row.pk}").status_code == 403
    TeamExport.objects.update(expires_at=timezone.now())
    go_on_with_exports()
    assert not export_file(row.pk).exists()
    client.force_login(alice)
    assert client.get(f"{url}/{row.pk}").status_code == 404
    # Nor does one outlive its team.
    client.post(url)
    go_on_with_exports()
    left = export_file(TeamExport.objects.get().pk)
    assert left.exists()
    gone(team)
    assert not left.exists()
