from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from providers import actions
from providers.models import ProviderConfig
from teams.models import AuditEntry, Team, User
from tests.providers.factories import make_openai, make_provider
from tests.providers.views.test_pages import url

ClientFor = Callable[[User | None], Client]


@pytest.fixture
def admin(client_for: ClientFor, adam: User) -> Client:
    return client_for(adam)


def page_of(provider: str, model: str) -> str:
    return url("model", provider, model=model)


def facts(client: Client, place: str, **changed: Any) -> dict[str, Any]:
    """What the form of the page holds, with some of it changed."""
    form = client.get(place).context["facts_form"]
    sent: dict[str, Any] = {
        f.html_name: f.value() for f in form if f.value() not in (None, False, "")
    }
    sent |= {f"model-{name}": value for name, value in changed.items()}
    return {"act": "facts", **{name: value for name, value in sent.items() if value is not None}}


def test_a_model_without_variants_is_named_once_and_its_options_show_an_example(
    team: Team, admin: Client
) -> None:
    row = make_openai(team)
    actions.pick_models(row, actor=None, models={"mini-1": {"cost": {"input": 1, "output": 2}}})
    assert "variants above" not in admin.get(page_of("openai", "mini-1")).content.decode()
    page = admin.get(url("provider", "openai")).content.decode()
    listed = " ".join(page.split("<legend")[1].split())
    assert '<span>mini-1 <span class="meta">$1.00 in' in listed.split('value="mini-1"')[1]


def test_a_model_is_told_with_all_that_is_known_of_it(team: Team, admin: Client) -> None:
    make_openai(team)
    page = admin.get(page_of("openai", "gpt-5")).content.decode()
    for said in ("openai/gpt-5", "400k tokens", "128k tokens", "text, images", "Aug 7, 2025"):
        assert said in page
    assert "$1.25" in page
    assert "Standard price" in page
    assert "reasoningEffort" in page
    assert "Use as default" in page


def test_a_tier_and_a_price_that_is_not_known_are_told(team: Team, admin: Client) -> None:
    row = make_provider(team)
    tier = {"input": 6, "output": 22, "tier": {"type": "context", "size": 200_000}}
    priced = {"cost": {"input": 3, "output": 15, "tiers": [tier]}}
    actions.pick_models(row, actor=None, models={"dear": priced, "new/one": {}})
    page = admin.get(page_of("own", "dear")).content.decode()
    assert "Prompts over 200k tokens" in page
    assert "$22" in page
    assert "The price is not known." in admin.get(page_of("own", "new/one")).content.decode()


def test_an_unknown_model_is_not_found(team: Team, admin: Client) -> None:
    make_openai(team)
    assert admin.get(page_of("openai", "no-such-model")).status_code == 404


def test_a_change_is_kept_as_what_differs_and_leaves_the_others_on(
    team: Team, admin: Client
) -> None:
    row = make_openai(team)
    place = page_of("openai", "gpt-5")
    before = admin.get(url("provider", "openai")).context["on"]
    sent = facts(admin, place, input_price="1", output_price="2", pdf=None)
    assert admin.post(place, sent).status_code == 302
    row.refresh_from_db()
    override = row.picked["gpt-5"]
    assert (override["cost"]["input"], override["cost"]["output"]) == (1.0, 2.0)
    assert "limit" not in override
    assert "name" not in override
    assert admin.get(url("provider", "openai")).context["on"] == before
    assert "Changed here" in admin.get(place).content.decode()
    entry = AuditEntry.objects.filter(action="provider.updated").latest("pk")
    assert entry.data["model"] == "gpt-5"


def test_a_price_has_the_comma_of_the_language(team: Team, admin: Client) -> None:
    german = {"accept-language": "de"}
    make_openai(team)
    place = page_of("openai", "gpt-5")
    sent = facts(admin, place, input_price="1,5", output_price="0,25")
    assert admin.post(place, sent, headers=german).status_code == 302
    page = admin.get(place, headers=german).content.decode()
    assert '<input type="text" name="model-input_price" value="1,5"' in page


def test_a_price_of_the_cache_can_be_taken_away(team: Team, admin: Client) -> None:
    row = make_openai(team)
    place = page_of("openai", "gpt-5")
    assert admin.post(place, facts(admin, place, cache_read_price=None)).status_code == 302
    row.refresh_from_db()
    assert row.picked["gpt-5"]["cost"] == {"input": 1.25, "output": 10.0, "cache_read": 0.0}
    assert "$0.13" not in admin.get(place).content.decode()


