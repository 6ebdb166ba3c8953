from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from django.test import Client

from opencode_web.lib.ids import is_id, new_id
from sessions.models import PermissionRequest, Project, SavedRule, Session, SessionInput
from sessions.views.requests import message_id_of
from teams.models import User
from tests.sessions.story import Story
from tests.sessions.views.whole_settings import save_settings

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


@pytest.fixture
def alices(client_for: Callable[[User | None], Client], alice: User) -> Client:
    return client_for(alice)


def start(client: Client, project: Project, text: str = "do it", **fields: str):  # type: ignore[no-untyped-def]
    data = {"project": project.pk, "text": text, "agent": "build", "model": "demo/inline"}
    return client.post("/t/acme/start", {**data, **fields})


def test_a_first_prompt_makes_a_session(alices: Client, project: Project) -> None:
    key = new_id("msg")
    response = start(alices, project, idempotency=key)
    row = SessionInput.objects.get()
    assert response["Location"] == f"/t/acme/s/{row.session_id}"
    assert row.pk == key
    assert row.data["parts"][0]["text"] == "do it"
    assert row.session.agent == "build"
    assert row.session.model == {"providerID": "demo", "id": "inline"}


def test_a_first_prompt_that_is_sent_twice_makes_one_session(
    alices: Client, project: Project
) -> None:
    key = new_id("msg")
    first, second = (start(alices, project, idempotency=key) for _ in range(2))
    assert first["Location"] == second["Location"]
    assert Session.objects.count() == 1


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"text": "   "}, "The prompt is empty."),
        ({"model": "demo/none"}, "Model not found"),
        ({"agent": "nobody"}, "Agent not found"),
    ],
)
def test_a_refused_prompt_keeps_what_was_typed_and_makes_nothing(
    alices: Client, project: Project, fields: dict[str, str], said: str
) -> None:
    response = start(alices, project, **{"text": "my long text", **fields})
    html = response.content.decode()
    assert response.status_code == 422
    assert said in html
    assert "my long text" in html or "text" in fields
    assert not Session.objects.exists()


def test_a_refused_prompt_by_htmx_answers_with_the_form_alone(
    alices: Client, session: Session
) -> None:
    url = f"/t/acme/s/{session.pk}/prompt"
    data = {"text": "kept text", "model": "demo/none"}
    response = alices.post(url, data, headers=HTMX)
    assert response.status_code == 422
    assert response["HX-Retarget"] == "#composer"
    html = response.content.decode()
    assert "<html" not in html
    assert ">kept text</textarea>" in html


def test_prompts_are_steered_or_queued_and_admitted_once(alices: Client, session: Session) -> None:
    url = f"/t/acme/s/{session.pk}/prompt"
    key = new_id("msg")
    for _ in range(2):
        data = {"text": "a\r\nb", "delivery": "queue", "idempotency": key}
        assert alices.post(url, data, headers=HTMX).status_code == 204
    row = SessionInput.objects.get()
    assert (row.delivery, row.data["parts"][0]["text"]) == ("queue", "a\nb")
    assert alices.post(url, {"text": "now"}).status_code == 302
    assert SessionInput.objects.exclude(pk=key).get().delivery == "steer"


def test_one_key_with_other_content_is_a_conflict_on_the_page(
    alices: Client, session: Session
) -> None:
    url = f"/t/acme/s/{session.pk}/prompt"
    key = new_id("msg")
    alices.post(url, {"text": "one", "idempotency": key})
    response = alices.post(url, {"text": "two", "idempotency": key}, headers=HTMX)
    assert response.status_code == 422
    assert "already used" in response.content.decode()


def test_keys_of_browsers_become_message_ids() -> None:
    first = message_id_of("01KAM6FWJ5X3T9WQX2T3V4Y5Z6")
    assert first is not None
    assert is_id(first, "msg")
    assert message_id_of("01KAM6FWJ5X3T9WQX2T3V4Y5Z6") == first
    assert message_id_of("01KAM6FWJ5X3T9WQX2T3V4Y5Z7") != first
    given = new_id("msg")
    assert message_id_of(given) == given
    for other in ("", "x", "ses_" + given[4:], "01kam6fwj5x3t9wqx2t3v4y5z6", "8" * 26):
        assert message_id_of(other) is None


