from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.fault import Fault
from ...models.pagedlist_message_v2 import PagedlistMessageV2
from ...models.v2_session_messages_order import V2SessionMessagesOrder
from ...types import UNSET, Response, Unset


def _get_kwargs(
    session_id: str,
    *,
    limit: int | Unset = 50,
    order: V2SessionMessagesOrder | Unset = V2SessionMessagesOrder.DESC,
    cursor: str | Unset = "",
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["limit"] = limit

    json_order: str | Unset = UNSET
    if not isinstance(order, Unset):
        json_order = order.value

    params["order"] = json_order

    params["cursor"] = cursor

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/api/session/{session_id}/message".format(
            session_id=quote(str(session_id), safe=""),
        ),
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Fault | PagedlistMessageV2:
    if response.status_code == 200:
        response_200 = PagedlistMessageV2.from_dict(response.json())

        return response_200

    response_default = Fault.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Fault | PagedlistMessageV2]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    session_id: str,
    *,
    client: AuthenticatedClient,
    limit: int | Unset = 50,
    order: V2SessionMessagesOrder | Unset = V2SessionMessagesOrder.DESC,
    cursor: str | Unset = "",
) -> Response[Fault | PagedlistMessageV2]:
    """Messages, the newest first, in pages

    Args:
        session_id (str):
        limit (int | Unset):  Default: 50.
        order (V2SessionMessagesOrder | Unset):  Default: V2SessionMessagesOrder.DESC.
        cursor (str | Unset):  Default: ''.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Fault | PagedlistMessageV2]
    """

    kwargs = _get_kwargs(
        session_id=session_id,
        limit=limit,
        order=order,
        cursor=cursor,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    session_id: str,
    *,
    client: AuthenticatedClient,
    limit: int | Unset = 50,
    order: V2SessionMessagesOrder | Unset = V2SessionMessagesOrder.DESC,
    cursor: str | Unset = "",
) -> Fault | PagedlistMessageV2 | None:
    """Messages, the newest first, in pages

    Args:
        session_id (str):
        limit (int | Unset):  Default: 50.
        order (V2SessionMessagesOrder | Unset):  Default: V2SessionMessagesOrder.DESC.
        cursor (str | Unset):  Default: ''.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Fault | PagedlistMessageV2
    """

    return sync_detailed(
        session_id=session_id,
        client=client,
        limit=limit,
        order=order,
        cursor=cursor,
    ).parsed


async def asyncio_detailed(
    session_id: str,
    *,
    client: AuthenticatedClient,
    limit: int | Unset = 50,
    order: V2SessionMessagesOrder | Unset = V2SessionMessagesOrder.DESC,
    cursor: str | Unset = "",
) -> Response[Fault | PagedlistMessageV2]:
    """Messages, the newest first, in pages

    Args:
        session_id (str):
        limit (int | Unset):  Default: 50.
        order (V2SessionMessagesOrder | Unset):  Default: V2SessionMessagesOrder.DESC.
        cursor (str | Unset):  Default: ''.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Fault | PagedlistMessageV2]
    """

    kwargs = _get_kwargs(
        session_id=session_id,
        limit=limit,
        order=order,
        cursor=cursor,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    session_id: str,
    *,
    client: AuthenticatedClient,
    limit: int | Unset = 50,
    order: V2SessionMessagesOrder | Unset = V2SessionMessagesOrder.DESC,
    cursor: str | Unset = "",
) -> Fault | PagedlistMessageV2 | None:
    """Messages, the newest first, in pages

    Args:
        session_id (str):
        limit (int | Unset):  Default: 50.
        order (V2SessionMessagesOrder | Unset):  Default: V2SessionMessagesOrder.DESC.
        cursor (str | Unset):  Default: ''.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Fault | PagedlistMessageV2
    """

    return (
        await asyncio_detailed(
            session_id=session_id,
            client=client,
            limit=limit,
            order=order,
            cursor=cursor,
        )
    ).parsed
