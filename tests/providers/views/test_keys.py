from __future__ import annotations

import threading
import time
from collections.abc import Callable
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from django.test import Client

from providers import actions, key_tests
from providers.credentials import pick_credential
from providers.funding import FundedRequest
from providers.key_tests import Outcome
from providers.kinds import ProviderKind
from providers.llm.errors import AuthError
from providers.llm.events import Finished, FinishReason
from providers.llm.messages import Usage
from providers.models import Credential
from teams.models import AuditEntry, Reservation, Team, UsageEntry, User
from tests.providers.factories import KEY, make_openai, make_provider
from tests.providers.servers import AnthropicServer, OpenAIServer, Reply, ResponsesServer
from tests.providers.views.test_pages import url

ClientFor = Callable[[User | None], Client]


@pytest.fixture
def admin(client_for: ClientFor, adam: User) -> Client:
    return client_for(adam)


def test_each_key_is_told_with_who_set_it_and_what_it_is_for(
    team: Team, admin: Client, alice: User, adam: User
) -> None:
    row = make_openai(team)
    actions.pick_models(row, actor=alice, models={f"gpt-{number}": {} for number in range(6)})
    actions.set_key(row, actor=alice, key="a-new-key-abcd1234")
    page = admin.get(url("keys")).content.decode()
    assert "•••• 1234" in page
    assert "set by Alice on" in page
    assert "and 2 more" in page
    assert "models, 6 on" in page
    assert f'href="{url("provider", "openai")}#provider-models">Choose models</a>' in page
    assert "Not tested" in page
    assert "a-new-key" not in page
    actions.set_key(row, actor=adam, key="a-third-key-abcd5678")
    assert "set by Adam on" in admin.get(url("keys")).content.decode()


def test_a_team_without_providers_is_shown_the_way(team: Team, admin: Client) -> None:
    page = admin.get(url("keys")).content.decode()
    assert "No provider is connected yet" in page
    assert url("choose") in page


def test_a_team_with_the_scripted_demo_only_needs_no_key(team: Team, admin: Client) -> None:
    actions.create_demo(team, actor=None)
    page = admin.get(url("keys")).content.decode()
    assert "None of the providers needs a key." in page
    assert "No provider is connected yet" not in page
    assert url("choose") in page


def test_a_missing_key_is_said_and_stored(team: Team, admin: Client) -> None:
    row = make_openai(team, key="")
    assert "Key missing" in admin.get(url("keys")).content.decode()
    response = admin.post(url("provider_key", "openai"), {"key": KEY}, follow=True)
    page = response.content.decode()
    assert "Key of OpenAI saved. Test it below." in page
    assert response.redirect_chain[-1][0].endswith("/settings/keys#key-of-openai")
    assert "Key missing" not in page
    row.refresh_from_db()
    assert pick_credential(row).key.reveal() == KEY


def test_a_key_is_removed_after_saying_what_breaks(team: Team, admin: Client, adam: User) -> None:
    row = make_openai(team)
    actions.pick_models(row, actor=adam, models={"gpt-5": {}})
    place = url("credential_remove", "openai", credential=Credential.objects.get().pk)
    asked = admin.get(place).content.decode()
    assert "sessions cannot use these models: GPT-5." in asked
    page = admin.post(place, follow=True).content.decode()
    assert "Key of OpenAI removed." in page
    assert "Key missing" in page
    assert not Credential.objects.exists()
    assert AuditEntry.objects.filter(data__key="removed").exists()


def test_the_last_test_is_kept_until_the_key_is_another(
    team: Team, admin: Client, adam: User
) -> None:
    row = make_openai(team)
    actions.record_test(row, actor=adam, error=None)
    assert "successful, " in admin.get(url("keys")).content.decode()
    actions.record_test(row, actor=adam, error=AuthError("no", status_code=401))
    assert "the key was rejected, " in admin.get(url("keys")).content.decode()
    actions.set_key(row, actor=adam, key="a-new-key-abcd1234")
    assert "none with this key" in admin.get(url("keys")).content.decode()


