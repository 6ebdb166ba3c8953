from http import HTTPStatus
from typing import Any

import httpx

from ...client import AuthenticatedClient, Client
from ...models.fault import Fault
from ...models.sequence_numbers import SequenceNumbers
from ...models.synced_event import SyncedEvent
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    body: SequenceNumbers,
    directory: str | Unset = UNSET,
    workspace: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    params: dict[str, Any] = {}

    params["directory"] = directory

    params["workspace"] = workspace

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/sync/history",
        "params": params,
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Fault | list[SyncedEvent]:
    if response.status_code == 200:
        response_200 = []
        _response_200 = response.json()
        for response_200_item_data in _response_200:
            response_200_item = SyncedEvent.from_dict(response_200_item_data)

            response_200.append(response_200_item)

        return response_200

    response_default = Fault.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Fault | list[SyncedEvent]]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    body: SequenceNumbers,
    directory: str | Unset = UNSET,
    workspace: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Response[Fault | list[SyncedEvent]]:
    """Events of sessions after a sequence number each

    Args:
        directory (str | Unset):
        workspace (str | Unset):
        idempotency_key (str | Unset):
        body (SequenceNumbers): For each session the newest `seq` that is known; at most 100
            sessions.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Fault | list[SyncedEvent]]
    """

    kwargs = _get_kwargs(
        body=body,
        directory=directory,
        workspace=workspace,
        idempotency_key=idempotency_key,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient,
    body: SequenceNumbers,
    directory: str | Unset = UNSET,
    workspace: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Fault | list[SyncedEvent] | None:
    """Events of sessions after a sequence number each

    Args:
        directory (str | Unset):
        workspace (str | Unset):
        idempotency_key (str | Unset):
        body (SequenceNumbers): For each session the newest `seq` that is known; at most 100
            sessions.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Fault | list[SyncedEvent]
    """

    return sync_detailed(
        client=client,
        body=body,
        directory=directory,
        workspace=workspace,
        idempotency_key=idempotency_key,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    body: SequenceNumbers,
    directory: str | Unset = UNSET,
    workspace: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Response[Fault | list[SyncedEvent]]:
    """Events of sessions after a sequence number each

    Args:
        directory (str | Unset):
        workspace (str | Unset):
        idempotency_key (str | Unset):
        body (SequenceNumbers): For each session the newest `seq` that is known; at most 100
            sessions.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Fault | list[SyncedEvent]]
    """

    kwargs = _get_kwargs(
        body=body,
        directory=directory,
        workspace=workspace,
        idempotency_key=idempotency_key,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    body: SequenceNumbers,
    directory: str | Unset = UNSET,
    workspace: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Fault | list[SyncedEvent] | None:
    """Events of sessions after a sequence number each

    Args:
        directory (str | Unset):
        workspace (str | Unset):
        idempotency_key (str | Unset):
        body (SequenceNumbers): For each session the newest `seq` that is known; at most 100
            sessions.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Fault | list[SyncedEvent]
    """

    return (
        await asyncio_detailed(
            client=client,
            body=body,
            directory=directory,
            workspace=workspace,
            idempotency_key=idempotency_key,
        )
    ).parsed
