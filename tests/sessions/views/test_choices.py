from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.test import Client

from providers.actions import create_provider
from providers.kinds import ProviderKind
from providers.models import ProviderConfig
from sessions.events.messages import MessageTime, Tokens
from sessions.events.types import SessionStatus, SessionUpdated
from sessions.models import Project, Session, SessionInput
from sessions.present.frame.choices import FAVOURITES
from teams.models import User
from tests.providers.factories import make_openai
from tests.providers.test_clouds import make_bedrock
from tests.sessions.story import T0, Story, write

pytestmark = pytest.mark.django_db
ClientFor = Callable[[User | None], Client]
HTMX = {"HX-Request": "true"}
URL = "/t/acme/choices"
THINKER = {
    "name": "Thinker <b>",
    "reasoning": True,
    "cost": {"input": 3, "output": 15},
    "limit": {"context": 200_000, "output": 8_000},
    "modalities": {"input": ["text", "image"]},
    "status": "beta",
}


@pytest.fixture
def browser(project: Project, alice: User, client_for: ClientFor) -> Client:
    team = project.team
    team.config = {"provider": {"demo": {"models": {"thinker": THINKER}}}}
    team.save()
    return client_for(alice)


def listed(browser: Client, project: Project, **query: str) -> str:
    answer = browser.get(URL, {"project": project.pk, **query})
    assert answer.status_code == 200
    return answer.content.decode()


def test_a_model_is_shown_with_what_decides_about_it(browser: Client, project: Project) -> None:
    html = listed(browser, project, kind="model", chosen="demo/thinker")

    assert "Thinker &lt;b&gt;" in html
    assert "200k context · $3 in, $15 out per million tokens · images · thinking" in html
    assert '<span class="chip">Beta</span>' in html
    row = html[html.index('data-choice="demo/thinker"') :].split(">", 1)[0]
    assert 'aria-current="true"' in row
    assert "&quot;high&quot;" in row


def test_the_name_of_a_provider_is_in_its_heading_or_where_it_has_none_in_the_row(
    browser: Client, project: Project, alice: User
) -> None:
    below = listed(browser, project, kind="model")
    assert '<span class="meta">200k context · $3 in' in below

    alice.preferences = {FAVOURITES: ["demo/thinker"]}
    alice.save()
    favourites = listed(browser, project, kind="model")
    assert '<span class="meta">Scripted demo · 200k context · $3 in' in favourites


def test_the_demo_comes_after_providers_of_real_models(browser: Client, project: Project) -> None:
    make_openai(project.team)

    html = listed(browser, project, kind="model")

    assert html.index('data-choice="openai/') < html.index('data-choice="demo/tour"')


def test_a_provider_without_a_key_is_shown_last_and_cannot_be_chosen(
    browser: Client, project: Project
) -> None:
    ProviderConfig.objects.create(
        team=project.team,
        provider_id="acorn",
        kind="anthropic",
        name="Acorn",
        picked={"nut": {"name": "Nut"}},
    )

    html = listed(browser, project, kind="model", chosen="demo/tour")

    assert html.index("demo/tour") < html.index("There is no key for Acorn.")
    assert " disabled" in html[html.index('data-choice="acorn/nut"') :].split(">", 1)[0]


def test_a_cloud_without_its_region_cannot_be_chosen_and_says_so(
    browser: Client, project: Project
) -> None:
    row = make_bedrock(project.team, "")
    ProviderConfig.objects.filter(pk=row.pk).update(picked={"nut": {"name": "Nut"}})

    html = listed(browser, project, kind="model", chosen="demo/tour")

    assert "The setup of Amazon Bedrock is not complete." in html
    assert "There is no key" not in html
    assert " disabled" in html[html.index('data-choice="amazon-bedrock/nut"') :].split(">", 1)[0]