def test_it_replaces_a_key(team: Team, admin: Client) -> None:
    row = make_openai(team)
    assert (
        admin.post(url("provider_key", "openai"), {"key": "a-new-key-abcd1234"}).status_code == 302
    )
    row.refresh_from_db()
    assert pick_credential(row).key.reveal() == "a-new-key-abcd1234"
    bad = admin.post(url("provider_key", "openai"), {"key": "two\nlines"})
    assert bad.status_code == 422


@pytest.mark.parametrize(
    ("kind", "server_class", "path"),
    [
        (ProviderKind.COMPATIBLE, OpenAIServer, "/v1/chat/completions"),
        (ProviderKind.OPENAI, ResponsesServer, "/v1/responses"),
        (ProviderKind.ANTHROPIC, AnthropicServer, "/v1/messages"),
    ],
)
def test_a_test_makes_one_real_request(
    kind: ProviderKind, server_class: Any, path: str, team: Team, admin: Client
) -> None:
    with server_class([Reply(text="ok")]) as server:
        make_provider(team, kind, base_url=server.base_url, key=KEY)
        page = admin.post(url("provider_test", "own"), {"model": "m1"}).content.decode()
        [request] = server.requests
    assert "m1 responded." in page
    assert request.path == path
    assert request.json["model"] == "m1"
    assert KEY in str(request.headers)
    entry = AuditEntry.objects.get(action="provider.tested")
    assert entry.data == {"provider": "own", "outcome": "ok"}


def test_a_failed_test_says_why_in_words(team: Team, admin: Client) -> None:
    reply = Reply(status=401, error={"error": {"message": f"Incorrect API key: {KEY}"}})
    with OpenAIServer([reply]) as server:
        make_provider(team, base_url=server.base_url, key=KEY)
        page = admin.post(url("provider_test", "own"), {"model": "m1"}).content.decode()
    assert "m1 responded with an error (status 401)" in page
    assert "Incorrect API key: •••" in page
    assert KEY not in page
    assert AuditEntry.objects.get(action="provider.tested").data["outcome"] == "AuthError"


def test_a_server_that_is_down_is_said_in_words(team: Team, admin: Client) -> None:
    with OpenAIServer() as server:
        base_url = server.base_url
    make_provider(team, base_url=base_url)
    page = admin.post(url("provider_test", "own"), {"model": "m1"}).content.decode()
    assert "The provider cannot be reached" in page
    assert "it does not answer" in page


def test_the_demo_has_no_key_and_no_test(team: Team, admin: Client, adam: User) -> None:
    actions.create_demo(team, actor=adam)
    page = admin.get(url("provider", "demo")).content.decode()
    assert "plays a script" in page
    assert "Set and test key" not in page
    assert admin.post(url("provider_test", "demo"), {"model": "tour"}).status_code == 422


PRICED = {"cost": {"input": 1_000, "output": 100_000}}


def test_a_test_is_reserved_and_counted_like_any_call(team: Team, admin: Client) -> None:
    budget(team, admin, "9")
    with OpenAIServer([Reply(text="ok", input_tokens=30, output_tokens=2)]) as server:
        row = make_provider(team, base_url=server.base_url, key=KEY)
        page = admin.post(url("provider_test", "own"), {"model": "m1"})
        assert "The price of m1 is not known" in page.content.decode()
        assert server.requests == []
        row.picked = {"m1": PRICED}
        row.save()
        page = admin.post(url("provider_test", "own"), {"model": "m1"})
        assert "m1 responded." in page.content.decode()
        entry = UsageEntry.objects.get()
        assert (entry.cost, entry.basis, entry.output) == (Decimal("0.23"), "counted", 2)
        budget(team, admin, "1")
        page = admin.post(url("provider_test", "own"), {"model": "m1"})
        assert "is not enough for the next answer" in page.content.decode()
        assert len(server.requests) == 1
    assert not Reservation.objects.exists()


def test_a_test_that_is_refused_costs_nothing_and_one_that_is_cut_its_bound(
    team: Team, admin: Client
) -> None:
    budget(team, admin, "20")
    refused = Reply(status=401, error={"error": {"message": "no"}})
    with OpenAIServer([refused, Reply(status=504)]) as server:
        row = make_provider(team, base_url=server.base_url, key=KEY)
        row.picked = {"m1": PRICED}
        row.save()
        admin.post(url("provider_test", "own"), {"model": "m1"})
        assert not UsageEntry.objects.exists()
        admin.post(url("provider_test", "own"), {"model": "m1"})
    entry = UsageEntry.objects.get()
    assert entry.basis == "bound"
    assert entry.cost > Decimal("1.6")


