from __future__ import annotations

from datetime import UTC, datetime

import httpx
import pytest

from providers.llm.sign_in import Grant
from providers.llm.sign_in.errors import BadInput, SignedOut, SignInError, Unavailable
from providers.llm.sign_in.gitlab import GitLab
from tests.providers.llm.sign_in.test_pages import Case
from tests.providers.llm.sign_in.vendors import GitLabServer

INSTANCE = "https://git.acme.example"


def case(lifetime_s: float = 7_200) -> Case:
    sign_in = GitLab("client-of-acme", instance=INSTANCE)
    return Case(GitLabServer(lifetime_s), sign_in, {})


def revealed(grant: Grant) -> dict[str, str]:
    return {name: secret.reveal() for name, secret in grant.secrets.items()}


async def test_gitlab_leads_back_to_the_caller_and_says_who_came() -> None:
    here = case()
    grant = await here.grant()
    assert grant.account == "carol"
    assert grant.connection == {"instanceUrl": "https://git.acme.example"}


async def test_a_refresh_token_never_goes_to_another_gitlab() -> None:
    here = case(200)
    grant = await here.grant()
    here.server.requests.clear()
    other = GitLab("client-of-acme", instance="https://gitlab.com")
    with pytest.raises(SignedOut):
        await other.refresh(grant, here.http)
    assert not here.server.requests


def test_without_an_application_gitlab_has_no_page() -> None:
    assert [method.id for method in GitLab().methods] == ["key"]


def test_what_is_no_address_of_a_gitlab_is_named(subtests: pytest.Subtests) -> None:
    for address in [
        "http://gitlab.com",
        "https://",
        "https://a@b.example",
        "https://b.example?x",
        "gitlab.com",
    ]:
        with subtests.test(address=address):
            with pytest.raises(BadInput) as caught:
                GitLab().with_key("key", {"instanceUrl": address}, "glpat-1")
            assert set(caught.value.faults) == {"instanceUrl"}


async def test_a_grant_has_what_the_gateway_is_called_with_and_nothing_more() -> None:
    grant = await case().grant()
    assert revealed(grant) == {
        "duoToken": "duo-1",
        "x-gitlab-realm": "saas",
        "x-gitlab-instance-id": "inst-1",
    }
    assert not grant.api_key
    assert grant.is_due(datetime.now(UTC), 1_500)
    assert not grant.is_due(datetime.now(UTC), 1_400)


async def test_tokens_of_the_gateway_are_renewed_without_spending_a_refresh_token() -> None:
    here = case()
    grant = await here.grant()
    new = await here.sign_in.refresh(grant, here.http)
    assert revealed(new)["duoToken"] == "duo-2"
    assert (new.access, new.refresh) == (grant.access, grant.refresh)


async def test_a_refresh_token_that_was_given_is_kept_whatever_comes_then() -> None:
    here = case(200)
    grant = await here.grant()
    assert isinstance(here.server, GitLabServer)
    here.server.duo_status = 403
    new = await here.sign_in.refresh(grant, here.http)
    assert new.refresh != grant.refresh
    assert revealed(new)["duoToken"] == "duo-1"
    assert new.is_due(datetime.now(UTC), 0)
    here.server.duo_status = 201
    newest = await here.sign_in.refresh(new, here.http)
    assert revealed(newest)["duoToken"] == "duo-2"


@pytest.mark.parametrize("status", [403, 404])
async def test_an_account_without_duo_is_told_so(status: int) -> None:
    here = case()
    assert isinstance(here.server, GitLabServer)
    here.server.duo_status = status
    with pytest.raises(SignInError, match="cannot use GitLab Duo") as caught:
        await here.grant()
    assert "secret words" not in str(caught.value)


async def test_a_personal_access_token_is_exchanged_before_it_is_used() -> None:
    here = case()
    grant = here.sign_in.with_key("key", {"instanceUrl": INSTANCE}, "glpat-1")
    assert grant.is_due(datetime.now(UTC), 0)
    new = await here.sign_in.refresh(grant, here.http)
    assert revealed(new)["duoToken"] == "duo-1"
    assert new.access == grant.access
    assert revealed(await here.sign_in.refresh(new, here.http))["duoToken"] == "duo-2"


async def test_a_token_that_gitlab_takes_no_more_ends_it() -> None:
    here = case()
    grant = here.sign_in.with_key("key", {"instanceUrl": INSTANCE}, "glpat-2")
    with pytest.raises(SignedOut):
        await here.sign_in.refresh(grant, here.http)


async def test_a_gitlab_that_is_down_ends_nothing() -> None:
    here = case()
    grant = await here.grant()
    here.server.outage = httpx.Response(502)
    with pytest.raises(Unavailable):
        await here.sign_in.refresh(grant, here.http)


async def test_a_token_of_any_instance_can_be_given_up() -> None:
    here = case()
    grant = GitLab().with_key("key", {"instanceUrl": "https://other.example"}, "glpat-1")
    await here.sign_in.revoke(grant, here.http)
    assert not here.server.requests
