from http import HTTPStatus
from typing import Any, cast
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.fault import Fault
from ...models.v2_fs_read_location import V2FsReadLocation
from ...types import UNSET, Response, Unset


def _get_kwargs(
    path: str,
    *,
    location: V2FsReadLocation | Unset = UNSET,
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
        "url": "/api/fs/read/{path}".format(
            path=quote(str(path), safe=""),
        ),
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Any | Fault:
    if response.status_code == 200:
        response_200 = cast(Any, None)
        return response_200

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
    path: str,
    *,
    client: AuthenticatedClient,
    location: V2FsReadLocation | Unset = UNSET,
) -> Response[Any | Fault]:
    """A file as it is

    Args:
        path (str):
        location (V2FsReadLocation | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Any | Fault]
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
    path: str,
    *,
    client: AuthenticatedClient,
    location: V2FsReadLocation | Unset = UNSET,
) -> Any | Fault | None:
    """A file as it is

    Args:
        path (str):
        location (V2FsReadLocation | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Any | Fault
    """

    return sync_detailed(
        path=path,
        client=client,
        location=location,
    ).parsed


async def asyncio_detailed(
    path: str,
    *,
    client: AuthenticatedClient,
    location: V2FsReadLocation | Unset = UNSET,
) -> Response[Any | Fault]:
    """A file as it is

    Args:
        path (str):
        location (V2FsReadLocation | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Any | Fault]
    """

    kwargs = _get_kwargs(
        path=path,
        location=location,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    path: str,
    *,
    client: AuthenticatedClient,
    location: V2FsReadLocation | Unset = UNSET,
) -> Any | Fault | None:
    """A file as it is

    Args:
        path (str):
        location (V2FsReadLocation | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Any | Fault
    """

    return (
        await asyncio_detailed(
            path=path,
            client=client,
            location=location,
        )
    ).parsed
