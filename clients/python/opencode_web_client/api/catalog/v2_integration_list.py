from http import HTTPStatus
from typing import Any

import httpx

from ...client import AuthenticatedClient, Client
from ...models.fault import Fault
from ...models.placedlist_integration import PlacedlistIntegration
from ...models.v2_integration_list_location import V2IntegrationListLocation
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    location: V2IntegrationListLocation | Unset = UNSET,
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
        "url": "/api/integration",
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Fault | PlacedlistIntegration:
    if response.status_code == 200:
        response_200 = PlacedlistIntegration.from_dict(response.json())

        return response_200

    response_default = Fault.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Fault | PlacedlistIntegration]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    location: V2IntegrationListLocation | Unset = UNSET,
) -> Response[Fault | PlacedlistIntegration]:
    """Providers, how one signs in, and who has

    Args:
        location (V2IntegrationListLocation | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Fault | PlacedlistIntegration]
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
    location: V2IntegrationListLocation | Unset = UNSET,
) -> Fault | PlacedlistIntegration | None:
    """Providers, how one signs in, and who has

    Args:
        location (V2IntegrationListLocation | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Fault | PlacedlistIntegration
    """

    return sync_detailed(
        client=client,
        location=location,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    location: V2IntegrationListLocation | Unset = UNSET,
) -> Response[Fault | PlacedlistIntegration]:
    """Providers, how one signs in, and who has

    Args:
        location (V2IntegrationListLocation | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Fault | PlacedlistIntegration]
    """

    kwargs = _get_kwargs(
        location=location,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    location: V2IntegrationListLocation | Unset = UNSET,
) -> Fault | PlacedlistIntegration | None:
    """Providers, how one signs in, and who has

    Args:
        location (V2IntegrationListLocation | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Fault | PlacedlistIntegration
    """

    return (
        await asyncio_detailed(
            client=client,
            location=location,
        )
    ).parsed
