from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from providers import actions
from providers.catalog import known_providers, unusable_providers
from providers.credentials import pick_credential
from providers.models import ProviderConfig
from providers.resolve import default_model
from teams.models import OwnAccounts, Team, User
from tests.providers.factories import KEY, make_openai
from tests.providers.views.test_pages import url

ClientFor = Callable[[User | None], Client]
HTMX = {"HX-Request": "true"}


@pytest.fixture
def admin(client_for: ClientFor, adam: User) -> Client:
    return client_for(adam)


@pytest.fixture
def operator(client_for: ClientFor, adam: User) -> Client:
    adam.is_superuser = True
    adam.save()
    return client_for(adam)


def mine(name: str, **names: Any) -> str:
    return reverse(f"my_models:{name}", kwargs=names)


def of_instance(name: str, **names: Any) -> str:
    return reverse(f"instance_models:{name}", kwargs=names)


MODELS = [
    {"id": "qwen3-coder:30b", "object": "model", "max_model_len": 65_536},
    {"id": "llama4", "object": "model"},
]


class _Compatible(BaseHTTPRequestHandler):
    """Chat Completions as vLLM serves it: a key is asked for, and one model does not answer."""

    def do_GET(self) -> None:
        if self.path != "/v1/models":
            return self._answer(404, {"error": {"message": "Not Found"}})
        if self.headers.get("authorization") != f"Bearer {KEY}":
            return self._answer(401, {"error": {"message": "Unauthorized"}})
        return self._answer(200, {"object": "list", "data": MODELS})

    def do_POST(self) -> None:
        sent = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if sent["model"] not in {one["id"] for one in MODELS}:
            return self._answer(404, {"error": {"message": "The model does not exist."}})
        chunks = [
            {"choices": [{"index": 0, "delta": {"content": "ok"}, "finish_reason": None}]},
            {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
        ]
        text = "".join(f"data: {json.dumps(one)}\n\n" for one in chunks) + "data: [DONE]\n\n"
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        self.wfile.write(text.encode())
        self.close_connection = True
        return None

    def _answer(self, status: int, body: object) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Keep quiet."""


@contextmanager
def compatible() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Compatible) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/v1"
        server.shutdown()


def test_the_list_has_all_of_the_catalog_with_the_popular_first(team: Team, admin: Client) -> None:
    page = admin.get(url("choose")).content.decode()
    for one in known_providers():
        assert f'href="{url("account_new", one.id)}"' in page
    assert page.index("Anthropic") < page.index("Most used") + page.index("302.AI")
    assert page.index(">Anthropic<") < page.index(">Groq<") < page.index(">302.AI<")
    assert "Claude models" in page
    assert page.count("Your own server") == 1


def test_the_list_is_searched_by_every_word(team: Team, admin: Client) -> None:
    make_openai(team)
    page = admin.get(url("choose"), {"q": "open AI"}, headers=HTMX).content.decode()
    assert "<html" not in page
    assert ">OpenAI<" in page
    assert "Connected" in page
    assert ">Groq<" not in page
    none = admin.get(url("choose"), {"q": "no such vendor"}).content.decode()
    assert "No provider matches “no such vendor”." in none
    last = unusable_providers()[0].name
    assert last in admin.get(url("choose"), {"q": last}).content.decode()


def test_the_list_takes_few_queries(
    team: Team, admin: Client, django_assert_max_num_queries: Any
) -> None:
    admin.get(url("choose"))
    with django_assert_max_num_queries(6):
        admin.get(url("choose"))


def test_a_server_is_asked_for_its_models_and_one_of_them_for_a_token(
    team: Team, admin: Client
) -> None:
    with compatible() as address:
        answer = admin.post(url("server_new"), {"base_url": address, "key": KEY, "name": "GPU"})
        check = url("check", "gpu")
        assert answer.headers["location"] == check
        page = admin.get(check).content.decode()
        assert 'hx-trigger="load, submit"' in page
        listed = admin.post(check, {"step": "list"}, headers=HTMX).content.decode()
        assert "The server lists 2 models." in listed
        assert "66k tokens" in listed
        assert "context not known" in listed
        assert "price not known" in listed
        assert 'hx-trigger="load' not in listed
        every = {"step": "pick", "model": ["qwen3-coder:30b", "llama4"]}
        assert 'hx-trigger="load, submit"' in admin.post(check, every).content.decode()
        tested = admin.post(check, {"step": "call", "model": "llama4"}, headers=HTMX)
    page = tested.content.decode()
    assert "llama4 responded." in page
    assert "The team's default model is llama4 (GPU)." in page
    next_page = f"{reverse('sessions:default_model', kwargs={'team': 'acme'})}?model=gpu%2Fllama4"
    assert f'href="{next_page}"' in page
    row = ProviderConfig.objects.get(team=team)
    assert row.picked == {}
    assert row.listed["qwen3-coder:30b"]["limit"] == {"context": 65_536}
    assert row.listed_at is not None


def test_a_default_model_that_somebody_chose_stays_and_is_named(team: Team, admin: Client) -> None:
    actions.create_demo(team, actor=None)
    admin.post(reverse("sessions:default_model", args=["acme"]), {"model": "demo/tour"})
    with compatible() as address:
        admin.post(url("server_new"), {"base_url": address, "key": KEY, "name": "GPU"})
        actions.pick_models(team.providers.get(name="GPU"), actor=None, models={"llama4": {}})
        page = admin.post(url("check", "gpu"), {"step": "call", "model": "llama4"})
    team.refresh_from_db()
    ref = default_model(team)
    assert str(ref) == "demo/tour"
    said = "The team's default model is Tour of a first fix (scripted) ("
    assert said in page.content.decode()


@pytest.mark.parametrize(
    ("host", "cause"), [("nowhere.invalid", "[Errno"), ("127.0.0.1", "nothing answers at")]
)
def test_only_an_operator_reads_why_a_server_was_not_reached(
    team: Team, admin: Client, adam: User, host: str, cause: str, settings: Settings
) -> None:
    settings.ALLOWED_PRIVATE_ADDRESSES = ["127.0.0.1"]
    sent = {"base_url": f"http://{host}:9/v1", "key": KEY, "name": "GPU"}
    assert admin.post(url("server_new"), sent).status_code == 302
    page = admin.post(url("check", "gpu"), {"step": "list"}).content.decode()
    said = "Saved, but not working yet: The provider cannot be reached: its name cannot be found"
    assert said in page
    assert "Test again" in page
    assert f'href="{url("provider_delete", "gpu")}"' in page
    assert cause not in page
    User.objects.filter(pk=adam.pk).update(is_superuser=True)
    told = admin.post(url("check", "gpu"), {"step": "list"}).content.decode()
    assert said in told
    assert cause in told


def test_a_refused_key_ends_the_check_with_the_way_to_another(team: Team, admin: Client) -> None:
    with compatible() as address:
        sent = {"base_url": address, "key": "another-key-entirely", "name": "GPU"}
        admin.post(url("server_new"), sent)
        page = admin.post(url("check", "gpu"), {"step": "list"}).content.decode()
    assert "notice-bad" in page
    assert "load, submit" not in page
    assert 'name="key"' in page
    assert not ProviderConfig.objects.get(team=team).listed


def test_a_failed_call_says_why_and_can_be_tried_with_another_model(
    team: Team, admin: Client
) -> None:
    with compatible() as address:
        admin.post(url("server_new"), {"base_url": address, "key": KEY, "name": "GPU"})
        actions.pick_models(ProviderConfig.objects.get(), actor=None, models={"gone": {}})
        page = admin.post(url("check", "gpu"), {"step": "call", "model": "gone"}).content.decode()
    assert "gone responded with an error (status 404)" in page
    assert "1 known model." in page
    assert "has not been verified" not in page
    listed = admin.get(url("models")).content.decode()
    assert '<span class="chip chip-fail">Test failed</span>' in listed
    assert "Test again" in page
    assert "Continue" not in page


def test_the_flow_goes_back_to_where_it_was_begun(team: Team, admin: Client) -> None:
    actions.create_demo(team, actor=None)
    default = reverse("sessions:default_model", kwargs={"team": "acme"})
    admin.get(url("choose"), {"next": "/t/acme/s/ses_1"})
    admin.get(url("account_new", "openai"))
    answer = admin.post(default, {"model": "demo/tour"})
    assert answer.headers["location"] == "/t/acme/s/ses_1"
    team.refresh_from_db()
    assert team.config["model"] == "demo/tour"
    answer = admin.post(default, {"keep": "1"})
    assert answer.headers["location"] == url("models")


@pytest.mark.parametrize("place", ["https://evil.test/", "//evil.test/", "javascript:alert(1)"])
def test_the_flow_goes_back_to_pages_of_this_server_alone(
    team: Team, admin: Client, place: str
) -> None:
    admin.get(url("choose"), {"next": place})
    default = reverse("sessions:default_model", kwargs={"team": "acme"})
    assert admin.post(default, {"keep": "1"}).headers["location"] == url("models")


def test_a_person_connects_an_own_account_at_the_vendor_alone(
    team: Team, client_for: ClientFor, bob: User
) -> None:
    browser = client_for(bob)
    assert "Your own server" not in browser.get(mine("choose")).content.decode()
    page = browser.get(mine("account_new", provider="anthropic")).content.decode()
    assert 'name="base_url"' not in page
    sent = {"key": KEY, "base_url": "https://evil.test/v1"}
    answer = browser.post(mine("account_new", provider="anthropic"), sent)
    assert answer.headers["location"] == mine("check", provider="anthropic")
    row = ProviderConfig.objects.get(owner=bob)
    assert (row.team, row.base_url) == (None, "")
    page = browser.get(mine("models")).content.decode()
    assert "•••• 9876" in page
    assert KEY not in page
    assert '<span class="chip chip-done">Anthropic</span>' in page
    team.own_accounts = OwnAccounts.NEVER
    team.save()
    assert '<span class="chip">None</span>' in browser.get(mine("models")).content.decode()


def test_a_gateway_is_asked_for_whose_it_is_beside_its_key(team: Team, admin: Client) -> None:
    place = url("account_new", "cloudflare-ai-gateway")
    assert 'name="gatewayId"' in admin.get(place).content.decode()
    wrong = admin.post(place, {"key": KEY, "accountId": ""})
    assert wrong.status_code == 422
    assert "accountId" in wrong.context["form"].errors
    sent = {"key": KEY, "accountId": "a" * 32, "gatewayId": "main"}
    answer = admin.post(place, sent)
    assert answer.headers["location"] == url("check", "cloudflare-ai-gateway")
    row = ProviderConfig.objects.get(team=team)
    assert pick_credential(row).key.reveal() == KEY
    assert row.connection["gatewayId"] == "main"


def test_what_a_key_needs_beside_it_is_asked_with_it(team: Team, admin: Client) -> None:
    place = url("account_new", "gitlab")
    assert 'name="instanceUrl"' in admin.get(place).content.decode()
    wrong = admin.post(place, {"key": KEY, "instanceUrl": "no address"})
    assert "instanceUrl" in wrong.context["form"].errors
    sent = {"key": KEY, "instanceUrl": "https://gitlab.com"}
    assert admin.post(place, sent).headers["location"] == url("check", "gitlab")
    assert pick_credential(ProviderConfig.objects.get(team=team)).key.reveal() == KEY


@pytest.mark.parametrize("name", ["models", "keys"])
def test_own_pages_take_the_same_queries_for_many_accounts(
    team: Team, client_for: ClientFor, bob: User, name: str, django_assert_max_num_queries: Any
) -> None:
    browser = client_for(bob)
    for known in known_providers()[:8]:
        if known.base_url:
            actions.create_provider(
                bob,
                actor=bob,
                kind=known.kind,
                name=known.name,
                provider_id=known.id,
                base_url=known.base_url,
                key=KEY,
            )
    browser.get(mine(name))
    with django_assert_max_num_queries(14):
        browser.get(mine(name))


def test_a_person_names_no_host(team: Team, client_for: ClientFor, bob: User) -> None:
    browser = client_for(bob)
    page = browser.get(mine("choose"), {"q": "databricks"}).content.decode()
    assert "Needs a custom address. Ask an admin." in page
    sent = {"key": KEY, "DATABRICKS_HOST": "evil.example.com"}
    assert browser.post(mine("account_new", provider="databricks"), sent).status_code == 422
    assert not ProviderConfig.objects.exists()


def test_nobody_reads_the_accounts_of_others(
    team: Team, client_for: ClientFor, bob: User, alice: User
) -> None:
    client_for(bob).post(mine("account_new", provider="anthropic"), {"key": KEY})
    for page in ("provider", "check", "provider_delete"):
        assert client_for(alice).get(mine(page, provider="anthropic")).status_code == 404
        assert client_for(alice).get(url(page, "anthropic")).status_code == 404


def test_the_account_of_a_person_is_removed_by_that_person(
    team: Team, client_for: ClientFor, bob: User
) -> None:
    browser = client_for(bob)
    browser.post(mine("account_new", provider="anthropic"), {"key": KEY})
    answer = browser.post(mine("provider_delete", provider="anthropic"))
    assert answer.headers["location"] == mine("models")
    assert not ProviderConfig.objects.exists()


def test_an_operator_shares_an_account_with_some_teams(team: Team, operator: Client) -> None:
    operator.post(of_instance("account_new", provider="openai"), {"key": KEY})
    row = ProviderConfig.objects.get(team=None, owner=None)
    page = operator.get(of_instance("provider", provider="openai")).content.decode()
    assert "Available to" in page
    place = of_instance("provider_share", provider="openai")
    operator.post(place, {"for": "some", "team": team.pk})
    row.refresh_from_db()
    assert not row.for_all_teams
    assert [*row.shared_with.all()] == [team]
    rows = operator.get(url("models")).content.decode()
    assert "From the server" in rows
    assert url("provider", "openai") not in rows
    operator.post(place, {"for": "all"})
    row.refresh_from_db()
    assert row.for_all_teams


def test_operators_alone_see_the_accounts_of_the_instance(
    team: Team, client_for: ClientFor, alice: User
) -> None:
    assert client_for(alice).get(of_instance("models")).status_code == 404
    assert client_for(None).get(of_instance("models")).status_code == 302


def test_an_operator_is_asked_before_a_private_address_is_opened(
    operator: Client, settings: Settings
) -> None:
    settings.ALLOWED_PRIVATE_ADDRESSES = []
    sent = {"base_url": "http://localhost:11434/v1", "name": "Ollama"}
    page = operator.post(of_instance("server_new"), sent)
    assert page.status_code == 422
    assert 'name="allow" value="localhost:11434"' in page.content.decode()


def test_admins_say_where_members_may_use_own_accounts(
    team: Team, admin: Client, client_for: ClientFor, bob: User
) -> None:
    page = admin.get(url("models")).content.decode()
    assert page.count('name="policy"') == 3
    admin.post(url("own_accounts"), {"policy": "team"})
    team.refresh_from_db()
    assert team.own_accounts == "team"
    page = client_for(bob).get(url("models")).content.decode()
    assert 'name="policy"' not in page
    assert "With providers used by the team" in page
    assert admin.post(url("own_accounts"), {"policy": "always"}).status_code == 404
