from http import HTTPStatus
from typing import Any

import httpx

from ...client import AuthenticatedClient, Client
from ...models.fault import Fault
from ...models.placedlist_command_v2 import PlacedlistCommandV2
from ...models.v2_command_list_location import V2CommandListLocation
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    location: V2CommandListLocation | Unset = UNSET,
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
        "url": "/api/command",
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Fault | PlacedlistCommandV2:
    if response.status_code == 200:
        response_200 = PlacedlistCommandV2.from_dict(response.json())

        return response_200

    response_default = Fault.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Fault | PlacedlistCommandV2]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    location: V2CommandListLocation | Unset = UNSET,
) -> Response[Fault | PlacedlistCommandV2]:
    """Slash commands

    Args:
        location (V2CommandListLocation | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Fault | PlacedlistCommandV2]
    """

    kwargs = _get_kwargs(
        location=location,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient,
    location: V2CommandListLocation | Unset = UNSET,
) -> Fault | PlacedlistCommandV2 | None:
    """Slash commands

    Args:
        location (V2CommandListLocation | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Fault | PlacedlistCommandV2
    """

    return sync_detailed(
        client=client,
        location=location,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    location: V2CommandListLocation | Unset = UNSET,
) -> Response[Fault | PlacedlistCommandV2]:
    """Slash commands

    Args:
        location (V2CommandListLocation | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Fault | PlacedlistCommandV2]
    """

    kwargs = _get_kwargs(
        location=location,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    location: V2CommandListLocation | Unset = UNSET,
) -> Fault | PlacedlistCommandV2 | None:
    """Slash commands

    Args:
        location (V2CommandListLocation | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Fault | PlacedlistCommandV2
    """

    return (
        await asyncio_detailed(
            client=client,
            location=location,
        )
    ).parsed
