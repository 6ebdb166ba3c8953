from http import HTTPStatus
from typing import Any, cast
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.fault import Fault
from ...models.key_connection import KeyConnection
from ...models.v2_integration_connect_key_location import (
    V2IntegrationConnectKeyLocation,
)
from ...types import UNSET, Response, Unset


def _get_kwargs(
    integration_id: str,
    *,
    body: KeyConnection,
    location: V2IntegrationConnectKeyLocation | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    params: dict[str, Any] = {}

    json_location: dict[str, Any] | Unset = UNSET
    if not isinstance(location, Unset):
        json_location = location.to_dict()
    if not isinstance(json_location, Unset):
        params.update(json_location)

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/api/integration/{integration_id}/connect/key".format(
            integration_id=quote(str(integration_id), safe=""),
        ),
        "params": params,
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Any | Fault:
    if response.status_code == 204:
        response_204 = cast(Any, None)
        return response_204

    response_default = Fault.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Any | Fault]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    integration_id: str,
    *,
    client: AuthenticatedClient,
    body: KeyConnection,
    location: V2IntegrationConnectKeyLocation | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Response[Any | Fault]:
    """Set a key: the team's, or one's own below admin

    Args:
        integration_id (str):
        location (V2IntegrationConnectKeyLocation | Unset):
        idempotency_key (str | Unset):
        body (KeyConnection): A key for a provider. It is never shown again.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Any | Fault]
    """

    kwargs = _get_kwargs(
        integration_id=integration_id,
        body=body,
        location=location,
        idempotency_key=idempotency_key,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    integration_id: str,
    *,
    client: AuthenticatedClient,
    body: KeyConnection,
    location: V2IntegrationConnectKeyLocation | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Any | Fault | None:
    """Set a key: the team's, or one's own below admin

    Args:
        integration_id (str):
        location (V2IntegrationConnectKeyLocation | Unset):
        idempotency_key (str | Unset):
        body (KeyConnection): A key for a provider. It is never shown again.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Any | Fault
    """

    return sync_detailed(
        integration_id=integration_id,
        client=client,
        body=body,
        location=location,
        idempotency_key=idempotency_key,
    ).parsed


async def asyncio_detailed(
    integration_id: str,
    *,
    client: AuthenticatedClient,
    body: KeyConnection,
    location: V2IntegrationConnectKeyLocation | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Response[Any | Fault]:
    """Set a key: the team's, or one's own below admin

    Args:
        integration_id (str):
        location (V2IntegrationConnectKeyLocation | Unset):
        idempotency_key (str | Unset):
        body (KeyConnection): A key for a provider. It is never shown again.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Any | Fault]
    """

    kwargs = _get_kwargs(
        integration_id=integration_id,
        body=body,
        location=location,
        idempotency_key=idempotency_key,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    integration_id: str,
    *,
    client: AuthenticatedClient,
    body: KeyConnection,
    location: V2IntegrationConnectKeyLocation | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Any | Fault | None:
    """Set a key: the team's, or one's own below admin

    Args:
        integration_id (str):
        location (V2IntegrationConnectKeyLocation | Unset):
        idempotency_key (str | Unset):
        body (KeyConnection): A key for a provider. It is never shown again.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Any | Fault
    """

    return (
        await asyncio_detailed(
            integration_id=integration_id,
            client=client,
            body=body,
            location=location,
            idempotency_key=idempotency_key,
        )
    ).parsed
