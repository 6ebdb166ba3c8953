from __future__ import annotations

import base64
import html
import json
from collections.abc import Callable
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from opencode_web.lib.errors import Invalid
from sessions.access import access_project
from sessions.actions.commands import run_shell
from sessions.actions.drafts import save_draft
from sessions.actions.inbox import change_input
from sessions.actions.prompts import PromptDraft, admit_prompt
from sessions.actions.reviews import Lines, add_comment, edit_comment
from sessions.actions.secrets import set_secret
from sessions.actions.sessions import update_session
from sessions.models import (
    AllowedKey,
    Event,
    KeptDraft,
    Project,
    Session,
    SessionInput,
)
from sessions.secrets import project_redactor
from teams.auth import authenticate_user
from teams.models import AuditEntry, User
from tests.lib.known_key_samples import SAMPLES
from tests.sessions.factories import session_access

pytestmark = pytest.mark.django_db
ClientFor = Callable[[User | None], Client]
KEY = SAMPLES[2][2]
OTHER = SAMPLES[7][2]
TEXT = f"Use {KEY} <b>"


def sent(session: Session) -> str:
    return json.dumps(list(SessionInput.objects.filter(session=session).values_list("data")))


def send(browser: Client, session: Session, text: str = TEXT, **more: str) -> Any:
    return browser.post(f"/t/acme/s/{session.pk}/prompt", {"text": text, **more})


def test_a_writer_is_asked_before_anything_is_stored(
    session: Session, bob: User, client_for: ClientFor
) -> None:
    for headers in ({}, {"headers": {"HX-Request": "true"}}):
        url = f"/t/acme/s/{session.pk}/prompt"
        answer = client_for(bob).post(url, {"text": TEXT}, **headers)
        assert answer.status_code == 422
        page = html.unescape(answer.content.decode())
        assert "1 key will be hidden when you send this." in page
        assert f"GitHub token: {KEY[:8]}…" in page
        assert f">{TEXT}</textarea>" in page
        assert "Send as it is" in page
    assert not SessionInput.objects.exists()
    assert not AllowedKey.objects.exists()


def test_a_key_is_hidden_when_its_writer_agrees(
    session: Session, bob: User, client_for: ClientFor
) -> None:
    assert send(client_for(bob), session, keys="hide").status_code == 302
    assert "Use [hidden GitHub token]" in sent(session)
    assert KEY not in sent(session)


def test_what_is_no_key_is_sent_as_it_is_and_not_asked_about_again(
    session: Session, project: Project, bob: User, client_for: ClientFor
) -> None:
    browser = client_for(bob)
    # The field that says to hide it is in the same form.
    assert send(browser, session, keys=["hide", "show"]).status_code == 302  # type: ignore[arg-type]
    assert KEY in sent(session)
    row = AllowedKey.objects.get()
    assert (row.project, row.allowed_by) == (project, bob)
    assert KEY not in row.fingerprint
    entry = AuditEntry.objects.get(action="secret.key_allowed")
    assert entry.data == {"kinds": ["GitHub token"]}
    assert send(browser, session, f"Again {KEY}").status_code == 302
    # Another one is.
    assert send(browser, session, f"{KEY} {OTHER}").status_code == 422


def test_a_text_file_is_asked_about_like_the_text(
    session: Session, bob: User, client_for: ClientFor
) -> None:
    browser = client_for(bob)

    def attach(**more: str) -> Any:
        picture = SimpleUploadedFile("a.png", b"\x89PNG\r\n\x1a\n" + OTHER.encode())
        files = [SimpleUploadedFile("env", f"A={KEY}\n".encode()), picture]
        fields = {"text": "Look", "files": files, **more}
        return browser.post(f"/t/acme/s/{session.pk}/prompt", fields)

    asked = attach()
    assert asked.status_code == 422
    assert "1 key will be hidden" in asked.content.decode()
    assert not SessionInput.objects.exists()
    assert attach(keys="hide").status_code == 302
    encoded = base64.b64encode(f"A={KEY}\n".encode()).decode()
    assert "A=[hidden GitHub token]" in sent(session)
    assert encoded not in sent(session)
    assert attach(keys="show").status_code == 302
    assert encoded in sent(session)
    assert KEY in sent(session)
    assert attach().status_code == 302


