from __future__ import annotations

import base64
import json
import subprocess
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from asgiref.sync import sync_to_async
from django.http import HttpResponse
from django.test import AsyncClient
from pytest_django import Settings

from opencode_web.lib.db import in_db
from sessions.access import access_project
from sessions.actions.secrets import set_secret
from sessions.browse.ask import browse
from sessions.browse.file_scope import Where
from sessions.browse.operations import DIFF_SPAN, TEXT_OF_SPAN
from sessions.git.snapshots import Snapshots
from sessions.models import Project, Session
from sessions.present.pages.export import export_pieces
from teams.auth import authenticate_user
from teams.models import Team, User
from tests.sessions.api.conftest import ConnectAsync
from tests.sessions.story import Story

pytestmark = pytest.mark.django_db(transaction=True)

VALUE = "hunter2+of the&shop"
KEY = "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0B\nAQEFAASCBKcwggSjAgEAAoIB\n-----END KEY-----\n"
SPELLED = {
    "plain": VALUE,
    "base64": base64.b64encode(f"me:{VALUE}".encode()).decode(),
    "address": quote(VALUE, safe=""),
    "hex": VALUE.encode().hex(),
}
LEAKS = (VALUE, "hunter2", *[*SPELLED.values()][2:], "MIIEvQ", "AQEFAA")
GIT = "git -c user.name=n -c user.email=e@x.test"


@pytest.fixture
def shop(project: Project, alice: User, tmp_path: Path, settings: Settings) -> Path:
    settings.DATA_DIR = tmp_path / "data"
    access = access_project(authenticate_user(alice), project.pk)
    set_secret(access, name="TOKEN", value=VALUE)
    set_secret(access, name="KEY", value=KEY)
    folder = Path(project.directory)
    old = "".join(f"{name} = {text}\n" for name, text in SPELLED.items())
    (folder / ".env").write_text(f"A=1\n{old}{KEY}B=2\n")
    (folder / "gone.txt").write_text(VALUE)
    (folder / "latin.txt").write_bytes(b"caf\xe9\n")
    (folder / "AGENTS.md").write_text(f"Use {VALUE}.\n")
    for kind, name in (("agent", "poet"), ("command", "go"), ("skills/dye", "SKILL")):
        (folder / ".opencode" / kind).mkdir(parents=True)
        head = f"---\nname: dye\ndescription: With {VALUE}\n---\n"
        (folder / f".opencode/{kind}/{name}.md").write_text(f"{head}Say {VALUE}.\n")
    brought = {"agent": {"bard": {"description": VALUE, "prompt": VALUE}}, "username": VALUE}
    (folder / "opencode.json").write_text(json.dumps(brought))
    run(f"git add -A && {GIT} commit -qm 'Set {VALUE}'", folder)
    (folder / ".env").write_text(f"A=2\n{old}{KEY}B=3\n")
    (folder / "gone.txt").unlink()
    (folder / "latin.txt").write_bytes(b"caf\xe9 " + VALUE.encode() + b"\n")
    (folder / "new.txt").write_text(f"# {VALUE}\n")
    (folder / f"name {VALUE}.txt").write_text("x\n")
    (folder / "data.bin").write_bytes(b"\0\1" + VALUE.encode() + b"\2")
    (folder / "clean.bin").write_bytes(b"\0\1clean")
    (folder / "long.txt").write_text("x" * 199_990 + VALUE + "x" * 50)
    return folder


def run(command: str, folder: Path) -> None:
    subprocess.run(command, shell=True, cwd=folder, check=True, capture_output=True)


class Files:
    def __init__(self, client: AsyncClient, folder: Path) -> None:
        self.client, self.folder = client, folder

    async def ask(self, route: str, /, **query: str) -> HttpResponse:
        given = {"directory": str(self.folder), **query}
        text = "&".join(f"{key}={quote(value)}" for key, value in given.items())
        return await self.client.get(f"{route}?{text}")

    async def get(self, route: str, /, **query: str) -> Any:
        answer = await self.ask(route, **query)
        assert answer.status_code == 200, answer.content
        return json.loads(answer.content)

    async def apply(self, patch: str) -> HttpResponse:
        address = f"/vcs/apply?directory={quote(str(self.folder))}"
        return await self.client.post(address, {"patch": patch}, content_type="application/json")


