from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from providers.llm.sign_in import register_sign_in, sign_in_of
from providers.llm.sign_in.gitlab import GitLab
from providers.models import Credential, SignInAttempt
from providers.sign_ins import begin_sign_in, return_uri
from teams.models import Team, User
from tests.providers.llm.sign_in.authorization import Facts
from tests.providers.llm.sign_in.vendors import GITLAB, GitLabServer

pytestmark = pytest.mark.django_db


@pytest.fixture
def gitlab(internet: dict[str, Any]) -> Iterator[GitLabServer]:
    """Where operators have registered an application that leads back to this server."""
    server = GitLabServer()
    server.facts = Facts(**{**vars(GITLAB), "redirect_uri": return_uri()})
    internet["git.acme.example"] = server
    usual = sign_in_of("gitlab")
    assert usual is not None
    register_sign_in(GitLab("client-of-acme", instance="https://git.acme.example"))
    yield server
    register_sign_in(usual)


def begin(team: Team, user: User) -> SignInAttempt:
    return begin_sign_in(team, "gitlab", "browser", {}, actor=user, redirect_uri=return_uri())


def path_of(address: str) -> str:
    return address.removeprefix(return_uri().removesuffix("/sign-in/return"))


def test_the_browser_comes_back_and_is_signed_in(
    client: Client, alice: User, team: Team, gitlab: GitLabServer
) -> None:
    client.force_login(alice)
    attempt = begin(team, alice)
    answer = client.get(path_of(gitlab.allow(attempt.url)))
    assert answer.status_code == 302
    assert answer["Location"] == f"/t/{team.slug}/settings/models/sign-ins/{attempt.pk}"
    credential = Credential.objects.get()
    assert (credential.account, credential.provider.team) == ("carol", team)


def test_who_is_denied_reads_so(
    client: Client, alice: User, team: Team, gitlab: GitLabServer
) -> None:
    client.force_login(alice)
    answer = client.get(path_of(gitlab.deny(begin(team, alice).url)), follow=True)
    assert "provider denied" in answer.content.decode()
    assert not Credential.objects.exists()


def test_another_person_cannot_end_it(
    client: Client, alice: User, bob: User, team: Team, gitlab: GitLabServer
) -> None:
    address = path_of(gitlab.allow(begin(team, alice).url))
    client.force_login(bob)
    answer = client.get(address, follow=True)
    assert "was not started here" in answer.content.decode()
    assert not Credential.objects.exists()
