from http import HTTPStatus
from typing import Any

import httpx

from ...client import AuthenticatedClient, Client
from ...models.fault import Fault
from ...models.providers import Providers
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    limit: int | Unset = 0,
    cursor: str | Unset = "",
    query: str | Unset = "",
    connected: bool | Unset = False,
    directory: str | Unset = UNSET,
    workspace: str | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["limit"] = limit

    params["cursor"] = cursor

    params["query"] = query

    params["connected"] = connected

    params["directory"] = directory

    params["workspace"] = workspace

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/provider",
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Fault | Providers:
    if response.status_code == 200:
        response_200 = Providers.from_dict(response.json())

        return response_200

    response_default = Fault.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Fault | Providers]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    limit: int | Unset = 0,
    cursor: str | Unset = "",
    query: str | Unset = "",
    connected: bool | Unset = False,
    directory: str | Unset = UNSET,
    workspace: str | Unset = UNSET,
) -> Response[Fault | Providers]:
    """Providers of the team, and which of them can be used now

    Args:
        limit (int | Unset): Providers of a page; 0 for all Default: 0.
        cursor (str | Unset): X-Next-Cursor of the page before Default: ''.
        query (str | Unset): Words in names and ids of providers or models Default: ''.
        connected (bool | Unset): Only those that can be used now Default: False.
        directory (str | Unset):
        workspace (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Fault | Providers]
    """

    kwargs = _get_kwargs(
        limit=limit,
        cursor=cursor,
        query=query,
        connected=connected,
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
    limit: int | Unset = 0,
    cursor: str | Unset = "",
    query: str | Unset = "",
    connected: bool | Unset = False,
    directory: str | Unset = UNSET,
    workspace: str | Unset = UNSET,
) -> Fault | Providers | None:
    """Providers of the team, and which of them can be used now

    Args:
        limit (int | Unset): Providers of a page; 0 for all Default: 0.
        cursor (str | Unset): X-Next-Cursor of the page before Default: ''.
        query (str | Unset): Words in names and ids of providers or models Default: ''.
        connected (bool | Unset): Only those that can be used now Default: False.
        directory (str | Unset):
        workspace (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Fault | Providers
    """

    return sync_detailed(
        client=client,
        limit=limit,
        cursor=cursor,
        query=query,
        connected=connected,
        directory=directory,
        workspace=workspace,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    limit: int | Unset = 0,
    cursor: str | Unset = "",
    query: str | Unset = "",
    connected: bool | Unset = False,
    directory: str | Unset = UNSET,
    workspace: str | Unset = UNSET,
) -> Response[Fault | Providers]:
    """Providers of the team, and which of them can be used now

    Args:
        limit (int | Unset): Providers of a page; 0 for all Default: 0.
        cursor (str | Unset): X-Next-Cursor of the page before Default: ''.
        query (str | Unset): Words in names and ids of providers or models Default: ''.
        connected (bool | Unset): Only those that can be used now Default: False.
        directory (str | Unset):
        workspace (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Fault | Providers]
    """

    kwargs = _get_kwargs(
        limit=limit,
        cursor=cursor,
        query=query,
        connected=connected,
        directory=directory,
        workspace=workspace,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    limit: int | Unset = 0,
    cursor: str | Unset = "",
    query: str | Unset = "",
    connected: bool | Unset = False,
    directory: str | Unset = UNSET,
    workspace: str | Unset = UNSET,
) -> Fault | Providers | None:
    """Providers of the team, and which of them can be used now

    Args:
        limit (int | Unset): Providers of a page; 0 for all Default: 0.
        cursor (str | Unset): X-Next-Cursor of the page before Default: ''.
        query (str | Unset): Words in names and ids of providers or models Default: ''.
        connected (bool | Unset): Only those that can be used now Default: False.
        directory (str | Unset):
        workspace (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Fault | Providers
    """

    return (
        await asyncio_detailed(
            client=client,
            limit=limit,
            cursor=cursor,
            query=query,
            connected=connected,
            directory=directory,
            workspace=workspace,
        )
    ).parsed
