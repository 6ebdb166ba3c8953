from __future__ import annotations

from collections.abc import Callable

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from sessions.events.store import append, lock_session
from sessions.files import MAX_FILE_BYTES
from sessions.forms.attached import MAX_FILES
from sessions.inbox import promotion_events
from sessions.models import Part, Session
from teams.models import User

pytestmark = pytest.mark.django_db
ClientFor = Callable[[User | None], Client]
PNG = b"\x89PNG\r\n\x1a\n" + bytes(40)


def send(browser: Client, session: Session, *files: SimpleUploadedFile, text: str = "Look") -> int:
    form = {"text": text, "model": "demo/inline", "files": list(files)}
    answer = browser.post(f"/t/acme/s/{session.pk}/prompt", form, headers={"HX-Request": "true"})
    return answer.status_code


def shown(browser: Client, session: Session) -> str:
    """Returns: the page, with what was sent in the conversation."""
    row = lock_session(session.pk)
    append(row, promotion_events(row, list(session.inputs.all())))
    return browser.get(f"/t/acme/s/{session.pk}").content.decode()


def test_pictures_and_texts_come_with_a_message(
    session: Session, alice: User, vera: User, client_for: ClientFor
) -> None:
    browser = client_for(alice)
    # What a file is, its content says.
    picture = SimpleUploadedFile("shot.txt", PNG, content_type="text/html")
    page = SimpleUploadedFile("a page.html", b"<script>1</script>", content_type="text/html")
    assert send(browser, session, picture, page) == 204
    html = shown(browser, session)
    first, second = Part.objects.filter(type="file").order_by("seq", "pk")
    assert 'alt="shot.txt"' in html
    assert "a page.html</a>" in html
    image = client_for(vera).get(f"/t/acme/s/{session.pk}/attachment/{first.pk}")
    assert (image.content, image["Content-Type"]) == (PNG, "image/png")
    text = client_for(vera).get(f"/t/acme/s/{session.pk}/attachment/{second.pk}")
    # Never a page of this origin.
    assert text["Content-Type"] == "application/octet-stream"
    assert text["Content-Disposition"] == 'attachment; filename="a page.html"'
    assert text["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ([SimpleUploadedFile("x", b"")], "x is empty."),
        ([SimpleUploadedFile("x.zip", b"PK\x03\x04\xff\xfe")], "x.zip is not text, a PDF or"),
        ([SimpleUploadedFile("x", b"1")] * (MAX_FILES + 1), "at most 20 files"),
        ([SimpleUploadedFile("x", b"1" * (MAX_FILE_BYTES + 1))], "at most 20 MiB"),
    ],
)
def test_what_cannot_be_attached_is_said_and_the_text_is_kept(
    session: Session,
    alice: User,
    client_for: ClientFor,
    files: list[SimpleUploadedFile],
    reason: str,
) -> None:
    for file in files:
        file.seek(0)
    form = {"text": "My words", "model": "demo/inline", "files": files}
    answer = client_for(alice).post(f"/t/acme/s/{session.pk}/prompt", form)
    assert answer.status_code == 422
    html = answer.content.decode()
    assert reason in html
    assert "My words" in html
    assert not session.inputs.exists()


def test_a_file_of_the_project_is_no_attachment(
    session: Session, alice: User, client_for: ClientFor
) -> None:
    browser = client_for(alice)
    (row,) = [session]
    assert send(browser, row, text="Only text") == 204
    shown(browser, row)
    text = Part.objects.get(type="text")
    assert browser.get(f"/t/acme/s/{row.pk}/attachment/{text.pk}").status_code == 404
