"""Flows that end in an address or a code that a person brings back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from providers.llm.json import JsonObject
from providers.llm.secret import Secret
from providers.llm.sign_in import Begun, Grant, Http, SignIn, sign_in_of
from providers.llm.sign_in.errors import (
    BadCode,
    BadInput,
    Denied,
    Expired,
    SignedOut,
    SignInError,
    Unavailable,
)
from providers.llm.sign_in.gitlab import GitLab
from tests.providers.llm.sign_in.authorization import Authorization
from tests.providers.llm.sign_in.vendors import (
    GitLabServer,
    OpenAIServer,
    PoeServer,
    SnowflakeServer,
    XAIServer,
)


def known(provider_id: str) -> SignIn:
    found = sign_in_of(provider_id)
    assert found is not None
    return found


@dataclass
class Case:
    """A vendor's server, how it is signed in to, and the answers to the prompts."""

    server: Authorization
    sign_in: SignIn
    inputs: dict[str, str]

    @property
    def http(self) -> Http:
        return Http(self.server)

    async def begin(self) -> Begun:
        uri = "https://code.acme.example/back"
        return await self.sign_in.begin("browser", self.inputs, self.http, redirect_uri=uri)

    async def grant(self) -> Grant:
        begun = await self.begin()
        return await self.sign_in.finish(begun.state, self.server.allow(begun.url), self.http)


ACCOUNT = {"account": "myorg-my_account"}
CASES: dict[str, Callable[[], Case]] = {
    "openai": lambda: Case(OpenAIServer(), known("openai"), {}),
    "xai": lambda: Case(XAIServer(), known("xai"), {}),
    "gitlab": lambda: Case(
        GitLabServer(200), GitLab("client-of-acme", instance="https://git.acme.example/"), {}
    ),
    "poe": lambda: Case(PoeServer(), known("poe"), {}),
    "snowflake-cortex": lambda: Case(SnowflakeServer(), known("snowflake-cortex"), ACCOUNT),
}
REFRESHED = ["openai", "xai", "gitlab", "snowflake-cortex"]
REVOKED = ["openai", "xai", "gitlab"]


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest) -> Case:
    return CASES[request.param]()


def of(*names: str) -> Any:
    return pytest.mark.parametrize("case", [pytest.param(CASES[n](), id=n) for n in names])


async def test_feat3_fr_04_an_address_that_is_pasted_becomes_a_grant(case: Case) -> None:
    begun = await case.begin()
    grant = await case.sign_in.finish(begun.state, case.server.allow(begun.url), case.http)
    assert grant.access
    assert grant.expires_at is not None
    assert grant.expires_at > datetime.now(UTC) + timedelta(seconds=300)
    assert begun.redirect_uri == case.server.facts.redirect_uri


async def test_a_code_alone_and_a_code_with_its_state_are_taken_too(case: Case) -> None:
    for form in ("{code}", "{code}#{state}", "  {code}\n", "localhost/?code={code}&state={state}"):
        begun = await case.begin()
        query = httpx.URL(case.server.allow(begun.url)).params
        pasted = form.format(code=query["code"], state=query["state"])
        assert (await case.sign_in.finish(begun.state, pasted, case.http)).access


async def test_an_address_of_another_attempt_is_refused(case: Case) -> None:
    first, second = await case.begin(), await case.begin()
    theirs = case.server.allow(first.url)
    with pytest.raises(BadCode, match="another sign-in"):
        await case.sign_in.finish(second.state, theirs, case.http)
    code, state = (httpx.URL(theirs).params[name] for name in ("code", "state"))
    with pytest.raises(BadCode, match="another sign-in"):
        await case.sign_in.finish(second.state, f"{code}#{state}", case.http)
    assert not case.server.requests


async def test_an_address_without_a_state_is_refused(case: Case) -> None:
    begun = await case.begin()
    bare = case.server.allow(begun.url).partition("&state=")[0]
    with pytest.raises(BadCode):
        await case.sign_in.finish(begun.state, bare, case.http)


async def test_what_is_no_address_and_no_code_is_refused(subtests: pytest.Subtests) -> None:
    for pasted in ["", "   ", "two words", "https://", "ftp://a/?code=1", "x" * 20_000]:
        with subtests.test(pasted=pasted):
            case = CASES["openai"]()
            begun = await case.begin()
            with pytest.raises(BadCode):
                await case.sign_in.finish(begun.state, pasted, case.http)
            assert not case.server.requests


