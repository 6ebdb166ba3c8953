from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.fault import Fault
from ...models.placed_provider_v2 import PlacedProviderV2
from ...models.v2_provider_get_location import V2ProviderGetLocation
from ...types import UNSET, Response, Unset


def _get_kwargs(
    provider_id: str,
    *,
    location: V2ProviderGetLocation | Unset = UNSET,
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
        "url": "/api/provider/{provider_id}".format(
            provider_id=quote(str(provider_id), safe=""),
        ),
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Fault | PlacedProviderV2:
    if response.status_code == 200:
        response_200 = PlacedProviderV2.from_dict(response.json())

        return response_200

    response_default = Fault.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Fault | PlacedProviderV2]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    provider_id: str,
    *,
    client: AuthenticatedClient,
    location: V2ProviderGetLocation | Unset = UNSET,
) -> Response[Fault | PlacedProviderV2]:
    """One provider

    Args:
        provider_id (str):
        location (V2ProviderGetLocation | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Fault | PlacedProviderV2]
    """

    kwargs = _get_kwargs(
        provider_id=provider_id,
        location=location,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    provider_id: str,
    *,
    client: AuthenticatedClient,
    location: V2ProviderGetLocation | Unset = UNSET,
) -> Fault | PlacedProviderV2 | None:
    """One provider

    Args:
        provider_id (str):
        location (V2ProviderGetLocation | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Fault | PlacedProviderV2
    """

    return sync_detailed(
        provider_id=provider_id,
        client=client,
        location=location,
    ).parsed


async def asyncio_detailed(
    provider_id: str,
    *,
    client: AuthenticatedClient,
    location: V2ProviderGetLocation | Unset = UNSET,
) -> Response[Fault | PlacedProviderV2]:
    """One provider

    Args:
        provider_id (str):
        location (V2ProviderGetLocation | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Fault | PlacedProviderV2]
    """

    kwargs = _get_kwargs(
        provider_id=provider_id,
        location=location,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    provider_id: str,
    *,
    client: AuthenticatedClient,
    location: V2ProviderGetLocation | Unset = UNSET,
) -> Fault | PlacedProviderV2 | None:
    """One provider

    Args:
        provider_id (str):
        location (V2ProviderGetLocation | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Fault | PlacedProviderV2
    """

    return (
        await asyncio_detailed(
            provider_id=provider_id,
            client=client,
            location=location,
        )
    ).parsed
