from __future__ import annotations

import re

import pytest
from django.test import Client

from providers import actions, listed_models
from providers.kinds import ProviderKind
from providers.models import ProviderConfig
from teams.models import Team, User
from tests.providers.factories import KEY
from tests.providers.views.test_connect import HTMX, MODELS, ClientFor, compatible
from tests.providers.views.test_pages import url


@pytest.fixture
def admin(client_for: ClientFor, adam: User) -> Client:
    return client_for(adam)


def _listed(admin: Client, address: str) -> str:
    """Connect the server. Returns: where its check is."""
    admin.post(url("server_new"), {"base_url": address, "key": KEY, "name": "GPU"})
    admin.post(url("check", "gpu"), {"step": "list"})
    return url("check", "gpu")


def test_a_price_has_a_label_of_its_own(team: Team, admin: Client) -> None:
    with compatible() as address:
        page = admin.post(_listed(admin, address), {"step": "list"}).content.decode()
    assert '<label class="price meta">Input price<input' in page


def test_listed_models_are_ticked_and_priced_and_then_tested(team: Team, admin: Client) -> None:
    with compatible() as address:
        check = _listed(admin, address)
        sent = {"step": "pick", "model": "llama4", "input:llama4": "0.5", "output:llama4": "1.25"}
        page = admin.post(check, sent, headers=HTMX).content.decode()
    assert 'hx-trigger="load, submit"' in page
    assert "1 known model. The connection has not been verified yet." in page
    assert "$0.50 in, $1.25 out per million tokens" in page
    assert 'name="input:llama4"' not in page
    row = ProviderConfig.objects.get()
    assert row.picked == {"llama4": {"cost": {"input": 0.5, "output": 1.25}}}
    actions.pick_models(row, actor=None, models={"llama4": {"name": "L", **row.picked["llama4"]}})
    admin.post(check, {"step": "pick", "model": ["llama4", "qwen3-coder:30b"]})
    assert ProviderConfig.objects.get().picked == {
        "llama4": {"name": "L", "cost": {"input": 0.5, "output": 1.25}},
        "qwen3-coder:30b": {},
    }


def test_prices_are_written_as_the_language_writes_them(team: Team, admin: Client) -> None:
    german = {**HTMX, "accept-language": "de"}
    sent = {"step": "pick", "model": "llama4", "output:llama4": "12.250"}
    with compatible() as address:
        check = _listed(admin, address)
        wrong = admin.post(check, {**sent, "input:llama4": "1,5,0"}, headers=german)
        admin.post(check, {**sent, "input:llama4": "1,5"}, headers=german)
    assert wrong.status_code == 422
    assert 'type="number"' not in wrong.content.decode()
    row = ProviderConfig.objects.get()
    assert row.picked == {"llama4": {"cost": {"input": 1.5, "output": 12.25}}}


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ({}, "Select at least one model."),
        ({"model": "nobody's"}, "Select at least one model."),
        ({"model": "llama4", "input:llama4": "1"}, "Enter both prices or neither."),
        ({"model": "llama4", "input:llama4": "-1", "output:llama4": "1"}, "greater than or equal"),
        ({"model": "llama4", "input:llama4": "NaN", "output:llama4": "1"}, "Enter a number."),
        ({"model": "llama4", "input:llama4": "1,5", "output:llama4": "1"}, "Enter a number."),
    ],
)
def test_a_wrong_choice_of_models_is_422_and_changes_nothing(
    team: Team, admin: Client, sent: dict[str, str], said: str
) -> None:
    with compatible() as address:
        answer = admin.post(_listed(admin, address), {"step": "pick", **sent})
    assert answer.status_code == 422
    page = answer.content.decode()
    assert said in page
    assert sent.get("input:llama4", "") in page
    assert "load, submit" not in page
    assert ProviderConfig.objects.get().picked == {}


def test_what_the_list_of_a_server_does_not_show_stays_on(
    team: Team, admin: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listed_models, "SHOWN_MODELS", 1)
    with compatible() as address:
        check = _listed(admin, address)
        page = admin.post(check, {"step": "call"}).content.decode()
        assert "1 more is on the provider's page." in page
        shown = re.findall(r'type="checkbox" name="model" value="([^"]+)"', page)
        admin.post(check, {"step": "pick", f"input:{shown[0]}": "", "model": []})
    assert [*ProviderConfig.objects.get().picked] == [
        one["id"] for one in MODELS if one["id"] not in shown
    ]


def test_the_key_is_replaced_where_it_is_checked(team: Team, admin: Client) -> None:
    with compatible() as address:
        sent = {"base_url": address, "key": "another-key-entirely", "name": "GPU"}
        admin.post(url("server_new"), sent)
        check = url("check", "gpu")
        stale = {"step": "key", "key": KEY, "base_url": "https://else.where.example"}
        assert admin.post(check, stale).status_code == 422
        assert admin.post(check, {"step": "key", "key": ""}).status_code == 422
        page = admin.post(check, {"step": "key", "key": KEY, "base_url": address}).content.decode()
        assert KEY not in page
        assert 'hx-trigger="load, submit"' in page
        assert "The server lists 2 models." in admin.post(check, {"step": "list"}).content.decode()


def test_what_a_server_calls_its_models_is_text(team: Team, admin: Client) -> None:
    hostile = '"><script>alert(1)</script>'
    row = actions.create_provider(
        team, actor=None, kind=ProviderKind.COMPATIBLE, name="GPU", base_url="https://m.example/v1"
    )
    actions.pick_models(row, actor=None, models={hostile: {"name": hostile}})
    page = admin.post(url("check", "gpu"), {"step": "call"}).content.decode()
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in page
