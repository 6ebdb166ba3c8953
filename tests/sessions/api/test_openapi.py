from __future__ import annotations

import json
import re
from typing import Any

import pytest
from django.test import Client

# Event streams, a file as it is, and a patch.
NO_JSON = {
    ("get", "/event"),
    ("get", "/global/event"),
    ("get", "/api/event"),
    ("get", "/api/session/{session_id}/event"),
    ("get", "/api/fs/read/{path}"),
    ("get", "/vcs/diff/raw"),
    ("get", "/audit"),
}


@pytest.fixture
def document(client: Client, db: None) -> dict[str, Any]:
    answer = client.get("/doc")
    assert answer["Content-Type"] == "application/json"
    found: dict[str, Any] = answer.json()
    return found


def test_it_says_what_every_route_answers(document: dict[str, Any]) -> None:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            responses = operation["responses"]
            assert "content" in responses["default"]
            if "200" in responses:
                is_json = (method, path) not in NO_JSON
                assert ("content" in responses["200"]) is is_json, (method, path)
    prompt = document["paths"]["/session/{session_id}/prompt_async"]["post"]["responses"]
    assert set(prompt) == {"204", "default"}


def test_every_reference_leads_somewhere(document: dict[str, Any]) -> None:
    names = set(re.findall(r"#/components/schemas/([\w.-]+)", json.dumps(document)))
    assert {"Session", "Message", "ToolPart", "Fault", "PromptBody"} <= names
    assert names <= document["components"]["schemas"].keys()


def test_it_names_the_sign_in(document: dict[str, Any]) -> None:
    assert document["info"]["title"] == "OpenCode Web"
    assert document["components"]["securitySchemes"].keys() == {"token", "basic", "browser"}
    assert "security" not in document["paths"]["/global/health"]["get"]
    for path in ("/session", "/event"):
        security = document["paths"][path]["get"]["security"]
        assert security == [{"token": []}, {"basic": []}, {"browser": []}]


def test_optional_fields_are_absent_and_never_null(document: dict[str, Any]) -> None:
    session = document["components"]["schemas"]["Session"]
    assert "parentID" not in session["required"]
    assert session["properties"]["parentID"]["type"] == "string"
    assert "default" not in session["properties"]["parentID"]


def test_a_field_that_is_always_there_can_be_null(document: dict[str, Any]) -> None:
    used = document["components"]["schemas"]["Used"]
    assert "cost" in used["required"]
    assert used["properties"]["cost"]["anyOf"] == [{"type": "number"}, {"type": "null"}]
