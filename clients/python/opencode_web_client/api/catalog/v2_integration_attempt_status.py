from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.fault import Fault
from ...models.placed_attempt_status import PlacedAttemptStatus
from ...models.v2_integration_attempt_status_location import (
    V2IntegrationAttemptStatusLocation,
)
from ...types import UNSET, Response, Unset


def _get_kwargs(
    attempt_id: str,
    *,
    location: V2IntegrationAttemptStatusLocation | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    json_location: dict[str, Any] | Unset = UNSET
    if not isinstance(location, Unset):
        json_location = location.to_dict()
    if not isinstance(json_location, Unset):
        params.update(json_location)

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/api/integration/attempt/{attempt_id}".format(
            attempt_id=quote(str(attempt_id), safe=""),
        ),
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Fault | PlacedAttemptStatus:
    if response.status_code == 200:
        response_200 = PlacedAttemptStatus.from_dict(response.json())

        return response_200

    response_default = Fault.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Fault | PlacedAttemptStatus]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    attempt_id: str,
    *,
    client: AuthenticatedClient,
    location: V2IntegrationAttemptStatusLocation | Unset = UNSET,
) -> Response[Fault | PlacedAttemptStatus]:
    """How a sign-in is going

    Args:
        attempt_id (str):
        location (V2IntegrationAttemptStatusLocation | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Fault | PlacedAttemptStatus]
    """

    kwargs = _get_kwargs(
        attempt_id=attempt_id,
        location=location,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    attempt_id: str,
    *,
    client: AuthenticatedClient,
    location: V2IntegrationAttemptStatusLocation | Unset = UNSET,
) -> Fault | PlacedAttemptStatus | None:
    """How a sign-in is going

    Args:
        attempt_id (str):
        location (V2IntegrationAttemptStatusLocation | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Fault | PlacedAttemptStatus
    """

    return sync_detailed(
        attempt_id=attempt_id,
        client=client,
        location=location,
    ).parsed


async def asyncio_detailed(
    attempt_id: str,
    *,
    client: AuthenticatedClient,
    location: V2IntegrationAttemptStatusLocation | Unset = UNSET,
) -> Response[Fault | PlacedAttemptStatus]:
    """How a sign-in is going

    Args:
        attempt_id (str):
        location (V2IntegrationAttemptStatusLocation | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Fault | PlacedAttemptStatus]
    """

    kwargs = _get_kwargs(
        attempt_id=attempt_id,
        location=location,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    attempt_id: str,
    *,
    client: AuthenticatedClient,
    location: V2IntegrationAttemptStatusLocation | Unset = UNSET,
) -> Fault | PlacedAttemptStatus | None:
    """How a sign-in is going

    Args:
        attempt_id (str):
        location (V2IntegrationAttemptStatusLocation | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Fault | PlacedAttemptStatus
    """

    return (
        await asyncio_detailed(
            attempt_id=attempt_id,
            client=client,
            location=location,
        )
    ).parsed