async def test_of_two_codes_none_is_believed() -> None:
    case = CASES["openai"]()
    begun = await case.begin()
    with pytest.raises(BadCode):
        await case.sign_in.finish(begun.state, f"{case.server.allow(begun.url)}&code=2", case.http)


async def test_a_code_counts_once(case: Case) -> None:
    begun = await case.begin()
    address = case.server.allow(begun.url)
    await case.sign_in.finish(begun.state, address, case.http)
    with pytest.raises(BadCode) as caught:
        await case.sign_in.finish(begun.state, address, case.http)
    assert "secret words" not in str(caught.value)


async def test_a_code_of_another_browser_is_of_no_use(case: Case) -> None:
    theirs, mine = await case.begin(), await case.begin()
    code = httpx.URL(case.server.allow(theirs.url)).params["code"]
    with pytest.raises(BadCode):
        await case.sign_in.finish(mine.state, code, case.http)


async def test_a_person_may_say_no(case: Case) -> None:
    begun = await case.begin()
    with pytest.raises(Denied):
        await case.sign_in.finish(begun.state, case.server.deny(begun.url), case.http)


async def test_another_error_of_the_page_is_not_repeated(case: Case) -> None:
    begun = await case.begin()
    page = f"{begun.redirect_uri}?error=server_error&error_description=<b>&state="
    with pytest.raises(SignInError) as caught:
        await case.sign_in.finish(begun.state, page + str(begun.state["nonce"]), case.http)
    assert "<b>" not in str(caught.value)


async def test_an_attempt_ends(case: Case) -> None:
    begun = await case.begin()
    state: JsonObject = {**begun.state, "expires_at": datetime.now(UTC).timestamp() - 1}
    with pytest.raises(Expired):
        await case.sign_in.finish(state, case.server.allow(begun.url), case.http)


async def test_a_vendor_that_is_down_can_be_asked_again(subtests: pytest.Subtests) -> None:
    cases = [
        httpx.Response(503, text="sorry, access-1"),
        httpx.Response(429),
        httpx.Response(302, headers={"location": "https://evil.example/"}),
        httpx.Response(200, text="<html>"),
        httpx.Response(200, text='{"access_token": ' + '"x' * 70_000),
        httpx.ConnectError("no route to 10.0.0.1"),
        httpx.ReadTimeout("slow"),
    ]
    for outage in cases:
        with subtests.test(outage=outage):
            case = CASES["xai"]()
            begun = await case.begin()
            address = case.server.allow(begun.url)
            case.server.outage = outage
            with pytest.raises(Unavailable) as caught:
                await case.sign_in.finish(begun.state, address, case.http)
            assert "10.0.0.1" not in str(caught.value)
            assert "access-1" not in str(caught.value)
            assert len(case.server.requests) == 1
            case.server.outage = None
            assert (await case.sign_in.finish(begun.state, address, case.http)).access


async def test_nothing_secret_is_printed(case: Case) -> None:
    begun = await case.begin()
    grant = await case.sign_in.finish(begun.state, case.server.allow(begun.url), case.http)
    assert str(begun.state["verifier"]) not in repr(begun)
    assert grant.access.reveal() not in repr(grant)
    assert grant.refresh is None or grant.refresh.reveal() not in repr(grant)


@of(*REFRESHED)
async def test_a_grant_is_refreshed_and_stays_whose_it_is(case: Case) -> None:
    grant = await case.grant()
    new = await case.sign_in.refresh(grant, case.http)
    assert new.access != grant.access
    assert (new.account, new.connection, new.base_url) == (
        grant.account,
        grant.connection,
        grant.base_url,
    )
    assert (new.refresh != grant.refresh) == case.server.facts.rotates
    assert (await case.sign_in.refresh(new, case.http)).access


@of("openai", "xai", "gitlab")
async def test_a_refresh_token_that_was_used_ends_the_sign_in(case: Case) -> None:
    grant = await case.grant()
    await case.sign_in.refresh(grant, case.http)
    with pytest.raises(SignedOut) as caught:
        await case.sign_in.refresh(grant, case.http)
    assert "secret words" not in str(caught.value)


@of(*REFRESHED)
async def test_a_refresh_while_the_vendor_is_down_ends_nothing(case: Case) -> None:
    grant = await case.grant()
    case.server.outage = httpx.Response(500)
    with pytest.raises(Unavailable):
        await case.sign_in.refresh(grant, case.http)
    case.server.outage = None
    assert (await case.sign_in.refresh(grant, case.http)).access


