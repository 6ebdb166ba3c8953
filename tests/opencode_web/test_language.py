from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from teams.models import Team, User

pytestmark = pytest.mark.django_db
GERMAN = {"accept-language": "de-AT,de;q=0.9,en;q=0.5"}
ClientFor = Callable[[User | None], Client]


def prefer(client: Client, language: str, **headers: str) -> str:
    fields = {"language": language, "theme": "", "keys_enabled": "on"}
    response = client.post("/me/appearance", fields, headers=headers, follow=True)
    assert response.status_code == 200
    return response.content.decode()


def test_who_is_not_known_reads_what_the_browser_asks_for(client: Client, alice: User) -> None:
    german = client.get("/login", headers=GERMAN)
    assert '<html lang="de"' in german.content.decode()
    assert german["Content-Language"] == "de"
    assert "Accept-Language" in german["Vary"]
    other = client.get("/login", headers={"accept-language": "fr"})
    assert '<html lang="en"' in other.content.decode()
    assert "words/" not in other.content.decode()


def test_a_preference_is_before_what_the_browser_asks_for(
    client_for: ClientFor, alice: User
) -> None:
    client = client_for(alice)
    changed = prefer(client, "de")
    assert "Gespeichert." in changed
    assert "Wie im Browser" in changed
    assert "words/de.js" in changed
    again = prefer(client, "en", **GERMAN)
    assert "Saved." in again
    assert '<html lang="en"' in again
    assert '<html lang="de"' in prefer(client, "", **GERMAN)
    assert client.post("/me/appearance", {"language": "xx"}).status_code == 422


def test_the_page_after_a_sign_out_is_in_one_language(client_for: ClientFor, alice: User) -> None:
    client = client_for(alice)
    prefer(client, "de")
    page = client.post("/logout", follow=True).content.decode()
    assert '<html lang="en"' in page
    assert "You are signed out." in page


def test_a_refusal_on_a_page_is_in_the_language_of_who_is_refused(
    client_for: ClientFor, alice: User
) -> None:
    client = client_for(alice)
    prefer(client, "de")
    response = client.get("/t/nowhere/", headers={"accept": "text/html"})
    assert response.status_code == 404
    assert '<html lang="de"' in response.content.decode()


def test_the_api_speaks_english_with_everybody(
    client_for: ClientFor, alice: User, team: Team
) -> None:
    client = client_for(alice)
    prefer(client, "de")
    for path in ("/session/ses_unknown", "/session/ses_unknown/nothing", "/config/nothing"):
        response = client.get(path, headers=GERMAN)
        assert response.status_code == 404
        assert "not found" in response.json()["data"]["message"]
        assert "Content-Language" not in response


def test_a_language_can_run_from_right_to_left(
    client_for: ClientFor, alice: User, settings: object
) -> None:
    settings.LANGUAGES = [("en", "English"), ("ar-xb", "Right to left")]  # type: ignore[attr-defined]
    page = prefer(client_for(alice), "ar-xb")
    assert '<html lang="ar-xb" dir="rtl"' in page
