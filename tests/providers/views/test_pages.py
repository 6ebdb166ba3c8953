from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from providers import actions
from providers.catalog import npm_of, unusable_providers
from providers.credentials import pick_credential
from providers.kinds import ProviderKind
from providers.models import ProviderConfig
from teams.models import AllowedAddress, AuditEntry, Team, User
from tests.providers.factories import KEY, make_openai, make_provider

ClientFor = Callable[[User | None], Client]


def url(name: str, provider: str = "", *, team: str = "acme", **names: Any) -> str:
    kwargs = {"team": team} | ({"provider": provider} if provider else {}) | names
    return reverse(f"providers:{name}", kwargs=kwargs)


@pytest.fixture
def admin(client_for: ClientFor, adam: User) -> Client:
    return client_for(adam)


GETS = ["models", "keys", "choose", "server_new", "provider", "provider_delete", "check"]
POSTS = [
    "server_new", "own_accounts", "provider_key", "provider_address", "provider_connection",
    "provider_enabled", "provider_test", "check", "provider_delete", "models_pick", "model_add",
]  # fmt: skip


def address(name: str) -> str:
    return url(name, "" if name in {*GETS[:4], "own_accounts"} else "own")


@pytest.mark.parametrize(
    ("person", "status"),
    [("alice", 200), ("adam", 200), ("bob", 403), ("vera", 403), ("charlie", 404), (None, 302)],
)
def test_only_admins_open_what_changes_providers(
    person: str | None,
    status: int,
    team: Team,
    client_for: ClientFor,
    request: Any,
    subtests: pytest.Subtests,
) -> None:
    make_provider(team)
    client = client_for(request.getfixturevalue(person) if person else None)
    for name in GETS:
        with subtests.test(name=name):
            expected = 200 if name == "models" and status == 403 else status
            assert client.get(address(name)).status_code == expected


@pytest.mark.parametrize(
    ("person", "status"), [("bob", 403), ("vera", 403), ("charlie", 404), (None, 302)]
)
def test_only_admins_change_providers(
    person: str | None,
    status: int,
    team: Team,
    client_for: ClientFor,
    request: Any,
    subtests: pytest.Subtests,
) -> None:
    row = make_provider(team, key=KEY)
    client = client_for(request.getfixturevalue(person) if person else None)
    changes = AuditEntry.objects.exclude(action="access.denied")
    entries = changes.count()
    for name in POSTS:
        with subtests.test(name=name):
            response = client.post(address(name), {"enabled": "0", "key": "new-long-key-1234"})
            assert response.status_code == status
            row.refresh_from_db()
            assert row.enabled
            assert pick_credential(row).key.reveal() == KEY
            assert changes.count() == entries


def test_another_teams_provider_is_not_found(team: Team, admin: Client, charlie: User) -> None:
    make_provider(Team.objects.get(slug="globex"))
    assert admin.get(url("provider", "own")).status_code == 404
    assert admin.post(url("provider_delete", "own")).status_code == 404


def test_a_member_reads_the_list_without_buttons(
    team: Team, client_for: ClientFor, bob: User
) -> None:
    make_openai(team)
    page = client_for(bob).get(url("models")).content.decode()
    assert "OpenAI" in page
    assert "•••• 9876" in page
    assert KEY not in page
    assert "Connect a provider" not in page
    assert "Manage" not in page


def test_a_provider_of_the_catalog_needs_only_a_key(team: Team, admin: Client) -> None:
    response = admin.post(url("account_new", "groq"), {"key": KEY})
    assert response.headers["location"] == url("check", "groq")
    row = ProviderConfig.objects.get(team=team)
    assert (row.provider_id, row.kind, row.name) == ("groq", "openai-compatible", "Groq")
    assert (row.base_url, npm_of("groq", ProviderKind(row.kind))) == ("", "@ai-sdk/groq")
    assert pick_credential(row).key.reveal() == KEY
    page = admin.get(url("provider", "groq")).content.decode()
    assert KEY not in page
    assert "•••• 9876" in page


def test_an_own_server_needs_an_address_and_lends_its_name(team: Team, admin: Client) -> None:
    response = admin.post(url("server_new"), {"name": "x"})
    assert response.status_code == 422
    assert response.content.decode().count("This field is required.") == 1
    fields = {"name": "GPU box", "base_url": "http://127.0.0.1:8000/v1/"}
    assert admin.post(url("server_new"), fields).status_code == 302
    row = ProviderConfig.objects.get(team=team)
    assert (row.provider_id, row.base_url) == ("gpu-box", "http://127.0.0.1:8000/v1")
    fields = {"base_url": "http://127.0.0.2:8000/v1"}
    assert admin.post(url("server_new"), fields).status_code == 302
    assert ProviderConfig.objects.exclude(pk=row.pk).get().name == "127.0.0.2:8000"


