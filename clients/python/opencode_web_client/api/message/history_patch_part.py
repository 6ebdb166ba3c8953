from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.agent_part import AgentPart
from ...models.compaction_part import CompactionPart
from ...models.fault import Fault
from ...models.file_part import FilePart
from ...models.history_patch_part_body import HistoryPatchPartBody
from ...models.patch_part import PatchPart
from ...models.reasoning_part import ReasoningPart
from ...models.retry_part import RetryPart
from ...models.snapshot_part import SnapshotPart
from ...models.step_finish_part import StepFinishPart
from ...models.step_start_part import StepStartPart
from ...models.text_part import TextPart
from ...models.tool_part import ToolPart
from ...types import UNSET, Response, Unset


def _get_kwargs(
    session_id: str,
    message_id: str,
    part_id: str,
    *,
    body: HistoryPatchPartBody,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "patch",
        "url": "/session/{session_id}/message/{message_id}/part/{part_id}".format(
            session_id=quote(str(session_id), safe=""),
            message_id=quote(str(message_id), safe=""),
            part_id=quote(str(part_id), safe=""),
        ),
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> (
    AgentPart
    | CompactionPart
    | FilePart
    | PatchPart
    | ReasoningPart
    | RetryPart
    | SnapshotPart
    | StepFinishPart
    | StepStartPart
    | TextPart
    | ToolPart
    | Fault
):
    if response.status_code == 200:

        def _parse_response_200(
            data: object,
        ) -> (
            AgentPart
            | CompactionPart
            | FilePart
            | PatchPart
            | ReasoningPart
            | RetryPart
            | SnapshotPart
            | StepFinishPart
            | StepStartPart
            | TextPart
            | ToolPart
        ):
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                response_200_type_0 = TextPart.from_dict(data)

                return response_200_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                response_200_type_1 = ReasoningPart.from_dict(data)

                return response_200_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                response_200_type_2 = FilePart.from_dict(data)

                return response_200_type_2
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                response_200_type_3 = AgentPart.from_dict(data)

                return response_200_type_3
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                response_200_type_4 = ToolPart.from_dict(data)

                return response_200_type_4
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                response_200_type_5 = StepStartPart.from_dict(data)

                return response_200_type_5
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                response_200_type_6 = StepFinishPart.from_dict(data)

                return response_200_type_6
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                response_200_type_7 = SnapshotPart.from_dict(data)

                return response_200_type_7
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                response_200_type_8 = PatchPart.from_dict(data)

                return response_200_type_8
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                response_200_type_9 = RetryPart.from_dict(data)

                return response_200_type_9
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            if not isinstance(data, dict):
                raise TypeError()
            response_200_type_10 = CompactionPart.from_dict(data)

            return response_200_type_10

        response_200 = _parse_response_200(response.json())

        return response_200

    response_default = Fault.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[
    AgentPart
    | CompactionPart
    | FilePart
    | PatchPart
    | ReasoningPart
    | RetryPart
    | SnapshotPart
    | StepFinishPart
    | StepStartPart
    | TextPart
    | ToolPart
    | Fault
]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    session_id: str,
    message_id: str,
    part_id: str,
    *,
    client: AuthenticatedClient,
    body: HistoryPatchPartBody,
    idempotency_key: str | Unset = UNSET,
) -> Response[
    AgentPart
    | CompactionPart
    | FilePart
    | PatchPart
    | ReasoningPart
    | RetryPart
    | SnapshotPart
    | StepFinishPart
    | StepStartPart
    | TextPart
    | ToolPart
    | Fault
]:
    """Replace a part

    Args:
        session_id (str):
        message_id (str):
        part_id (str):
        idempotency_key (str | Unset):
        body (HistoryPatchPartBody):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[AgentPart | CompactionPart | FilePart | PatchPart | ReasoningPart | RetryPart | SnapshotPart | StepFinishPart | StepStartPart | TextPart | ToolPart | Fault]
    """

    kwargs = _get_kwargs(
        session_id=session_id,
        message_id=message_id,
        part_id=part_id,
        body=body,
        idempotency_key=idempotency_key,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    session_id: str,
    message_id: str,
    part_id: str,
    *,
    client: AuthenticatedClient,
    body: HistoryPatchPartBody,
    idempotency_key: str | Unset = UNSET,
) -> (
    AgentPart
    | CompactionPart
    | FilePart
    | PatchPart
    | ReasoningPart
    | RetryPart
    | SnapshotPart
    | StepFinishPart
    | StepStartPart
    | TextPart
    | ToolPart
    | Fault
    | None
):
    """Replace a part

    Args:
        session_id (str):
        message_id (str):
        part_id (str):
        idempotency_key (str | Unset):
        body (HistoryPatchPartBody):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        AgentPart | CompactionPart | FilePart | PatchPart | ReasoningPart | RetryPart | SnapshotPart | StepFinishPart | StepStartPart | TextPart | ToolPart | Fault
    """

    return sync_detailed(
        session_id=session_id,
        message_id=message_id,
        part_id=part_id,
        client=client,
        body=body,
        idempotency_key=idempotency_key,
    ).parsed


async def asyncio_detailed(
    session_id: str,
    message_id: str,
    part_id: str,
    *,
    client: AuthenticatedClient,
    body: HistoryPatchPartBody,
    idempotency_key: str | Unset = UNSET,
) -> Response[
    AgentPart
    | CompactionPart
    | FilePart
    | PatchPart
    | ReasoningPart
    | RetryPart
    | SnapshotPart
    | StepFinishPart
    | StepStartPart
    | TextPart
    | ToolPart
    | Fault
]:
    """Replace a part

    Args:
        session_id (str):
        message_id (str):
        part_id (str):
        idempotency_key (str | Unset):
        body (HistoryPatchPartBody):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[AgentPart | CompactionPart | FilePart | PatchPart | ReasoningPart | RetryPart | SnapshotPart | StepFinishPart | StepStartPart | TextPart | ToolPart | Fault]
    """

    kwargs = _get_kwargs(
        session_id=session_id,
        message_id=message_id,
        part_id=part_id,
        body=body,
        idempotency_key=idempotency_key,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    session_id: str,
    message_id: str,
    part_id: str,
    *,
    client: AuthenticatedClient,
    body: HistoryPatchPartBody,
    idempotency_key: str | Unset = UNSET,
) -> (
    AgentPart
    | CompactionPart
    | FilePart
    | PatchPart
    | ReasoningPart
    | RetryPart
    | SnapshotPart
    | StepFinishPart
    | StepStartPart
    | TextPart
    | ToolPart
    | Fault
    | None
):
    """Replace a part

    Args:
        session_id (str):
        message_id (str):
        part_id (str):
        idempotency_key (str | Unset):
        body (HistoryPatchPartBody):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        AgentPart | CompactionPart | FilePart | PatchPart | ReasoningPart | RetryPart | SnapshotPart | StepFinishPart | StepStartPart | TextPart | ToolPart | Fault
    """

    return (
        await asyncio_detailed(
            session_id=session_id,
            message_id=message_id,
            part_id=part_id,
            client=client,
            body=body,
            idempotency_key=idempotency_key,
        )
    ).parsed
