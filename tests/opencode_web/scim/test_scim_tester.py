from __future__ import annotations

import httpx2
import pytest
from scim2_client.engines.httpx2 import SyncSCIMClient
from scim2_tester import Status, check_server

from tests.e2e.installation import Installation

pytestmark = [pytest.mark.e2e, pytest.mark.deep]
_TOKEN = """
from teams.actions.directory import create_directory_token
from teams.models import User
operator = User.objects.filter(is_superuser=True).first()
result = create_directory_token(operator, name="tester")[1]
"""


def test_scim2_tester_finds_no_fault(server: Installation) -> None:
    headers = {"Authorization": f"Bearer {server.run(_TOKEN)}"}
    base = f"{server.url}/scim/v2"
    # Nobody says how long a busy machine takes for the first.
    with httpx2.Client(base_url=base, headers=headers, verify=False, timeout=60) as client:
        results = check_server(SyncSCIMClient(client))
    faults = [
        f"{one.title} {one.resource_type or ''}: {one.reason}"
        for one in results
        if one.status in {Status.ERROR, Status.CRITICAL}
    ]
    assert faults == []
    assert sum(one.status == Status.SUCCESS for one in results) > 40