def test_favourites_and_what_was_used_come_first(
    browser: Client, project: Project, session: Session, alice: User
) -> None:
    url = f"{URL}?project={project.pk}&kind=model"

    html = browser.post(url, {"favourite": "demo/thinker"}).content.decode()
    assert html.index("Favorites") < html.index("demo/thinker") < html.index("demo/tour")
    assert 'aria-pressed="true"' in html
    assert browser.post(url, {"favourite": "demo/none"}).status_code == 404
    browser.post(f"/t/acme/s/{session.pk}/prompt", {"text": "hi", "model": "demo/tour"})
    html = listed(browser, project, kind="model")
    assert html.index("Favorites") < html.index("Recently used") < html.index("demo/tour")
    html = browser.post(url, {"favourite": "demo/thinker"}).content.decode()
    assert "Favorites" not in html
    alice.refresh_from_db()
    assert alice.preferences["models_favourite"] == []
    assert alice.preferences["models_recent"] == ["demo/tour"]


def test_only_the_thinking_that_a_model_has_is_offered(browser: Client, project: Project) -> None:
    html = listed(browser, project, kind="variant", model="demo/thinker", chosen="high")
    assert html.count("data-choice=") == 4
    assert 'aria-current="true"' in html[html.index('data-choice="high"') :].split(">", 1)[0]
    assert "no thinking variants" in listed(browser, project, kind="variant", model="demo/tour")


def test_agents_are_shown_with_what_they_may(browser: Client, project: Project) -> None:
    html = listed(browser, project, kind="agent", chosen="plan")
    assert html.count("data-choice=") == 2
    assert "changes no files" in html[html.index('data-choice="plan"') :]


def test_a_prompt_keeps_how_long_its_model_thinks(browser: Client, session: Session) -> None:
    url = f"/t/acme/s/{session.pk}"
    sent = {"text": "hi", "model": "demo/thinker", "variant": "high"}

    assert browser.post(f"{url}/prompt", sent, headers=HTMX).status_code == 204
    model = SessionInput.objects.get().data["info"]["model"]
    assert model == {"providerID": "demo", "modelID": "thinker", "variant": "high"}
    refused = browser.post(f"{url}/prompt", {**sent, "variant": "endless"}, headers=HTMX)
    assert refused.status_code == 422
    assert "has no variant" in refused.content.decode()


def test_a_new_session_begins_with_it_and_goes_on_with_it(
    browser: Client, project: Project
) -> None:
    sent = {"text": "hi", "project": project.pk, "model": "demo/thinker", "variant": "low"}
    assert browser.post("/t/acme/start", sent).status_code == 302
    session = Session.objects.get()
    assert session.model == {"providerID": "demo", "id": "thinker", "variant": "low"}
    html = browser.get(f"/t/acme/s/{session.pk}").content.decode()
    assert '<option value="low" selected>Low</option>' in html


def test_turns_the_menu_and_the_context_use_the_name_that_was_chosen(
    browser: Client, project: Project, alice: User, session: Session
) -> None:
    story = Story(session, alice)
    write(session, SessionUpdated(model={"providerID": "demo", "id": "inline"}))
    for text in ("first", "second"):
        story.ask(text)
        story.answer(tokens=Tokens(input=7), time=MessageTime(created=T0, completed=T0))
    write(session, SessionStatus(state="idle"))
    html = browser.get(f"/t/acme/s/{session.pk}?panel=context").content.decode()
    found = re.findall(r'<(\w+)[^>]* title="demo/inline">([^<]*)<', html)
    name = "Script in the prompt (scripted)"
    assert found == [("dd", name), ("span", name), ("span", name), ("th", name)]