@pytest.fixture
def files(connect_async: ConnectAsync, alice: User, shop: Path) -> Files:
    return Files(connect_async(alice), shop)


def leaks(text: str) -> list[str]:
    # Its slash and ampersand are escaped in JSON and HTML.
    return [one for one in LEAKS if one in text]


ROUTES = [
    ("/file", {"path": ""}),
    ("/file/content", {"path": ".env"}),
    ("/file/content", {"path": "new.txt"}),
    ("/file/content", {"path": "opencode.json"}),
    ("/file/status", {}),
    ("/find", {"pattern": "plain|base64|address|hex|Say"}),
    ("/find", {"pattern": "MII|AQE"}),
    ("/find/file", {"query": "name"}),
    ("/vcs/status", {}),
    ("/vcs/diff", {"mode": "git"}),
    ("/vcs/diff", {"mode": "git", "context": "100"}),
    ("/vcs/diff/raw", {}),
    ("/api/fs/list", {"path": ""}),
    ("/api/fs/find", {"query": "name"}),
    ("/api/fs/read/.env", {}),
    ("/api/fs/read/new.txt", {}),
    ("/agent", {}),
    ("/command", {}),
    ("/skill", {}),
    ("/config", {}),
    ("/config/repository", {}),
    ("/api/agent", {}),
    ("/api/command", {}),
    ("/api/skill", {}),
]


@pytest.mark.parametrize("who", ["alice", "bob", "vera"])
async def test_no_answer_about_the_files_has_a_secret_in_it(
    who: str, connect_async: ConnectAsync, alice: User, bob: User, vera: User, shop: Path
) -> None:
    user = {"alice": alice, "bob": bob, "vera": vera}[who]
    files, found = Files(await sync_to_async(connect_async)(user), shop), {}
    for route, query in ROUTES:
        answer = await files.ask(route, **query)
        # The rules do not let viewers read `.env` at all.
        assert answer.status_code == (
            403 if who == "vera" and ".env" in str((route, query)) else 200
        )
        if said := leaks(answer.content.decode()):
            found[route, *query.values()] = said
    assert found == {}


async def test_what_is_around_a_secret_is_shown(files: Files) -> None:
    wire = await files.get("/file/content", path=".env")
    assert wire["content"].startswith("A=2\nplain = [secret TOKEN]\nbase64 = bWU6")
    assert wire["content"].endswith("hex = [secret TOKEN]\n[secret KEY]B=3\n")
    assert " plain = [secret TOKEN]\n" in wire["diff"]
    assert " plain = [secret TOKEN]" in wire["patch"]["hunks"][0]["lines"]
    (found,) = await files.get("/find", pattern="^plain")
    assert found["lines"]["text"] == "plain = [secret TOKEN]\n"
    (span,) = found["submatches"]
    assert (span["start"], span["end"], span["match"]["text"]) == (0, 5, "plain")
    assert (await files.ask("/vcs/diff/raw")).content.count(b"+# [secret TOKEN]\n") == 1


@pytest.mark.parametrize("pattern", ["hunter2", "hunter2.*|plain = h", "h[t-v]nter", "plain = h"])
async def test_a_search_does_not_tell_what_a_secret_is(files: Files, pattern: str) -> None:
    assert await files.get("/find", pattern=pattern) == []
    right = await files.get("/find", pattern="plain = hunter|plain")
    wrong = await files.get("/find", pattern="plain = hunger|plain")
    assert right == wrong != []
    assert await files.get("/find/file", query="hunter2") == []


async def test_a_binary_file_with_a_secret_is_refused_and_another_is_not(files: Files) -> None:
    for route in ("/file/content", "/api/fs/read/data.bin"):
        answer = await files.ask(route, path="data.bin")
        assert answer.status_code == 403
        assert "data.bin contains a secret of the project" in answer.content.decode()
    clean = await files.get("/file/content", path="clean.bin")
    assert base64.b64decode(clean["content"]) == b"\0\1clean"