@of(*REVOKED)
async def test_a_grant_is_revoked_and_cannot_be_refreshed_then(case: Case) -> None:
    grant = await case.grant()
    await case.sign_in.revoke(grant, case.http)
    assert grant.refresh is not None
    assert case.server.revoked == {grant.refresh.reveal()}
    with pytest.raises(SignedOut):
        await case.sign_in.refresh(grant, case.http)


@of(*REVOKED)
async def test_a_revocation_that_fails_is_said(case: Case) -> None:
    grant = await case.grant()
    case.server.outage = httpx.Response(503)
    with pytest.raises(Unavailable):
        await case.sign_in.revoke(grant, case.http)


async def test_openai_says_which_account_pays() -> None:
    grant = await CASES["openai"]().grant()
    assert grant.connection == {"chatgpt_account": "acct-1"}
    assert grant.account == "alice@example.com"
    assert grant.base_url == "https://chatgpt.com/backend-api/codex"


@pytest.mark.parametrize(
    "claims",
    [
        {"chatgpt_account_id": "acct-2"},
        {"organizations": [{"id": "acct-2"}, {"id": "acct-3"}]},
        {"https://api.openai.com/auth": {"chatgpt_account_id": "acct-2"}, "organizations": []},
    ],
)
async def test_the_account_is_found_wherever_a_token_has_it(claims: dict[str, Any]) -> None:
    case = CASES["openai"]()
    case.server.claims = claims  # type: ignore[attr-defined]
    assert (await case.grant()).connection == {"chatgpt_account": "acct-2"}


async def test_xai_ends_when_its_token_says() -> None:
    grant = await CASES["xai"]().grant()
    assert grant.expires_at == datetime(2100, 1, 1, tzinfo=UTC)
    assert grant.account == "bob@example.com"


async def test_poe_gives_a_key_that_ends_for_good() -> None:
    case = CASES["poe"]()
    grant = await case.grant()
    assert grant.access.reveal().startswith("poe-")
    assert grant.refresh is None
    with pytest.raises(SignedOut):
        await case.sign_in.refresh(grant, case.http)


async def test_a_key_of_poe_may_have_no_end() -> None:
    grant = await Case(PoeServer(None), known("poe"), {}).grant()
    assert grant.expires_at is None
    assert not grant.is_due(datetime.now(UTC), 1e9)


@pytest.mark.parametrize(
    ("role", "scope"),
    [
        ("", "refresh_token"),
        ("ANALYST-1", "refresh_token session:role:ANALYST-1"),
        ("My Role/2", "refresh_token session:role-encoded:My%20Role%2F2"),
    ],
)
async def test_snowflake_is_asked_for_a_role(role: str, scope: str) -> None:
    case = Case(SnowflakeServer(scope), known("snowflake-cortex"), {**ACCOUNT, "role": role})
    grant = await case.grant()
    assert grant.account == "DAVE (myorg-my_account)"
    assert grant.connection["account"] == "myorg-my_account"
    assert grant.base_url == "https://myorg-my_account.snowflakecomputing.com/api/v2/cortex/v1"
    new = await case.sign_in.refresh(grant, case.http)
    assert new.refresh == grant.refresh


async def test_snowflake_must_give_a_refresh_token() -> None:
    class Forgetful(SnowflakeServer):
        def tokens(self) -> dict[str, Any]:
            return {**super().tokens(), "refresh_token": None}

    case = Case(Forgetful(), known("snowflake-cortex"), ACCOUNT)
    with pytest.raises(SignInError, match="not issue a refresh token"):
        await case.grant()


async def test_what_is_no_account_of_snowflake_is_named(subtests: pytest.Subtests) -> None:
    for account in ["", "evil.example/", "a@b", "-a", "a b", "a."]:
        with subtests.test(account=account):
            case = Case(SnowflakeServer(), known("snowflake-cortex"), {"account": account})
            with pytest.raises(BadInput) as caught:
                await case.begin()
            assert set(caught.value.faults) == {"account"}


async def test_a_client_that_is_refused_is_no_fault_of_the_code() -> None:
    case = CASES["openai"]()
    begun = await case.begin()
    address = case.server.allow(begun.url)
    case.server.facts = replace(case.server.facts, client_id="another")
    with pytest.raises(SignInError) as caught:
        await case.sign_in.finish(begun.state, address, case.http)
    assert type(caught.value) is SignInError


async def test_a_pasted_key_is_a_grant_of_its_own() -> None:
    grant = known("openai").with_key("key", {}, "  sk-1\n")
    assert grant.access == Secret("sk-1")
    assert not grant.connection
    assert await known("openai").refresh(grant, Http(OpenAIServer())) is grant
    with pytest.raises(BadInput):
        known("openai").with_key("key", {}, "  ")
