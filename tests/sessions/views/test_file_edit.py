from __future__ import annotations

import re
from collections.abc import Callable
from hashlib import sha256
from html import unescape
from pathlib import Path

import pytest
from django.http import HttpResponse
from django.test import Client

from sessions.access import access_project
from sessions.actions.secrets import set_secret
from sessions.browse.edit import MAX_EDIT_BYTES
from sessions.models import Project, Session
from teams.auth import authenticate_user
from teams.models import AuditEntry, User
from tests.sessions.factories import make_session

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.any_database]


class Editor:
    def __init__(self, client: Client, session: Session) -> None:
        self.client, self.session = client, session
        self.root = Path(session.project.directory)
        self.url = f"/t/acme/s/{session.pk}/files/edit?file="

    def open(self, path: str, *, htmx: bool = True) -> HttpResponse:
        return self.client.get(self.url + path, headers={"HX-Request": "true"} if htmx else {})

    def save(self, path: str, text: str, digest: str, *, htmx: bool = True) -> HttpResponse:
        fields = {"text": text, "digest": digest}
        headers = {"HX-Request": "true"} if htmx else {}
        return self.client.post(self.url + path, fields, headers=headers)


@pytest.fixture
def editor(client_for: Callable[[User | None], Client], alice: User, project: Project) -> Editor:
    return Editor(client_for(alice), make_session(alice, project))


def digest(answer: HttpResponse) -> str:
    found = re.search(r'name="digest" value="(\w*)"', answer.content.decode())
    assert found is not None, answer.content
    return found[1]


def texts(answer: HttpResponse) -> list[str]:
    found = re.findall(r"<textarea[^>]*>\n(.*?)</textarea>", answer.content.decode(), re.DOTALL)
    return [unescape(one) for one in found]


def test_a_saved_file_keeps_its_mode_line_endings_and_byte_order_mark(editor: Editor) -> None:
    file = editor.root / "run.bat"
    file.write_bytes(b"\xef\xbb\xbf\r\none <b>\r\n")
    file.chmod(0o755)
    opened = editor.open("run.bat")
    assert texts(opened) == ["\none <b>\n"]
    # As browsers send it.
    saved = editor.save("run.bat", "\r\ntwo\r\nlast", digest(opened))
    assert saved.status_code == 200
    assert file.read_bytes() == b"\xef\xbb\xbf\r\ntwo\r\nlast"
    assert file.stat().st_mode & 0o777 == 0o755
    assert editor.save("run.bat", "three\n", digest(saved)).status_code == 200
    assert file.read_bytes() == b"\xef\xbb\xbfthree\r\n"
    entries = AuditEntry.objects.filter(action="file.edited")
    assert [one.told["file"] for one in entries] == ["run.bat", "run.bat"]


def test_a_form_without_a_script_saves_and_returns_to_the_file(editor: Editor) -> None:
    (editor.root / "a.txt").write_text("one\n")
    opened = editor.open("a.txt", htmx=False)
    assert "<html" in opened.content.decode()
    saved = editor.save("a.txt", "two\n", digest(opened), htmx=False)
    assert saved["Location"].endswith("?panel=files&file=a.txt")
    assert (editor.root / "a.txt").read_text() == "two\n"


def test_nothing_is_written_over_what_somebody_else_has_written(editor: Editor) -> None:
    file = editor.root / "a.txt"
    file.write_text("one\n")
    opened = digest(editor.open("a.txt"))
    file.write_text("theirs\n")
    for htmx in (True, False):
        refused = editor.save("a.txt", "mine\n", opened, htmx=htmx)
        assert (refused.status_code, texts(refused)) == (409, ["theirs\n", "mine\n"])
    assert file.read_text() == "theirs\n"
    # Having seen it, the person may save.
    assert editor.save("a.txt", "both\n", digest(refused)).status_code == 200
    assert file.read_text() == "both\n"

    file.unlink()
    gone = editor.save("a.txt", "mine\n", opened)
    assert (gone.status_code, texts(gone), digest(gone)) == (409, ["mine\n"], "")
    assert editor.save("a.txt", "mine\n", "").status_code == 200
    assert file.read_text() == "mine\n"


@pytest.mark.parametrize(
    ("name", "data", "status"),
    [
        ("data.txt", b"\0\1", 400),
        ("latin.txt", b"caf\xe9", 400),
        ("mixed.txt", b"a\r\nb\n", 400),
        ("mac.txt", b"a\rb", 400),
        ("large.txt", b"x" * (MAX_EDIT_BYTES + 1), 400),
        ("secret.txt", b"token = hunter2hunter2", 403),
    ],
)
def test_what_an_editor_would_damage_is_not_opened_and_not_replaced(
    editor: Editor, alice: User, name: str, data: bytes, status: int
) -> None:
    access = access_project(authenticate_user(alice), editor.session.project_id)
    set_secret(access, name="TOKEN", value="hunter2hunter2")
    (editor.root / name).write_bytes(data)
    assert editor.open(name).status_code == status
    (editor.root / name).write_text("text\n")
    opened = digest(editor.open(name))
    (editor.root / name).write_bytes(data)
    refused = editor.save(name, "mine\n", opened)
    assert refused.status_code == status
    assert texts(refused) == ["mine\n"]
    assert (editor.root / name).read_bytes() == data


@pytest.mark.parametrize("path", [".git/config", "sub/.git/hooks/x", "../out.txt", "link.txt"])
def test_nothing_outside_of_the_files_of_the_project_is_written(editor: Editor, path: str) -> None:
    outside = editor.root.parent / "out.txt"
    outside.write_text("theirs\n")
    (editor.root / "link.txt").symlink_to(outside)
    (editor.root / "sub/.git/hooks").mkdir(parents=True)
    before = digest_of_text("theirs\n")
    for known in ("", before):
        assert editor.save(path, "mine\n", known).status_code in {400, 403}
    assert editor.open(path).status_code in {400, 403}
    assert outside.read_text() == "theirs\n"
    assert not (editor.root / "sub/.git/hooks/x").exists()


def digest_of_text(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def test_rules_that_deny_edits_hold_for_people_too(editor: Editor) -> None:
    project = editor.session.project
    project.config = {"permission": {"edit": {"*": "ask", "*.lock": "deny"}}}
    project.save()
    for name in ("a.lock", "a.txt"):
        (editor.root / name).write_text("one\n")
    assert editor.open("a.lock").status_code == 403
    saved = editor.save("a.txt", "two\n", digest(editor.open("a.txt")))
    assert saved.status_code == 200


def test_who_may_only_view_is_offered_nothing(
    editor: Editor, client_for: Callable[[User | None], Client], vera: User
) -> None:
    (editor.root / "a.txt").write_text("one\n")
    viewer = Editor(client_for(vera), editor.session)
    assert viewer.open("a.txt").status_code == 403
    assert viewer.save("a.txt", "mine\n", digest_of_text("one\n")).status_code == 403
    assert (editor.root / "a.txt").read_text() == "one\n"
