from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from django.test import Client

from opencode_web.lib.loop import submit
from sessions.models import Project, SavedRule, Session
from sessions.runner import run_session
from teams.models import User
from tests.sessions.factories import prompt, script

pytestmark = pytest.mark.django_db(transaction=True)
ClientFor = Callable[[User | None], Client]


def _drain(session: Session) -> None:
    submit(asyncio.wait_for(run_session(session.pk), 30)).result(60)
    session.refresh_from_db()


@pytest.fixture
def turn(alice: User, session: Session, project: Project) -> str:
    SavedRule.objects.create(
        project=project, permission="bash", pattern="*", created_at=session.created_at
    )
    (Path(project.directory) / "old.txt").write_text("0\n")
    command = "echo 1 >>old.txt; echo 1 >'new <b>.txt'; head -c 3145728 /dev/zero >large.bin"
    call = {"tool": "bash", "input": {"command": command}}
    row = prompt(alice, session, script([call], [{"text": "done"}]))
    _drain(session)
    return row.pk


@pytest.fixture
def client(client_for: ClientFor, alice: User) -> Client:
    return client_for(alice)


def test_one_changed_file_goes_back_by_a_form_and_is_undone_by_another(
    client: Client, session: Session, project: Project, turn: str
) -> None:
    url = f"/t/acme/s/{session.pk}"
    page = client.get(f"{url}?panel=changes").content.decode()
    assert "Over 2 MB, so not kept and not rolled back: large.bin (3.0 MB)." in page
    assert "new &lt;b&gt;.txt" in page
    assert f'action="{url}/file/revert"' in page
    answer = client.post(f"{url}/file/revert", {"turn": turn, "file": "old.txt"})
    assert answer.headers["Location"] == url
    _drain(session)
    assert (Path(project.directory) / "old.txt").read_text() == "0\n"
    page = client.get(f"{url}?panel=changes").content.decode()
    assert f'action="{url}/file/undo"' in page
    assert "reverted" in page
    # What was put back is listed, and not counted.
    assert set(re.findall(r"data-changes-count>(\d*)<", page)) == {"1"}
    assert 'changes-total meta">1 file ' in page
    assert "1 file +1 -0" in client.get("/t/acme/").content.decode()
    client.post(f"{url}/file/undo", {"file": "old.txt"})
    _drain(session)
    assert (Path(project.directory) / "old.txt").read_text() == "0\n1\n"
    assert f'action="{url}/file/undo"' not in client.get(f"{url}?panel=changes").content.decode()


def test_a_file_that_the_turn_has_not_changed_is_not_found(
    client: Client, session: Session, turn: str
) -> None:
    url = f"/t/acme/s/{session.pk}"
    for path, fields in (
        ("/file/revert", {"turn": turn, "file": "../../etc/passwd"}),
        ("/file/revert", {"turn": "msg_unknown", "file": "old.txt"}),
        ("/file/undo", {"file": "old.txt"}),
    ):
        assert client.post(url + path, fields).status_code == 404


def test_a_rollback_says_before_and_after_what_becomes_of_files(
    client: Client, session: Session, project: Project, turn: str
) -> None:
    url = f"/t/acme/s/{session.pk}"
    menu = client.get(f"{url}/turn/{turn}/menu").content.decode()
    assert "<code>new &lt;b&gt;.txt</code> removed" in menu
    assert "<code>old.txt</code> as it was" in menu
    (Path(project.directory) / "old.txt").write_text("by hand\n")
    client.post(f"{url}/turn/{turn}/revert")
    _drain(session)
    page = client.get(url).content.decode()
    assert "1 message rolled back · 2 files restored" in page
    assert "Your next message makes this permanent." in page
    assert "<code>old.txt</code> as it was; somebody had changed it since" in page
    assert "large.bin" in page