@pytest.fixture
def asked(session: Session, alice: User) -> PermissionRequest:
    story = Story(session, alice)
    story.ask("hi")
    story.answer()
    return PermissionRequest.objects.get(pk=story.waits("make all"))


def reply_url(asked: PermissionRequest) -> str:
    return f"/t/acme/s/{asked.session_id}/permission/{asked.pk}"


def test_always_saves_the_chosen_patterns_only(alices: Client, asked: PermissionRequest) -> None:
    asked.always = ["make *", "rm *"]
    asked.save()
    data = {"reply": "always", "pattern": ["make *", "sudo *"]}
    html = alices.post(reply_url(asked), data, headers=HTMX).content.decode()
    assert "Alice always allowed it" in html
    assert [rule.pattern for rule in SavedRule.objects.all()] == ["make *"]


def test_always_holds_where_the_form_says(
    alices: Client, client_for: Callable[[User | None], Client], bob: User, asked: PermissionRequest
) -> None:
    data = {"reply": "always", "pattern": "make *"}
    wrong = alices.post(reply_url(asked), {**data, "scope": "world"})
    assert wrong.status_code == 400
    members = client_for(bob).post(reply_url(asked), {**data, "scope": "team"})
    assert members.status_code == 403
    assert alices.post(reply_url(asked), {**data, "scope": "session"}).status_code == 302
    page = alices.get(f"/t/acme/p/{asked.session.project_id}/settings").content.decode()
    assert f"Only in “{asked.session.title}”" in page


def test_a_rejection_carries_its_message(alices: Client, asked: PermissionRequest) -> None:
    alices.post(reply_url(asked), {"reply": "reject", "message": " use tox "})
    asked.refresh_from_db()
    assert (asked.status, asked.feedback) == ("reject", "use tox")


def test_the_second_answer_hears_who_was_first(
    alices: Client, client_for: Callable[[User | None], Client], bob: User, asked: PermissionRequest
) -> None:
    assert client_for(bob).post(reply_url(asked), {"reply": "once"}).status_code == 302
    response = alices.post(reply_url(asked), {"reply": "reject"}, headers=HTMX)
    assert response.status_code == 409
    assert response["HX-Retarget"] == "#toasts"
    html = response.content.decode()
    assert "Bob allowed it once" in html
    # It is no fault of theirs, and leaves by itself.
    assert 'data-kind=""' in html


def test_what_a_card_leaves_out_has_a_page(
    alices: Client,
    client_for: Callable[[User | None], Client],
    charlie: User,
    asked: PermissionRequest,
) -> None:
    rows = "".join(f"+row {number}\n" for number in range(299))
    asked.permission, asked.patterns = "edit", ["a.py"]
    asked.metadata = {
        "filepath": "a.py",
        "diff": f"--- a.py\n+++ a.py\n@@ -0,0 +1,300 @@\n{rows}+{'x' * 3_000}last\n",
    }
    asked.save()
    page = f"/t/acme/s/{asked.session_id}"
    part = asked.session.parts.get(type="tool").pk
    url = f"{page}/part/{part}/body?permission={asked.pk}"
    shown = alices.get(page).content.decode()
    assert url in shown
    assert "Show all 300 lines" in shown
    assert "row 250" not in shown
    whole = alices.get(url).content.decode()
    assert "Allow editing a.py?" in whole
    assert "row 250" in whole
    assert "xlast" in whole
    assert client_for(charlie).get(url).status_code == 404
    other = new_id("per")
    assert alices.get(url.replace(asked.pk, other)).status_code == 404


def test_an_unknown_answer_is_refused(alices: Client, asked: PermissionRequest) -> None:
    assert alices.post(reply_url(asked), {"reply": "maybe"}).status_code == 400


def test_a_rule_is_listed_and_revoked(alices: Client, asked: PermissionRequest) -> None:
    alices.post(reply_url(asked), {"reply": "always", "pattern": "make *"})
    project = asked.session.project
    page = f"/t/acme/p/{project.pk}/"
    assert "make *" in alices.get(f"{page}settings").content.decode()
    rule = SavedRule.objects.get()
    answer = alices.post(f"{page}rules/{rule.pk}/revoke", headers=HTMX)
    assert answer["HX-Redirect"] == f"{page}settings"
    assert not SavedRule.objects.exists()


