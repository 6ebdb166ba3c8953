from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.fault import Fault
from ...models.service_account import ServiceAccount
from ...types import UNSET, Response, Unset


def _get_kwargs(
    account_id: int,
    *,
    team: str | Unset = "",
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["team"] = team

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/service-account/{account_id}".format(
            account_id=quote(str(account_id), safe=""),
        ),
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Fault | ServiceAccount:
    if response.status_code == 200:
        response_200 = ServiceAccount.from_dict(response.json())

        return response_200

    response_default = Fault.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Fault | ServiceAccount]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    account_id: int,
    *,
    client: AuthenticatedClient,
    team: str | Unset = "",
) -> Response[Fault | ServiceAccount]:
    """One service account

    Args:
        account_id (int):
        team (str | Unset):  Default: ''.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Fault | ServiceAccount]
    """

    kwargs = _get_kwargs(
        account_id=account_id,
        team=team,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    account_id: int,
    *,
    client: AuthenticatedClient,
    team: str | Unset = "",
) -> Fault | ServiceAccount | None:
    """One service account

    Args:
        account_id (int):
        team (str | Unset):  Default: ''.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Fault | ServiceAccount
    """

    return sync_detailed(
        account_id=account_id,
        client=client,
        team=team,
    ).parsed


async def asyncio_detailed(
    account_id: int,
    *,
    client: AuthenticatedClient,
    team: str | Unset = "",
) -> Response[Fault | ServiceAccount]:
    """One service account

    Args:
        account_id (int):
        team (str | Unset):  Default: ''.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Fault | ServiceAccount]
    """

    kwargs = _get_kwargs(
        account_id=account_id,
        team=team,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    account_id: int,
    *,
    client: AuthenticatedClient,
    team: str | Unset = "",
) -> Fault | ServiceAccount | None:
    """One service account

    Args:
        account_id (int):
        team (str | Unset):  Default: ''.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Fault | ServiceAccount
    """

    return (
        await asyncio_detailed(
            account_id=account_id,
            client=client,
            team=team,
        )
    ).parsed