@pytest.mark.parametrize(
    ("name", "group", "why", "is_blocked"),
    [
        ("inline", "In use, but not offered", "it plays a script that is in the message", False),
        ("old", "In use, but not offered", "It is hidden.", False),
        ("gone", "No longer offered", "No provider of this team has it any more.", True),
    ],
)
def test_the_model_of_a_session_is_in_the_list_with_why_it_is_not_offered(
    browser: Client, session: Session, name: str, group: str, why: str, is_blocked: bool
) -> None:
    team = session.project.team
    models = {"thinker": THINKER, "old": {"name": "Old", "status": "hidden"}}
    team.config = {"provider": {"demo": {"models": models}}}
    team.save()
    Session.objects.filter(pk=session.pk).update(model={"providerID": "demo", "id": name})
    query = {"session": session.pk, "kind": "model"}

    def sections(chosen: str) -> list[str]:
        html = browser.get(URL, {**query, "chosen": chosen}).content.decode()
        return html.split("</section>")

    first = sections(f"demo/{name}")[0]
    assert group in first
    assert why in first
    row = first[first.index(f'data-choice="demo/{name}"') :].split(">", 1)[0]
    assert 'aria-current="true"' in row
    assert (" disabled" in row) is is_blocked
    # Somebody who has chosen another one finds it still, once.
    first, *rest = sections("demo/tour")
    assert f'data-choice="demo/{name}"' in first
    assert "aria-current" not in first
    assert f'data-choice="demo/{name}"' not in "".join(rest)


def test_a_session_whose_model_is_gone_keeps_it_and_says_so(
    browser: Client, session: Session
) -> None:
    Session.objects.filter(pk=session.pk).update(model={"providerID": "demo", "id": "gone"})
    page = browser.get(f"/t/acme/s/{session.pk}").content.decode()
    said = page.split('id="composer-reason"')[1].split("</p>")[0]
    assert "demo/gone is no longer offered. Choose another model." in said
    assert '<option value="demo/gone" selected>Not available: demo/gone</option>' in page
    assert " disabled" not in page.split('id="prompt"')[1].split(">")[0]


def test_lists_of_what_is_not_there_give_nothing_away(browser: Client, project: Project) -> None:
    assert browser.get(URL, {"project": "prj_unknown"}).status_code == 404
    assert browser.get(URL, {"project": project.pk, "kind": "keys"}).status_code == 404


def test_who_can_help_with_a_missing_key_is_said(
    browser: Client, project: Project, bob: User, client_for: ClientFor
) -> None:
    ProviderConfig.objects.create(
        team=project.team, provider_id="openai", kind="openai", name="OpenAI"
    )
    html = listed(client_for(bob), project, kind="model", chosen="demo/tour")
    note = html[html.index("There is no key for OpenAI.") :].split("</p>")[0]
    back = "?next=%2Ft%2Facme%2F"
    address = f"/t/acme/settings/models/new/openai{back}"
    assert f'href="{address}" data-needs="admin">Add a key</a>' in note
    assert '<span data-only="below-admin">Ask an admin.</span>' in note
    assert f'href="/me/models/new/openai{back}">Use your own account</a>' in note
    project.team.own_accounts = "never"
    project.team.save()
    html = listed(client_for(bob), project, kind="model", chosen="demo/tour")
    assert "Use your own account" not in html


def test_models_that_a_person_pays_for_are_marked(
    browser: Client, project: Project, bob: User, client_for: ClientFor
) -> None:
    own = create_provider(
        bob, actor=bob, kind=ProviderKind.OPENAI, name="OpenAI", provider_id="openai", key="k" * 20
    )
    html = listed(client_for(bob), project, kind="model")
    row = html[html.index('data-choice="openai/gpt-5"') :].split("</button>", 1)[0]
    assert '<span class="chip">Your account</span>' in row
    assert "openai/gpt-5" not in listed(browser, project, kind="model")
    own.credentials.update(fault="signed-out")
    html = listed(client_for(bob), project, kind="model")
    note = html[html.index("The sign-in to OpenAI has expired.") :].split("</p>")[0]
    assert "/me/models/new/openai" in note
    assert "Ask an admin." not in note
