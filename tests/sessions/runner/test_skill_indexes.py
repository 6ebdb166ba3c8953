from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from opencode_web.lib.db import in_db
from opencode_web.lib.outbound import NO_ANSWER, FetchError
from providers.llm.messages import ProviderRequest
from sessions.models import Project, Session, SkillIndex, TeamSkill
from sessions.runner import run_session
from sessions.runner.offers import skill_fetch
from sessions.skills import project_skills
from teams.models import User
from tests.sessions.factories import prompt, script
from tests.sessions.runner.drains import drain, parts_of

pytestmark = pytest.mark.any_database

BASE = "https://skills.example.com/team"
HEAD = "---\nname: {}\ndescription: {}\n---\n"


class Web:
    def __init__(self) -> None:
        self.asked: list[str] = []
        self.texts: dict[str, str] = {}

    def index(self, *skills: Any) -> None:
        self.texts[f"{BASE}/index.json"] = json.dumps({"skills": skills})

    def skill(self, name: str, text: str) -> None:
        self.texts[f"{BASE}/{name}/SKILL.md"] = text

    async def __call__(self, url: str, *, max_bytes: int, **_more: object) -> tuple[str, bool]:
        self.asked.append(url)
        if url not in self.texts:
            raise FetchError("the server answered 404")
        text = self.texts[url]
        return text[:max_bytes], len(text) > max_bytes


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch, project: Project) -> Web:
    web = Web()
    monkeypatch.setattr(skill_fetch, "fetch_text", web)
    web.index({"name": "release", "files": ["SKILL.md", "notes/how to.md"], "version": "1"})
    web.skill("release", HEAD.format("release", "How to release") + "Tag it.")
    # What stands behind the mark is not asked with, and shown to nobody.
    project.config = {"skills": {"urls": [f"{BASE}/?key=secret"]}}
    project.save()
    return web


async def ask(user: User, session: Session, *steps: list[dict[str, Any]]) -> None:
    await in_db(prompt, user, session, script(*steps, [{"text": "ok"}]))
    await run_session(session.pk)
    await drain(session)
    assert session.outcome == "done", session.outcome_detail


async def test_skills_behind_an_address_are_listed_and_loaded(
    alice: User, session: Session, web: Web, requests: list[ProviderRequest]
) -> None:
    load = {"tool": "skill", "input": {"name": "release"}}
    await ask(alice, session, [load])
    assert f"release: How to release (in {BASE}/release/SKILL.md)" in "".join(requests[0].system)
    (state,) = [part["state"] for part in await in_db(parts_of, session, "tool")]
    assert "Tag it." in state["output"]
    assert f"- {BASE}/release/notes/how%20to.md" in state["output"]
    assert "Base directory" not in state["output"]
    # It counts for an hour, also after a restart.
    await ask(alice, session)
    assert web.asked == [f"{BASE}/index.json", f"{BASE}/release/SKILL.md"]


async def test_a_change_is_told_once_it_is_read_and_a_failure_keeps_what_was(
    alice: User, session: Session, web: Web, requests: list[ProviderRequest]
) -> None:
    await ask(alice, session)
    web.skill("release", HEAD.format("release", "How to publish") + "Sign it.")
    await in_db(age)
    await ask(alice, session)
    assert "release: How to publish" in str(requests[-1])
    web.texts.clear()
    await in_db(age)
    await ask(alice, session)
    row = await in_db(SkillIndex.objects.get)
    assert row.problems == ["It cannot be read: the server answered 404."]
    assert row.skills[0]["text"].startswith("Sign it.")
    asked = len(web.asked)
    await ask(alice, session)
    assert len(web.asked) == asked


def age() -> None:
    for row in SkillIndex.objects.all():
        row.tried_at -= timedelta(hours=2)
        row.save()


