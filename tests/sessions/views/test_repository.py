from __future__ import annotations

import html
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from django.test import Client

from sessions.models import ChangeRequest, Project, RepositoryTrust
from sessions.repository.globs import forget_found
from teams.models import Team, User

pytestmark = pytest.mark.django_db
ClientFor = Callable[[User | None], Client]


@pytest.fixture
def url(project: Project) -> str:
    forget_found()
    files = {
        "agent/build.md": "---\npermission: {bash: allow}\nmodel: demo/inline\n---\nDo.\n",
        "command/up.md": "!`date`",
        "tool/add.py": "x = 1\n",
        "tool/part.json": "{}",
        "agent/broken.md": "---\nmode: boss\n---\n",
        "skills/x/SKILL.md": "---\nname: release\n---\nTag.\n",
    }
    for path, text in files.items():
        file = Path(project.directory, ".opencode", path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return f"/t/acme/p/{project.pk}/repository"


def read(client: Client, url: str) -> str:
    page = html.unescape(client.get(url).content.decode())
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))


def digest(client: Client, url: str) -> str:
    found = re.search(r'name="digest" value="(\w{64})"', client.get(url).content.decode())
    assert found
    return found[1]


def test_the_page_says_what_is_there_and_what_it_would_do(
    project: Project, url: str, adam: User, client_for: ClientFor
) -> None:
    text = read(client_for(adam), url)
    assert "Not trusted: tools are not offered" in text
    assert (
        "Agent build · once trusted, it may change the built-in agent build; allow bash: *; "
        "use the model demo/inline" in text
    )
    assert "Command up · once trusted, it may run its shell parts" in text
    assert "Tool add · once trusted, it may be offered to agents" in text
    assert ".opencode/tool/part.json Beside tools" in text
    assert ".opencode/agent/broken.md mode: Input should be" in text
    assert "release" in text


def test_an_admin_trusts_and_withdraws(
    project: Project, url: str, adam: User, client_for: ClientFor
) -> None:
    browser = client_for(adam)
    answer = browser.post(f"{url}/trust", {"digest": digest(browser, url)})
    assert answer["Location"] == url
    assert "Trusted by Adam" in read(browser, url)
    Path(project.directory, ".opencode/command/up.md").write_text("!`id`")
    Path(project.directory, ".opencode/tool/part.json").unlink()
    text = read(browser, url)
    assert "The files have changed since Adam trusted them" in text
    assert "changed" in text
    assert ".opencode/tool/part.json missing" in text
    assert browser.post(f"{url}/trust", {"digest": "0" * 64}).status_code == 409
    assert browser.post(f"{url}/withdraw")["Location"] == url
    assert not RepositoryTrust.objects.exists()


def test_agents_of_the_api_say_what_is_ignored(
    project: Project, url: str, adam: User, client_for: ClientFor
) -> None:
    browser = client_for(adam)
    listed = browser.get("/agent", {"directory": project.directory}).json()
    build = next(agent for agent in listed if agent["name"] == "build")
    path = ".opencode/agent/build.md"
    ignored = [f"{path}: changes to this agent"]
    assert build["repository"] == {"path": path, "ignoredUntilTrusted": ignored}
    assert all("repository" not in agent for agent in listed if agent["name"] != "build")


def test_a_second_person_approves_trust_where_rules_need_it(
    client_for: Callable[[User | None], Client], alice: User, adam: User, url: str, project: Project
) -> None:
    Team.objects.update(needs_approval=["rules"])
    browser = client_for(adam)
    browser.post(f"{url}/trust", {"digest": digest(browser, url)})
    row = ChangeRequest.objects.get()
    assert (row.what, row.asker, row.status) == ("trust.repository", adam, "pending")
    assert not RepositoryTrust.objects.exists()
    page = client_for(alice).get("/t/acme/settings/approvals").content.decode()
    assert "Trust the agent files of the project" in page
    assert ".opencode/" in page
    decide = f"/t/acme/settings/approvals/{row.pk}"
    assert browser.post(decide, {"act": "approve"}).status_code == 403
    client_for(alice).post(decide, {"act": "approve"})
    assert RepositoryTrust.objects.get().trusted_by == adam