async def test_where_a_patch_is_cut_no_half_of_a_secret_is_left(files: Files) -> None:
    diffs = await files.get("/vcs/diff", mode="git")
    (cut,) = [one for one in diffs if one["file"] == "long.txt"]
    assert "hunt" not in cut["patch"]
    assert cut["additions"] == 1


async def test_a_patch_does_not_write_the_mask_over_the_secret(files: Files) -> None:
    path, before = files.folder / ".env", (files.folder / ".env").read_text()
    head = "diff --git a/.env b/.env\n--- a/.env\n+++ b/.env\n"
    for body in (
        # From what was shown, whose lines are not those of the file.
        "@@ -1,2 +1,2 @@\n-A=2\n+A=3\n plain = [secret TOKEN]\n",
        "@@ -2 +2 @@\n-plain = [secret TOKEN]\n+plain = x [secret TOKEN]\n",
        # It would fit.
        "@@ -1 +1,2 @@\n A=2\n+plain = [secret TOKEN]\n",
    ):
        answer = await files.apply(head + body)
        assert answer.status_code == 400
        assert "secrets of the project are shown as [secret NAME]" in answer.content.decode()
        assert path.read_text() == before
    around = "@@ -9,2 +9,2 @@\n -----END KEY-----\n-B=3\n+B=4\n"
    assert (await files.apply(head + around)).status_code == 200
    assert path.read_text() == before.replace("B=3", "B=4")


async def test_panes_downloads_and_snapshots_are_masked(
    alice: User, client: Any, shop: Path, project: Project, session: Session, team: Team
) -> None:
    snapshots = await in_db(Snapshots, session)
    before = await snapshots.track()
    (shop / "new.txt").write_text(f"# {VALUE}\n# more {VALUE}\n")
    after = await snapshots.track()
    where = await in_db(Where.of_session, session, cautious=False)
    named = {"session_id": session.pk}
    span = await browse(where, DIFF_SPAN, before=before, after=after, file="new.txt", **named)
    text = await browse(where, TEXT_OF_SPAN, tree=after, file="new.txt", **named)
    assert "+# more [secret TOKEN]" in json.dumps(span)
    assert text == "# [secret TOKEN]\n# more [secret TOKEN]\n"

    def pages() -> dict[str, Any]:
        client.force_login(alice)
        top = f"/t/{team.slug}/s/{session.pk}"
        addresses = {
            "files": f"{top}?panel=files&file=new.txt",
            "changes": f"{top}?panel=changes&source=uncommitted",
            "change": f"{top}/file?source=uncommitted&file=new.txt",
            "download": f"{top}/files/download?file=new.txt",
            "binary": f"{top}/files/download?file=data.bin",
            "repository": f"/t/{team.slug}/p/{project.pk}/repository",
            "commands": f"/t/{team.slug}/p/{project.pk}/commands",
            "mentions": f"/t/{team.slug}/p/{project.pk}/mentions?q=@po",
        }
        return {name: client.get(url) for name, url in addresses.items()}

    answers = await sync_to_async(pages)()
    assert answers["binary"].status_code == 403
    found = {name: leaks(one.content.decode()) for name, one in answers.items()}
    assert {name: said for name, said in found.items() if said} == {}
    assert answers["download"].content == text.encode()
    assert "[secret TOKEN]" in answers["files"].content.decode()
    assert "[secret TOKEN]" in answers["change"].content.decode()


async def test_an_export_has_no_secret_that_was_said_before_it_was_one(
    alice: User, session: Session, project: Project
) -> None:
    await in_db(_tell, alice, session, project)
    said = "".join([piece async for piece in export_pieces(session)])
    assert "it is [secret LATER]" in said
    assert json.loads(said)["info"]["id"] == session.pk
    assert leaks(said) == []


def _tell(alice: User, session: Session, project: Project) -> None:
    story = Story(session, alice)
    story.ask(f"it is {VALUE}")
    story.answer()
    access = access_project(authenticate_user(alice), project.pk)
    set_secret(access, name="LATER", value=VALUE)
