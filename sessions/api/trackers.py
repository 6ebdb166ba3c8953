"""Connecting an issue tracker to a project. The rest is as of a forge, in `integrations`."""

from __future__ import annotations

from ninja import Field, Router, Schema

from opencode_web.lib.outside import run_outside
from sessions.access import access_project
from sessions.api.auth import ApiRequest, AsyncTokenOrCookie
from sessions.api.integrations import AccountId, ForgeIntegrationWire, integration_to_wire
from sessions.integrations.setup import DEFAULT_COMMAND
from sessions.integrations.trackers import TrackerDraft, probe_and_connect
from sessions.publish_settings import publishing_of
from teams.http import client_ip
from teams.models import Role

router = Router(tags=["integration"])

_MAX_KEY_CHARS = 300


class TrackerIntegrationBody(Schema):
    """An empty `apiKey` or `signingSecret` stays as it is; neither is ever shown."""

    teamKey: str = Field(min_length=1, max_length=20)
    apiKey: str = Field(default="", max_length=_MAX_KEY_CHARS)
    signingSecret: str = Field(default="", max_length=_MAX_KEY_CHARS)
    command: str = Field(default=DEFAULT_COMMAND, max_length=20)
    serviceAccountID: AccountId | None = None
    pulls: bool = False


# No transaction is open while the tracker is asked.
@router.put(
    "/project/{project_id}/tracker/{tracker}",
    summary="Connect an issue tracker, or change it; its key is tested",
    auth=AsyncTokenOrCookie(),
)
async def put_tracker(
    request: ApiRequest, project_id: str, tracker: str, body: TrackerIntegrationBody
) -> ForgeIntegrationWire:
    return await run_outside(_put_tracker, request, project_id, tracker, body)


def _put_tracker(
    request: ApiRequest, project_id: str, tracker: str, body: TrackerIntegrationBody
) -> ForgeIntegrationWire:
    access = access_project(request.auth, project_id, need=Role.ADMIN)
    draft = TrackerDraft(
        path=body.teamKey,
        token=body.apiKey,
        secret=body.signingSecret,
        command=body.command,
        account_id=body.serviceAccountID,
        pulls=body.pulls,
    )
    row = probe_and_connect(access, tracker, draft, ip=client_ip(request))
    return integration_to_wire(row, publishing_of(row.project))
