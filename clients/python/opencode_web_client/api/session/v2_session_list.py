from http import HTTPStatus
from typing import Any

import httpx

from ...client import AuthenticatedClient, Client
from ...models.fault import Fault
from ...models.pagedlist_session_v2 import PagedlistSessionV2
from ...models.v2_session_list_order import V2SessionListOrder
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    limit: int | Unset = 50,
    order: V2SessionListOrder | Unset = V2SessionListOrder.DESC,
    cursor: str | Unset = "",
    search: str | Unset = "",
    subpath: str | Unset = "",
    directory: str | Unset = UNSET,
    workspace: str | Unset = UNSET,
    project: str | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["limit"] = limit

    json_order: str | Unset = UNSET
    if not isinstance(order, Unset):
        json_order = order.value

    params["order"] = json_order

    params["cursor"] = cursor

    params["search"] = search

    params["subpath"] = subpath

    params["directory"] = directory

    params["workspace"] = workspace

    params["project"] = project

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/api/session",
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Fault | PagedlistSessionV2:
    if response.status_code == 200:
        response_200 = PagedlistSessionV2.from_dict(response.json())

        return response_200

    response_default = Fault.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Fault | PagedlistSessionV2]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    limit: int | Unset = 50,
    order: V2SessionListOrder | Unset = V2SessionListOrder.DESC,
    cursor: str | Unset = "",
    search: str | Unset = "",
    subpath: str | Unset = "",
    directory: str | Unset = UNSET,
    workspace: str | Unset = UNSET,
    project: str | Unset = UNSET,
) -> Response[Fault | PagedlistSessionV2]:
    """Sessions, the latest first, in pages

    Args:
        limit (int | Unset):  Default: 50.
        order (V2SessionListOrder | Unset):  Default: V2SessionListOrder.DESC.
        cursor (str | Unset):  Default: ''.
        search (str | Unset):  Default: ''.
        subpath (str | Unset): Folder of the project; those below it count too. Default: ''.
        directory (str | Unset):
        workspace (str | Unset):
        project (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Fault | PagedlistSessionV2]
    """

    kwargs = _get_kwargs(
        limit=limit,
        order=order,
        cursor=cursor,
        search=search,
        subpath=subpath,
        directory=directory,
        workspace=workspace,
        project=project,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient,
    limit: int | Unset = 50,
    order: V2SessionListOrder | Unset = V2SessionListOrder.DESC,
    cursor: str | Unset = "",
    search: str | Unset = "",
    subpath: str | Unset = "",
    directory: str | Unset = UNSET,
    workspace: str | Unset = UNSET,
    project: str | Unset = UNSET,
) -> Fault | PagedlistSessionV2 | None:
    """Sessions, the latest first, in pages

    Args:
        limit (int | Unset):  Default: 50.
        order (V2SessionListOrder | Unset):  Default: V2SessionListOrder.DESC.
        cursor (str | Unset):  Default: ''.
        search (str | Unset):  Default: ''.
        subpath (str | Unset): Folder of the project; those below it count too. Default: ''.
        directory (str | Unset):
        workspace (str | Unset):
        project (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Fault | PagedlistSessionV2
    """

    return sync_detailed(
        client=client,
        limit=limit,
        order=order,
        cursor=cursor,
        search=search,
        subpath=subpath,
        directory=directory,
        workspace=workspace,
        project=project,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    limit: int | Unset = 50,
    order: V2SessionListOrder | Unset = V2SessionListOrder.DESC,
    cursor: str | Unset = "",
    search: str | Unset = "",
    subpath: str | Unset = "",
    directory: str | Unset = UNSET,
    workspace: str | Unset = UNSET,
    project: str | Unset = UNSET,
) -> Response[Fault | PagedlistSessionV2]:
    """Sessions, the latest first, in pages

    Args:
        limit (int | Unset):  Default: 50.
        order (V2SessionListOrder | Unset):  Default: V2SessionListOrder.DESC.
        cursor (str | Unset):  Default: ''.
        search (str | Unset):  Default: ''.
        subpath (str | Unset): Folder of the project; those below it count too. Default: ''.
        directory (str | Unset):
        workspace (str | Unset):
        project (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Fault | PagedlistSessionV2]
    """

    kwargs = _get_kwargs(
        limit=limit,
        order=order,
        cursor=cursor,
        search=search,
        subpath=subpath,
        directory=directory,
        workspace=workspace,
        project=project,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    limit: int | Unset = 50,
    order: V2SessionListOrder | Unset = V2SessionListOrder.DESC,
    cursor: str | Unset = "",
    search: str | Unset = "",
    subpath: str | Unset = "",
    directory: str | Unset = UNSET,
    workspace: str | Unset = UNSET,
    project: str | Unset = UNSET,
) -> Fault | PagedlistSessionV2 | None:
    """Sessions, the latest first, in pages

    Args:
        limit (int | Unset):  Default: 50.
        order (V2SessionListOrder | Unset):  Default: V2SessionListOrder.DESC.
        cursor (str | Unset):  Default: ''.
        search (str | Unset):  Default: ''.
        subpath (str | Unset): Folder of the project; those below it count too. Default: ''.
        directory (str | Unset):
        workspace (str | Unset):
        project (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Fault | PagedlistSessionV2
    """

    return (
        await asyncio_detailed(
            client=client,
            limit=limit,
            order=order,
            cursor=cursor,
            search=search,
            subpath=subpath,
            directory=directory,
            workspace=workspace,
            project=project,
        )
    ).parsed
