from http import HTTPStatus
from typing import Any

import httpx

from ...client import AuthenticatedClient, Client
from ...models.fault import Fault
from ...models.placedlist_entry import PlacedlistEntry
from ...models.v2_fs_list_location import V2FsListLocation
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    path: str | Unset = "",
    location: V2FsListLocation | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["path"] = path

    json_location: dict[str, Any] | Unset = UNSET
    if not isinstance(location, Unset):
        json_location = location.to_dict()
    if not isinstance(json_location, Unset):
        params.update(json_location)

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/api/fs/list",
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
    path: str | Unset = "",
    location: V2FsListLocation | Unset = UNSET,
) -> Response[Fault | PlacedlistEntry]:
    """Entries of a folder

    Args:
        path (str | Unset):  Default: ''.
        location (V2FsListLocation | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Fault | PlacedlistEntry]
    """

    kwargs = _get_kwargs(
        path=path,
        location=location,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient,
    path: str | Unset = "",
    location: V2FsListLocation | Unset = UNSET,
) -> Fault | PlacedlistEntry | None:
    """Entries of a folder

    Args:
        path (str | Unset):  Default: ''.
        location (V2FsListLocation | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Fault | PlacedlistEntry
    """

    return sync_detailed(
        client=client,
        path=path,
        location=location,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    path: str | Unset = "",
    location: V2FsListLocation | Unset = UNSET,
) -> Response[Fault | PlacedlistEntry]:
    """Entries of a folder

    Args:
        path (str | Unset):  Default: ''.
        location (V2FsListLocation | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Fault | PlacedlistEntry]
    """

    kwargs = _get_kwargs(
        path=path,
        location=location,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    path: str | Unset = "",
    location: V2FsListLocation | Unset = UNSET,
) -> Fault | PlacedlistEntry | None:
    """Entries of a folder

    Args:
        path (str | Unset):  Default: ''.
        location (V2FsListLocation | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Fault | PlacedlistEntry
    """

    return (
        await asyncio_detailed(
            client=client,
            path=path,
            location=location,
        )
    ).parsed
