from __future__ import annotations

import asyncio
import json
import os
import subprocess
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from asgiref.sync import sync_to_async
from django.http import HttpResponse
from django.test import AsyncClient
from pytest_django import Settings

from sessions.browse.ask import start_serving
from sessions.models import Project
from teams.models import AuditEntry, User
from tests.sessions.api.conftest import ConnectAsync
from tests.sessions.checkouts.conftest import run

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.any_database]
JSON = "application/json"
MADE = """
git init -q -b main
printf 'one\\ntwo\\nthree\\n' >a.py; echo x >gone.txt; printf 'ig/\\n' >.gitignore
mkdir -p sub/deep ig; echo two >ig/x; echo 'hello two two' >sub/b.txt; printf '\\0\\1\\2' >bin.dat
git add -A; git commit -qm First
rm gone.txt; printf 'one\\n2\\nthree\\n' >a.py; echo n >new.txt; echo s >staged.txt
git add staged.txt; echo u >sub/ünï.txt; printf '#!\\nlast' >tool; chmod +x tool
"""


@pytest.fixture
def shop(project: Project, tmp_path: Path, settings: Settings) -> Path:
    settings.DATA_DIR = tmp_path / "data"
    folder = Path(project.directory)
    run(f"rm -rf .git; {MADE}", folder)
    return folder


class Files:
    def __init__(self, client: AsyncClient, folder: Path) -> None:
        self.client, self.folder = client, folder

    async def ask(self, route: str, /, *, below: str = "", **query: str) -> HttpResponse:
        given = {"directory": str(self.folder / below), **query}
        text = "&".join(f"{key}={quote(value)}" for key, value in given.items())
        return await self.client.get(f"{route}?{text}")

    async def get(self, route: str, /, **query: str) -> Any:
        answer = await self.ask(route, **query)
        assert answer.status_code == 200, answer.content
        return json.loads(answer.content)

    async def status(self, route: str, /, **query: str) -> int:
        return (await self.ask(route, **query)).status_code

    async def apply(self, patch: str) -> HttpResponse:
        address = f"/vcs/apply?directory={quote(str(self.folder))}"
        return await self.client.post(address, {"patch": patch}, content_type=JSON)


@pytest.fixture
def files(connect_async: ConnectAsync, alice: User, shop: Path) -> Files:
    return Files(connect_async(alice), shop)


@pytest.fixture
def viewer(connect_async: ConnectAsync, vera: User, shop: Path) -> Files:
    return Files(connect_async(vera), shop)


async def test_a_folder_is_listed_with_what_git_ignores(files: Files) -> None:
    listed = await files.get("/file", path="")
    assert [(node["path"], node["type"], node["ignored"]) for node in listed] == [
        (".git/", "directory", False),
        ("ig/", "directory", True),
        ("sub/", "directory", False),
        *((name, "file", False) for name in (".gitignore", "a.py", "bin.dat", "new.txt")),
        *((name, "file", False) for name in ("staged.txt", "tool")),
    ]
    assert listed[2]["absolute"] == str(files.folder / "sub")
    below = await files.get("/file", path="sub")
    assert [node["path"] for node in below] == ["sub/deep/", "sub/b.txt", "sub/ünï.txt"]
    from_there = await files.get("/file", path=".", below="sub")
    assert [node["path"] for node in from_there] == ["deep/", "b.txt", "ünï.txt"]
    assert await files.status("/file", path="nope") == 404
    assert await files.status("/file", path="a.py") == 404


