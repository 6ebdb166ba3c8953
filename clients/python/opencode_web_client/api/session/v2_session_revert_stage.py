from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.fault import Fault
from ...models.revert_stage import RevertStage
from ...models.wrapped_revert_v2 import WrappedRevertV2
from ...types import UNSET, Response, Unset


def _get_kwargs(
    session_id: str,
    *,
    body: RevertStage,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/api/session/{session_id}/revert/stage".format(
            session_id=quote(str(session_id), safe=""),
        ),
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Fault | WrappedRevertV2:
    if response.status_code == 200:
        response_200 = WrappedRevertV2.from_dict(response.json())

        return response_200

    response_default = Fault.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Fault | WrappedRevertV2]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    session_id: str,
    *,
    client: AuthenticatedClient,
    body: RevertStage,
    idempotency_key: str | Unset = UNSET,
) -> Response[Fault | WrappedRevertV2]:
    """Roll back to before a message, until that is cleared or committed

    Args:
        session_id (str):
        idempotency_key (str | Unset):
        body (RevertStage): Where the rollback begins. Without `files` they stay as they are.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Fault | WrappedRevertV2]
    """

    kwargs = _get_kwargs(
        session_id=session_id,
        body=body,
        idempotency_key=idempotency_key,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    session_id: str,
    *,
    client: AuthenticatedClient,
    body: RevertStage,
    idempotency_key: str | Unset = UNSET,
) -> Fault | WrappedRevertV2 | None:
    """Roll back to before a message, until that is cleared or committed

    Args:
        session_id (str):
        idempotency_key (str | Unset):
        body (RevertStage): Where the rollback begins. Without `files` they stay as they are.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Fault | WrappedRevertV2
    """

    return sync_detailed(
        session_id=session_id,
        client=client,
        body=body,
        idempotency_key=idempotency_key,
    ).parsed


async def asyncio_detailed(
    session_id: str,
    *,
    client: AuthenticatedClient,
    body: RevertStage,
    idempotency_key: str | Unset = UNSET,
) -> Response[Fault | WrappedRevertV2]:
    """Roll back to before a message, until that is cleared or committed

    Args:
        session_id (str):
        idempotency_key (str | Unset):
        body (RevertStage): Where the rollback begins. Without `files` they stay as they are.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Fault | WrappedRevertV2]
    """

    kwargs = _get_kwargs(
        session_id=session_id,
        body=body,
        idempotency_key=idempotency_key,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    session_id: str,
    *,
    client: AuthenticatedClient,
    body: RevertStage,
    idempotency_key: str | Unset = UNSET,
) -> Fault | WrappedRevertV2 | None:
    """Roll back to before a message, until that is cleared or committed

    Args:
        session_id (str):
        idempotency_key (str | Unset):
        body (RevertStage): Where the rollback begins. Without `files` they stay as they are.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Fault | WrappedRevertV2
    """

    return (
        await asyncio_detailed(
            session_id=session_id,
            client=client,
            body=body,
            idempotency_key=idempotency_key,
        )
    ).parsed