def test_a_new_session_asks_too(project: Project, bob: User, client_for: ClientFor) -> None:
    fields = {"text": TEXT, "project": project.pk, "model": "demo/inline"}
    answer = client_for(bob).post("/t/acme/start", fields)
    assert answer.status_code == 422
    assert "1 key will be hidden" in answer.content.decode()
    assert not Session.objects.exists()
    assert client_for(bob).post("/t/acme/start", {**fields, "keys": "hide"}).status_code == 302
    assert "[hidden GitHub token]" in sent(Session.objects.get())


def test_drafts_and_comments_are_kept_without_it_and_no_command_is(
    session: Session, bob: User
) -> None:
    access = session_access(bob, session)
    save_draft(access, text=TEXT, typed_at=session.created_at)
    assert KeptDraft.objects.get().text == "Use [hidden GitHub token] <b>"
    lines = Lines("turn", "a.py", "new", 1, 2, f"key = {KEY}")
    comment = add_comment(access, lines, body=f"Not {OTHER}")
    assert (comment.code, comment.body) == (
        "key = [hidden GitHub token]",
        "Not [hidden Stripe key]",
    )
    assert edit_comment(comment, body=KEY).body == "[hidden GitHub token]"
    with pytest.raises(Invalid, match="as a secret"):
        run_shell(access, f"curl -H 'x: {KEY}' example.org")
    assert not SessionInput.objects.exists()


STORED = "a-very-secret-value"


def test_a_stored_secret_is_hidden_like_a_key_wherever_people_write_it(
    session: Session, adam: User, bob: User, client_for: ClientFor
) -> None:
    given = {"name": "DEPLOY", "value": STORED, "reach": "all"}
    assert client_for(adam).post("/t/acme/settings/secrets", given).status_code == 302
    browser, access = client_for(bob), session_access(bob, session)
    encoded = base64.b64encode(STORED.encode()).decode()
    answer = send(browser, session, f"Use {encoded} and {KEY}")
    assert answer.status_code == 422
    page = html.unescape(answer.content.decode())
    assert "2 keys will be hidden" in page
    assert "[secret DEPLOY]" in page
    assert send(browser, session, f"Use {encoded}", keys="hide").status_code == 302
    assert "Use [secret DEPLOY]" in sent(session)
    # Scripts are not asked.
    admit_prompt(access, PromptDraft([{"type": "text", "text": f"script: {STORED}"}]))
    assert "script: [secret DEPLOY]" in sent(session)
    waiting = SessionInput.objects.filter(session=session).order_by("pk").last()
    assert waiting is not None
    change_input(access, waiting.pk, revision=waiting.revision, text=f"changed: {STORED}")
    assert "changed: [secret DEPLOY]" in sent(session)
    save_draft(access, text=STORED, typed_at=timezone.now())
    assert KeptDraft.objects.get().text == "[secret DEPLOY]"
    assert update_session(access, title=f"Use {STORED}").title == "Use [secret DEPLOY]"
    with pytest.raises(Invalid, match="as a secret"):
        run_shell(access, f"curl -H 'x: {STORED}' example.org")
    logged = json.dumps([*Event.objects.filter(session=session).values_list("data", flat=True)])
    assert STORED not in logged
    assert encoded not in logged


def test_what_only_looks_like_a_stored_secret_is_sent_and_stays_hidden_in_outputs(
    session: Session, project: Project, alice: User, bob: User, client_for: ClientFor
) -> None:
    admin = access_project(authenticate_user(alice), project.pk)
    set_secret(admin, name="STAGE", value="production")
    browser = client_for(bob)
    text = "Is this on production?"
    assert send(browser, session, text).status_code == 422
    assert send(browser, session, text, keys="show").status_code == 302
    assert send(browser, session, f"Again: {text}").status_code == 302
    assert sent(session).count("on production?") == 2
    entry = AuditEntry.objects.get(action="secret.key_allowed")
    assert entry.data == {"kinds": ["secret STAGE"]}
    assert project_redactor(project.pk).text(text) == "Is this on [secret STAGE]?"