def test_what_a_server_does_not_say_is_entered(team: Team, admin: Client) -> None:
    row = make_provider(team)
    ProviderConfig.objects.filter(pk=row.pk).update(listed={"m1": {"name": "m1"}})
    place = page_of("own", "m1")
    assert "not known" in admin.get(place).content.decode()
    sent = facts(admin, place, context="65536", input_price="0", output_price="0", images="on")
    assert admin.post(place, sent).status_code == 302
    page = admin.get(place).content.decode()
    assert "66k tokens" in page
    assert "text, images" in page
    row.refresh_from_db()
    assert row.picked["m1"]["cost"] == {"input": 0.0, "output": 0.0}


def test_a_wrong_fact_comes_back_with_the_form(team: Team, admin: Client) -> None:
    make_openai(team)
    place = page_of("openai", "gpt-5")
    answer = admin.post(place, facts(admin, place, output_price=None))
    assert answer.status_code == 422
    assert "Enter both prices or neither." in answer.content.decode()


def test_options_are_an_object(team: Team, admin: Client) -> None:
    row = make_openai(team)
    place = page_of("openai", "gpt-5")
    for wrong in ("{", "[1]", "3"):
        answer = admin.post(place, {"act": "options", "options-options": wrong})
        assert answer.status_code == 422
        assert "options-options" in answer.content.decode()
    right = {"act": "options", "options-options": '{"reasoningEffort": "low"}'}
    assert admin.post(place, right).status_code == 302
    row.refresh_from_db()
    assert row.picked["gpt-5"]["options"] == {"reasoningEffort": "low"}
    assert "have no effect" not in admin.get(place).content.decode()
    admin.post(place, {"act": "options", "options-options": '{"noSuchOption": 1}'})
    assert "These options have no effect: noSuchOption." in admin.get(place).content.decode()
    admin.post(place, {"act": "options", "options-options": ""})
    row.refresh_from_db()
    assert row.picked["gpt-5"]["options"] == {}


def test_a_model_is_switched_off_and_on(team: Team, admin: Client) -> None:
    row = make_openai(team)
    place = page_of("openai", "gpt-5")
    admin.post(place, {"act": "off"})
    row.refresh_from_db()
    assert "gpt-5" not in row.picked
    assert "gpt-5-mini" in row.picked
    assert "Turn on" in admin.get(place).content.decode()
    admin.post(place, {"act": "on"})
    row.refresh_from_db()
    assert "gpt-5" in row.picked


def test_the_last_model_stays_on(team: Team, admin: Client) -> None:
    row = make_provider(team)
    actions.pick_models(row, actor=None, models={"m1": {}})
    assert admin.post(page_of("own", "m1"), {"act": "off"}).status_code == 409
    row.refresh_from_db()
    assert row.picked == {"m1": {}}


def test_where_a_model_is_used_is_told(team: Team, admin: Client) -> None:
    make_openai(team)
    team.config = {"model": "openai/gpt-5", "agent": {"build": {"model": "openai/gpt-5"}}}
    team.save()
    place = reverse("sessions:model_uses", kwargs={"team": "acme"})
    assert place in admin.get(page_of("openai", "gpt-5")).content.decode()
    page = admin.get(place, {"model": "openai/gpt-5"}).content.decode()
    assert "of the team" in page
    assert "<dd>build</dd>" in page
    other = admin.get(place, {"model": "openai/gpt-5-mini"}).content.decode()
    assert "<dd>no</dd>" in other


def test_the_models_of_a_team_are_listed_and_searched(
    team: Team, admin: Client, client_for: ClientFor, bob: User
) -> None:
    make_openai(team)
    page = admin.get(url("models"), {"q": "gpt-5 mini"}).content.decode()
    assert f'href="{page_of("openai", "gpt-5-mini")}"' in page
    assert "$0.25 in, $2 out per million tokens" in page
    assert "openai/gpt-4.1<" not in page
    read = client_for(bob).get(url("models"), {"q": "gpt-5 mini"}).content.decode()
    assert "openai/gpt-5-mini" in read
    assert page_of("openai", "gpt-5-mini") not in read
    thinking = admin.get(url("models"), {"q": "gpt-4.1 thinking"}).content.decode()
    assert "No models match" in thinking
    assert "gpt-4.1" in admin.get(url("models"), {"q": "gpt-4.1 images"}).content.decode()
    assert "No models match “zebra”." in admin.get(url("models"), {"q": "zebra"}).content.decode()


def test_the_page_of_a_model_takes_few_queries(
    team: Team, admin: Client, django_assert_max_num_queries: Any
) -> None:
    make_openai(team)
    admin.get(page_of("openai", "gpt-5"))
    with django_assert_max_num_queries(7):
        admin.get(page_of("openai", "gpt-5"))
