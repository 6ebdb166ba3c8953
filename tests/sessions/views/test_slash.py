from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.test import Client

from sessions.models import Project, Session
from teams.commands.acts import ACTS
from teams.models import User

pytestmark = pytest.mark.django_db(transaction=True)
ClientFor = Callable[[User | None], Client]


def suggested(client: Client, project: Project, typed: str, **query: str) -> list[dict[str, str]]:
    answer = client.get(f"/t/acme/p/{project.pk}/mentions", {"q": typed, **query})
    assert answer.status_code == 200, answer.content
    found = re.findall(r'<li [^>]*class="mention"([^>]*)>(.*?)</li>', answer.content.decode())
    return [
        {
            **dict(re.findall(r'data-(insert|act|url)="([^"]*)"', tag)),
            "label": re.findall(r'mention-label mono">([^<]*)<', inner)[0],
            "text": re.sub(r"<[^>]+>", " ", inner),
        }
        for tag, inner in found
    ]


def test_what_acts_on_the_page_can_be_done_from_the_field(
    alice: User, project: Project, session: Session, client_for: ClientFor
) -> None:
    client = client_for(alice)
    acts = ",".join(one.id for one in ACTS)
    found = {one["label"]: one for one in suggested(client, project, "/", acts=acts)}
    assert found["/compact"]["act"] == "compact"
    assert found["/themes"]["url"] == "/me/appearance"
    assert found["/mcps"]["url"] == f"/t/acme/p/{project.pk}/mcp"
    # What begins a message stands between them.
    assert found["/init"]["insert"] == "/init"
    assert "/archive" in found
    assert not any(one["label"] == "/send" for one in found.values())
    # Another name of the same, and what has the letters later in its name.
    assert [one["label"] for one in suggested(client, project, "/sum", acts=acts)] == ["/summarize"]


def test_what_does_not_act_here_says_so_when_it_is_typed(
    alice: User, project: Project, client_for: ClientFor
) -> None:
    client = client_for(alice)
    assert not [one for one in suggested(client, project, "/com") if one["label"] == "/compact"]
    [found] = suggested(client, project, "/compact")
    assert not found.keys() & {"act", "url", "insert"}
    assert "not possible here" in found["text"]


def test_pages_of_admins_are_not_offered_to_members(
    alice: User, bob: User, project: Project, client_for: ClientFor
) -> None:
    assert [one["label"] for one in suggested(client_for(alice), project, "/connect")]
    assert suggested(client_for(bob), project, "/connect") == []


def test_a_command_of_the_project_goes_before_ours(
    alice: User, project: Project, client_for: ClientFor
) -> None:
    project.config = {"command": {"share": {"template": "Tell everybody"}}}
    project.save()
    found = suggested(client_for(alice), project, "/share", acts="share")
    assert [one.get("insert") for one in found if one["label"] == "/share"] == ["/share"]