async def test_text_comes_with_its_change_and_the_rest_as_base64(files: Files) -> None:
    changed = await files.get("/file/content", path="a.py")
    assert changed["content"] == "one\n2\nthree\n"
    assert "-two\n+2\n" in changed["diff"]
    assert changed["patch"] == {
        "oldFileName": "a.py",
        "newFileName": "a.py",
        "hunks": [
            {
                "oldStart": 1,
                "oldLines": 3,
                "newStart": 1,
                "newLines": 3,
                "lines": [" one", "-two", "+2", " three"],
            }
        ],
    }
    same = {"type": "text", "content": "hello two two\n"}
    assert await files.get("/file/content", path="sub/b.txt") == same
    assert await files.get("/file/content", path="b.txt", below="sub") == same
    assert await files.get("/file/content", path="bin.dat") == {
        "type": "binary",
        "content": "AAEC",
        "encoding": "base64",
        "mimeType": "application/octet-stream",
    }
    gone = await files.get("/file/content", path="gone.txt")
    assert (gone["type"], gone["content"]) == ("text", "")
    assert "-x\n" in gone["diff"]
    assert await files.get("/file/content", path="nope") == {"type": "text", "content": ""}
    assert await files.status("/file/content", path="sub") == 400


STATUS = [
    ("a.py", 1, 1, "modified"),
    ("gone.txt", 0, 1, "deleted"),
    ("new.txt", 1, 0, "added"),
    ("staged.txt", 1, 0, "added"),
    ("sub/ünï.txt", 1, 0, "added"),
    ("tool", 2, 0, "added"),
]


async def test_git_says_what_has_changed(files: Files) -> None:
    keys = ("file", "additions", "deletions", "status")
    listed = await files.get("/vcs/status")
    assert [tuple(row[key] for key in keys) for row in listed] == STATUS
    listed = await files.get("/file/status", below="sub")
    assert listed[0] == {"path": "../a.py", "added": 1, "removed": 1, "status": "modified"}
    assert listed[4]["path"] == "ünï.txt"
    diffs = {row["file"]: row["patch"] for row in await files.get("/vcs/diff", mode="git")}
    assert list(diffs) == [row[0] for row in STATUS]
    assert diffs["sub/ünï.txt"].endswith("+++ b/sub/ünï.txt\n@@ -0,0 +1 @@\n+u\n")
    assert "new file mode 100755" in diffs["tool"]
    assert diffs["tool"].endswith("+last\n\\ No newline at end of file\n")
    narrow = await files.get("/vcs/diff", mode="git", context="0")
    assert "@@ -2 +2 @@" in narrow[0]["patch"]
    assert await files.get("/vcs/diff", mode="branch") == []
    assert await files.status("/vcs/diff", mode="other") == 400
    assert await files.status("/vcs/diff") == 400


async def test_a_branch_is_compared_with_where_it_began(files: Files) -> None:
    run(
        "git checkout -q -b topic; git add -A; git commit -qm Work; echo later >>a.py", files.folder
    )
    diffs = await files.get("/vcs/diff", mode="branch")
    assert [row["file"] for row in diffs] == [row[0] for row in STATUS]
    assert "+later" in diffs[0]["patch"]


async def test_the_raw_diff_makes_the_same_files_elsewhere(files: Files, tmp_path: Path) -> None:
    answer = await files.ask("/vcs/diff/raw")
    assert answer["Content-Type"] == "text/x-diff; charset=utf-8"
    copy = tmp_path / "copy"
    run(f"git clone -q {files.folder} {copy}", tmp_path)
    subprocess.run(["git", "apply", "-"], cwd=copy, input=answer.content, check=True)
    names = ("a.py", "new.txt", "staged.txt", "sub/ünï.txt", "tool")
    for name in names:
        assert (copy / name).read_bytes() == (files.folder / name).read_bytes()
    assert os.access(copy / "tool", os.X_OK)
    assert not (copy / "gone.txt").exists()