class _Drips(BaseHTTPRequestHandler):
    """Begins an answer and never ends it."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.end_headers()
        try:
            for _ in range(60):
                self.wfile.write(b" ")
                time.sleep(0.1)
        except OSError:
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:
        """Keep quiet."""


def test_a_test_ends_in_time_and_counts_its_bound(
    team: Team, admin: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(key_tests, "TIMEOUT_S", 0.5)
    budget(team, admin, "20")
    with ThreadingHTTPServer(("127.0.0.1", 0), _Drips) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        row = make_provider(team, base_url=f"http://127.0.0.1:{server.server_port}/v1", key=KEY)
        actions.pick_models(row, actor=None, models={"m1": PRICED})
        began = time.monotonic()
        page = admin.post(url("provider_test", "own"), {"model": "m1"}).content.decode()
        assert time.monotonic() - began < 4
        server.shutdown()
    assert "The provider sent nothing for too long." in page
    assert UsageEntry.objects.get().basis == "bound"


def test_an_answer_to_a_test_that_counts_nothing_counts_its_bound(
    team: Team, admin: Client
) -> None:
    budget(team, admin, "20")
    with OpenAIServer([Reply(text="ok", input_tokens=0, output_tokens=0)]) as server:
        row = make_provider(team, base_url=server.base_url, key=KEY)
        actions.pick_models(row, actor=None, models={"m1": PRICED})
        page = admin.post(url("provider_test", "own"), {"model": "m1"}).content.decode()
    assert "m1 responded." in page
    assert UsageEntry.objects.get().basis == "bound"


def test_an_answer_to_a_test_is_not_read_without_end(team: Team, admin: Client) -> None:
    budget(team, admin, "20")
    with OpenAIServer([Reply(text="x" * 200_000, chunk_chars=20_000)]) as server:
        row = make_provider(team, base_url=server.base_url, key=KEY)
        actions.pick_models(row, actor=None, models={"m1": PRICED})
        page = admin.post(url("provider_test", "own"), {"model": "m1"}).content.decode()
    assert "m1 responded." in page
    assert UsageEntry.objects.get().basis == "bound"


def test_a_test_counts_also_when_its_provider_is_deleted_meanwhile(
    team: Team, admin: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = make_provider(team, key=KEY)

    def ask(request: FundedRequest) -> Outcome:
        actions.delete_provider(row, actor=None)
        return Outcome(finished=Finished(FinishReason.STOP, Usage(30, 2)))

    monkeypatch.setattr(key_tests, "probe", ask)
    assert admin.post(url("provider_test", "own"), {"model": "m1"}).status_code == 404
    assert UsageEntry.objects.get().output == 2


def budget(team: Team, admin: Client, amount: str) -> None:
    page = f"/t/{team.slug}/settings/budgets"
    assert admin.post(page, {"team": amount}).status_code == 302


def test_an_account_has_several_keys_and_loses_one(team: Team, admin: Client) -> None:
    row = make_openai(team)
    sent = {"key": "another-long-key-5555", "label": "Night", "add": "1"}
    assert admin.post(url("provider_key", "openai"), sent).status_code == 302
    page = admin.get(url("keys")).content.decode()
    assert "•••• 9876" in page
    assert "•••• 5555" in page
    assert "Night" in page
    newest = row.credentials.latest("pk")
    place = url("credential_remove", "openai", credential=newest.pk)
    assert "other keys are kept." in admin.get(place).content.decode()
    admin.post(place)
    assert [one.last4 for one in row.credentials.all()] == ["9876"]
    assert admin.get(place).status_code == 404


def test_the_key_of_another_account_is_not_found(team: Team, admin: Client, charlie: User) -> None:
    make_openai(team)
    other = make_provider(Team.objects.get(slug="globex"), key=KEY)
    place = url("credential_remove", "openai", credential=other.credentials.get().pk)
    assert admin.post(place).status_code == 404
    assert other.credentials.exists()
