"""Every operation of the API with made-up requests: never a fault, never an undocumented answer."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
import schemathesis
from django.core.serializers.json import DjangoJSONEncoder
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from requests import ReadTimeout
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from opencode_web.api import openapi_document
from tests.e2e.installation import Installation, installation
from tests.e2e.rest import ask, new_session, script

pytestmark = [pytest.mark.e2e, pytest.mark.deep, pytest.mark.timeout(300)]
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
# The same requests in each run, so that it does not fail for others by chance; more by hand.
# PostgreSQL refuses more of them than SQLite.
EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "6" if "DATABASE_URL" in os.environ else "3"))
# Their answers wait for a turn, or do not end.
WAITS = ("/event", "/message", "/command", "/summarize", "/init", "/shell", "/wait", "/next")
SCHEMA = schemathesis.openapi.from_dict(json.loads(DjangoJSONEncoder().encode(openapi_document())))
OPERATIONS = [
    operation
    for operation in (found.ok() for found in SCHEMA.get_all_operations())
    if operation.method == "get" or not operation.path.endswith(WAITS)
    if not (operation.method == "get" and operation.path.endswith(("/event", "/next")))
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """For itself: nobody knows what it has been told in the end."""
    with installation(tmp_path_factory.mktemp("fuzzed")) as made:
        made.start()
        made.bootstrap()
        yield made


@pytest.fixture(scope="module")
def told(server: Installation) -> str:
    with server.client() as client:
        session = new_session(client)
        ask(client, session, script([{"text": "Here."}]))
    return session


def names_for(operation: Any, server: Installation, told: str) -> dict[str, str]:
    """What path parameters stand for: things that are there, so that requests get far."""
    if "{" not in operation.path:
        return {}
    with server.client() as client:
        session = client.post(f"/session/{told}/fork", json={}).json()["id"]
        message = client.get(f"/session/{session}/message").json()[-1]
    return {
        "session_id": session,
        "message_id": message["info"]["id"],
        "part_id": message["parts"][-1]["id"],
        "project_id": server.project,
    }


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.label)
def test_no_request_is_a_fault(server: Installation, told: str, operation: Any) -> None:
    names = names_for(operation, server, told)
    headers = {"Authorization": f"Bearer {server.token}"}

    @settings(
        max_examples=EXAMPLES,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(), known=st.booleans())
    def send(case: Any, known: bool) -> None:
        if known and case.path_parameters:
            case.path_parameters |= {
                name: names[name] for name in case.path_parameters if name in names
            }
        case.headers = {**dict(case.headers or {}), **headers}
        try:
            answer = case.call(base_url=server.url, timeout=30)
        except ReadTimeout:
            pytest.fail(f"no answer to {case.as_curl_command()}")
        case.validate_response(answer, checks=CHECKS)

    send()


def test_all_that_waits_is_there() -> None:
    paths = [found.ok().path for found in SCHEMA.get_all_operations()]
    assert all(any(path.endswith(end) for path in paths) for end in WAITS[:2])
    assert len(OPERATIONS) > 60


def test_the_server_still_answers(server: Installation) -> None:
    assert httpx.get(f"{server.url}/global/health").json()["healthy"] is True