@pytest.mark.parametrize(
    ("index", "said"),
    [
        ("no JSON", "It cannot be read: its index is not of the form"),
        ("[" * 100_000, "It cannot be read: its index is not of the form"),
        ('{"skills": 1}', "It cannot be read: its index is not of the form"),
        ("x" * 300_000, "It cannot be read: its index has more than"),
        (json.dumps({"skills": [{"name": "../up", "files": ["SKILL.md"]}]}), "'../up' has no name"),
        (json.dumps({"skills": [{"name": "a/b", "files": ["SKILL.md"]}]}), "'a/b' has no name"),
        (json.dumps({"skills": [{"name": "x", "files": ["a.md"]}]}), "'x' has no name"),
        (
            json.dumps({"skills": [{"name": "gone", "files": ["SKILL.md"]}]}),
            "gone cannot be read: the server answered 404.",
        ),
    ],
)
async def test_what_is_wrong_is_said_where_skills_are_shown(
    alice: User, session: Session, project: Project, web: Web, index: str, said: str
) -> None:
    web.texts[f"{BASE}/index.json"] = index
    await ask(alice, session)
    assert not [url for url in web.asked if ".." in url or "/a/" in url]
    found = await in_db(project_skills, project)
    assert found.skills == {}
    (problem,) = found.problems
    assert problem.path == BASE
    assert said in problem.reason


async def test_a_large_index_and_a_large_text_are_cut(
    alice: User, session: Session, project: Project, web: Web
) -> None:
    web.index(*({"name": f"s{n}", "files": ["SKILL.md"]} for n in range(40)))
    for number in range(40):
        web.skill(f"s{number}", "y" * 100_000)
    await ask(alice, session)
    found = await in_db(project_skills, project)
    assert len(found.skills) == 32
    assert "Cut here" in found.skills["s0"].text
    assert found.problems[0].reason == "It has more than 32 skills."


async def test_the_team_counts_before_the_web_and_that_before_the_repository(
    alice: User, session: Session, project: Project, web: Web
) -> None:
    web.index(*({"name": name, "files": ["SKILL.md"]} for name in ("release", "web")))
    web.skill("web", HEAD.format("web", "d") + "of the web")
    await in_db(
        lambda: TeamSkill.objects.create(
            team=project.team,
            name="release",
            description="d",
            text="of the team",
            updated_at=session.created_at,
        )
    )
    await ask(alice, session)
    found = await in_db(project_skills, project)
    texts = {name: skill.text for name, skill in found.skills.items()}
    assert texts == {"release": "of the team", "web": "of the web"}
    assert found.skills["web"].location == f"{BASE}/web/SKILL.md"


@pytest.mark.usefixtures("private_closed")
async def test_a_private_address_is_not_read(
    alice: User, session: Session, project: Project
) -> None:
    project.config = {"skills": {"urls": ["http://127.0.0.1:9/skills", "file:///etc"]}}
    await in_db(project.save)
    await ask(alice, session)
    reasons = [problem.reason for problem in (await in_db(project_skills, project)).problems]
    assert reasons[0] == f"It cannot be read: {NO_ANSWER}."
    assert "must start with http" in reasons[1]


async def test_an_address_in_a_file_of_the_repository_is_not_asked(
    alice: User, session: Session, project: Project, web: Web
) -> None:
    project.config = {}
    await in_db(project.save)
    wanted = {"skills": {"urls": [f"{BASE}/"]}}
    Path(project.directory, "opencode.json").write_text(json.dumps(wanted))
    await ask(alice, session)
    assert web.asked == []


async def test_clients_and_pages_list_them(
    alice: User, session: Session, project: Project, web: Web, client_for: Any
) -> None:
    await ask(alice, session)

    def look() -> tuple[Any, str]:
        browser: Client = client_for(alice)
        listed = browser.get("/skill", {"project": project.pk}).json()
        page = browser.get(f"/t/acme/p/{project.pk}/repository").content.decode()
        return listed, page

    listed, page = await in_db(look)
    assert [(one["name"], one["location"]) for one in listed] == [
        ("release", f"{BASE}/release/SKILL.md")
    ]
    assert f"{BASE}/release/SKILL.md" in page