async def test_text_is_found_line_by_line(files: Files) -> None:
    assert await files.get("/find", pattern="two") == [
        {
            "path": {"text": "sub/b.txt"},
            "lines": {"text": "hello two two\n"},
            "line_number": 1,
            "absolute_offset": 0,
            "submatches": [
                {"match": {"text": "two"}, "start": 6, "end": 9},
                {"match": {"text": "two"}, "start": 10, "end": 13},
            ],
        }
    ]
    below = await files.get("/find", pattern="hello", below="sub")
    assert below[0]["path"] == {"text": "b.txt"}
    assert await files.get("/find", pattern="--files") == []
    assert await files.status("/find", pattern="(") == 400
    assert await files.status("/find", pattern="") == 400


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"query": "b.t", "limit": "1"}, ["sub/b.txt"]),
        ({"query": "sub"}, ["sub/", "sub/b.txt", "sub/ünï.txt"]),
        ({"query": "sub", "dirs": "false"}, ["sub/b.txt", "sub/ünï.txt"]),
        ({"query": "", "type": "directory"}, ["sub/"]),
        ({"query": "", "limit": "1"}, ["a.py"]),
        ({"query": "ig"}, [".gitignore"]),
    ],
)
async def test_files_are_found_by_name(
    query: dict[str, str], found: list[str], files: Files
) -> None:
    assert await files.get("/find/file", **query) == found


