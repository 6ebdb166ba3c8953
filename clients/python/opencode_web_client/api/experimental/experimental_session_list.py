from http import HTTPStatus
from typing import Any

import httpx

from ...client import AuthenticatedClient, Client
from ...models.fault import Fault
from ...models.global_session import GlobalSession
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    roots: bool | Unset = False,
    start: float | None | Unset = UNSET,
    cursor: float | None | Unset = UNSET,
    search: str | Unset = "",
    limit: int | Unset = 100,
    archived: bool | Unset = False,
    directory: str | Unset = UNSET,
    workspace: str | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["roots"] = roots

    json_start: float | None | Unset
    if isinstance(start, Unset):
        json_start = UNSET
    else:
        json_start = start
    params["start"] = json_start

    json_cursor: float | None | Unset
    if isinstance(cursor, Unset):
        json_cursor = UNSET
    else:
        json_cursor = cursor
    params["cursor"] = json_cursor

    params["search"] = search

    params["limit"] = limit

    params["archived"] = archived

    params["directory"] = directory

    params["workspace"] = workspace

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/experimental/session",
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Fault | list[GlobalSession]:
    if response.status_code == 200:
        response_200 = []
        _response_200 = response.json()
        for response_200_item_data in _response_200:
            response_200_item = GlobalSession.from_dict(response_200_item_data)

            response_200.append(response_200_item)

        return response_200

    response_default = Fault.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Fault | list[GlobalSession]]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    roots: bool | Unset = False,
    start: float | None | Unset = UNSET,
    cursor: float | None | Unset = UNSET,
    search: str | Unset = "",
    limit: int | Unset = 100,
    archived: bool | Unset = False,
    directory: str | Unset = UNSET,
    workspace: str | Unset = UNSET,
) -> Response[Fault | list[GlobalSession]]:
    """Sessions of all your projects, the latest first

    Args:
        roots (bool | Unset):  Default: False.
        start (float | None | Unset):
        cursor (float | None | Unset):
        search (str | Unset):  Default: ''.
        limit (int | Unset):  Default: 100.
        archived (bool | Unset):  Default: False.
        directory (str | Unset):
        workspace (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Fault | list[GlobalSession]]
    """

    kwargs = _get_kwargs(
        roots=roots,
        start=start,
        cursor=cursor,
        search=search,
        limit=limit,
        archived=archived,
        directory=directory,
        workspace=workspace,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient,
    roots: bool | Unset = False,
    start: float | None | Unset = UNSET,
    cursor: float | None | Unset = UNSET,
    search: str | Unset = "",
    limit: int | Unset = 100,
    archived: bool | Unset = False,
    directory: str | Unset = UNSET,
    workspace: str | Unset = UNSET,
) -> Fault | list[GlobalSession] | None:
    """Sessions of all your projects, the latest first

    Args:
        roots (bool | Unset):  Default: False.
        start (float | None | Unset):
        cursor (float | None | Unset):
        search (str | Unset):  Default: ''.
        limit (int | Unset):  Default: 100.
        archived (bool | Unset):  Default: False.
        directory (str | Unset):
        workspace (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Fault | list[GlobalSession]
    """

    return sync_detailed(
        client=client,
        roots=roots,
        start=start,
        cursor=cursor,
        search=search,
        limit=limit,
        archived=archived,
        directory=directory,
        workspace=workspace,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    roots: bool | Unset = False,
    start: float | None | Unset = UNSET,
    cursor: float | None | Unset = UNSET,
    search: str | Unset = "",
    limit: int | Unset = 100,
    archived: bool | Unset = False,
    directory: str | Unset = UNSET,
    workspace: str | Unset = UNSET,
) -> Response[Fault | list[GlobalSession]]:
    """Sessions of all your projects, the latest first

    Args:
        roots (bool | Unset):  Default: False.
        start (float | None | Unset):
        cursor (float | None | Unset):
        search (str | Unset):  Default: ''.
        limit (int | Unset):  Default: 100.
        archived (bool | Unset):  Default: False.
        directory (str | Unset):
        workspace (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Fault | list[GlobalSession]]
    """

    kwargs = _get_kwargs(
        roots=roots,
        start=start,
        cursor=cursor,
        search=search,
        limit=limit,
        archived=archived,
        directory=directory,
        workspace=workspace,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    roots: bool | Unset = False,
    start: float | None | Unset = UNSET,
    cursor: float | None | Unset = UNSET,
    search: str | Unset = "",
    limit: int | Unset = 100,
    archived: bool | Unset = False,
    directory: str | Unset = UNSET,
    workspace: str | Unset = UNSET,
) -> Fault | list[GlobalSession] | None:
    """Sessions of all your projects, the latest first

    Args:
        roots (bool | Unset):  Default: False.
        start (float | None | Unset):
        cursor (float | None | Unset):
        search (str | Unset):  Default: ''.
        limit (int | Unset):  Default: 100.
        archived (bool | Unset):  Default: False.
        directory (str | Unset):
        workspace (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Fault | list[GlobalSession]
    """

    return (
        await asyncio_detailed(
            client=client,
            roots=roots,
            start=start,
            cursor=cursor,
            search=search,
            limit=limit,
            archived=archived,
            directory=directory,
            workspace=workspace,
        )
    ).parsed
