from http import HTTPStatus
from typing import Any

import httpx

from ...client import AuthenticatedClient, Client
from ...models.fault import Fault
from ...models.pagedlist_session_v2 import PagedlistSessionV2
from ...models.v2_sessions_list_sessions_order import V2SessionsListSessionsOrder
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    limit: int | Unset = 50,
    order: V2SessionsListSessionsOrder | Unset = V2SessionsListSessionsOrder.DESC,
    cursor: str | Unset = "",
    search: str | Unset = "",
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["limit"] = limit

    json_order: str | Unset = UNSET
    if not isinstance(order, Unset):
        json_order = order.value

    params["order"] = json_order

    params["cursor"] = cursor

    params["search"] = search

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
    order: V2SessionsListSessionsOrder | Unset = V2SessionsListSessionsOrder.DESC,
    cursor: str | Unset = "",
    search: str | Unset = "",
) -> Response[Fault | PagedlistSessionV2]:
    """Sessions, the latest first, in pages

    Args:
        limit (int | Unset):  Default: 50.
        order (V2SessionsListSessionsOrder | Unset):  Default: V2SessionsListSessionsOrder.DESC.
        cursor (str | Unset):  Default: ''.
        search (str | Unset):  Default: ''.

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
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient,
    limit: int | Unset = 50,
    order: V2SessionsListSessionsOrder | Unset = V2SessionsListSessionsOrder.DESC,
    cursor: str | Unset = "",
    search: str | Unset = "",
) -> Fault | PagedlistSessionV2 | None:
    """Sessions, the latest first, in pages

    Args:
        limit (int | Unset):  Default: 50.
        order (V2SessionsListSessionsOrder | Unset):  Default: V2SessionsListSessionsOrder.DESC.
        cursor (str | Unset):  Default: ''.
        search (str | Unset):  Default: ''.

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
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    limit: int | Unset = 50,
    order: V2SessionsListSessionsOrder | Unset = V2SessionsListSessionsOrder.DESC,
    cursor: str | Unset = "",
    search: str | Unset = "",
) -> Response[Fault | PagedlistSessionV2]:
    """Sessions, the latest first, in pages

    Args:
        limit (int | Unset):  Default: 50.
        order (V2SessionsListSessionsOrder | Unset):  Default: V2SessionsListSessionsOrder.DESC.
        cursor (str | Unset):  Default: ''.
        search (str | Unset):  Default: ''.

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
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    limit: int | Unset = 50,
    order: V2SessionsListSessionsOrder | Unset = V2SessionsListSessionsOrder.DESC,
    cursor: str | Unset = "",
    search: str | Unset = "",
) -> Fault | PagedlistSessionV2 | None:
    """Sessions, the latest first, in pages

    Args:
        limit (int | Unset):  Default: 50.
        order (V2SessionsListSessionsOrder | Unset):  Default: V2SessionsListSessionsOrder.DESC.
        cursor (str | Unset):  Default: ''.
        search (str | Unset):  Default: ''.

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
        )
    ).parsed