def test_sessions_are_renamed_archived_and_deleted(alices: Client, session: Session) -> None:
    base = f"/t/acme/s/{session.pk}"
    alices.post(f"{base}/rename", {"title": "  A   better name "})
    session.refresh_from_db()
    assert session.title == "A better name"
    assert alices.post(f"{base}/rename", {"title": " "}).status_code == 400
    alices.post(f"{base}/archive")
    assert "A better name" not in alices.get("/t/acme/rail").content.decode()
    alices.post(f"{base}/archive")
    assert "A better name" in alices.get("/t/acme/rail").content.decode()
    alices.post(f"{base}/delete")
    assert not Session.objects.exists()
    assert alices.get(base).status_code == 404


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"permission": {"bash": "maybe"}}', "permission"),
        ("{", "Line 1"),
        ("[]", "JSON object"),
        ('{"model": "noslash"}', "model"),
    ],
)
def test_wrong_settings_are_explained_in_place(
    alices: Client, project: Project, text: str, said: str
) -> None:
    response = save_settings(alices, f"/t/acme/p/{project.pk}/settings", text)
    html = response.content.decode()
    assert response.status_code == 422
    assert said in html
    assert "noslash" in html or "noslash" not in text
    project.refresh_from_db()
    assert project.config == {}


def test_settings_are_kept_as_they_were_written(alices: Client, project: Project) -> None:
    config = {"permission": {"bash": {"*": "ask", "ls *": "allow"}}, "theme": "kept"}
    url = f"/t/acme/p/{project.pk}/settings"
    assert save_settings(alices, url, config)["Location"] == url
    project.refresh_from_db()
    assert project.config == config


def test_an_empty_project_is_made_and_wrong_ones_are_explained(
    alices: Client, project: Project
) -> None:
    response = alices.post("/t/acme/p/new", {"kind": "empty", "empty-name": "Tools"})
    made = Project.objects.get(name="Tools")
    assert response["Location"] == f"/t/acme/p/{made.pk}/"
    again = alices.post("/t/acme/p/new", {"kind": "sample", "sample-name": "Tour"})
    sample = Project.objects.get(name="Tour")
    assert again["Location"] == f"/t/acme/p/{sample.pk}/"
    assert (Path(sample.directory) / "till.py").is_file()
    page = alices.get(again["Location"]).content.decode()
    link = page.split('href="?prompt=')[1].partition("#")[0]
    filled = alices.get(f"{again['Location']}?prompt={link}").content.decode()
    assert ">The till test fails. Please fix it.</textarea>" in filled
    wrong = alices.post("/t/acme/p/new", {"kind": "git", "git-url": "ext::sh -c id"})
    assert wrong.status_code == 422
    assert not Project.objects.filter(source="git").exists()


def test_a_clone_shows_how_far_it_is_and_leads_to_the_project(
    alices: Client, project: Project
) -> None:
    Project.objects.update(status="preparing", status_detail="Receiving objects:  42 % (42/100)")
    page = f"/t/acme/p/{project.pk}/"
    html = alices.get(page).content.decode()
    assert 'value="42"' in html
    assert 'id="composer"' not in html
    assert "42 %" in alices.get(f"{page}clone", headers=HTMX).content.decode()
    Project.objects.update(status="ready", status_detail="")
    assert alices.get(f"{page}clone", headers=HTMX)["HX-Redirect"] == page
    Project.objects.update(status="failed", status_detail="Repository not found.", source="git")
    html = alices.get(page).content.decode()
    assert "Repository not found." in html
    assert f"{page}clone/again" in html
    Project.objects.update(git_url="https://git.example/a/b.git")
    assert 'value="https://git.example/a/b.git"' in alices.get(page).content.decode()
    answer = alices.post(f"{page}clone/again", {"url": "https://x:tok@git.example/a/c.git"})
    assert answer["Location"] == page
    project.refresh_from_db()
    assert (project.git_url, project.status) == ("https://git.example/a/c.git", "preparing")


def test_a_refusal_is_read_in_the_language_of_the_reader(
    alices: Client, client_for: Callable[[User | None], Client], bob: User, asked: PermissionRequest
) -> None:
    client_for(bob).post(reply_url(asked), {"reply": "once"})
    german = {**HTMX, "Accept-Language": "de"}
    late = alices.post(reply_url(asked), {"reply": "reject"}, headers=german)
    assert "Schon beantwortet: Bob hat es einmal erlaubt." in late.content.decode()