async def test_no_path_leads_out(files: Files, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("two secrets\n")
    (tmp_path / "outside").mkdir()
    (files.folder / "link").symlink_to(tmp_path / "secret")
    (files.folder / "door").symlink_to(tmp_path / "outside")
    os.mkfifo(files.folder / "pipe")
    for path in ("..", "../secret", "/etc/passwd", "link", "door", "sub/../../secret"):
        assert await files.status("/file/content", path=path) == 400, path
    assert await files.status("/file", path="door") == 400
    assert await files.status("/file/content", path="pipe") == 400
    listed = {node["name"]: node["type"] for node in await files.get("/file", path="")}
    assert (listed["door"], listed["link"]) == ("file", "file")
    assert "secrets" not in json.dumps(await files.get("/find", pattern="two"))
    diffs = await files.get("/vcs/diff", mode="git")
    assert "secrets" not in json.dumps(diffs)


async def test_hostile_names_are_only_names(files: Files) -> None:
    for name in ("-rf", 'q"uote', "new\nline", "*", ":(top)x", "\udce9.txt"):
        (files.folder / name).write_text("two\n")
    listed = [node["name"] for node in await files.get("/file", path="")]
    assert {"-rf", 'q"uote', "new\nline", "*", ":(top)x", "�.txt"} <= set(listed)
    for name in ("-rf", "*", ":(top)x", "new\nline"):
        assert (await files.get("/file/content", path=name))["content"] == "two\n"
    diffs = {row["file"]: row["patch"] for row in await files.get("/vcs/diff", mode="git")}
    assert diffs["-rf"].startswith("diff --git a/-rf b/-rf\n")
    assert diffs["new\nline"] == diffs['q"uote'] == ""
    assert len(await files.get("/find", pattern="^two$")) == 6


async def test_git_starts_nothing_that_the_repository_names(files: Files, tmp_path: Path) -> None:
    mark = tmp_path / "started"
    run(
        f"git config core.fsmonitor 'touch {mark}'; git config diff.external 'touch {mark}';"
        f"git config filter.x.clean 'touch {mark}'; git config diff.x.textconv 'touch {mark}';"
        "echo '* filter=x diff=x' >.gitattributes",
        files.folder,
    )
    await files.get("/vcs/diff", mode="git")
    await files.get("/file/content", path="a.py")
    await files.get("/file", path="")
    assert not mark.exists()


async def test_a_viewer_does_not_read_what_agents_ask_for(
    files: Files, viewer: Files, project: Project
) -> None:
    (files.folder / ".env").write_text("KEY=two\n")
    member = await files.get("/file/content", path=".env")
    assert member["content"] == "KEY=two\n"
    for path in (".env", ".git/config"):
        assert await viewer.status("/file/content", path=path) == 403
    assert "KEY" in json.dumps(await files.get("/find", pattern="KEY"))
    assert await viewer.get("/find", pattern="KEY") == []
    patches = {row["file"]: row["patch"] for row in await viewer.get("/vcs/diff", mode="git")}
    assert patches[".env"] == ""
    project.config = {"permission": {"read": {"a.py": "deny"}}}
    await sync_to_async(project.save)()
    assert await files.status("/file/content", path="a.py") == 403
    assert (await files.get("/vcs/diff", mode="git"))[1]["patch"] == ""


async def test_a_name_that_was_a_folder_does_not_tell_what_was_in_it(
    files: Files, viewer: Files
) -> None:
    for folder in ("place", "away"):
        (files.folder / folder).mkdir()
        (files.folder / folder / ".env").write_text("KEY=withheld\n")
    run("git add -A; git commit -qm Env; rm -r place away; echo x >place", files.folder)
    for path in ("place", "away"):
        assert "withheld" not in json.dumps(await viewer.get("/file/content", path=path)), path
    assert (await viewer.get("/file/content", path="away"))["content"] == ""


PATCH = "--- a/sub/b.txt\n+++ b/sub/b.txt\n@@ -1 +1 @@\n-hello two two\n+hello\n"


async def test_a_patch_is_applied_or_nothing_is_changed(files: Files, project: Project) -> None:
    assert (await files.apply(PATCH)).json() == {"applied": True}
    assert (files.folder / "sub/b.txt").read_text() == "hello\n"
    entry = await AuditEntry.objects.aget(action="patch.applied")
    assert (entry.target_id, entry.data["bytes"]) == (project.pk, len(PATCH))
    (files.folder / "link").symlink_to("/tmp")
    outside = "--- /dev/null\n+++ b/{}\n@@ -0,0 +1 @@\n+x\n"
    refused = (
        PATCH,
        "garbage",
        *(outside.format(name) for name in ("../out", ".git/hooks/x", "link/x")),
    )
    for patch in refused:
        answer = await files.apply(patch)
        assert answer.status_code == 400
        assert answer.json()["name"] == "VcsApplyError"
        assert answer.json()["data"]["reason"] == "not-clean"
    run("rm -rf .git", files.folder)
    assert (await files.apply(PATCH)).json()["data"]["reason"] == "non-git"


async def test_files_without_a_repository_can_be_read(files: Files) -> None:
    run("rm -rf .git", files.folder)
    assert (await files.get("/file/content", path="a.py"))["content"] == "one\n2\nthree\n"
    assert not any(node["ignored"] for node in await files.get("/file", path=""))
    for path in ("/vcs/status", "/file/status"):
        assert await files.get(path) == []
    assert (await files.ask("/vcs/diff/raw")).content == b""


async def test_a_repository_without_a_commit_has_new_files_only(files: Files) -> None:
    run("rm -rf .git; git init -q", files.folder)
    assert {row["status"] for row in await files.get("/vcs/status")} == {"added"}


async def test_files_on_another_host_are_asked_for_there(
    files: Files, project: Project, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[tuple[str, str]] = []

    def worker(task: str, *arguments: Any, queue: str, expires_s: float) -> None:
        sent.append((task, queue))
        start_serving(*json.loads(json.dumps(arguments)))

    monkeypatch.setattr("sessions.wake._send", worker)
    project.host = "far"
    await sync_to_async(project.save)()
    assert (await files.get("/file/content", path="sub/b.txt"))["content"] == "hello two two\n"
    assert sent == [("sessions.browse", "sessions.far")]
    refused = await files.ask("/file/content", path="../x")
    assert refused.status_code == 400
    assert json.loads(refused.content)["name"] == "BadRequest"
    answer = await files.apply("garbage")
    assert answer.json()["data"]["reason"] == "not-clean"


async def test_a_host_that_does_not_answer_is_named(
    files: Files, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sessions.wake._send", lambda *_, **__: None)
    monkeypatch.setattr("sessions.browse.ask.WAIT_S", 0.01)
    project.host = "far"
    await sync_to_async(project.save)()
    answer = await files.ask("/file", path="")
    assert answer.status_code == 503
    assert "The host far" in json.loads(answer.content)["data"]["message"]


async def test_several_can_look_at_once(files: Files) -> None:
    answers = await asyncio.gather(*(files.get("/vcs/status") for _ in range(4)))
    assert all(len(answer) == len(STATUS) for answer in answers)
