from http import HTTPStatus
from typing import Any

import httpx

from ...client import AuthenticatedClient, Client
from ...models.fault import Fault
from ...models.placedlist_entry import PlacedlistEntry
from ...models.v2_fs_find_location import V2FsFindLocation
from ...models.v2_fs_find_type_type_0 import V2FsFindTypeType0
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    query: str,
    type_: None | Unset | V2FsFindTypeType0 = UNSET,
    limit: int | Unset = 100,
    location: V2FsFindLocation | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["query"] = query

    json_type_: None | str | Unset
    if isinstance(type_, Unset):
        json_type_ = UNSET
    elif isinstance(type_, V2FsFindTypeType0):
        json_type_ = type_.value
    else:
        json_type_ = type_
    params["type"] = json_type_

    params["limit"] = limit

    json_location: dict[str, Any] | Unset = UNSET
    if not isinstance(location, Unset):
        json_location = location.to_dict()
    if not isinstance(json_location, Unset):
        params.update(json_location)

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/api/fs/find",
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Fault | PlacedlistEntry:
    if response.status_code == 200:
        response_200 = PlacedlistEntry.from_dict(response.json())

        return response_200

    response_default = Fault.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Fault | PlacedlistEntry]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    query: str,
    type_: None | Unset | V2FsFindTypeType0 = UNSET,
    limit: int | Unset = 100,
    location: V2FsFindLocation | Unset = UNSET,
) -> Response[Fault | PlacedlistEntry]:
    """Files and folders by a part of their path

    Args:
        query (str):
        type_ (None | Unset | V2FsFindTypeType0):
        limit (int | Unset):  Default: 100.
        location (V2FsFindLocation | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Fault | PlacedlistEntry]
    """

    kwargs = _get_kwargs(
        query=query,
        type_=type_,
        limit=limit,
        location=location,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient,
    query: str,
    type_: None | Unset | V2FsFindTypeType0 = UNSET,
    limit: int | Unset = 100,
    location: V2FsFindLocation | Unset = UNSET,
) -> Fault | PlacedlistEntry | None:
    """Files and folders by a part of their path

    Args:
        query (str):
        type_ (None | Unset | V2FsFindTypeType0):
        limit (int | Unset):  Default: 100.
        location (V2FsFindLocation | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Fault | PlacedlistEntry
    """

    return sync_detailed(
        client=client,
        query=query,
        type_=type_,
        limit=limit,
        location=location,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    query: str,
    type_: None | Unset | V2FsFindTypeType0 = UNSET,
    limit: int | Unset = 100,
    location: V2FsFindLocation | Unset = UNSET,
) -> Response[Fault | PlacedlistEntry]:
    """Files and folders by a part of their path

    Args:
        query (str):
        type_ (None | Unset | V2FsFindTypeType0):
        limit (int | Unset):  Default: 100.
        location (V2FsFindLocation | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Fault | PlacedlistEntry]
    """

    kwargs = _get_kwargs(
        query=query,
        type_=type_,
        limit=limit,
        location=location,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    query: str,
    type_: None | Unset | V2FsFindTypeType0 = UNSET,
    limit: int | Unset = 100,
    location: V2FsFindLocation | Unset = UNSET,
) -> Fault | PlacedlistEntry | None:
    """Files and folders by a part of their path

    Args:
        query (str):
        type_ (None | Unset | V2FsFindTypeType0):
        limit (int | Unset):  Default: 100.
        location (V2FsFindLocation | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Fault | PlacedlistEntry
    """

    return (
        await asyncio_detailed(
            client=client,
            query=query,
            type_=type_,
            limit=limit,
            location=location,
        )
    ).parsed
