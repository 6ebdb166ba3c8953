from __future__ import annotations

from pathlib import Path

import pytest
from django.test import AsyncClient

from opencode_web.lib.db import in_db
from sessions.models import Project
from teams.models import User
from tests.sessions.api.conftest import ConnectAsync

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
async def client(alice: User, project: Project, connect_async: ConnectAsync) -> AsyncClient:
    folder = Path(project.directory)
    (folder / "src").mkdir()
    (folder / "src" / "till.py").write_text("print(1)\n")
    (folder / "page.html").write_text("<script>alert(1)</script>")
    (folder / "picture.png").write_bytes(b"\x89PNG\x00\xff")
    return await in_db(connect_async, alice)


async def test_a_folder_is_listed(client: AsyncClient, here: str) -> None:
    answer = (await client.get(f"/api/fs/list?{here}")).json()
    assert {"path": "src", "type": "directory"} in answer["data"]
    assert {"path": "page.html", "type": "file"} in answer["data"]


async def test_files_are_found(client: AsyncClient, here: str) -> None:
    found = (await client.get(f"/api/fs/find?{here}&query=till&type=file")).json()["data"]
    assert found == [{"path": "src/till.py", "type": "file"}]


@pytest.mark.parametrize("name", ["src/till.py", "page.html", "picture.png"])
async def test_a_file_is_read_as_it_is_and_never_shown_as_a_page(
    client: AsyncClient, project: Project, here: str, name: str
) -> None:
    answer = await client.get(f"/api/fs/read/{name}?{here}")
    assert answer.content == (Path(project.directory) / name).read_bytes()
    assert answer["Content-Type"] == "application/octet-stream"
    assert answer["Content-Disposition"] == "attachment"


async def test_nothing_outside_is_read(client: AsyncClient, here: str) -> None:
    answer = await client.get(f"/api/fs/read/..%2F..%2F..%2Fetc%2Fpasswd?{here}")
    assert answer.status_code in {400, 404}
    assert b"root:" not in answer.content
