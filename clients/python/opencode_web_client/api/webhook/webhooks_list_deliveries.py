from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.delivery import Delivery
from ...models.fault import Fault
from ...types import UNSET, Response, Unset


def _get_kwargs(
    webhook_id: str,
    *,
    team: str | Unset = "",
    limit: int | Unset = 50,
    before: str | Unset = "",
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["team"] = team

    params["limit"] = limit

    params["before"] = before

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/webhook/{webhook_id}/delivery".format(
            webhook_id=quote(str(webhook_id), safe=""),
        ),
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Fault | list[Delivery]:
    if response.status_code == 200:
        response_200 = []
        _response_200 = response.json()
        for response_200_item_data in _response_200:
            response_200_item = Delivery.from_dict(response_200_item_data)

            response_200.append(response_200_item)

        return response_200

    response_default = Fault.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Fault | list[Delivery]]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    webhook_id: str,
    *,
    client: AuthenticatedClient,
    team: str | Unset = "",
    limit: int | Unset = 50,
    before: str | Unset = "",
) -> Response[Fault | list[Delivery]]:
    """What was sent, newest first

    Args:
        webhook_id (str):
        team (str | Unset):  Default: ''.
        limit (int | Unset):  Default: 50.
        before (str | Unset):  Default: ''.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Fault | list[Delivery]]
    """

    kwargs = _get_kwargs(
        webhook_id=webhook_id,
        team=team,
        limit=limit,
        before=before,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    webhook_id: str,
    *,
    client: AuthenticatedClient,
    team: str | Unset = "",
    limit: int | Unset = 50,
    before: str | Unset = "",
) -> Fault | list[Delivery] | None:
    """What was sent, newest first

    Args:
        webhook_id (str):
        team (str | Unset):  Default: ''.
        limit (int | Unset):  Default: 50.
        before (str | Unset):  Default: ''.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Fault | list[Delivery]
    """

    return sync_detailed(
        webhook_id=webhook_id,
        client=client,
        team=team,
        limit=limit,
        before=before,
    ).parsed


async def asyncio_detailed(
    webhook_id: str,
    *,
    client: AuthenticatedClient,
    team: str | Unset = "",
    limit: int | Unset = 50,
    before: str | Unset = "",
) -> Response[Fault | list[Delivery]]:
    """What was sent, newest first

    Args:
        webhook_id (str):
        team (str | Unset):  Default: ''.
        limit (int | Unset):  Default: 50.
        before (str | Unset):  Default: ''.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Fault | list[Delivery]]
    """

    kwargs = _get_kwargs(
        webhook_id=webhook_id,
        team=team,
        limit=limit,
        before=before,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    webhook_id: str,
    *,
    client: AuthenticatedClient,
    team: str | Unset = "",
    limit: int | Unset = 50,
    before: str | Unset = "",
) -> Fault | list[Delivery] | None:
    """What was sent, newest first

    Args:
        webhook_id (str):
        team (str | Unset):  Default: ''.
        limit (int | Unset):  Default: 50.
        before (str | Unset):  Default: ''.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Fault | list[Delivery]
    """

    return (
        await asyncio_detailed(
            webhook_id=webhook_id,
            client=client,
            team=team,
            limit=limit,
            before=before,
        )
    ).parsed
