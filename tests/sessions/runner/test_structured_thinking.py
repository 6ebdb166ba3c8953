from __future__ import annotations

import json
from typing import Any

import pytest

from opencode_web.lib.db import in_db
from providers.kinds import ProviderKind
from providers.llm.messages import ModelRef
from sessions.actions.prompts import PromptDraft, admit_prompt
from sessions.models import Project, Session
from teams.models import User
from tests.providers.factories import KEY, make_provider
from tests.providers.llm.front import on_a_port
from tests.providers.llm.vendors import PLACE, WIRES, Step
from tests.sessions.factories import session_access
from tests.sessions.runner.drains import drain

pytestmark = pytest.mark.any_database

SCHEMA = {
    "type": "object",
    "properties": {"path": {"type": "string"}},
    "required": ["path"],
    "additionalProperties": False,
}
TALK = Step("I know it.", "It is a.txt.")
LOOK = Step("A look first.", "", (".",), "list")
ANSWER = Step("By the call, then.", "", ("a.txt",), "StructuredOutput")
# Their servers in the tests know one key, or one address.
_KEYS = {"cohere": "key-of-tests"}
_MOST_USED = ("messages", "responses", "chat")


def _param(name: str) -> Any:
    return name if name in _MOST_USED else pytest.param(name, marks=pytest.mark.deep)


@pytest.mark.parametrize("name", [_param(name) for name in WIRES])
async def test_a_model_that_thinks_gives_its_answer_in_the_wanted_form(
    name: str, alice: User, session: Session, project: Project
) -> None:
    wire = WIRES[name]
    vendor: Any = wire.play(LOOK, TALK, ANSWER)

    def ask(url: str) -> None:
        make_provider(
            project.team,
            ProviderKind.COMPATIBLE,
            provider_id="own",
            base_url=url,
            key=_KEYS.get(name, KEY),
        )
        model = {
            "name": "M",
            "reasoning": True,
            "limit": {"context": 200_000, "output": 64_000},
            "options": wire.options or {},
        }
        options = {key: PLACE[key] for key in ("region", "project", "location")}
        block = {"npm": wire.npm, "options": options, "models": {wire.model_id: model}}
        project.config = {"provider": {"own": block}}
        project.save()
        draft = PromptDraft(
            parts=[{"type": "text", "text": "Which file?"}],
            model=ModelRef("own", wire.model_id),
            format={"type": "json_schema", "schema": SCHEMA},
        )
        admit_prompt(session_access(alice, session), draft)

    with on_a_port(vendor) as url:
        await in_db(ask, url)
        await drain(session)
    last = await in_db(session.messages.latest, "seq")
    assert last.data.get("structured") == {"path": "a.txt"}, last.data
    assert len(vendor.bodies) == 3
    assert "StructuredOutput" in json.dumps(vendor.bodies[0])
    # Nothing of a demand that this vendor would refuse.
    if wire.options:
        assert all('"any"' not in json.dumps(body) for body in vendor.bodies)
        assert all("budget_tokens" in json.dumps(body) for body in vendor.bodies)
