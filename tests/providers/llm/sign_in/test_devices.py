"""Flows in which a person enters a code on another page, and this side asks until they have."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from providers.llm.secret import Secret
from providers.llm.sign_in import Begun, Grant, Http, Pending, SignIn, methods_of
from providers.llm.sign_in.errors import BadInput, Denied, Expired, SignInError, Unavailable
from tests.providers.llm.sign_in.authorization import Authorization
from tests.providers.llm.sign_in.test_pages import known
from tests.providers.llm.sign_in.vendors import GitHubServer, OpenAIServer, XAIServer

ENTERPRISE = {"deploymentType": "enterprise", "enterpriseUrl": "https://Acme.ghe.com/"}


@dataclass
class Case:
    server: Authorization
    sign_in: SignIn
    inputs: dict[str, str]

    @property
    def http(self) -> Http:
        return Http(self.server)

    async def begin(self) -> Begun:
        return await self.sign_in.begin("device", self.inputs, self.http)

    async def poll(self, state: Any, *, after_s: float = 5) -> Grant | Pending:
        self.server.clock += after_s
        return await self.sign_in.poll(state, self.http, datetime.now(UTC))


CASES: dict[str, Callable[[], Case]] = {
    "github": lambda: Case(GitHubServer(), known("github-copilot"), {}),
    "enterprise": lambda: Case(
        GitHubServer("acme.ghe.com", "https://api.acme.ghe.com/user"),
        known("github-copilot"),
        ENTERPRISE,
    ),
    "xai": lambda: Case(XAIServer(), known("xai"), {}),
    "openai": lambda: Case(OpenAIServer(), known("openai"), {}),
}


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest) -> Case:
    return CASES[request.param]()


def of(*names: str) -> Any:
    return pytest.mark.parametrize("case", [pytest.param(CASES[n](), id=n) for n in names])


async def test_feat3_fr_04_a_code_that_is_entered_becomes_a_grant(case: Case) -> None:
    begun = await case.begin()
    assert begun.url.startswith(f"https://{case.server.facts.host}/")
    assert begun.interval_s == 8
    waiting = await case.poll(begun.state)
    assert isinstance(waiting, Pending)
    assert waiting.interval_s == 8
    case.server.enter(begun.user_code, is_allowed=True)
    grant = await case.poll(waiting.state)
    assert isinstance(grant, Grant)
    assert grant.access


@of("github", "enterprise", "xai")
async def test_who_asks_too_soon_is_told_to_wait_longer_each_time(case: Case) -> None:
    begun = await case.begin()
    slower = await case.poll(begun.state, after_s=1)
    assert isinstance(slower, Pending)
    assert slower.interval_s == 13
    slowest = await case.poll(slower.state, after_s=1)
    assert isinstance(slowest, Pending)
    assert slowest.interval_s == 18
    case.server.enter(begun.user_code, is_allowed=True)
    assert isinstance(await case.poll(slowest.state, after_s=slowest.interval_s), Grant)


async def test_a_code_that_nobody_can_type_is_refused(case: Case) -> None:
    case.server.numbers = itertools.count(10**40)
    with pytest.raises(Unavailable):
        await case.begin()


async def test_a_person_may_say_no(case: Case) -> None:
    begun = await case.begin()
    case.server.enter(begun.user_code, is_allowed=False)
    with pytest.raises(Denied) as caught:
        await case.poll(begun.state)
    assert "secret words" not in str(caught.value)


@of("github", "enterprise", "xai")
async def test_a_code_that_the_vendor_no_longer_knows_has_expired(case: Case) -> None:
    begun = await case.begin()
    case.server.devices[begun.user_code].is_expired = True
    with pytest.raises(Expired):
        await case.poll(begun.state)


async def test_an_attempt_ends_without_asking(case: Case) -> None:
    begun = await case.begin()
    case.server.requests.clear()
    late = datetime.now(UTC) + timedelta(seconds=begun.expires_in_s)
    with pytest.raises(Expired):
        await case.sign_in.poll(begun.state, case.http, late)
    assert not case.server.requests


@pytest.mark.parametrize("outage", [httpx.Response(502), httpx.ConnectTimeout("slow")])
async def test_a_vendor_that_is_down_can_be_asked_again(case: Case, outage: Any) -> None:
    begun = await case.begin()
    case.server.enter(begun.user_code, is_allowed=True)
    case.server.outage = outage
    with pytest.raises(Unavailable):
        await case.poll(begun.state)
    case.server.outage = None
    assert isinstance(await case.poll(begun.state), Grant)


async def test_a_vendor_that_is_down_begins_nothing(case: Case) -> None:
    case.server.outage = httpx.Response(500)
    with pytest.raises(Unavailable):
        await case.begin()


async def test_copilot_says_who_came_and_never_ends() -> None:
    case = CASES["github"]()
    begun = await case.begin()
    case.server.enter(begun.user_code, is_allowed=True)
    grant = await case.poll(begun.state)
    assert isinstance(grant, Grant)
    assert grant == Grant(Secret("gho_1"), account="octocat")
    assert await case.sign_in.refresh(grant, case.http) is grant
    assert case.sign_in.revoke_page.startswith("https://github.com/")


async def test_an_enterprise_has_models_of_its_own() -> None:
    case = CASES["enterprise"]()
    begun = await case.begin()
    case.server.enter(begun.user_code, is_allowed=True)
    grant = await case.poll(begun.state)
    assert isinstance(grant, Grant)
    assert grant.base_url == "https://copilot-api.acme.ghe.com"
    assert grant.connection == {"enterpriseUrl": "acme.ghe.com"}
    assert grant.account == "octocat"


async def test_a_self_hosted_github_is_asked_below_its_own_address() -> None:
    server = GitHubServer("git.acme.example", "https://git.acme.example/api/v3/user")
    case = Case(
        server, known("github-copilot"), {**ENTERPRISE, "enterpriseUrl": "git.acme.example"}
    )
    begun = await case.begin()
    server.enter(begun.user_code, is_allowed=True)
    grant = await case.poll(begun.state)
    assert isinstance(grant, Grant)
    assert grant.account == "octocat"


async def test_a_name_that_cannot_be_asked_for_costs_nothing() -> None:
    case = Case(GitHubServer(api="https://elsewhere.example/"), known("github-copilot"), {})
    begun = await case.begin()
    case.server.enter(begun.user_code, is_allowed=True)
    grant = await case.poll(begun.state)
    assert isinstance(grant, Grant)
    assert grant.account == ""


async def test_what_is_no_domain_of_an_enterprise_is_named(subtests: pytest.Subtests) -> None:
    cases = [
        "",
        "localhost",
        "10.0.0.1",
        "http://a.example",
        "a.example:8443",
        "a.example/x",
        "[::1]",
        "a@b.example",
        "a.example#",
        "-a.example",
        "a..example",
    ]
    for domain in cases:
        with subtests.test(domain=domain):
            case = Case(
                GitHubServer(), known("github-copilot"), {**ENTERPRISE, "enterpriseUrl": domain}
            )
            with pytest.raises(BadInput) as caught:
                await case.begin()
            assert set(caught.value.faults) == {"enterpriseUrl"}
            assert not case.server.requests


async def test_a_choice_that_is_not_offered_is_named() -> None:
    case = Case(GitHubServer(), known("github-copilot"), {"deploymentType": "mine"})
    with pytest.raises(BadInput) as caught:
        await case.begin()
    assert set(caught.value.faults) == {"deploymentType"}


async def test_a_page_that_is_not_safe_to_open_is_not_shown() -> None:
    class Odd(GitHubServer):
        def on_device(self, form: dict[str, Any]) -> tuple[int, dict[str, Any]]:
            status, answer = super().on_device(form)
            return status, {**answer, "verification_uri": "javascript:alert(1)"}

    with pytest.raises(SignInError):
        await Case(Odd(), known("github-copilot"), {}).begin()


async def test_each_kind_of_method_is_finished_in_its_own_way() -> None:
    case = CASES["xai"]()
    device, page = await case.begin(), await case.sign_in.begin("browser", {}, case.http)
    with pytest.raises(SignInError):
        await case.sign_in.finish(device.state, "code", case.http)
    with pytest.raises(SignInError):
        await case.poll(page.state)
    for method in ("key", "nothing"):
        with pytest.raises(SignInError):
            await case.sign_in.begin(method, {}, case.http)


def test_the_methods_of_a_provider_are_listed() -> None:
    assert [method.kind for method in methods_of("openai")] == ["code", "device", "key"]
    assert methods_of("nobody") == ()