def test_a_key_that_is_missing_is_said(team: Team, admin: Client) -> None:
    page = admin.post(url("account_new", "openai"), {})
    assert page.status_code == 422
    assert "Paste the key of your account." in page.content.decode()
    make_openai(team, key="")
    page = admin.get(url("provider", "openai"))
    assert "the models of OpenAI cannot be chosen" in page.content.decode()
    answer = admin.post(url("account_new", "openai"), {"key": KEY})
    assert answer.headers["location"] == url("check", "openai")
    assert pick_credential(ProviderConfig.objects.get(team=team)).key.reveal() == KEY


def test_a_refused_address_is_said_and_the_key_not_shown_again(team: Team, admin: Client) -> None:
    fields = {"name": "x", "base_url": "http://169.254.169.254/", "key": KEY}
    response = admin.post(url("server_new"), fields)
    assert response.status_code == 422
    assert "metadata" in response.content.decode()
    assert KEY not in response.content.decode()
    assert not ProviderConfig.objects.exists()


LOCAL = {"base_url": "http://localhost:11434/v1", "name": "Ollama"}


@pytest.fixture
def closed(settings: Settings) -> None:
    settings.ALLOWED_PRIVATE_ADDRESSES = []


@pytest.mark.usefixtures("closed")
def test_an_operator_allows_a_local_model_with_one_click(
    team: Team, admin: Client, adam: User
) -> None:
    adam.is_superuser = True
    adam.save()
    page = admin.post(url("server_new"), LOCAL)
    assert page.status_code == 422
    assert 'name="allow" value="localhost:11434"' in page.content.decode()
    answer = admin.post(url("server_new"), {**LOCAL, "allow": "localhost:11434"})
    assert answer.status_code == 302
    assert ProviderConfig.objects.get(team=team).base_url == LOCAL["base_url"]
    assert list(AllowedAddress.objects.values_list("place", "created_by")) == [
        ("localhost:11434", adam.pk)
    ]
    moved = {"address-name": "Ollama", "address-base_url": "http://127.0.0.1:11435/v1"}
    page = admin.post(url("provider_address", "ollama"), moved)
    assert 'name="allow" value="127.0.0.1:11435"' in page.content.decode()
    # Only what the address in the form needs.
    admin.post(url("provider_address", "ollama"), {**moved, "allow": "10.0.0.0/8"})
    assert AllowedAddress.objects.count() == 1
    admin.post(url("provider_address", "ollama"), {**moved, "allow": "127.0.0.1:11435"})
    assert ProviderConfig.objects.get(team=team).base_url == "http://127.0.0.1:11435/v1"


@pytest.mark.usefixtures("closed")
def test_others_read_that_an_operator_can_allow_a_local_model(team: Team, admin: Client) -> None:
    for sent in (LOCAL, {**LOCAL, "allow": "localhost:11434"}):
        page = admin.post(url("server_new"), sent)
        assert page.status_code == 422
        assert 'name="allow"' not in page.content.decode()
    assert "Only operators of this server" in page.content.decode()
    page = admin.post(url("server_new"), LOCAL)
    assert "unless an operator allows them: localhost:11434" in page.content.decode()
    assert not AllowedAddress.objects.exists()
    assert not ProviderConfig.objects.filter(team=team).exists()


@pytest.mark.usefixtures("closed")
def test_no_click_opens_a_metadata_address(team: Team, admin: Client, adam: User) -> None:
    adam.is_superuser = True
    adam.save()
    sent = {**LOCAL, "base_url": "http://169.254.169.254/", "allow": "169.254.169.254:80"}
    page = admin.post(url("server_new"), sent)
    assert page.status_code == 422
    assert 'name="allow"' not in page.content.decode()
    assert not AllowedAddress.objects.exists()


def test_htmx_gets_the_fragment_alone(team: Team, admin: Client) -> None:
    response = admin.post(url("server_new"), {}, headers={"HX-Request": "true"})
    page = response.content.decode()
    assert "<html" not in page
    assert page.lstrip().startswith('<section id="server"')
    done = admin.post(url("account_new", "openai"), {"key": KEY}, headers={"HX-Request": "true"})
    assert done.headers["HX-Redirect"] == url("check", "openai")


def test_a_new_host_says_that_the_key_is_gone(team: Team, admin: Client) -> None:
    make_provider(team, key=KEY)
    fields = {"address-name": "Own", "address-base_url": "https://new.example.com/v1"}
    page = admin.post(url("provider_address", "own"), fields, follow=True).content.decode()
    assert "its key was removed" in page
    assert "No key is set." in page


def test_it_turns_off_on_and_away(team: Team, admin: Client) -> None:
    row = make_provider(team)
    for value, enabled in (("0", False), ("1", True)):
        assert admin.post(url("provider_enabled", "own"), {"enabled": value}).status_code == 302
        row.refresh_from_db()
        assert row.enabled is enabled
    assert admin.get(url("provider_delete", "own")).status_code == 200
    assert admin.post(url("provider_delete", "own")).status_code == 302
    assert not ProviderConfig.objects.exists()


def test_models_are_searched_and_picked(team: Team, admin: Client) -> None:
    row = make_openai(team)
    page = admin.get(url("provider", "openai"), {"q": "gpt-5 mini"}).content.decode()
    assert 'value="gpt-5-mini"' in page
    assert 'value="gpt-4.1"' not in page
    fields = {"shown": ["gpt-5", "gpt-5-mini"], "model": ["gpt-5-mini", "not-shown"]}
    assert admin.post(url("models_pick", "openai"), fields).status_code == 302
    row.refresh_from_db()
    assert row.picked == {"gpt-5-mini": {}}
    admin.post(url("models_pick", "openai"), {"shown": ["gpt-4.1"], "model": ["gpt-4.1"]})
    row.refresh_from_db()
    assert row.picked == {"gpt-5-mini": {}, "gpt-4.1": {}}
    admin.post(url("models_pick", "openai"), {"shown": ["gpt-4.1", "gpt-5-mini"]})
    row.refresh_from_db()
    assert row.picked == {}


def test_a_model_is_added_by_its_id(team: Team, admin: Client) -> None:
    row = make_provider(team)
    fields = {
        "model-id": "qwen3-coder:30b",
        "model-context": "65536",
        "model-output": "8192",
        "model-images": "on",
    }
    assert admin.post(url("model_add", "own"), fields).status_code == 302
    row.refresh_from_db()
    assert row.picked["qwen3-coder:30b"]["limit"] == {"context": 65536, "output": 8192}
    page = admin.get(url("provider", "own")).content.decode()
    assert "qwen3-coder:30b" in page
    bad = admin.post(url("model_add", "own"), fields | {"model-context": "5"})
    assert bad.status_code == 422
    assert "65536" not in str(bad.context["row"].picked.get("x", ""))


@pytest.mark.parametrize(
    ("given", "missing"), [("input_price", "output_price"), ("output_price", "input_price")]
)
def test_half_a_price_is_refused(team: Team, admin: Client, given: str, missing: str) -> None:
    row = make_provider(team)
    fields = {"model-id": "m1", "model-context": "65536", "model-output": "8192"}
    half = admin.post(url("model_add", "own"), fields | {f"model-{given}": "0.5"})
    assert half.status_code == 422
    errors = half.context["model_form"].errors
    assert errors == {missing: ["Enter both prices or neither."]}
    whole = fields | {"model-input_price": "0.5", "model-output_price": "0"}
    assert admin.post(url("model_add", "own"), whole).status_code == 302
    row.refresh_from_db()
    assert row.picked["m1"]["cost"] == {"input": 0.5, "output": 0.0}


def test_hostile_names_are_shown_as_text(team: Team, admin: Client, adam: User) -> None:
    row = make_provider(team, name="<script>alert(1)</script>")
    name = {"name": "<img src=x onerror=alert(1)>"}
    actions.pick_models(row, actor=adam, models={'"><b>': name})
    for page in (url("models"), url("keys"), url("provider", "own")):
        text = admin.get(page).content.decode()
        assert "<script>alert" not in text
        assert "<img src=x" not in text
        assert '"><b>' not in text


def test_the_list_takes_the_same_queries_for_many_providers(
    team: Team, client_for: ClientFor, alice: User, django_assert_max_num_queries: Any
) -> None:
    client = client_for(alice)
    for number in range(12):
        make_provider(team, provider_id=f"p{number}", key=KEY)
    for page in (url("models"), url("keys")):
        client.get(page)
        with django_assert_max_num_queries(10):
            client.get(page)


def test_a_provider_that_cannot_be_set_up_is_named_with_the_reason(
    team: Team, admin: Client
) -> None:
    page = admin.get(url("choose")).content.decode()
    assert all(one.name in page and one.reason in page for one in unusable_providers())


def test_a_deprecated_model_is_shown_only_while_it_is_picked(team: Team, admin: Client) -> None:
    row = make_openai(team)
    found = f"{url('provider', 'openai')}?q=gpt-4"
    assert 'name="model" value="gpt-4"' not in admin.get(found).content.decode()
    actions.pick_models(row, actor=None, models={"gpt-4": {}})
    page = admin.get(found).content.decode()
    assert 'value="gpt-4" checked' in page
    assert '<span class="chip">deprecated</span>' in page
